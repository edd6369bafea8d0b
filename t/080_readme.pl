# README.md: each block runs as it stands, in order, and shows what the page shows: those of the shell
# in one shell, SQL by psql, Python and JavaScript by the readers that the page has installed.  Jobs
# of cron run at the end: silent where all is well, and with a line where it isn't.
#
# Here are no packages to install, git copies the tree, and make tells what it would do; with
# BLOOMFILTER_LONG=1 it does it.
use BloomTest;
use BloomTest::Pull;
use IO::Socket::INET;
use Time::HiRes qw(sleep);

require "$FindBin::Bin/050_doc.pm";

my $program = BloomTest::Pull::program();
plan skip_all => 'no command line bloomfilter' if !defined $program;
plan skip_all => 'clang, npm or python3-venv is not installed'
  if system('{ command -v clang && command -v npm && python3 -c "import ensurepip"; } >/dev/null 2>&1') != 0;

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init;
$node->start;

my $home = PostgreSQL::Test::Utils::tempdir_short();
my $port = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')->sockport;
my $root = doc::root();

# What stands between these blocks and the system.
my %instead = (
	'apt-get' => 'exit 0',
	id => '[ "$1" != -un ] || exec echo stranger; exec /usr/bin/id "$@"',
	sudo => 'unset PGUSER; [ "$1" != -u ] || shift 2; exec "$@"',
	git => qq{[ "\$1" = clone ] && mkdir bloomfilter && tar -C "$root" --exclude=./.git --exclude=./bench --exclude='*.o' --exclude='*.bc' \\
	--exclude=build --exclude=tmp_check -cf - . | tar -C bloomfilter -xf -},
	make => $ENV{BLOOMFILTER_LONG}
	? qq{exec /usr/bin/make with_llvm=no DESTDIR="$home/installed" "\$@"}
	: 'exec /usr/bin/make -n "$@"');
mkdir "$home/instead";
foreach my $command (keys %instead)
{
	append_to_file("$home/instead/$command", "#!/bin/sh\n$instead{$command}\n");
	chmod 0755, "$home/instead/$command";
}
my ($programs) = $program =~ m{^(.*)/};
@ENV{qw(PATH HOME PGUSER PGHOST PGPORT)} =
  ("$home/instead:$programs:$ENV{PATH}", $home, 'stranger', $node->host, $node->port);
delete @ENV{qw(PGDATABASE MAKEFLAGS MAKELEVEL MFLAGS)};
@ENV{qw(npm_config_audit npm_config_fund npm_config_update_notifier)} = ('false') x 3;

# One shell for all blocks, so that folders, variables and followers stay.
open(my $shell, '|-', 'bash', '--norc') or die "bash: $!";
$shell->autoflush(1);
my $turn = 0;

sub in_shell
{
	my ($commands) = @_;
	my $said = "$home/said." . ++$turn;
	print $shell "cd \"\${here:-$home}\"\n{\n$commands\n} >$said.out 2>$said.err </dev/null\necho \$? >$said.new\n",
	  "here=\$PWD\nmv $said.new $said.status\n";
	foreach (1 .. 6000)
	{
		last if -e "$said.status";
		sleep(0.1);
	}
	die "a block does not end: $commands" if !-e "$said.status";
	return (slurp_file("$said.status") + 0, slurp_file("$said.out"), slurp_file("$said.err"));
}

my %file_of = (python => [ 'venv/bin/python', 'block.py' ], javascript => [ 'node', 'block.mjs' ]);
my (@jobs, $ran);
foreach my $block (doc::blocks('README.md'))
{
	my ($mark, $where) = ($block->{mark}, "line $block->{line}, $block->{section}");
	my ($status, $out, $err) = (0, '', '');
	(my $text = $block->{sql}) =~ s/\b8080\b/$port/g;

	# Of scripts/demo: test/bare/run compares it.
	next if $mark eq 'text';
	if ($mark eq 'sql')
	{
		($out, $err) = doc::shown($node, 'shop', $text);
		# What verbose tells stands before what the statements return, as in a terminal.
		$out = join('', $err =~ /^(?:INFO|DETAIL): .*\n/mg) . $out;
		is($err =~ s/^(?:INFO|DETAIL): .*\n//mgr, '', "$where: neither errors nor warnings");
	}
	elsif ($mark eq 'cron')
	{
		push @jobs, map { /^(?:[\d*\/]+ +){5}(.*)/ ? $1 : die "$where: no job: $_" } split /\n/, $text;
		next;
	}
	else
	{
		if ($file_of{$mark})
		{
			my ($interpreter, $file) = @{ $file_of{$mark} };
			append_to_file("$home/app/$file", $text);
			$text = "$interpreter $file";
		}
		elsif ($mark ne 'sh')
		{
			fail("$where: nobody runs \"$mark\"");
			next;
		}
		($status, $out, $err) = in_shell($text);
		is($status, 0, "$where: runs") or diag($err);
		eventually(sub { IO::Socket::INET->new("127.0.0.1:$port") }, "$where: the web server is there") if $text =~ /http\.server/;
	}
	is(doc::shape($out, $home), doc::shape($block->{output}, $home), "$where: shows what the page shows") if defined $block->{output};
	$ran++;
}
cmp_ok($ran, '>=', 12, 'README.md has examples');
is($node->safe_psql('shop', q{select count(*) from users where not bloom_lookup('users', id) and id <= 100000}),
	'0', 'the list contains all its users');

is($node->safe_psql('shop', q{select bloom_index_contains('users', 'id', 200042)}), 't', 'the live index knows the key of the page');

# What comes later comes to the hosts.
my ($absent) = split /\n/, $node->safe_psql('shop', q{
select g from generate_series(300000, 300100) g where not bloom_lookup('users', g)});
$node->safe_psql('shop', "INSERT INTO users VALUES ($absent, 'later')");
s{/usr/local/bin/}{} foreach @jobs;
my ($refresh, @alerts) = @jobs;
is(@alerts, 2, 'two jobs watch');
foreach my $job (@jobs)
{
	my ($status, $out, $err) = in_shell($job);
	is("$status$out$err", '0', "silent: $job");
}
eventually(sub { (in_shell("bloomfilter contains users.bloom $absent"))[1] eq "$absent\n" }, 'the host follows');

my ($failed) = in_shell(q{psql -d shop -c "CALL bloom_publish('users', 'SELECT 1 / 0')"});
ok($failed, 'a run that fails');
in_shell('kill $(jobs -p); wait; rm users.bloom');
foreach my $alert (@alerts)
{
	my (undef, $out, $err) = in_shell($alert);
	like($out . $err, qr/users.*(?:division by zero|waiting)/, "speaks: $alert");
}
close($shell);

# The blocks of the reference.
delete $ENV{PGUSER};
$node->safe_psql('postgres', 'CREATE DATABASE reference');
foreach my $block (doc::sql_blocks('doc/REFERENCE.md'))
{
	my ($out, $err) = doc::shown($node, 'reference', $block->{sql});

	is("$err$out", $block->{output} // '', "doc/REFERENCE.md, line $block->{line}: shows what the page shows");
}

done_testing();
