# examples/nightly: nights pass, and two application servers answer from one file all the while.
# No member is denied, and new keys arrive.  (While files change, test/readers/run asks each reader.)
#
# A server that can't be built here is left out, and a skipped test says so.  With
# BLOOMFILTER_ALL_SERVERS=1 in the environment that is a failure.
use BloomTest;
use BloomTest::Pull;
use IO::Socket::UNIX;
use IPC::Run;

require "$FindBin::Bin/050_doc.pm";

my $root = doc::root();
my $example = "$root/examples/nightly";
my $dir = PostgreSQL::Test::Utils::tempdir_short();
my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
my $all = $ENV{BLOOMFILTER_ALL_SERVERS};
my $program = BloomTest::Pull::program();
if (!defined $program)
{
	my $lack = 'the command line bloomfilter can\'t be built (libpq-dev, libcurl4-openssl-dev, libsodium-dev)';
	plan skip_all => $lack unless $all;
	die $lack;
}

# By their names how they are built where they are not yet, and run.
my %server = (
	c => [ "cc -O2 -pthread -I$root/src/lib -o $dir/server $example/server.c $root/build/lib/libbloomfilter.a -lm", "$dir/server" ],
	python => [ "cd $root/clients/python && $python backend.py build/lib", $python, "$example/server.py" ]);
$ENV{PYTHONPATH} = "$root/clients/python/build/lib";
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
foreach my $name (sort keys %server)
{
	my $log = '';
	next if IPC::Run::run([ 'sh', '-c', shift @{ $server{$name} } ], '>&', \$log);
	note "the server in $name can't be built here:\n$log";
	delete $server{$name};
}
SKIP:
{
	skip 'not both servers can be built, see the notes', 1 if keys %server < 2 && !$all;
	is(join(' ', sort keys %server), 'c python', 'both servers are there');
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# The night is the role's of its own.
sub run_file
{
	my ($file) = @_;
	my @role = $file eq 'night.sql' ? ('-U', 'nightly') : ();
	command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), @role, '-f', "$example/$file" ], $file);
	return;
}
run_file($_) foreach 'schema.sql', 'schema.sql', 'night.sql';

sub start
{
	my (@command) = @_;
	my $process = { out => '', err => '' };
	$process->{run} = IPC::Run::start(\@command, '<', \undef, '>', \$process->{out}, '2>', \$process->{err});
	return $process;
}

# Two looks a second: what is between them costs time only.
my $pull = start($program, 'pull', '--dsn', $node->connstr('postgres') . ' user=filter_puller',
	'--list', 'account', '--out', "$dir/account.bloom", '--follow', '--every', '0.5');
eventually(sub { -e "$dir/account.bloom" }, 'the first file');

# A server, and a connection to it.
my (@process, %socket);
sub serve
{
	my ($name) = @_;
	push @process, start(@{ $server{$name} }, "$dir/account.bloom", "$dir/$name.sock");
	eventually(sub { $socket{$name} = IO::Socket::UNIX->new(Peer => "$dir/$name.sock") }, "the server in $name takes connections");
	$socket{$name}->autoflush(1);
	return;
}

# The answers of a server to keys, one character each.
sub ask
{
	my ($name, @keys) = @_;
	my $socket = $socket{$name};
	print $socket map { "$_\n" } @keys;
	return join '', map { my $line = <$socket> // die 'no answer'; chomp $line; $line } @keys;
}

serve($_) foreach sort keys %server;

# What the page sends to the server in C.
if ($server{c})
{
	my ($block) = doc::sql_blocks('examples/nightly/README.md', 'sh');
	my ($command) = $block->{sql} =~ /^(printf .*)/ms;
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'sh', '-c', "cd $dir && $command" ], '<', \undef, '>', \$out, '2>', \$err);
	is("$out$err", "1\n0\n", 'the command of the page');
}

# Nights with new keys.  A few of them would pass by chance, not all.  The last one has more than there was room for.
foreach my $night (1 .. 4)
{
	my ($first, $last) = (1_000_000 * $night, 1_000_000 * $night + ($night == 4 ? 400_000 : 999));
	$node->safe_psql('postgres', "insert into account select generate_series($first, $last)");
	run_file('night.sql');
	foreach my $name (sort keys %socket)
	{
		eventually(sub { unlike(ask($name, 1 .. 1000), qr/0/, 'no member is denied'); ask($name, $last - 999 .. $last) =~ /^1+$/ },
			"night $night is known to the server in $name");
	}
}
foreach my $name (sort keys %socket)
{
	like(ask($name, map { -$_ } 1 .. 1000), qr/0/, "the server in $name does not say yes to everything");
	serve($name);
	is(ask($name, 1), 1, 'another one takes its place');
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
