# Pages that a transaction keeps pinned while it asks for row after row: they are let go
# however it ends, and before anything happens to the file; what others commit meanwhile is
# found.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

my $node = new_node('live_kept', conf => "max_prepared_transactions = 5\n");
my $elsewhere = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION pg_buffercache;
CREATE TABLE keys AS SELECT generate_series(1, 50000) AS id;
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 50000);
CREATE TABLE many AS SELECT generate_series(1, 1000000) AS id;
CREATE INDEX many_id ON many USING bloomfilter (id) WITH (n = 1000000);
EOC

my $denied = "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys_id', id)) FROM keys";
my ($asker, $other) = (session($node), session($node));

# Pages of an index that somebody has pinned.
sub pinned
{
	my ($index) = @_;
	return $other->query("SELECT count(*) FROM pg_buffercache WHERE pinning_backends > 0 AND relfilenode = pg_relation_filenode('$index') AND reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())");
}

my $pages = $other->query("SELECT (pg_relation_size('keys_id') - 1) / current_setting('block_size')::int");
cmp_ok($pages, '>', 5, 'the filter has several pages');

# How transactions end.
foreach my $end ('COMMIT', 'ROLLBACK', "PREPARE TRANSACTION 'kept'", 'SELECT 1 / 0; ROLLBACK', 'SAVEPOINT s; ROLLBACK TO s')
{
	is($asker->query("BEGIN; $denied"), 0, "$end: no key is denied");
	is(pinned('keys_id'), $pages, "$end: all pages are kept until then");
	$asker->try($end);
	is(pinned('keys_id'), 0, "$end: none is afterwards");
	is($asker->query($denied), 0, "$end: and no key is denied");
	$asker->query('COMMIT') if $end =~ /SAVEPOINT/;
}
$other->query("COMMIT PREPARED 'kept'");

# Statements that fail in their middle.
is($asker->state_of("SELECT count(*) FROM keys WHERE bloom_index_contains('keys_id', id) AND 1 / (50000 - id) >= 0"),
	'22012', 'a statement fails at its last row');
is(pinned('keys_id'), 0, 'no page is kept afterwards');
is($asker->state_of("BEGIN; SELECT count(*) FROM keys WHERE bloom_index_contains('keys_id', id) AND 1 / (50000 - id) >= 0; COMMIT"),
	'22012', 'and one in a transaction block');
is(pinned('keys_id'), 0, 'nor there');

# A cursor, whose statement waits for the next row.  It reads no table, whose locks would stay.
$asker->query("BEGIN; DECLARE c CURSOR FOR SELECT bloom_index_contains('keys_id', k), 1 / (50000 - k) FROM generate_series(1, 50000) AS k; MOVE 40000 FROM c");
is(pinned('keys_id'), $pages, 'a cursor keeps all pages');
is($asker->state_of('SAVEPOINT s; MOVE ALL FROM c; ROLLBACK TO s'), '22012', 'it fails in a subtransaction');
is(pinned('keys_id'), 0, 'which lets go');
$other->query('SET statement_timeout = 300000; DROP INDEX keys_id; RESET statement_timeout; CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 50000)');
pass('so that others may drop the index');
$asker->query('COMMIT');

# A subtransaction may lose its locks, so it keeps nothing.
$asker->query("BEGIN; SAVEPOINT s; $denied");
is(pinned('keys_id'), 0, 'a subtransaction keeps no page');
$asker->query('COMMIT');
$asker->query("BEGIN ISOLATION LEVEL SERIALIZABLE; $denied");
is(pinned('keys_id'), 0, 'nor does who is serializable');
$asker->query('COMMIT');
$asker->query("BEGIN; SELECT count(*) FROM many WHERE NOT bloom_index_contains('many_id', id)");
is(pinned('many_id'), 0, 'nor does who asks a filter of too many pages');
$asker->query('COMMIT');

# A function's loop, and workers.
is($asker->query(<<'EOC'), '', 'a loop finds all keys');
BEGIN;
DO $$ BEGIN FOR k IN 1 .. 1000 LOOP ASSERT bloom_index_contains('keys_id', k); END LOOP; END $$
EOC
is(pinned('keys_id'), $pages, 'a loop keeps all pages');
is($asker->query("DO \$\$ BEGIN FOR k IN 1 .. 1000 LOOP ASSERT bloom_index_contains('keys_id', k); COMMIT; END LOOP; END \$\$"), '', 'one that commits finds them')
  if $asker->state_of('COMMIT') eq '';
