# Chunks of a filter make the filter, within one snapshot also while it is swapped;
# and a build that runs is seen, until it ends in whatever way.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use BloomTest;

my $node = new_node('chunks', conf => "shared_preload_libraries = 'bloomfilter'\nmax_parallel_workers_per_gather = 0\n");
my $reader = session($node);
my $writer = session($node);

$writer->query(<<'EOC');
CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter);
INSERT INTO filters SELECT n, bloom_add_all(bloom_create(n), array(SELECT generate_series(1, least(n, 1000))))
FROM unnest('{1, 100, 3000, 1000000}'::int[]) AS n;
CREATE FUNCTION in_chunks(filter bloomfilter, size int) RETURNS bytea LANGUAGE sql AS
'SELECT string_agg(bloom_chunk(filter, at, size), '''' ORDER BY at)
FROM generate_series(0, (bloom_stats(filter)).bytes, size) AS at';
EOC

foreach my $size (1, 64, 1996, 1_000_003, 536_870_912, 2_147_483_647)
{
	next if $size == 1 && !rounds(0, 1);
	my $small = $size < 64 ? 'AND id < 3000' : '';
	is( $reader->query("SELECT count(*) FROM filters WHERE in_chunks(f, $size) <> f::bytea $small"),
		0, "chunks of $size bytes make the filter");
}
is( $reader->query(
		"SELECT bool_and(bloom_chunk(f, bytes, 10) = '' AND bloom_chunk(f, bytes - 3, 10) = substr(f::bytea, bytes::int - 2) AND bloom_chunk(f, 9223372036854775807, 2147483647) = '') FROM filters, LATERAL (SELECT (bloom_stats(f)).bytes) AS s"
	),
	't', 'a chunk at the end is short and one behind it empty');
is($reader->state_of("SELECT bloom_chunk(f, $_) FROM filters"),
	'22023', "offset and length $_ are refused")
  foreach '-1, 10', '0, -1', '(-9223372036854775808), -2147483648';

# A reader that fetches chunk by chunk, as application servers do, while another
# session swaps and vacuums.
my ($bytes, $expected) = split /\|/,
  $reader->query(
	'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT length(f::bytea), md5(f::bytea) FROM filters WHERE id = 1000000'
  );
my $fetched = '';
for (my $at = 0; $at < $bytes; $at += 100_000)
{
	$fetched .= $reader->query(
		"SELECT encode(bloom_chunk(f, $at, 100000), 'hex') FROM filters WHERE id = 1000000");
	$writer->query(
		"UPDATE filters SET f = bloom_add_all(bloom_create(1000000, 0.02, $at), '{5}'::int[]) WHERE id = 1000000");
	$writer->query('VACUUM filters');
}
is($reader->query("SELECT md5(decode('$fetched', 'hex'))"),
	$expected, 'chunks of one snapshot fit together while others swap');
is( $reader->query("SELECT decode('$fetched', 'hex')::bloomfilter = f FROM filters WHERE id = 1000000"),
	't', 'and are the filter of that snapshot');
$reader->query('COMMIT');
is($reader->query('SELECT f @> 5 FROM filters WHERE id = 1000000'), 't', 'the next sees the last one');

# Progress.  The build waits in the middle, for a lock that this test holds.
$writer->query(<<'EOC');
CREATE FUNCTION wait_at(k int, stop int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	IF k = stop THEN
		PERFORM pg_advisory_lock(1);
		PERFORM pg_advisory_unlock(1);
	END IF;
	RETURN k;
END $$;
EOC
my $builder = session($node);
my $pid = $builder->pid;
my $rows = 100_000;
my $slots = 'SELECT count(*) FROM bloom_progress()';

# Starts a build that waits after so many rows, and waits until it does.
sub build_until
{
	my ($stop, $then) = @_;
	$writer->query('SELECT pg_advisory_lock(1)');
	$builder->start(
		"SELECT bloom_verify(bloom_agg($then)) FROM (SELECT wait_at(k, $stop) AS k FROM generate_series(1, $rows) AS k OFFSET 0) AS q");
	$node->poll_query_until('postgres',
		"SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the build did not come to its stop';
	return;
}

is($reader->query($slots), 0, 'no build, no row');
build_until($rows / 2, "k, $rows");
is($reader->query("SELECT pid = $pid, leader_pid = $pid, started <= clock_timestamp(), rows <= $rows / 2, rows > $rows / 10, rows_per_second > 0 FROM bloom_progress()"),
	't|t|t|t|t|t', 'a build that runs is shown, with about as many rows as it has read');
$writer->query('SELECT pg_advisory_unlock(1)');
is(($builder->finish)[0], 't', 'the build ends');
is($reader->query($slots), 0, 'and is shown no more');

build_until($rows / 2, "k / (k - $rows)");
is($reader->query($slots), 1, 'a build that will fail is shown');
$writer->query('SELECT pg_advisory_unlock(1)');
is(($builder->finish)[1], '22012', 'it fails');
is($reader->query($slots), 0, 'and is shown no more');

build_until($rows / 2, 'k');
is($reader->query($slots), 1, 'a build that will be cancelled is shown');
$reader->query("SELECT pg_cancel_backend($pid)");
is(($builder->finish)[1], '57014', 'it is cancelled');
is($reader->query($slots), 0, 'and is shown no more');
$writer->query('SELECT pg_advisory_unlock(1)');

build_until($rows / 2, 'k');
$reader->query("SELECT pg_terminate_backend($pid)");
ok(!defined eval { $builder->finish; 1 }, 'a build is terminated');
$builder->abandon;
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
  or die 'the backend did not end';
is($reader->query($slots), 0, 'and is shown no more');
$writer->query('SELECT pg_advisory_unlock(1)');

# More builds than there is room to show are built all the same.
is($reader->query('SELECT count(*), bool_and(bloom_verify(f)) FROM (SELECT bloom_agg(k) AS f FROM generate_series(1, 1000) AS k GROUP BY k % 200) AS q'),
	'200|t', 'many builds in one process');
is($reader->query($slots), 0, 'leave no row');

$_->quit foreach $reader, $writer;
stayed_alive($node);
$node->stop;
done_testing();
