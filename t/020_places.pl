# Chunks of a stored filter are read where arithmetic says that they lie.  Wherever they
# really lie, each key gets the answer that the whole filter gives, without an error: after a
# short last chunk went back to an earlier page, after rewrites, in files full of holes, and
# where chunks of an earlier value with the same identifier are still there.
use BloomTest;

my $library = build_library('next_oid');
plan skip_all => 'a library of C functions can\'t be built here' if !defined $library;

my $node = new_node('places', conf => "max_wal_senders = 4\n", allows_streaming => 1);
my $session = session($node);
$session->query(<<"EOC");
SET bloomfilter.cache_size = 0;
CREATE FUNCTION set_next_oid(bigint) RETURNS void AS '$library' LANGUAGE C;
-- A filter of so many bytes of blocks, about, half full.
CREATE FUNCTION filter(bytes int, first int) RETURNS bloomfilter LANGUAGE sql AS
'SELECT bloom_agg(k, bytes, 0.02, first) FROM generate_series(first, first + bytes / 2) AS k';
CREATE FUNCTION toast(relation text) RETURNS regclass LANGUAGE sql AS
'SELECT reltoastrelid::regclass FROM pg_class WHERE oid = relation::regclass';
-- How often chunks do not follow one another, as runs.c sees it.
CREATE FUNCTION breaks(relation text) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE n int;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT chunk_id, slot - lag(slot) OVER (PARTITION BY chunk_id ORDER BY chunk_seq) AS step
		FROM (SELECT chunk_id, chunk_seq, (ctid::text::point)[0] * 4 + (ctid::text::point)[1] AS slot FROM %s) AS c) AS s WHERE step <> 1',
		toast(relation)) INTO n;
	RETURN n;
END \$\$;
EOC

# Wrong answers: of members, and of as many others where the copy of all of it, which is made
# once, differs.  Each key alone, and in calls of 1, 7 and 5000 keys.
sub wrong
{
	my ($asker, $table, $bytes, $first) = @_;
	my $keys = "generate_series($first, $first + $bytes / 2)";
	return $asker->query(<<"EOC");
WITH copied AS MATERIALIZED (SELECT f, f::bytea::bloomfilter AS whole FROM $table WHERE id = $first)
SELECT (SELECT count(*) FROM $table, $keys AS k WHERE id = $first AND NOT bloom_contains(f, k))
	+ (SELECT count(*) FROM copied, generate_series(1, 3000) AS k WHERE bloom_contains(f, -k) <> bloom_contains(whole, -k))
	+ (SELECT count(*) FROM (SELECT array_agg(k) AS a FROM $keys AS k GROUP BY k / 7) AS c, $table WHERE id = $first AND NOT true = ALL (bloom_contains_each(f, a)))
	+ (SELECT count(*) FROM (SELECT array_agg(k) AS a FROM $keys AS k GROUP BY k / 5000) AS c, $table WHERE id = $first AND NOT true = ALL (bloom_contains_each(f, a)))
EOC
}

# Look-ups of a TOAST relation's index that some statement needs.
sub index_scans
{
	my ($table, $query) = @_;
	my $count = sub {
		$session->query('SELECT pg_stat_force_next_flush()');
		return $session->query("SELECT sum(idx_scan) FROM pg_stat_all_indexes WHERE relid = toast('$table')");
	};
	my $before = $count->();
	$session->query($query);
	return $count->() - $before;
}

# What follows is worth something only if places are used.
$session->query('CREATE TABLE whole (id int, f bloomfilter); INSERT INTO whole SELECT 1, filter(1000000, 1)');
is($session->query("SELECT breaks('whole')"), 0, 'a value that is written at once is one run');
is(wrong($session, 'whole', 20_000, 1), 0, 'and answers');
cmp_ok(index_scans('whole', 'SELECT count(*) FROM whole, generate_series(1, 10000) AS k WHERE bloom_contains(f, k)'),
	'<=', 200, 'ten thousand look-ups need the index a few times');
cmp_ok(index_scans('whole', 'SELECT bloom_contains_each(f, array(SELECT generate_series(1, 10000))) FROM whole'),
	'<=', 8, 'and a call for as many nearly never');

# Two filters of one table: the first has a short chunk on its last page, and the second any
# number of chunks there and any length of the last, in steps.
my $went_back = 0;
foreach my $step (0 .. 9)
{
	my $bytes = 20_000 + 840 * $step;
	$session->query(<<"EOC");
DROP TABLE IF EXISTS two;
CREATE TABLE two (id int, f bloomfilter);
INSERT INTO two SELECT 1, filter(23500, 1);
INSERT INTO two SELECT 200001, filter($bytes, 200001);
EOC
	$went_back += $session->query("SELECT breaks('two')") > 0;
	is(wrong($session, 'two', $bytes, 200_001), 0, "the second of two filters, $bytes bytes");
}
cmp_ok($went_back, '>', 0, "a short last chunk went back to an earlier page ($went_back of 10)");

# The value moves under its own identifier, or gets a new one, between look-ups of a session,
# one that is asked in a transaction, too.
$session->query(<<'EOC');
CREATE TABLE moved (id int PRIMARY KEY, x int, f bloomfilter);
INSERT INTO moved SELECT i, 0, filter(100000, i) FROM generate_series(1, 800001, 200000) AS i;
EOC
foreach my $move (
	'DELETE FROM moved WHERE id = 1; VACUUM FULL moved',
	'DELETE FROM moved WHERE id = 200001; CLUSTER moved USING moved_pkey',
	'ALTER TABLE moved ALTER x TYPE bigint',
	'BEGIN; CREATE TEMP TABLE aside ON COMMIT DROP AS SELECT * FROM moved; TRUNCATE moved; INSERT INTO moved SELECT * FROM aside; COMMIT',
	'UPDATE moved SET f = bloom_add(f, 7); VACUUM moved',
	'DELETE FROM moved WHERE id = 400001; VACUUM FULL moved')
{
	is(wrong($session, 'moved', 100_000, 800_001), 0, 'before a move');
	next if $session->state_of($move) ne '' && !ok(0, $move);
	is(wrong($session, 'moved', 100_000, 800_001), 0, "after $move");
}