is(pinned('keys_id'), 0, 'and keeps none');
is($asker->query(<<"EOC"), 0, 'workers find all keys');
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
$denied;
EOC
is(pinned('keys_id'), 0, 'and keep no page when they are done');

# Others' keys, committed while this transaction keeps the pages, until most have overflowed.
$asker->query("RESET ALL; BEGIN; $denied");
foreach my $round (1 .. 5)
{
	$other->query("INSERT INTO keys SELECT generate_series($round * 50000 + 1, $round * 50000 + 50000)");
	is($asker->query($denied), 0, "round $round of insertions: no key is denied");
}
cmp_ok(pinned('keys_id'), '>=', $pages, 'by pages that were kept');
$asker->query('COMMIT');

# What a transaction does to the file that it asks.  New files are truncated in place.
foreach my $change (
	'TRUNCATE keys',
	'REINDEX INDEX keys_id',
	'DROP INDEX keys_id; CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 50000)',
	'ALTER INDEX keys_id SET TABLESPACE elsewhere',
	'ALTER TABLE keys SET TABLESPACE elsewhere; TRUNCATE keys',
	'ALTER TABLE keys ALTER id TYPE bigint',
	"CREATE TABLE fresh (id int); CREATE INDEX fresh_id ON fresh USING bloomfilter (id) WITH (n = 1000); INSERT INTO fresh VALUES (1); SELECT 1 / bool_and(bloom_index_contains('fresh_id', 1))::int FROM generate_series(1, 100); TRUNCATE fresh; INSERT INTO fresh VALUES (2); SELECT 1 / bool_and(bloom_index_contains('fresh_id', 2))::int FROM generate_series(1, 100)")
{
	$node->safe_psql('postgres', 'TRUNCATE keys; INSERT INTO keys SELECT generate_series(1, 50000)');
	foreach my $end ('ROLLBACK', 'COMMIT')
	{
		$asker->query("BEGIN; $denied; DECLARE c CURSOR FOR SELECT bloom_index_contains('keys_id', k) FROM generate_series(1, 50000) AS k; MOVE 1000 FROM c; $change; INSERT INTO keys VALUES (-1)");
		is($asker->query("$denied; SELECT bool_and(bloom_index_contains('keys_id', -1)) FROM generate_series(1, 100)"), "0\nt", "$change: all keys are found afterwards");
		$asker->query($end);
		is($other->query($denied), 0, "$change: and after $end");
	}
	is(pinned('keys_id'), 0, "$change: no page is kept");
}

# TRUNCATE then empties the index's old file, which a rollback does not bring back.
foreach my $before ('', 'SAVEPOINT first; REINDEX INDEX keys_id; RELEASE first; SAVEPOINT second; ')
{
	$other->query('TRUNCATE keys; INSERT INTO keys SELECT generate_series(1, 50000)');
	my ($found, undef, $said) = $asker->try("BEGIN; ${before}ALTER TABLE keys SET TABLESPACE pg_default; ALTER TABLE keys SET TABLESPACE elsewhere; TRUNCATE keys; SELECT bloom_index_contains('keys_id', 1)");
	is($found, 't', "emptied in place: perhaps ($before)");
	like($said, qr/WARNING:.*says "perhaps" to all keys.*HINT: .*REINDEX/s, 'and a warning');
	$asker->query($before eq '' ? 'ROLLBACK' : 'ROLLBACK TO second; COMMIT');
	is($other->query("$denied; SELECT bloom_index_contains('keys_id', -1), bloom_index_verify('keys_id')"), "0\nt|t", 'still so when it is rolled back');
	is($other->query("REINDEX INDEX keys_id; $denied; SELECT bloom_index_contains('keys_id', -1)"), "0\nf", 'until it is rebuilt');
}

# A backend that is ended.
my $victim = session($node);
$victim->query("BEGIN; $denied");
cmp_ok(pinned('keys_id'), '>', 0, 'a session keeps pages');
$other->query('SELECT pg_terminate_backend(' . $victim->pid . ')');
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = " . $victim->pid);
$victim->abandon;
is(pinned('keys_id'), 0, 'and none when it was ended');

$_->quit foreach $asker, $other;
unlike(slurp_file($node->logfile), qr/leak|still referenced|is pinned/, 'nothing was left to the transaction to release');
stayed_alive($node);
$node->stop;
done_testing();
