# Whatever takes long can be cancelled: the statement ends with query_canceled and
# the same backend answers the next one.  How soon is measured and shown.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;
use Time::HiRes qw(sleep time);

use BloomTest;

my $node = new_node('cancel', conf => "log_min_duration_statement = -1\n");
my $session = session($node);

# The largest filter, or one of 16 MB that shows the same code in less time.
my $bits = rounds(16 * 1024 * 1024 * 8, BloomTest::MAX_BITS);

$session->query(<<"EOC");
CREATE TABLE known AS SELECT generate_series(1, 20000) AS k;
CREATE TABLE big (id int PRIMARY KEY, f bloomfilter);
INSERT INTO big SELECT i, bloom_add_all(bloom_create_sized($bits, 7), array(SELECT k + i FROM known))
FROM generate_series(1, 2) AS i;
CREATE TABLE as_bytes (bytes bytea);
CREATE TABLE as_text (text text);
ALTER TABLE as_bytes ALTER bytes SET STORAGE external;
ALTER TABLE as_text ALTER text SET STORAGE external;
INSERT INTO as_bytes SELECT f::bytea FROM big WHERE id = 1;
INSERT INTO as_text SELECT f::text FROM big WHERE id = 1;
-- Raises the cancel in the middle of a statement, whichever is running.
CREATE FUNCTION cancel(int) RETURNS boolean LANGUAGE internal STRICT AS 'pg_cancel_backend';
-- A sequence remembers, whatever becomes of the transaction.
CREATE SEQUENCE returned;
EOC

my $deltas = has_deltas($session);
$session->query(
	'CREATE TABLE delta AS SELECT bloom_diff(a.f, b.f) AS d FROM big a, big b WHERE a.id = 1 AND b.id = 2')
  if $deltas;

# The filters of the table, read once for a statement.
my $f = '(SELECT f FROM big WHERE id = 1)';
my $g = '(SELECT f FROM big WHERE id = 2)';

# The same number as a parameter, so that the planner does not call the function.
my $m = "(SELECT $bits\::bigint OFFSET 0)";

# What can take long, as a query that returns little.
# Rows of the builds and scans.
my $rows = rounds(200_000, 1_000_000);
my @long = (
	[ 'bloom_create', "SELECT bloom_create_sized($m, 7) IS NULL" ],
	[ 'bloom_create, flattened', "SELECT length(bloom_create_sized($m, 7)::bytea)" ],
	[ 'bloom_reset', "SELECT length(bloom_reset($f)::bytea)" ],
	[ 'bloom_add', "SELECT bloom_add($f, 5) IS NULL" ],
	[ 'bloom_add_all', "SELECT bloom_add_all($f, array(SELECT k FROM known)) IS NULL" ],
	[ 'bloom_union', "SELECT bloom_union($f, $g) IS NULL" ],
	[ 'bloom_intersection', "SELECT bloom_intersection($f, $g) IS NULL" ],
	[ 'bloom_shrink', "SELECT bloom_shrink($f, 0.5) IS NULL" ],
	[ 'text out', "SELECT bloomfilter_out($f) IS NULL" ],
	[ 'text in', 'SELECT text::bloomfilter IS NULL FROM as_text' ],
	[ 'cast to bytea', "SELECT length($f\::bytea)" ],
	[ 'cast from bytea', 'SELECT bytes::bloomfilter IS NULL FROM as_bytes' ],
	[ 'send', "SELECT length(bloomfilter_send($f))" ],
	[ 'equality', "SELECT $f = (SELECT f FROM big WHERE id = 1 OFFSET 0)" ],
	[ 'bloom_verify', "SELECT bloom_verify($f)" ],
	[
		'bloom_agg, list',
		"SELECT bloom_agg(k, $bits / 10) IS NULL FROM generate_series(1, $rows) AS k"
	],
	[
		'bloom_agg, sized at the end',
		"SELECT bloom_agg(k) IS NULL FROM generate_series(1, $rows) AS k"
	],
	[ 'bloom_union_agg', 'SELECT bloom_union_agg(f) IS NULL FROM big' ],
	[ 'bloom_intersection_agg', 'SELECT bloom_intersection_agg(f) IS NULL FROM big' ],
	[
		'bloom_contains',
		"SELECT count(*) FROM big, generate_series(1, $rows) AS k WHERE id = 1 AND bloom_contains(f, k)"
	],
	[
		'bloom_contains_each, by slices',
		"SET bloomfilter.cache_size = 0; SELECT cardinality(bloom_contains_each($f, array(SELECT generate_series(1, $rows / 5))))"
	],
	[
		'bloom_matches',
		"SELECT cardinality(bloom_matches($f, array(SELECT generate_series(1, $rows))))"
	],
	[ 'bloom_diff', "SELECT length(bloom_diff($f, $g))" ],
	[ 'bloom_apply', "SELECT bloom_apply($f, d) IS NULL FROM delta" ],
	[ 'storing', "CREATE TEMP TABLE stored ON COMMIT DROP AS SELECT f FROM big WHERE id = 1" ],
);

