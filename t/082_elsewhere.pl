# Rows that another engine keeps: nothing of ours says then that a row is not there.
# An imitation: stand-ins have the catalogs of Citus and TimescaleDB as these make them.
use BloomTest;

my $library = build_library('other_storage');
plan skip_all => 'a library of C functions can\'t be built here' if !defined $library;

my $node = new_node('elsewhere');
my $session = session($node);
$session->query(<<"EOC");
SET allow_system_table_mods = on;
CREATE FUNCTION announce(oid) RETURNS void AS '$library' LANGUAGE C;
CREATE FUNCTION other_storage(internal) RETURNS table_am_handler AS '$library' LANGUAGE C;
CREATE ACCESS METHOD other_storage TYPE TABLE HANDLER other_storage;
CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE plain AS SELECT g AS id FROM generate_series(1, 1000) AS g;
CREATE INDEX plain_f ON plain USING bloomfilter (id);
CREATE TABLE acct AS SELECT g AS id FROM generate_series(1, 1000) AS g;
CREATE INDEX acct_f ON acct USING bloomfilter (id);
CREATE TABLE part (id int, day int) PARTITION BY RANGE (day);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (1) TO (2);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (2) TO (3);
CREATE INDEX part_f ON part USING bloomfilter (id);
INSERT INTO part SELECT g, 1 + g % 2 FROM generate_series(1, 1000) AS g;
CREATE TABLE ev (id int);
CREATE TABLE ev_1 () INHERITS (ev);
CREATE TABLE ev_2 () INHERITS (ev);
CREATE INDEX ev_f ON ev USING bloomfilter (id);
CREATE INDEX ev_1_f ON ev_1 USING bloomfilter (id);
CREATE INDEX ev_2_f ON ev_2 USING bloomfilter (id);
INSERT INTO ev_1 SELECT generate_series(1, 500);
INSERT INTO ev_2 SELECT generate_series(501, 1000);
EOC

# Every way to ask a table's live index, by its index and by its column.
sub by_index
{
	my ($index) = @_;
	return map { "SELECT $_" } "bloom_index_contains('$index', 42)", "bloom_index_contains('$index', '42')",
	  "bloom_index_contains_each('$index', array[42])",
	  "bloom_snapshot('$index') IS NULL", "bloom_snapshot('$index', 0) IS NULL";
}

sub by_column
{
	my ($table) = @_;
	return ((map { "SELECT $_" } "bloom_index_contains('$table', 'id', 42)", "bloom_index_contains_each('$table', 'id', array[42])"),
		"SELECT * FROM bloom_index_partitions('$table', 'id', 42)");
}

sub looks
{
	my ($index) = @_;
	return map { "SELECT $_ IS NULL" } "bloom_index_stats('$index')", "bloom_index_verify('$index')";
}

# By SQLSTATE and message.
sub refused
{
	my ($pattern, @statements) = @_;
	foreach my $statement (@statements)
	{
		my (undef, $state, $error) = $session->try($statement);
		like("$state $error", $pattern, "$statement: refused");
	}
	return;
}

sub elsewhere
{
	my ($why, @statements) = @_;
	return refused(qr/rows of table "\w+" are not kept in the table: $why/, @statements);
}

sub answered
{
	foreach my $statement (@_)
	{
		my (undef, $state) = $session->try($statement);
		is($state, '', "$statement: answered");
	}
}

my @plain = (by_index('plain_f'), by_column('plain'), looks('plain_f'), by_index('part_1_id_idx'), by_column('part'),
	'SELECT bloom_index_contains(\'part_f\', 42)');
my @acct = (by_index('acct_f'), by_column('acct'), looks('acct_f'), "SELECT bloom_publish_filter('acct', bloom_snapshot('acct_f'))");
answered(@plain, @acct);

# Citus: CREATE EXTENSION comes later than the index, and so does the table's own row.
$session->query(<<'EOC');
CREATE SCHEMA trap;
CREATE TABLE trap.pg_dist_partition (logicalrelid regclass);
INSERT INTO trap.pg_dist_partition VALUES ('plain');
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL, partkey text,
	colocationid int NOT NULL DEFAULT 0, repmodel "char" NOT NULL DEFAULT 'c', autoconverted bool NOT NULL DEFAULT false);