# The TOAST relation itself is rewritten by another session, and its file is shorter: no length that was
# remembered counts.
$session->query('CREATE TABLE cut (id int, f bloomfilter); INSERT INTO cut SELECT i, filter(1000000, i) FROM (VALUES (1), (1000001)) v (i)');
$session->query('DELETE FROM cut WHERE id = 1');
my $contains = "SELECT count(*) FROM generate_series(1000001, 1001000) AS k, cut WHERE bloom_contains(f, k)";
my $rewriter = session($node);
my $cut = $rewriter->query("SELECT toast('cut')");
is($session->query($contains), 1000, 'before its file is cut');
$rewriter->query("VACUUM FULL $cut");
is($session->query($contains), 1000, 'and after it');
$rewriter->quit;

$session->query('DROP TABLE moved; CREATE TABLE moved (id int, f bloomfilter); INSERT INTO moved SELECT 5, filter(100000, 5)');
is(wrong($session, 'moved', 100_000, 5), 0, 'a table of the name of one that was dropped');

# Holes of one chunk, of some, and of pages, into which a filter is stored.
$session->query(<<'EOC');
CREATE TABLE holes (id int, f bloomfilter, filler bytea);
ALTER TABLE holes ALTER filler SET STORAGE EXTERNAL;
INSERT INTO holes SELECT -i, NULL, convert_to(repeat(md5(i::text), 32 * (1 + hashint4(i) & 3)), 'UTF8') FROM generate_series(1, 3000) AS i;
DELETE FROM holes WHERE hashint4(id) & 1 = 0;
VACUUM holes;
INSERT INTO holes SELECT 1, filter(200000, 1), NULL;
EOC
cmp_ok($session->query("SELECT breaks('holes')"), '>', 40, 'a filter in pieces');
is(wrong($session, 'holes', 200_000, 1), 0, 'answers');
is(wrong($session, 'holes', 200_000, 1), 0, 'and again, with runs learnt');

# Chunks of two filters that were stored at the same time.
$session->query('CREATE TABLE mixed (id int, f bloomfilter)');
my $other = session($node);
$other->start("INSERT INTO mixed SELECT i, filter(200000, i) FROM generate_series(1, 1000001, 200000) AS i");
$session->query("INSERT INTO mixed SELECT i, filter(200000, i) FROM generate_series(2000000, 3000000, 200000) AS i");
$other->finish;
is(wrong($session, 'mixed', 200_000, $_), 0, "filter $_, stored beside others")
  foreach 1, 200_001, 2_000_000, 3_000_000;

# A standby, where places are guessed as well, and chunks move by replay.
my $standby = new_standby($node, 'standby');
my $reader = session($standby);
$reader->query('SET bloomfilter.cache_size = 0');
is(wrong($reader, 'moved', 100_000, 5), 0, 'on a standby');
$session->query('INSERT INTO moved SELECT 6, filter(100000, 6); DELETE FROM moved WHERE id = 6; VACUUM moved; VACUUM FULL moved');
$node->wait_for_catchup($standby);
is(wrong($reader, 'moved', 100_000, 5), 0, 'and after a move that it has replayed');
is(wrong($reader, 'holes', 200_000, 1), 0, 'of a filter in pieces');
$reader->quit;
$standby->stop;

# A table access method that is not heap by its identifier, and compressed values.
$session->query(<<'EOC');
CREATE ACCESS METHOD heap_too TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE other_method (id int, f bloomfilter) USING heap_too;
INSERT INTO other_method SELECT 1, filter(100000, 1);
CREATE TABLE compressed (id int, f bloomfilter);
ALTER TABLE compressed ALTER f SET STORAGE EXTENDED;
INSERT INTO compressed SELECT 1, bloom_add_all(bloom_create(100000, 0.02), array(SELECT generate_series(1, 1001)));
EOC
is(wrong($session, 'other_method', 20_000, 1), 0, 'a table of another access method');
is(wrong($session, 'compressed', 2000, 1), 0, 'a compressed value');

# The identifier of a filter that was deleted is given to another one of the same size while
# the chunks of the first are still in the file, and only their index entries are dead.
$session->query('CREATE TABLE held (id int, f bloomfilter); INSERT INTO held SELECT 1, filter(200000, 1)');
my $toast = $session->query("SELECT toast('held')");
my $id = $session->query("SELECT DISTINCT chunk_id FROM $toast");
is(wrong($session, 'held', 200_000, 1), 0, 'a filter is asked, and where its chunks are is remembered');
my $pages = $session->query("SELECT pg_relation_size('$toast')");
$other->query('DELETE FROM held');
$other->query("SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM $toast WHERE chunk_id = $id") foreach 1, 2;
$other->query("SELECT set_next_oid($id)");
$other->query('INSERT INTO held SELECT 500001, filter(200000, 500001)');
is($other->query("SELECT string_agg(DISTINCT chunk_id::text, ',') FROM $toast"), $id, 'another filter has its identifier');
cmp_ok($session->query("SELECT pg_relation_size('$toast')"), '>=', 1.9 * $pages, 'and the chunks of the first are still in the file');
forget_pointers();
is(wrong($session, 'held', 200_000, 500_001), 0, 'the other one answers');

finish($node);
