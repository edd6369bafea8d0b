# What was committed before a crash is whole after it: every filter verifies and
# contains every key of its snapshot.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;
use Time::HiRes qw(usleep);

use PostgreSQL::Test::Utils;

use BloomTest;

my $seed = 1729;
srand($seed);

my $node = new_node('crash', conf => "restart_after_crash = on\nfsync = on\nwal_sync_method = fdatasync\n");
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE filters (id int PRIMARY KEY, round int, f bloomfilter);
-- What a committed filter has to contain is told by its round.
CREATE FUNCTION keys(round int) RETURNS SETOF int LANGUAGE sql IMMUTABLE AS
'SELECT k * 7 + round FROM generate_series(1, 3000) AS k';
CREATE FUNCTION build(round int) RETURNS bloomfilter LANGUAGE sql AS
'SELECT bloom_agg(k, 200000) FROM keys(round) AS k';
CREATE PROCEDURE churn(first int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN first .. 1000000 LOOP
		CASE i % 4
			WHEN 0 THEN INSERT INTO filters VALUES (i, i, build(i));
			WHEN 1 THEN UPDATE filters SET f = build(i), round = i WHERE id = (SELECT min(id) FROM filters);
			WHEN 2 THEN UPDATE filters SET f = bloom_add_all(bloom_reset(f), array(SELECT k FROM keys(i) AS k)), round = i
				WHERE id = (SELECT max(id) FROM filters);
			ELSE DELETE FROM filters WHERE id < i - 40;
		END CASE;
		COMMIT;
	END LOOP;
END $$;
EOC

my $next = 0;
my $checked = 0;

# Checks all filters after a crash.
sub check
{
	my ($name) = @_;
	my $session = session($node);
	is($session->query('SELECT count(*) FROM filters WHERE NOT bloom_verify(f)'),
		0, "$name: every filter is whole");
	is( $session->query(
			'SELECT count(*) FROM filters, keys(round) AS k WHERE NOT bloom_contains(f, k)'),
		0, "$name: every filter contains its keys");
	my ($count, $last) = split /\|/,
	  $session->query('SELECT count(*), max(round) FROM filters');
	cmp_ok($count, '>', 0, "$name: there are filters");
	cmp_ok($last, '>=', $next, "$name: and newer ones than before");
	$next = $last;
	$checked += $count;
	$session->quit;
	return;
}

# Starts the churn and returns its session when it has committed something new.
sub churn
{
	my $session = session($node);
	my $first = $next + 4 - $next % 4;
	$session->start("CALL churn($first)");
	$node->poll_query_until('postgres',
		"SELECT coalesce(max(round), -1) >= $first FROM filters")
	  or die 'nothing was committed';
	usleep(rand(300_000));
	return $session;
}

foreach my $round (1 .. rounds(3, 50))
{
	my $session = churn();
	$node->stop('immediate');
	$session->abandon;
	$node->start;
	check("seed $seed, immediate stop $round");

	# A backend that is killed takes the others with it; the server recovers.
	$session = churn();
	my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
	kill 'KILL', $session->pid;
	ok(!defined eval { $session->finish; 1 }, "seed $seed, kill $round: the session is gone");
	$session->abandon;
	wait_until_up($node);
	check("seed $seed, killed backend $round");
	is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
		$started, "seed $seed, kill $round: the server stayed up");
}
note "$checked filters were checked";

# Not by itself: the only processes that signals ended are those that were sent one.
my $killed = () = slurp_file($node->logfile) =~ /was terminated by signal/g;
my $sent = () = slurp_file($node->logfile) =~ /was terminated by signal 9/g;
is($killed, $sent, 'no process crashed by itself');
$node->stop;
done_testing();