CREATE UNIQUE INDEX pg_dist_partition_logical_relid_index ON pg_catalog.pg_dist_partition (logicalrelid);
SET search_path = trap, public;
EOC
answered(@plain, @acct);
$session->query("INSERT INTO pg_catalog.pg_dist_partition VALUES ('acct', 'h'); SELECT announce('acct'::regclass)");
elsewhere(qr/Citus keeps the rows in shards/, @acct);
answered(@plain);
$session->query("INSERT INTO pg_catalog.pg_dist_partition VALUES ('part', 'h'), ('part_1', 'h'); SELECT announce('part'::regclass)");
elsewhere(qr/Citus/, by_column('part'), by_index('part_1_id_idx'), 'SELECT bloom_index_contains(\'part_f\', 42)');
# One partition of a table that itself is not managed
$session->query("DELETE FROM pg_catalog.pg_dist_partition WHERE logicalrelid = 'part'::regclass; SELECT announce('part'::regclass)");
elsewhere(qr/Citus/, by_column('part'), 'SELECT bloom_index_contains(\'part_f\', 42)');
answered(by_index('part_2_id_idx'));
# On a worker a shard is an ordinary table, which the catalog doesn't list.
$session->query('CREATE TABLE public.acct_102008 AS SELECT * FROM acct; CREATE INDEX acct_102008_f ON acct_102008 USING bloomfilter (id)');
is($session->query("SELECT bloom_index_contains('acct_102008_f', 42), bloom_index_contains('acct_102008', 'id', -42)"), 't|f', 'a shard');
# By the catalogs it may be on another node by now, or on its way; of a split nothing is left but its name.
$session->query('CREATE TABLE pg_catalog.pg_dist_local_group (groupid int PRIMARY KEY); INSERT INTO pg_catalog.pg_dist_local_group VALUES (0);
	CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint); INSERT INTO pg_catalog.pg_dist_shard VALUES (\'acct\', 102008);
	CREATE TABLE pg_catalog.pg_dist_placement (placementid bigint, shardid bigint, groupid int); INSERT INTO pg_catalog.pg_dist_placement VALUES (1, 102008, 0)');
my $long = 'a' x 48 . '_0123abcd_102009';
$session->query("CREATE TABLE public.renamed_102008 AS SELECT * FROM acct; CREATE INDEX renamed_f ON renamed_102008 USING bloomfilter (id);
	CREATE TABLE public.$long AS SELECT * FROM acct; CREATE INDEX long_f ON $long USING bloomfilter (id);
	CREATE TABLE public.log_2024 AS SELECT * FROM acct; CREATE INDEX log_f ON log_2024 USING bloomfilter (id)");
my @shard = (by_index('acct_102008_f'), by_column('acct_102008'), looks('acct_102008_f'));
my @log = (by_index('log_f'), by_column('log_2024'));
answered(@shard, @log, by_column('renamed_102008'));
elsewhere(qr/Citus has moved the shard/, by_column($long));
my $mover = session($node);
foreach my $change ('UPDATE pg_catalog.pg_dist_placement SET groupid = 1', 'DELETE FROM pg_catalog.pg_dist_placement')
{
	$mover->query($_)
	  foreach 'DELETE FROM pg_catalog.pg_dist_placement', 'INSERT INTO pg_catalog.pg_dist_placement VALUES (1, 102008, 0)', 'BEGIN', $change;
	elsewhere(qr/Citus has moved the shard/, @shard);
	$mover->query('ROLLBACK');
	answered(@shard);
	$mover->query($change);
	elsewhere(qr/Citus has moved the shard/, @shard, by_column('renamed_102008'));
	answered(@log);
}
$mover->query('BEGIN');
$mover->query('INSERT INTO pg_catalog.pg_dist_placement VALUES (1, 102008, 0)');
elsewhere(qr/Citus has moved the shard/, @shard);
$mover->query('COMMIT');
answered(@shard);
$session->query('DELETE FROM pg_catalog.pg_dist_placement; DELETE FROM pg_catalog.pg_dist_shard');
elsewhere(qr/Citus has moved the shard/, @shard);
answered(@log, by_column('renamed_102008'));
$mover->quit;
$session->query('DROP TABLE pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement');

# A list's filters beside a distributed table: its plan on the real one reads them for each row.
$session->query("SELECT bloom_publish_filter('acct', bloom_agg(id)) FROM plain");
my $filter = "(SELECT filter FROM bloom_list_part WHERE name = 'acct')";
my @beside = ("SELECT count(*) FROM acct a, bloom_list_part l WHERE bloom_contains(l.filter, a.id)",
	"SELECT bloom_contains(l.filter, a.id + 1) FROM acct a LEFT JOIN bloom_list_part l ON l.name = 'acct'",
	"SELECT id FROM acct a WHERE EXISTS (SELECT FROM bloom_generation_part l WHERE a.id <@ l.filter)",
	"SELECT (SELECT bool_or(l.filter @> a.id) FROM bloom_list_part l) FROM acct a");
refused(qr/^0A000 .*the filters of lists can't be joined with a distributed table/, @beside);
my @once = ("SELECT bool_and(bloom_contains($filter, id)) FROM acct", "SELECT count(*) FROM plain p, bloom_list_part l WHERE bloom_contains(l.filter, p.id)",
	"WITH k AS MATERIALIZED (SELECT id FROM acct) SELECT count(*) FROM k, bloom_list_part l WHERE bloom_contains(l.filter, k.id)");
answered(@once);
$session->query("UPDATE pg_catalog.pg_dist_partition SET partmethod = 'n', repmodel = 't' WHERE logicalrelid = 'acct'::regclass");
answered(@beside);
$session->query("CALL bloom_drop('acct'); DELETE FROM pg_catalog.pg_dist_partition; SELECT announce('acct'::regclass)");
answered(@plain, @acct);

# The lists' own tables, made reference tables.
$session->query("SELECT bloom_publish_filter('members', bloom_agg(id)) FROM plain");
my @list = ("SELECT bloom_lookup('members', 42)", "SELECT bloom_lookup_each('members', array[42])");
answered(@list);
$session->query("INSERT INTO pg_catalog.pg_dist_partition VALUES ('bloom_generation_part', 'n'); SELECT announce('bloom_generation_part'::regclass)");
elsewhere(qr/Citus/, @list);
my (undef, undef, $hint) = $node->psql('postgres', $list[0]);
like($hint, qr/HINT: .*way back.*reference table of your own/, 'the hint is not the way into the same trap');
answered(@plain);
$session->query('DELETE FROM pg_catalog.pg_dist_partition; SELECT announce(\'bloom_generation_part\'::regclass)');

# Lists are the coordinator's: a worker's of the same name, from before it was one, isn't asked
# and isn't changed, and none is published there.
my @change = ("CALL bloom_publish('members', 'SELECT id FROM plain')", "SELECT bloom_publish_filter('members', bloom_agg(id)) FROM plain",
	"SELECT bloom_publish_filter('members', array[bloom_agg(id)]) FROM plain", "CALL bloom_refresh('members')",
	"CALL bloom_rollback('members')", "CALL bloom_set_identity('members', gen_random_uuid())", "CALL bloom_drop('members')");
$session->query("CALL bloom_publish('members', 'SELECT id FROM plain')");
$session->query('CREATE TABLE pg_catalog.pg_dist_local_group (groupid int PRIMARY KEY); INSERT INTO pg_catalog.pg_dist_local_group VALUES (0)');
answered(@list, 'CALL bloom_refresh(\'members\')');
foreach my $node ('UPDATE pg_catalog.pg_dist_local_group SET groupid = 2', 'DELETE FROM pg_catalog.pg_dist_local_group')
{
	$session->query($node);
	refused(qr/^0A000 .*lists are not (looked up|published|changed) on a worker of Citus/, @list, @change);
	answered(@plain);
}

# A worker without metadata says that it is 0, too: the engine's own sessions on it get no answer.
$session->query('INSERT INTO pg_catalog.pg_dist_local_group VALUES (0); CREATE TABLE pg_catalog.pg_dist_node (nodeid int)');
answered(@list);
$session->query("SET application_name = 'citus_internal gpid=10000000042'");
refused(qr/^0A000 .*on a worker of Citus/, @list, @change);
$session->query('INSERT INTO pg_catalog.pg_dist_node VALUES (1)');
answered(@list);
$session->query('RESET application_name; DROP TABLE pg_catalog.pg_dist_node, pg_catalog.pg_dist_local_group');
answered(@list);

# A shape that nobody knows.
$session->query('ALTER TABLE pg_catalog.pg_dist_partition RENAME logicalrelid TO relation');
refused(qr/table "pg_catalog.pg_dist_partition" has not the columns that bloomfilter knows/, @plain, @acct, @list);
is($session->query("SELECT count(*) FROM bloom_live WHERE status ~ 'has not the columns'"), $session->query('SELECT count(*) FROM bloom_live'), 'the view says so');
$session->query('DROP TABLE pg_catalog.pg_dist_partition');
answered(@plain, @acct, @list);

# A shard that came to a node after the transaction's snapshot: the node may show none of its rows.
my $again = "CALL bloom_publish('members', 'SELECT id FROM plain')";
my $other = session($node);
$session->query('CREATE TABLE pg_catalog.pg_dist_placement (placementid bigint, groupid int); INSERT INTO pg_catalog.pg_dist_placement VALUES (1, 1)');
$session->query("BEGIN ISOLATION LEVEL REPEATABLE READ; $again; INSERT INTO pg_catalog.pg_dist_placement VALUES (2, 1); $again");
$other->query('UPDATE pg_catalog.pg_dist_placement SET groupid = 2');
refused(qr/^40001 .*Citus has moved or made shards since the transaction began/, $again);
$session->query('ROLLBACK');
answered($again, @list);
$session->query('DROP TABLE pg_catalog.pg_dist_placement');

# TimescaleDB: chunks inherit.  By the name of the parent's index they would be left out.
my @chunk = (by_index('ev_2_f'), looks('ev_2_f'));
my @hypertable = by_column('ev');
# Of a hypertable with a compressed chunk: what would be true for each key, and what tells the chunks.
my @whole = grep { !/partitions/ } @hypertable;

# A key of one chunk and of none: the other chunk may have it while it is compressed.
sub chunks_are
{
	my ($compressed, $name) = @_;
	foreach my $key (700, 42, -42)
	{
		my $held = $key == 700 ? 'ev_2' : '';
		my $chunks = $session->query("SELECT string_agg(partition::text || coalesce(' ' || index::text, ''), ',' ORDER BY 1) FROM bloom_index_partitions('ev', 'id', $key)");
		is($chunks, $compressed ? 'ev_2' : $held && 'ev_2 ev_2_f', "$name: chunks that may have $key");
		is($session->query("SELECT count(*) FROM bloom_search(NULL::ev, 'id', $key)"), $held ? 1 : 0, "$name: rows with $key");
	}
}
refused(qr/index "ev_f" has not the keys of the tables that inherit from "ev"/, by_index('ev_f'));
is($session->query('SELECT bloom_index_contains(\'ev\', \'id\', 42), bloom_index_contains(\'ev\', \'id\', -42)'), 't|f', 'by table and column');
$session->query('DROP TABLE ev_1; ALTER TABLE ev_2 NO INHERIT ev');
answered(by_index('ev_f'));
$session->query('ALTER TABLE ev_2 INHERIT ev');

my $named = "id int PRIMARY KEY, hypertable_id int NOT NULL, schema_name name NOT NULL, table_name name NOT NULL";
my %shapes = (
	'up to 2.28' => [ "$named, compressed_chunk_id int, dropped bool NOT NULL DEFAULT false, status int NOT NULL DEFAULT 0,
			osm_chunk bool NOT NULL DEFAULT false, UNIQUE (schema_name, table_name)",
		"VALUES (1, 1, 'public', 'ev_2')", 'status = 1', 'status = 9', 'status = 8' ],
	'without an index' => [ "$named, status int NOT NULL DEFAULT 0", "VALUES (1, 1, 'public', 'ev_2')", 'status = 1' ],
	'from 2.29 on' => [ "id int PRIMARY KEY, relid regclass NOT NULL UNIQUE, hypertable_id int NOT NULL, status int NOT NULL DEFAULT 0,
			osm_chunk bool NOT NULL DEFAULT false", "VALUES (1, 'ev_2', 1)", 'status = 1', 'status = 11', 'status = 16' ]);
foreach my $name (sort keys %shapes)
{
	my ($columns, $row, @compressed) = @{ $shapes{$name} };
	note "the catalog $name";
	$session->query("CREATE SCHEMA _timescaledb_catalog; CREATE TABLE _timescaledb_catalog.chunk ($columns)");
	answered(@chunk, @hypertable, @plain);
	# A table becomes a chunk when it is made or attached, so it inherits then.
	$session->query("INSERT INTO _timescaledb_catalog.chunk (id, " . ($row =~ /public/ ? 'hypertable_id, schema_name, table_name' : 'relid, hypertable_id') . ") $row; ALTER TABLE ev_2 NO INHERIT ev; ALTER TABLE ev_2 INHERIT ev");
	answered(@chunk, @hypertable, @plain);
	foreach my $compressed (@compressed)
	{
		# A chunk's status is read each time: nobody announces that it has changed.
		$session->query("UPDATE _timescaledb_catalog.chunk SET $compressed");
		elsewhere(qr/TimescaleDB keeps rows in a compressed chunk/, @chunk, by_column('ev_2'));
		refused(qr/^0A000 .*table "ev" has chunks that TimescaleDB has compressed/, @whole);
		chunks_are(1, $compressed);
		answered(@plain);
		is($session->query("SELECT string_agg(indexname || ' ' || status, ',') FROM bloom_live WHERE status <> 'ok'"),
			'ev_2_f rows of table "ev_2" are not kept in the table: TimescaleDB keeps rows in a compressed chunk', 'the view says it of the chunk');
		$session->query("UPDATE _timescaledb_catalog.chunk SET status = 0");
		answered(@chunk, @hypertable);
		chunks_are(0, "after $compressed");
	}
	# A chunk that has changed since the snapshot, by its own name: its rows may be in another one.
	foreach my $change ('UPDATE _timescaledb_catalog.chunk SET status = 0', 'ALTER TABLE ev_2 SET (fillfactor = 90)')
	{
		my $changer = session($node);
		$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
		$changer->query($change);
		refused(qr/^40001/, $chunk[0]);
		$session->query('ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
		$changer->query($change);
		answered(@hypertable);
		$session->query('ROLLBACK');
		answered(@chunk);
		$changer->quit;
	}
	# Within one transaction and at one call site, too.
	$session->query('CREATE OR REPLACE FUNCTION ask_twice(change text) RETURNS bool LANGUAGE plpgsql AS $$
		DECLARE found bool;
		BEGIN
			FOR i IN 1 .. 2 LOOP
				found := bloom_index_contains(\'ev\', \'id\', 42);
				EXECUTE \'UPDATE _timescaledb_catalog.chunk SET \' || change;
			END LOOP;
			RETURN found;
		END $$');
	refused(qr/chunks that TimescaleDB has compressed/, "SELECT ask_twice('$compressed[0]')");
	$session->query('UPDATE _timescaledb_catalog.chunk SET status = 4');
	answered(@chunk, @hypertable);
	$session->query('ALTER TABLE _timescaledb_catalog.chunk RENAME ' . ($row =~ /public/ ? 'table_name' : 'relid') . ' TO other');
	refused(qr/"_timescaledb_catalog.chunk" has not the columns/, $chunk[0]);
	$session->query('DROP SCHEMA _timescaledb_catalog CASCADE');
}

# Somebody's own table of that name says nothing, and stops nobody.
$session->query('CREATE ROLE stranger; GRANT CREATE ON DATABASE postgres TO stranger; SET ROLE stranger;
	CREATE SCHEMA _timescaledb_catalog; CREATE TABLE _timescaledb_catalog.chunk (nothing int); RESET ROLE');
answered(@chunk, @hypertable, @plain);

# Nor does it if an extension has it that anybody may create.
$session->query('SET ROLE stranger; CREATE EXTENSION hstore; ALTER EXTENSION hstore ADD TABLE _timescaledb_catalog.chunk; RESET ROLE');
answered(@chunk, @hypertable, @plain);
$session->query('ALTER EXTENSION hstore DROP TABLE _timescaledb_catalog.chunk; DROP SCHEMA _timescaledb_catalog CASCADE');

# A table access method that is not heap, and one that is by another name.
$session->query('CREATE TABLE other (id int) USING other_storage; CREATE TABLE alias (id int) USING other_heap;
	CREATE INDEX alias_f ON alias USING bloomfilter (id)');
answered(by_index('alias_f'), by_column('alias'), looks('alias_f'));
elsewhere(qr/the table's access method is not heap/, 'CREATE INDEX ON other USING bloomfilter (id)');
$session->query("UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = 'other_storage') WHERE relname = 'alias'; SELECT announce('alias'::regclass)");
elsewhere(qr/the table's access method is not heap/, by_index('alias_f'), by_column('alias'), looks('alias_f'));

finish($node);