@long = grep { $deltas || $_->[0] !~ /diff|apply/ } @long;

# Seconds of CPU that the backend has used; 0 where there is no /proc.
sub cpu_seconds
{
	open(my $stat, '<', '/proc/' . $session->pid . '/schedstat') or return 0;
	return (split / /, <$stat>)[0] / 1e9;
}

# Runs a statement and sends its backend a cancel after some seconds.  Returns how
# it ended, how long it went on after that, and how much of that it was running.
sub cancel_after
{
	my ($sql, $seconds) = @_;
	$session->start($sql);
	sleep($seconds);
	my ($begin, $cpu) = (time, cpu_seconds());
	kill 'INT', $session->pid;
	my (undef, $state) = $session->finish;
	return ($state, time - $begin, cpu_seconds() - $cpu);
}

# Cancels at fractions of the time that a statement takes.  How long it went on
# after that depends on the machine and is only reported.
my %slowest;
foreach my $case (@long)
{
	my ($name, $sql) = @$case;
	my $begin = time;
	is($session->state_of($sql), '', "$name works") or next;
	my $full = time - $begin;

	my $timeout = int($full * 50) || 1;
	my @states =
	  $session->state_of("SET statement_timeout = $timeout; $sql; RESET statement_timeout");
	my ($late, $running) = (0, 0);
	foreach my $fraction (0.3, 0.6, 0.9)
	{
		my ($state, $seconds, $cpu) = cancel_after($sql, $full * $fraction);
		push @states, $state;
		next if $state ne '57014';
		$late = $seconds if $seconds > $late;
		$running = $cpu if $cpu > $running;
	}
	is(scalar(grep { $_ ne '' && $_ ne '57014' } @states), 0,
		"$name is cancelled or ends, and nothing else");
	$session->query('RESET ALL');
	is($session->query('SELECT bloom_contains(f, 7) FROM big WHERE id = 1'),
		't', "$name: the backend answers after it was cancelled");
	$slowest{$name} = $running * 1000;
	note sprintf('%-32s takes %6.0f ms, ends %4.0f ms after the cancel, running for %4.0f of them',
		$name, $full * 1000, $late * 1000, $running * 1000);
}
my ($last) = sort { $slowest{$b} <=> $slowest{$a} } keys %slowest;
diag sprintf('longest that a cancelled statement kept running: %.0f ms (%s)',
	$slowest{$last}, $last);

