# Memory: many groups fit a small work_mem, a build needs its state and no more,
# and errors that are caught leave nothing behind.
use BloomTest;

my $node = new_node('memory', conf => "hash_mem_multiplier = 1\nmax_parallel_workers_per_gather = 0\n");
my $session = session($node);
plan skip_all => 'no /proc to read memory from' unless defined peak_kb($session->pid);

$session->query(<<'EOC');
CREATE TABLE grouped AS SELECT i % 20000 AS g, i AS k FROM generate_series(1, 200000) AS i;
CREATE TABLE rows AS SELECT i AS k FROM generate_series(1, 250000) AS i;
ANALYZE;
EOC

# Runs a query in a session of its own: its answer and its memory's peak, in kB
# above what a session without the query has.
sub measured
{
	my ($query, $settings) = @_;
	my $own = session($node);
	$own->query("$settings; SELECT bloom_create(1)");
	my $before = peak_kb($own->pid);
	my $answer = $own->query($query);
	my $peak = peak_kb($own->pid) - $before;
	$own->quit;
	return ($answer, $peak);
}

# Groups.
my ($right, $spilled) = measured('SELECT count(*), sum(bloom_contains(f, g + 20000)::int) FROM (SELECT g, bloom_agg(k) AS f FROM grouped GROUP BY g) AS q',
	"SET work_mem = '64kB'");
is($right, '20000|20000', 'groups that do not fit have their keys');
cmp_ok($spilled, '<', 32 * 1024, 'and are spilled');

# A plan that aggregates each partition by itself has a state for each, which gives back what it worked with.
$session->query(<<'EOC');
CREATE TABLE parted (k bigint, p int) PARTITION BY LIST (p);
DO 'BEGIN FOR i IN 1 .. 10 LOOP EXECUTE format(''CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%s)'', i, i); END LOOP; END';
INSERT INTO parted SELECT g, g % 10 + 1 FROM generate_series(1, 200000) AS g;
ANALYZE parted;
EOC
my %peak;
foreach my $wise ('off', 'on')
{
	(undef, $peak{$wise}) = measured("CALL bloom_publish('parted', 'SELECT k FROM parted', n => 1000000)",
		"SET enable_partitionwise_aggregate = $wise; SET maintenance_work_mem = '1MB'");
}
cmp_ok($peak{on} - $peak{off}, '<', 4 * 1024, "ten partitions' states take no more than one ($peak{off} kB, $peak{on} kB)");
$session->query("CALL bloom_drop('parted'); DROP TABLE parted");

# PostgreSQL counts the memory of large filters too, and spills groups that come when it is full.
$session->query('CREATE TABLE large AS SELECT bloom_add(bloom_create(10000000), 7) AS f');
my $filter_kb = $session->query('SELECT (bloom_stats(f)).bytes / 1024 FROM large');
foreach my $groups (
	[ 'bloom_agg(k, 10000000)', 'SELECT k / 140000 AS g, k FROM generate_series(0, 12 * 140000 - 1) AS k', 'g * 140000 + 139999' ],
	[ 'bloom_union_agg(f)', 'SELECT g, f FROM large, generate_series(1, 12) AS g', '7' ])
{
	my ($aggregate, $rows, $member) = @$groups;
	my $query = "SELECT g, $aggregate AS f FROM ($rows) AS r GROUP BY g";
	$session->query("SET work_mem = '4MB'; SET enable_sort = off");
	my $plan = join '', $session->query("EXPLAIN (ANALYZE, FORMAT JSON) $query");
	my ($batches) = $plan =~ /"HashAgg Batches": (\d+)/;
	my ($kb) = $plan =~ /"Peak Memory Usage": (\d+)/;
	cmp_ok($batches, '>', 1, "$aggregate: twelve large groups are more than one batch");
	cmp_ok($kb, '>=', $filter_kb, 'the memory of a filter is counted');
	is($session->query("SELECT count(*), bool_and(bloom_contains(f, $member)) FROM ($query OFFSET 0) AS q"),
		'12|t', 'each group has its keys');
	$session->query('RESET work_mem; RESET enable_sort');
}

# A build's memory is its state, however many rows come.
foreach my $state (
	[ 'filter', 'bloom_agg(k % 125000, 125000)', 160 ],
	[ 'list', 'bloom_agg(k % 100000)', 8 * 400 + 128 ])
{
	my ($name, $build, $state_kb) = @$state;
	my (undef, $few) = measured("SELECT bloom_verify($build) FROM rows WHERE k <= 150000", '');
	my (undef, $many) = measured(
		"SELECT bloom_verify($build) FROM (SELECT k FROM rows UNION ALL SELECT k FROM rows) AS r", '');
	note "$name: $few kB for 150,000 rows, $many kB for 500,000";
	cmp_ok($many, '<=', $few + 8 * 1024, "$name: more rows take no more memory");
	cmp_ok($many, '<=', 4 * $state_kb + 48 * 1024, "$name: memory is that of the state");
}

