# A live index that is rebuilt on the primary, while a standby that does not tell of its
# snapshots has some from before: they see rows that nobody sees on the primary, so
# that the rebuilt filter has not got their keys.  To such snapshots each key is true.  To all
# others the filter tells keys apart, whatever else is open on the primary.
use BloomTest;

my $primary = new_node('live_old_primary', allows_streaming => 1, conf => "max_prepared_transactions = 10\n");
my $standby = new_standby($primary, 'live_old_standby', conf => "max_standby_streaming_delay = -1\nhot_standby_feedback = off\n");
my $writer = session($primary);

sub catch_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
	return;
}

# Leaves room on the pages of the catalogs, so that none is pruned while a snapshot of the standby
# is open, for which replay would wait.
sub make_room
{
	$writer->query('VACUUM');
	catch_up();
	return;
}

my @readers = map { session($standby) } 1 .. 2;
foreach my $rebuild ('REINDEX INDEX old_id', 'REINDEX TABLE old')
{
	$writer->query('DROP TABLE IF EXISTS old; CREATE TABLE old (id int) WITH (fillfactor = 50)');
	$writer->query('CREATE INDEX old_id ON old USING bloomfilter (id); INSERT INTO old SELECT generate_series(1, 100)');
	make_room();
	$_->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1') foreach @readers;
	$writer->query('DELETE FROM old WHERE id <= 50; UPDATE old SET id = id + 1000 WHERE id > 80');
	$writer->query($rebuild);
	catch_up();
	my $ask = "SELECT count(*), count(*) FILTER (WHERE NOT bloom_index_contains('old', 'id', id)) FROM old";
	is($readers[0]->query($ask), '100|0', "$rebuild: an older snapshot is not denied what it sees");
	is($readers[1]->query("SELECT count(*) FROM (SELECT array_agg(id) AS ids FROM old) AS s, unnest(ids, bloom_index_contains_each('old_id', ids)) AS answer (id, may) WHERE NOT may"),
		'0', "$rebuild: nor by an array");
	$_->query('COMMIT') foreach @readers;
	is($readers[0]->query("$ask; SELECT bloom_index_contains('old', 'id', -1)"), "50|0\nf", "$rebuild: a later one is told what is there");
}

