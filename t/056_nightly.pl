# examples/nightly: nights pass, and two application servers reload while they
# answer.  No member is ever denied, and new keys arrive.
#
# A server that can't be built here is left out, and a skipped test says so.  With
# BLOOMFILTER_ALL_SERVERS=1 in the environment that is a failure.
use BloomTest;
use IO::Socket::UNIX;
use IPC::Run;
use Time::HiRes qw(usleep);

require "$FindBin::Bin/050_doc.pm";

my $root = doc::root();
my $example = "$root/examples/nightly";
my $dir = PostgreSQL::Test::Utils::tempdir_short();
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';

# Builds what is shipped, where it is not yet; undef if it can't be had.
sub build
{
	my ($what, @command) = @_;
	my $log = '';

	return 1 if IPC::Run::run(\@command, '>&', \$log);
	note "$what can't be built here:\n$log";
	return 0;
}

my $all = $ENV{BLOOMFILTER_ALL_SERVERS} ? 1 : 0;
if (!build('bloomfilter', 'make', '-s', '-C', "$root/src/cli"))
{
	my $lack = 'the command line bloomfilter can\'t be built (libpq-dev, libcurl4-openssl-dev, libsodium-dev)';

	plan skip_all => $lack unless $all;
	fail($lack);
	done_testing();
	exit;
}

my %server;
if (build('the server in C', 'sh', '-c',
	"cc -O2 -pthread -I$root/src/lib -o $dir/server $example/server.c $root/build/lib/libbloomfilter.a -lm"))
{
	$server{c} = ["$dir/server"];
}
$ENV{PYTHONPATH} = "$root/clients/python/build/lib";
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
if (build('the server in Python', 'sh', '-c',
	"cd $root/clients/python && $python backend.py build/lib"))
{
	$server{python} = [ $python, "$example/server.py" ];
}

SKIP:
{
	my $lacking = join ' and ', grep { !$server{$_} } qw(c python);

	skip "no server in $lacking, see the notes", 1 if $lacking && !$all;
	is($lacking, '', 'both servers are there');
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# The night is the role's of its own.
sub run_file
{
	my ($file) = @_;
	my @role = $file eq 'night.sql' ? ('-U', 'nightly') : ();
	command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), @role,
			'-f', "$example/$file" ], $file);
}

run_file('schema.sql');
run_file('schema.sql');
run_file('night.sql');

sub start
{
	my (@command) = @_;
	my $process = { err => '' };
	$process->{run} = IPC::Run::start(\@command, '<', \undef, '>', \$process->{out},
		'2>', \$process->{err});
	return $process;
}

# Polls, as nothing here depends on how long anything takes.
sub wait_until
{
	my ($condition, $what) = @_;

	foreach (1 .. 600)
	{
		return 1 if $condition->();
		usleep(100_000);
	}
	die "waited in vain: $what";
}

# Two looks a second: what is between them costs the askers' time only.
my $pull = start("$root/build/cli/bloomfilter", 'pull', '--dsn', $node->connstr('postgres') . ' user=filter_puller',
	'--list', 'account', '--out', "$dir/account.bloom", '--follow', '--every', '0.5');
wait_until(sub { -e "$dir/account.bloom" }, 'the first file');

sub connect_to
{
	my ($name) = @_;
	my $socket;

	wait_until(sub { $socket = IO::Socket::UNIX->new(Peer => "$dir/$name.sock") }, "server $name");
	$socket->autoflush(1);
	return $socket;
}

# The answers of a server to keys, one character each.
sub ask
{
	my ($socket, @keys) = @_;

	print $socket map { "$_\n" } @keys;
	return join '', map { my $line = <$socket> // die 'no answer'; chomp $line; $line } @keys;
}

# A process that asks a server for members, until its file appears; 1: one was denied.
sub ask_members
{
	my ($name) = @_;
	my $child = fork // die "fork: $!";
	return $child if $child;

	my $socket = connect_to($name);
	my $asked = 0;
	while (!-e "$dir/stop" && $asked >= 0)
	{
		my @keys = map { 1 + int rand 200000 } 1 .. 100;
		$asked = ask($socket, @keys) =~ /^1{100}$/ ? $asked + @keys : -1;
		usleep(10_000);
	}
	# Without the test's own END blocks.
	require POSIX;
	POSIX::_exit($asked > 0 ? 0 : 1);
}

my (@process, %child, %socket);
foreach my $name (sort keys %server)
{
	push @process, start(@{ $server{$name} }, "$dir/account.bloom", "$dir/$name.sock");
	$child{$name} = ask_members($name);
	$socket{$name} = connect_to($name);
}

# What the page sends to the server in C.
if ($server{c})
{
	my ($block) = doc::sql_blocks('examples/nightly/README.md', 'sh');
	my ($command) = $block->{sql} =~ /^(printf .*)/ms;
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'sh', '-c', "cd $dir && $command" ], '<', \undef, '>', \$out, '2>', \$err);
	is("$out$err", "1\n0\n", 'the command of the page');
}

# Nights with new keys.  A few of them would pass by chance, not all.
foreach my $night (1 .. 4)
{
	my ($first, $last) = (1_000_000 * $night, 1_000_000 * $night + 999);
	$node->safe_psql('postgres', "insert into account select generate_series($first, $last)");
	run_file('night.sql');
	foreach my $name (sort keys %socket)
	{
		ok(wait_until(sub { ask($socket{$name}, $first .. $last) =~ /^1+$/ }, "night $night"),
			"night $night is known to the server in $name");
	}
}

append_to_file("$dir/stop", '');
foreach my $name (sort keys %server)
{
	waitpid $child{$name}, 0;
	is($?, 0, "the server in $name never denied a member");
	like(ask($socket{$name}, map { -$_ } 1 .. 1000), qr/0/, "and does not say yes to everything");
}

# A source that is empty by accident is not published, and one that grows threefold is.
$node->safe_psql('postgres', 'create table kept as select * from account; truncate account');
command_fails_like([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', "$example/night.sql" ],
	qr/returns no keys/, 'a night without keys is refused');
is(ask($socket{$_}, 1 .. 1000) =~ /0/ ? 1 : 0, 0, "the server in $_ goes on") foreach sort keys %socket;
$node->safe_psql('postgres', 'insert into account select * from kept union all select generate_series(10000000, 10400000)');
run_file('night.sql');
foreach my $name (sort keys %socket)
{
	ok(wait_until(sub { ask($socket{$name}, 10_200_000 .. 10_200_999) =~ /^1+$/ }, 'a night with too many keys'),
		"a night with more keys than there was room for reaches the server in $name");
}

# A server takes the place of one that was killed.
foreach my $name (sort keys %server)
{
	my $again = start(@{ $server{$name} }, "$dir/account.bloom", "$dir/$name.sock");
	push @process, $again;
	ok(wait_until(sub { ask(connect_to($name), 1) eq '1' }, 'a second server'), "the server in $name can be started again");
	is($again->{err}, '', 'and does not complain');
}

$pull->{run}->signal('TERM');
$pull->{run}->finish;
like($pull->{out} . $pull->{err}, qr/serial \d+/, 'nights were fetched');
foreach my $process (@process)
{
	$process->{run}->kill_kill;
	is($process->{err}, '', 'no server complained');
}

done_testing();