# Errors that are caught, in one statement after another of a function.
$session->query(<<'EOC');
CREATE TABLE stored AS
SELECT bloom_add_all(bloom_create(500000), array(SELECT generate_series(1, 1000))) AS f;
CREATE FUNCTION cancel(int) RETURNS boolean LANGUAGE internal STRICT AS 'pg_cancel_backend';
CREATE FUNCTION fail(how text, rounds int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE caught int := 0; me int := pg_backend_pid(); filter bloomfilter := f FROM stored;
BEGIN
	FOR i IN 1..rounds LOOP
		BEGIN
			CASE how
				WHEN 'copy' THEN PERFORM bloom_verify(CASE WHEN cancel(me) THEN f END) FROM stored;
				WHEN 'scan' THEN PERFORM bloom_contains_each(f, array(SELECT generate_series(1, 10000)) || CASE WHEN cancel(me) THEN '{1}'::int[] END) FROM stored;
				WHEN 'union' THEN PERFORM bloom_union(f, CASE WHEN cancel(me) THEN f END) FROM stored;
				WHEN 'key' THEN PERFORM bloom_contains(f, 'text'::text) FROM stored;
				WHEN 'kept' THEN
					IF bloom_contains(filter, 1) AND bloom_contains(filter, 1.5) THEN caught := -1; END IF;
				WHEN 'agg' THEN PERFORM bloom_agg(k, 1000000 + k / 5000) FROM rows WHERE k <= 6000;
				WHEN 'after a scan' THEN
					PERFORM count(*) FROM stored, generate_series(1, 5000) AS k WHERE bloom_contains(f, k) AND 1 / (5000 - k) < 0;
			END CASE;
		EXCEPTION WHEN OTHERS OR query_canceled THEN
			caught := caught + 1;
		END;
	END LOOP;
	RETURN caught;
END $$;
EOC
foreach my $how ('copy', 'scan', 'union', 'key', 'kept', 'agg', 'after a scan')
{
	my $own = session($node);
	is($own->query("SELECT fail('$how', 5)"), 5, "$how: errors are caught");
	my $before = anonymous_kb($own->pid);
	is($own->query("SELECT fail('$how', 100)"), 100, "$how: and 100 more");
	cmp_ok(anonymous_kb($own->pid) - $before, '<=', 6 * 1024, "$how: nothing is left behind");
	is($own->query('SELECT bloom_contains(f, 7), bloom_verify(f) FROM stored'),
		't|t', "$how: the session answers right afterwards");
	$own->quit;
}

# Keys of each kind of row that an index takes, however many come: what a key's bytes were made
# in is given back.
$session->query(<<'EOC');
CREATE TABLE many_keys AS
SELECT i::numeric AS n, repeat('long', 550) || i AS packed, '10.0.0.0'::inet + i AS a
FROM generate_series(1, 200000) AS i;
EOC
foreach my $column ('n', 'packed', 'a')
{
	my $own = session($node);
	$own->query("SET maintenance_work_mem = '1MB'; CREATE TEMP TABLE taken (LIKE many_keys); CREATE INDEX ON taken USING bloomfilter ($column)");
	$own->query("INSERT INTO taken SELECT * FROM many_keys LIMIT 1000; CREATE INDEX few ON taken USING bloomfilter ($column)");
	my $before = own_peak_kb($own->pid);
	$own->query("CREATE INDEX many ON many_keys USING bloomfilter ($column) WITH (n = 200000)");
	cmp_ok(own_peak_kb($own->pid) - $before, '<', 4 * 1024, "an index of $column takes no memory for each row");
	$own->query('BEGIN; INSERT INTO many_keys SELECT * FROM many_keys; ROLLBACK');
	cmp_ok(own_peak_kb($own->pid) - $before, '<', 4 * 1024, "nor does INSERT");
	$own->query("DROP INDEX many; CREATE INDEX CONCURRENTLY many ON many_keys USING bloomfilter ($column) WITH (n = 200000)");
	cmp_ok(own_peak_kb($own->pid) - $before, '<', 4 * 1024, "nor does CREATE INDEX CONCURRENTLY");
	$own->query('DROP INDEX many');
	$own->quit;
}

# A loop that adds to a variable keeps one filter, not one for each round.
my ($answer, $peak) = measured(<<'EOC', 'SET bloomfilter.overflow = ignore');
CREATE FUNCTION add_many() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE filter bloomfilter := bloom_create(500000);
BEGIN
	FOR i IN 1..300 LOOP filter := bloom_add(filter, i); END LOOP;
	RETURN bloom_contains(filter, 1) AND bloom_contains(filter, 300);
END $$;
SELECT add_many()
EOC
is($answer, 't', 'a variable that keys are added to contains them');
cmp_ok($peak, '<', 16 * 1024, 'and takes the memory of one filter');

# Changes of a list by day that are read into memory are there once: keys that are stored compressed, too.
$session->query(q{CREATE TABLE of_texts AS SELECT repeat(md5(g::text), 1200) AS k FROM generate_series(1, 200) g});
$session->query(q{CALL bloom_publish('texts', 'SELECT k FROM of_texts LIMIT 1'); CALL bloom_track('texts'); SELECT count(bloom_change('texts', k, true)) FROM of_texts});
$session->query(q{BEGIN; DECLARE c CURSOR FOR SELECT bloom_lookup('texts', k) FROM of_texts; FETCH 150 FROM c});
cmp_ok($session->query(q{SELECT sum(used_bytes) FROM pg_backend_memory_contexts WHERE name = 'bloomfilter changes'}), '<', 12 * 1024 * 1024,
	'changes take the memory of their keys');
$session->query('ROLLBACK');

finish($node);
