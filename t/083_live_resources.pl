# What live indexes take of the server: a build tells what its workers read and for which statement, and doesn't read keys
# that VACUUM may have taken; what reads a whole index leaves others' pages in the buffers;
# questions about partitions are found in the catalogs once, and keep a lock a partition; and one
# that is too large for a value has parts.
use BloomTest;

my $node = new_node('live_resources', conf => <<'EOC');
shared_preload_libraries = 'pg_stat_statements'
shared_buffers = 16MB
max_worker_processes = 8
max_parallel_maintenance_workers = 2
min_parallel_table_scan_size = 0
EOC
$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION pg_stat_statements;
CREATE EXTENSION pg_buffercache;
CREATE TABLE many (k int, filler text) WITH (parallel_workers = 2, autovacuum_enabled = off);
ALTER TABLE many ALTER filler SET STORAGE PLAIN;
INSERT INTO many SELECT g, repeat('x', 1900) FROM generate_series(1, 8000) AS g;
VACUUM many;
CREATE FUNCTION shown(k int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
	$$ SELECT (leader_pid IS NOT NULL) || ' ' || query FROM pg_stat_activity WHERE pid = pg_backend_pid() $$;
EOC
my $create = 'CREATE INDEX many_k ON many USING bloomfilter (shown(k)) WITH (n = 1000);';
$node->safe_psql('postgres', $create);
is($node->safe_psql('postgres', "SELECT bloom_cardinality(bloom_snapshot('many_k')), bloom_index_contains('many_k', 'false $create'), bloom_index_contains('many_k', 'true $create')"),
	'2|t|t', 'pg_stat_activity shows the statement in the leader and its workers');
is($node->safe_psql('postgres', <<'EOC'), 't', 'pg_stat_statements knows the pages that workers read');
SELECT sum(shared_blks_hit + shared_blks_read) >= (SELECT relpages FROM pg_class WHERE relname = 'many')
FROM pg_stat_statements WHERE query LIKE 'CREATE INDEX many_k%'
EOC

$node->safe_psql('postgres', 'CREATE TABLE large (k int); CREATE INDEX large_k ON large USING bloomfilter (k) WITH (n = 12000000)');
my $pages = "SELECT count(*) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('large_k')";
foreach my $reader ('bloom_index_verify', 'bloom_snapshot')
{
	$node->restart;
	$node->safe_psql('postgres', "SELECT $reader('large_k') IS NULL");
	cmp_ok($node->safe_psql('postgres', $pages), '<', 400, "$reader takes a few buffers for more than a thousand pages");
}

# The search in the catalogs looks into pg_inherits.
my $asker = session($node);
$asker->query(<<'EOC');
CREATE TABLE parts (id int) PARTITION BY HASH (id);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES WITH (MODULUS 8, REMAINDER %s)', g, g) FROM generate_series(0, 7) AS g \gexec
CREATE INDEX parts_id ON parts USING bloomfilter (id);
INSERT INTO parts SELECT generate_series(1, 1000);
SET plan_cache_mode = force_generic_plan;
PREPARE by_column (int) AS SELECT bloom_index_contains('parts', 'id', $1);
PREPARE by_index (int) AS SELECT bloom_index_contains('parts_id', $1);
EXECUTE by_column (1); EXECUTE by_index (1);
EOC
my $scans = "SELECT pg_stat_force_next_flush(); SELECT idx_scan FROM pg_stat_sys_indexes WHERE indexrelname = 'pg_inherits_parent_index'";
my ($before) = $asker->query($scans) =~ /(\d+)$/;
is($asker->query("EXECUTE by_column ($_); EXECUTE by_index (-$_)"), "t\nf", "key $_ of partitions") foreach 1 .. 20;
my ($after) = $asker->query($scans) =~ /(\d+)$/;
cmp_ok($after - $before, '<', 10, 'questions about partitions are found once');
is($asker->query("ALTER TABLE parts DETACH PARTITION parts_3; EXECUTE by_column (-1); INSERT INTO parts_3 SELECT generate_series(1, 1000); ALTER TABLE parts_3 RENAME TO gone; CREATE TABLE parts_3 PARTITION OF parts FOR VALUES WITH (MODULUS 8, REMAINDER 3); INSERT INTO parts SELECT generate_series(2001, 3000); SELECT count(*) FROM parts WHERE NOT bloom_index_contains('parts', 'id', id)"),
	"f\n0", 'and found again when there are others');

# Asked twice, for what is found in the catalogs and what is remembered.
$asker->query(<<'EOC');
CREATE TABLE wide (id int, part int) PARTITION BY LIST (part);
SELECT format('CREATE TABLE wide_%s PARTITION OF wide FOR VALUES IN (%s)', g, g) FROM generate_series(1, 100) AS g \gexec
CREATE INDEX wide_id ON wide USING bloomfilter (id);
CREATE INDEX wide_btree ON wide (id);
SET max_parallel_workers_per_gather = 0;
EOC
foreach my $question ("bloom_index_contains('wide', 'id', 1)", "bloom_index_contains('wide_id', 1)", "bloom_index_contains_each('wide', 'id', array[1, 2])",
	"count(*) FROM bloom_index_partitions('wide', 'id', 1)", "count(*) FROM bloom_search(NULL::wide, 'id', 1)")
{
	my $locks = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^wide'";
	my (undef, undef, $kept) = split /\n/, $asker->query("BEGIN; SELECT $question; SELECT $question; $locks; COMMIT");
	cmp_ok($kept, '<=', 102, "SELECT $question keeps a lock for each of 100 partitions");
}
$asker->query('DROP TABLE wide');
$asker->quit;

# An old snapshot keeps a key that an update has replaced; when it goes, VACUUM of the TOAST table
# takes the key while the build is under way.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE toasted (id int, k text) WITH (fillfactor = 50, autovacuum_enabled = off, toast.autovacuum_enabled = off);
ALTER TABLE toasted ALTER k SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT g, 'short' FROM generate_series(0, 1000) AS g;
INSERT INTO toasted VALUES (1001, repeat('x', 5000));
CREATE FUNCTION key_of(id int, k text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF id = 0 THEN PERFORM pg_advisory_xact_lock(1); END IF;
	RETURN md5(k);
END $$;
EOC
my ($old, $builder, $holder) = map { session($node) } 1 .. 3;
$old->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM toasted');
$node->safe_psql('postgres', "UPDATE toasted SET k = repeat('y', 5000) WHERE id = 1001");
$holder->query('SELECT pg_advisory_lock(1)');
$builder->start('CREATE INDEX toasted_k ON toasted USING bloomfilter (key_of(id, k))');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") or die 'the build does not wait';
$old->query('COMMIT');
my $toast = $node->safe_psql('postgres', "SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'toasted'");
$node->safe_psql('postgres', "VACUUM $toast");
$holder->query('SELECT pg_advisory_unlock(1)');
is(($builder->finish)[1], '', 'a key that nobody sees any more is not read');
is($node->safe_psql('postgres', "SELECT bloom_index_contains('toasted_k', md5(repeat('y', 5000))), bloom_index_contains('toasted_k', md5(repeat('x', 5000)))"),
	't|f', 'and the one in its place is');
$_->quit foreach $old, $builder, $holder;

# Beyond one value: parts, as those of bloom_part_agg.  The index has 600 MB.
my $large = session($node);
$large->query('CREATE UNLOGGED TABLE vast (k int); CREATE INDEX vast_k ON vast USING bloomfilter (k) WITH (n = 500000000); INSERT INTO vast SELECT generate_series(1, 1000)');
is($large->query("SELECT parts, n FROM bloom_index_stats('vast_k', 4)"), '2|500000000', 'a large one has two parts');
is($large->query("SELECT count(*) FILTER (WHERE NOT bloom_index_contains('vast_k', k)), bloom_index_contains('vast_k', -1) FROM vast"), '0|f', 'and all keys');
like(($large->try("SELECT bloom_snapshot('vast_k')"))[2], qr/too large for one bloomfilter/, 'no value has both parts');
is($large->query("SELECT bloom_snapshot('vast_k', 1) = (SELECT bloom_part_agg(k, 2, 500000000, 0.01) FROM vast WHERE bloom_part(k, 2) = 1) FROM (SELECT) AS once"), 't', 'one has the bytes of bloom_part_agg');
$large->query('DROP TABLE vast');

finish($node);