# A cancel that is already there when the function begins its work: an argument
# raises it, and nothing between that and the function looks.
my $cancel = 'CASE WHEN cancel(pg_backend_pid()) THEN';
my @begun = (
	[ 'bloom_create', "bloom_create_sized($cancel $bits END, 7)" ],
	[ 'bloom_add', "bloom_add(f, $cancel 5 END)" ],
	[ 'bloom_add_all', "bloom_add_all(f, $cancel '{1,2}'::int[] END)" ],
	[ 'bloom_union', "bloom_union(f, $cancel f END)" ],
	[ 'bloom_intersection', "bloom_intersection(f, $cancel f END)" ],
	[ 'bloom_shrink', "bloom_shrink(f, $cancel 0.5 END)" ],
	[ 'bloom_reset', "bloom_reset($cancel f END)" ],
	[ 'text out', "bloomfilter_out($cancel f END)" ],
	[ 'cast to bytea', "($cancel f END)::bytea" ],
	[ 'send', "bloomfilter_send($cancel f END)" ],
	[ 'cast from bytea', "($cancel (SELECT bytes FROM as_bytes) END)::bloomfilter" ],
	[ 'equality', "f = $cancel f END" ],
	[ 'bloom_verify', "bloom_verify($cancel f END)" ],
	[ 'bloom_contains_each', "bloom_contains_each(f, $cancel '{1,2}'::int[] END)" ],
	[ 'bloom_matches', "bloom_matches(f, $cancel '{1,2}'::int[] END)" ],
	[ 'bloom_diff', "bloom_diff(f, $cancel f END)" ],
	[ 'bloom_apply', "bloom_apply(f, $cancel (SELECT d FROM delta) END)" ],
);
foreach my $case (grep { $deltas || $_->[0] !~ /diff|apply/ } @begun)
{
	my ($name, $expression) = @$case;

	is( $session->state_of(<<"EOC"), '57014', "$name: a cancel that is there already is raised");
SELECT CASE WHEN ($expression) IS NULL THEN 0 ELSE nextval('returned') END FROM big WHERE id = 1
EOC
	is($session->query('SELECT is_called FROM returned'),
		'f', "$name notices it while it works");
	$session->query("SELECT setval('returned', 1, false)");
	is($session->query('SELECT 1'), 1, "$name: the backend answers the next statement");
}

# A cancelled copy leaves nothing that answers for it.
is( $session->state_of(<<'EOC'), '', 'a cancel caught in the middle of a scan does no harm');
CREATE FUNCTION scan(victim int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN count(*) FROM big, known
	WHERE id = 1 AND bloom_contains(f, CASE WHEN k = victim AND cancel(pg_backend_pid()) THEN k ELSE k + 1 END);
EXCEPTION WHEN query_canceled THEN
	RETURN -1;
END $$;
EOC
is($session->query('SELECT scan(k) FROM generate_series(1, 19001, 1000) AS k WHERE scan(k) <> -1'),
	'', 'a cancel at any row of a scan is raised');
is($session->query('SELECT scan(-1)'), 20000, 'and the next scan finds every key');

# pg_cancel_backend and pg_terminate_backend from another session.
my $other = session($node);
my $pid = $session->pid;
foreach my $how ('pg_cancel_backend', 'pg_terminate_backend')
{
	$session->start(
		'SELECT count(bloom_verify(f)) FROM big, generate_series(1, 1000000) WHERE id = 1');
	$node->poll_query_until('postgres', <<"EOC") or die 'the statement did not start';
SELECT state = 'active' AND query LIKE 'SELECT count(bloom_verify%'
FROM pg_stat_activity WHERE pid = $pid
EOC
	$other->query("SELECT $how($pid)");
	last if $how eq 'pg_terminate_backend';
	my ($out, $state) = $session->finish;
	is($state, '57014', "$how ends a statement");
}
ok(!defined eval { $session->finish; 1 }, 'pg_terminate_backend ends the session');
$session->abandon;
$node->poll_query_until('postgres',
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
  or die 'the backend did not end';
is($other->query('SELECT count(*) FROM big WHERE bloom_verify(f)'),
	2, 'the filters are whole');

$other->quit;
stayed_alive($node);
$node->stop;
done_testing();
