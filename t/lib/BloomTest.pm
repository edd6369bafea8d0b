# What the TAP tests share: a server with the extension, psql sessions that stay
# open, and a few ways to look at a server from outside.  Who uses it has strict, warnings, FindBin,
# Test::More and what PostgreSQL has for tests, too.
#
# Servers listen on a Unix socket only.  Rounds that only a long run can afford
# are asked for with BLOOMFILTER_LONG=1; rounds(short, long) picks.
package BloomTest;

use strict;
use warnings;

use Exporter ();
use File::Basename qw(dirname);
use FindBin ();
use IPC::Run ();
use Test::More;
use Time::HiRes qw(sleep);

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use BloomTest::Kept;
use BloomTest::Session;
use BloomTest::Template;

our @ISA = 'Exporter';
our @EXPORT = (@PostgreSQL::Test::Utils::EXPORT, grep { !/^\$/ } @Test::More::EXPORT);
push @EXPORT, qw(
  new_node
  new_standby
  session
  start_pgbench
  rounds
  anonymous_kb
  peak_kb
  own_peak_kb
  server_version
  wait_until_up
  wait_until_gone
  stayed_alive
  build_library
  forget_pointers
  eventually
  finish
);

sub import
{
	my ($class) = @_;
	strict->import;
	warnings->import;
	return $class->export_to_level(1, @_);
}

# The largest filter, header included, in bytes.
use constant MAX_BYTES => 512 * 1024 * 1024 - 4096;

# Bits that bloom_create_sized turns into a filter of exactly that size.
use constant MAX_BITS => (MAX_BYTES - 64) * 8;

# A zombie that nobody has waited for yet has let go of all memory.
sub is_gone
{
	my ($pid) = @_;
	return 1 if !kill 0, $pid;
	open(my $stat, '<', "/proc/$pid/stat") or return 0;
	return <$stat> =~ /\) Z /;
}

# Waits until processes are gone, a minute at most.
sub wait_until_gone
{
	my (@pids) = @_;
	foreach (1 .. 600)
	{
		return if !grep { !is_gone($_) } @pids;
		sleep(0.1);
	}
	return;
}

# A test that passes as soon as a condition holds, within a minute.
sub eventually
{
	my ($condition, $name) = @_;
	foreach (1 .. 600)
	{
		return pass($name) if $condition->();
		sleep(0.1);
	}
	return fail($name);
}

# Waits longer than a session believes a TOAST pointer for the time alone: what src/pg/ask/copies.c
# says, and a tenth.
sub forget_pointers
{
	slurp_file(dirname(__FILE__) . '/../../src/pg/ask/copies.c') =~ /^#define BELIEVED_MSECS (\d+)$/m
	  or die 'BELIEVED_MSECS is not in copies.c';
	sleep($1 * 1.1 / 1000);
	return;
}

# How many rounds this run does.
sub rounds
{
	my ($short, $long) = @_;
	return $ENV{BLOOMFILTER_LONG} ? $long : $short;
}

# A library of the functions in t/lib/NAME.c, for a server to load; undef if it can't be
# built here.
sub build_library
{
	my ($name) = @_;
	my $library = PostgreSQL::Test::Utils::tempdir . "/$name.so";
	my $source = dirname(__FILE__) . "/$name.c";
	my ($include, $log) = ('', '');
	return undef
	  if !IPC::Run::run([ 'pg_config', '--includedir-server' ], '>', \$include);
	chomp $include;
	return $library
	  if IPC::Run::run([ $ENV{CC} // 'cc', '-shared', '-fPIC', "-I$include", '-o', $library, $source ],
		'>&', \$log);
	note $log;
	return undef;
}

# A server, running, with the extension in database postgres.  Options: conf
# (lines of postgresql.conf), initdb (arguments), and those of init().
sub new_node
{
	my ($name, %options) = @_;
	my $conf = delete $options{conf} // '';
	my $initdb = delete $options{initdb} // [];
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--encoding=UTF8', '--locale=C', @$initdb ],
		%options);
	$node->append_conf('postgresql.conf', <<"EOC");
autovacuum = off
log_min_duration_statement = 500
max_wal_size = 4GB
shared_buffers = 32MB
bloomfilter.overflow = ignore
$conf
EOC
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomfilter');
	return $node;
}

# A psql session on a node.
sub session
{
	my ($node, %options) = @_;
	return BloomTest::Session->new($node, %options);
}

# pgbench with a script: its name, its run, and what it has said so far.
sub start_pgbench
{
	my ($node, $name, $script, @options) = @_;
	my %bench = (name => $name, out => '');
	my $file = PostgreSQL::Test::Utils::tempdir . "/$name.sql";
	append_to_file($file, $script);
	$bench{run} = IPC::Run::start([ 'pgbench', '-n', '-f', $file, @options, $node->connstr('postgres') . ' application_name=pgbench' ],
		'<', \undef, '>&', \$bench{out});
	return \%bench;
}

# The server's major version, as a number.
sub server_version
{
	my ($node) = @_;
	return int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
}

# A field of /proc/PID/status in kB, or undef where there is none.
sub _status_kb
{
	my ($pid, $field) = @_;
	open(my $status, '<', "/proc/$pid/status") or return undef;
	while (my $line = <$status>)
	{
		return $1 if $line =~ /^$field:\s+(\d+) kB/;
	}
	return undef;
}

# Memory of a process that is its own: without shared buffers.
sub anonymous_kb
{
	my ($pid) = @_;
	return _status_kb($pid, 'RssAnon');
}

# The most memory that a process has had.
sub peak_kb
{
	my ($pid) = @_;
	return _status_kb($pid, 'VmHWM');
}

# The most memory of its own that a process has had, as well as can be told: without
# what it shares by now.
sub own_peak_kb
{
	my ($pid) = @_;
	my ($peak, $file, $shared, $own) =
	  map { _status_kb($pid, $_) } 'VmHWM', 'RssFile', 'RssShmem', 'RssAnon';
	return undef if !defined $own;
	return $peak - $file - $shared > $own ? $peak - $file - $shared : $own;
}

# Waits until a server that recovers takes connections again.  poll_query_until
# writes to psql, which may have given up by then.
sub wait_until_up
{
	my ($node) = @_;
	my @ask = ('psql', '-X', '-A', '-t', '-c', 'SELECT 1', '-d', $node->connstr('postgres'));
	foreach (1 .. 1800)
	{
		return if IPC::Run::run(\@ask, '<', \undef, '>', \my $out, '2>', \my $err);
		sleep(0.1);
	}
	die 'the server did not recover';
}

# Checks that no process of the server has crashed since it was created.
sub stayed_alive
{
	my ($node, $name) = @_;
	my $log = slurp_file($node->logfile);
	unlike(
		$log,
		qr/PANIC:|TRAP:|was terminated by signal|terminated by exception/,
		$name // 'no process of the server crashed');
	return;
}

# A hot standby of a server, running, from a backup of now.  Options: conf, as above.
sub new_standby
{
	my ($primary, $name, %options) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$primary->backup($name);
	$standby->init_from_backup($primary, $name, has_streaming => 1);
	$standby->append_conf('postgresql.conf', $options{conf} // '');
	$standby->start;
	return $standby;
}

# The end of a test: of all sessions, without a crash of these servers.
sub finish
{
	my (@nodes) = @_;
	BloomTest::Session::quit_all();
	stayed_alive($_) foreach @nodes;
	done_testing();
	return;
}

1;