# What is open on the primary from before the index: a transaction that has written, with a
# subtransaction, and one that is prepared.
my ($older, $other) = (session($primary), session($primary));
my $reader = $readers[0];
my $ask = "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('old', 'id', id)), bloom_index_contains('old', 'id', -1) FROM old";
my $status = "SELECT status FROM bloom_live WHERE indexname = 'old_id'";
$writer->query(<<'EOC');
CREATE TABLE unrelated (id int);
-- Volatile: its look-ups have snapshots of their own.
CREATE FUNCTION may(k int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN bloom_index_contains(''old'', ''id'', k); END';
-- The same by a query, whose snapshot is registered.
CREATE FUNCTION may_by_query(k int) RETURNS boolean LANGUAGE plpgsql AS 'DECLARE a boolean; BEGIN SELECT bloom_index_contains(''old'', ''id'', k) INTO a; RETURN a; END';
-- Waits for a lock, which another session of the standby has.
CREATE FUNCTION pause() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_lock(1), pg_advisory_unlock(1); RETURN 1; END';
CREATE FUNCTION may_twice(k int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answers boolean[];
BEGIN
	FOR i IN 1 .. 2 LOOP
		answers[i] := bloom_index_contains('old_id', k);
		IF i = 1 THEN PERFORM pause(); END IF;
	END LOOP;
	RETURN answers::text;
END $$;
BEGIN; INSERT INTO unrelated VALUES (1); PREPARE TRANSACTION 'forgotten';
EOC
$older->query('BEGIN; INSERT INTO unrelated VALUES (2); SAVEPOINT s; INSERT INTO unrelated VALUES (3)');
foreach my $build (
	'DROP INDEX old_id; CREATE INDEX old_id ON old USING bloomfilter (id)',
	'REINDEX INDEX old_id',
	'BEGIN; SAVEPOINT a; REINDEX INDEX old_id; RELEASE a; INSERT INTO old VALUES (5001); COMMIT')
{
	$writer->query($build);
	catch_up();
	is($reader->query($ask), '0|f', "$build: writers and prepared transactions are open, and it tells keys apart");
	is($reader->query($status), 'ok', 'and says so');
	is($reader->query("BEGIN ISOLATION LEVEL REPEATABLE READ; $ask; COMMIT"), '0|f', 'at REPEATABLE READ, too');
	is($reader->query('SELECT may(-1), may(60)'), 'f|t', 'and in a function');
}

# Writers that a concurrent build waits for.
$writer->query('DROP INDEX old_id');
$other->query('BEGIN; INSERT INTO old VALUES (6001); SAVEPOINT s; INSERT INTO old VALUES (6002)');
$writer->start('CREATE INDEX CONCURRENTLY old_id ON old USING bloomfilter (id)');
$primary->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE INDEX%'") or die 'it does not wait';
$other->query("INSERT INTO old VALUES (6003); PREPARE TRANSACTION 'late'");
$primary->safe_psql('postgres', "COMMIT PREPARED 'late'");
# It may wait for others' snapshots, too.
$older->query('COMMIT');
is(($writer->finish)[1], '', 'a concurrent build ends');
catch_up();
is($reader->query($ask), '0|f', 'and has the keys of all that it waited for');
is($reader->query('SELECT bool_and(may(k)) FROM unnest(array[6001, 6002, 6003]) AS k'), 't', 'one by one as well');

# Without them, a build leaves out what is deleted.
$writer->query("ROLLBACK PREPARED 'forgotten'");
make_room();
$reader->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$writer->query('DELETE FROM old WHERE id = 51');
$writer->query('REINDEX INDEX old_id');
catch_up();
is($reader->query($ask), '0|t', 'an older snapshot is not denied what it sees');
like($reader->query($status), qr/^of no use to this snapshot, which is older than transaction \d+ that built it$/, 'and says why');
$reader->query('COMMIT');
is($readers[1]->query($ask), '0|f', 'a later one is told what is there');

# A statement that is older than the index calls a function whose snapshots are younger.
make_room();
$readers[1]->query('SELECT pg_advisory_lock(1)');
my $waits = "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
$reader->start("WITH paused AS MATERIALIZED (SELECT pause()) SELECT count(*) FILTER (WHERE NOT may(k)), count(*) FILTER (WHERE NOT may_by_query(k)) FROM paused, generate_series(52, 60) AS k");
$standby->poll_query_until('postgres', $waits) or die 'there is no pause';
$writer->query('DELETE FROM old WHERE id < 60');
$writer->query('REINDEX INDEX old_id');
catch_up();
is($readers[1]->query("SELECT bloom_index_contains('old', 'id', 55)"), 'f', 'a key is gone');
$readers[1]->query('SELECT pg_advisory_unlock(1)');
is(($reader->finish)[0], '0|0', 'but not for a statement that could see it, and asks by a function');

# An index that is dropped concurrently while a function of the standby uses it, for which nobody
# on the primary waits: insertions pass it by.
make_room();
my $keeper = session($primary);
$keeper->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$readers[1]->query('SELECT pg_advisory_lock(1)');
$reader->start('SELECT may_twice(7001)');
$standby->poll_query_until('postgres', $waits) or die 'there is no pause';
$older->query('BEGIN; SELECT count(*) FROM old');
$writer->start('DROP INDEX CONCURRENTLY old_id');
$primary->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DROP INDEX%'") or die 'it does not wait';
$other->query('BEGIN; SELECT count(*) FROM old');
$older->query('COMMIT');
$primary->poll_query_until('postgres', "SELECT NOT indislive FROM pg_index WHERE indexrelid = 'old_id'::regclass") or die 'it is not dead';
$primary->safe_psql('postgres', 'INSERT INTO old VALUES (7001)');
catch_up();
$readers[1]->query('SELECT pg_advisory_unlock(1)');
is(($reader->finish)[0], '{f,t}', 'an index that has died meanwhile is not believed');
$other->query('COMMIT');
is(($writer->finish)[1], '', 'it is dropped');
$keeper->quit;
$writer->query("CREATE INDEX old_id ON old USING bloomfilter (id); TRUNCATE old; INSERT INTO old SELECT generate_series(51, 100)");
catch_up();
$_->quit foreach $older, $other;

# The same after its promotion, in a transaction from before, which has newer snapshots, too.
$writer->query(<<'EOC');
CREATE FUNCTION is_lost(k int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
	PERFORM FROM old WHERE id = k;
	-- An expression that is evaluated by itself remembers what it asks.
	RETURN CASE WHEN found THEN NOT bloom_index_contains('old', 'id', k) ELSE false END;
END $$
EOC
make_room();
$readers[0]->query('BEGIN; DECLARE seen CURSOR FOR SELECT count(*) FILTER (WHERE is_lost(k)) FROM generate_series(1, 200) AS k');
$writer->query('DELETE FROM old WHERE id <= 60');
$writer->query('REINDEX INDEX old_id');
catch_up();
$writer->quit;
$primary->stop;
$standby->promote;
is($readers[0]->query('SELECT is_lost(70)'), 'f', 'promoted, a new snapshot is told what is there');
is($readers[0]->query('FETCH seen'), '0', 'and an older cursor of the same transaction "perhaps"');
$readers[0]->query('COMMIT');
is($readers[0]->query("SELECT count(*), count(*) FILTER (WHERE is_lost(id)), bloom_index_contains('old', 'id', 1) FROM old"),
	'40|0|f', 'until it ends');

finish($primary, $standby);
