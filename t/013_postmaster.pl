# The postmaster is killed while filters are built and swapped, and its backends
# outlive it: after the next start every filter verifies and contains every key of its
# snapshot.  The same after an immediate stop, and where a backend is killed and the server
# recovers by itself.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;
use Time::HiRes qw(sleep);

use PostgreSQL::Test::Utils;

use BloomTest;
use BloomTest::Churn;

my $seed = 4104;
srand($seed);

my $node = new_node('postmaster',
	conf => <<'EOC');
restart_after_crash = on
fsync = on
wal_sync_method = fdatasync
EOC
my $churn = BloomTest::Churn->new($node);

sub wait_until
{
	my ($what, $condition) = @_;
	foreach (1 .. 1800)
	{
		return if $condition->();
		sleep(0.1);
	}
	die "waited in vain: $what";
}

sub wait_for_query
{
	my ($query) = @_;
	$node->poll_query_until('postgres', $query) or die "waited in vain: $query";
	return;
}

# Starts a build that takes longer than any test.
sub start_build
{
	my $session = session($node);
	my $pid = $session->pid;
	$session->start('INSERT INTO filters SELECT -1, -1, bloom_agg(k, 200000) FROM (SELECT generate_series(1, 2000000000) AS k) AS q');
	wait_for_query("SELECT state = 'active' AND query LIKE 'INSERT%' FROM pg_stat_activity WHERE pid = $pid");
	return $session;
}

# Processes of the server, by the server.
sub backends
{
	return split /\n/, $node->safe_psql('postgres',
		'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
}

# Backends that compute do not notice that the postmaster is gone, and a server
# does not start beside them.
sub end_orphans
{
	my ($signal, @pids) = @_;
	kill $signal, grep { !is_gone($_) } @pids;
	wait_until('processes of the old server', sub { !grep { !is_gone($_) } @pids });
	return;
}

foreach my $round (1 .. rounds(2, 50))
{
	my $signal = $round % 2 ? 'TERM' : 'KILL';
	my $name = "seed $seed, round $round, orphans get $signal";
	my $builder = start_build();
	my $swapper = $churn->start;

	my @pids = backends();
	my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
	$node->kill9;
	wait_until('the end of the postmaster', sub { !kill 0, $postmaster });
	command_fails([ 'pg_ctl', '-D', $node->data_dir, '-l', $node->logfile, 'start' ],
		"$name: no server starts beside what is left of the old one");
	end_orphans($signal, @pids);
	$_->abandon foreach $builder, $swapper;

	$node->start;
	$churn->check($name);
	is($node->safe_psql('postgres', 'SELECT count(*) FROM filters WHERE id = -1'),
		0, "$name: of a build that did not end there is nothing");
}
stayed_alive($node);

foreach my $round (1 .. rounds(2, 50))
{
	my $swapper = $churn->start;
	$node->stop('immediate');
	$swapper->abandon;
	$node->start;
	$churn->check("seed $seed, immediate stop $round");
}

# A backend that is killed takes the others with it; the postmaster stays.
my $backends_killed = rounds(2, 20);
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
foreach my $round (1 .. $backends_killed)
{
	my $name = "seed $seed, killed backend $round";
	my $swapper = $churn->start;

	my $victim = session($node);
	kill 'KILL', $victim->pid;
	wait_until('the end of the other backends',
		sub { is_gone($swapper->pid) && is_gone($victim->pid) });
	$_->abandon foreach $swapper, $victim;

	wait_until_up($node);
	$churn->check($name);
	is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
		$started, "$name: the server recovered by itself");
}
note $churn->checked . ' filters were checked';

my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC:|TRAP:/, 'no process crashed by itself');
is(scalar(() = $log =~ /was terminated by (?:signal|exception)/g),
	$backends_killed, 'nor ended by a signal but those that were sent one');
$node->stop;
done_testing();
