# What was committed before a crash is whole after it: every filter verifies and
# contains every key of its snapshot.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;
use BloomTest::Churn;

my $seed = 1729;
srand($seed);

my $node = new_node('crash', conf => "restart_after_crash = on\nfsync = on\nwal_sync_method = fdatasync\n");
my $churn = BloomTest::Churn->new($node);

foreach my $round (1 .. rounds(3, 50))
{
	my $session = $churn->start;
	$node->stop('immediate');
	$session->abandon;
	$node->start;
	$churn->check("seed $seed, immediate stop $round");

	# A backend that is killed takes the others with it; the server recovers.
	$session = $churn->start;
	my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
	kill 'KILL', $session->pid;
	ok(!defined eval { $session->finish; 1 }, "seed $seed, kill $round: the session is gone");
	$session->abandon;
	wait_until_up($node);
	$churn->check("seed $seed, killed backend $round");
	is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
		$started, "seed $seed, kill $round: the server stayed up");
}
note $churn->checked . ' filters were checked';

# Not by itself: the only processes that signals ended are those that were sent one.
my $killed = () = slurp_file($node->logfile) =~ /was terminated by signal/g;
my $sent = () = slurp_file($node->logfile) =~ /was terminated by signal 9/g;
is($killed, $sent, 'no process crashed by itself');
$node->stop;
done_testing();
