# Pages that a query keeps pinned while it asks for row after row: they are let go however it
# ends, and before anything happens to the file; what others commit meanwhile is found.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

my $node = new_node('live_kept', conf => "shared_buffers = 64MB\n");
my $elsewhere = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION pg_buffercache;
CREATE TABLE keys AS SELECT generate_series(1, 50000) AS id;
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 50000);
CREATE TABLE many AS SELECT generate_series(1, 1000000) AS id;
CREATE INDEX many_id ON many USING bloomfilter (id) WITH (n = 1000000);

-- A key that is there, when who has the lock lets go of it.
CREATE FUNCTION pause() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_lock(1), pg_advisory_unlock(1);
	RETURN 1;
END $$;

-- All keys by a snapshot of its own, in a subtransaction.
CREATE FUNCTION all_there() RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	ASSERT NOT EXISTS (SELECT FROM keys WHERE NOT bloom_index_contains('keys_id', id));
	RETURN 1;
EXCEPTION WHEN division_by_zero THEN
	RETURN 1;
END $$;

-- The same, in one that is rolled back.
CREATE FUNCTION roll_back() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM 1 / (all_there() - 1);
EXCEPTION WHEN division_by_zero THEN
	RETURN 1;
END $$;

-- Asked in the middle of a command, too.
CREATE FUNCTION before_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM all_there(); RETURN NULL; END $$;
CREATE TRIGGER before_truncate BEFORE TRUNCATE ON keys EXECUTE FUNCTION before_truncate();

CREATE FUNCTION run(command text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE command; RETURN 1; END $$;
EOC

my $denied = "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys_id', id)) FROM keys";
# Whether somebody waits in pause().
my $waits = "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
my ($asker, $other) = (session($node), session($node));

# Pages of an index that somebody has pinned.
sub pinned
{
	my ($index) = @_;
	return $other->query("SELECT count(*) FROM pg_buffercache WHERE pinning_backends > 0 AND relfilenode = pg_relation_filenode('$index') AND reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())");
}

# Starts statements that pause, does something and lets them go on.
# Returns what that gave, the statements' output and their SQLSTATE.
sub while_paused
{
	my ($sql, $do) = @_;
	$other->query('SELECT pg_advisory_lock(1)');
	$asker->start($sql);
	$node->poll_query_until('postgres', $waits) or die 'there is no pause';
	my $seen = $do->();
	$other->query('SELECT pg_advisory_unlock(1)');
	return ($seen, $asker->finish);
}

# Cancels the statement that waits.
sub cancel
{
	$other->query('SELECT pg_cancel_backend(' . $asker->pid . ')');
	$node->poll_query_until('postgres', "SELECT NOT ($waits)") or die 'it still waits';
	return;
}

# Keys of a table, each asked for, then those of a list.
sub asked
{
	my ($table, $question, @then) = @_;
	return "SELECT count(*) FILTER (WHERE NOT $question) FROM (SELECT id FROM $table" . join('', map { " UNION ALL SELECT $_" } @then) . ') AS asked';
}

my $of_keys = "bloom_index_contains('keys_id', id)";
my $pages = $other->query("SELECT (pg_relation_size('keys_id') - 1) / current_setting('block_size')::int");
cmp_ok($pages, '>', 5, 'the filter has several pages');

# What a query keeps while it runs.
foreach my $case (
	[ 'alone', asked('keys', $of_keys, 'pause()'), $pages ],
	[ 'in a transaction block', 'BEGIN; ' . asked('keys', $of_keys, 'pause()'), $pages ],
	[ 'in a subtransaction', 'BEGIN; SAVEPOINT s; ' . asked('keys', $of_keys, 'pause()'), $pages ],
	[ 'in a block of code', 'DO $$ BEGIN ASSERT 0 = (' . asked('keys', $of_keys, 'pause()') . '); END $$; SELECT 0', $pages ],
	[ 'of a cursor', 'BEGIN; DECLARE c CURSOR FOR ' . asked('keys', $of_keys, 'pause()') . '; FETCH c', $pages ],
	[ 'of a cursor that is kept', 'BEGIN; DECLARE c CURSOR WITH HOLD FOR ' . asked('keys', $of_keys, 'pause()') . '; COMMIT; FETCH c; CLOSE c', $pages ],
	[ 'serializable', 'BEGIN ISOLATION LEVEL SERIALIZABLE; ' . asked('keys', $of_keys, 'pause()'), 0 ],
	[ 'in a subtransaction of its own', asked('keys', $of_keys, 'all_there()', 'pause()'), $pages ],
	[ 'that has rolled back a subtransaction', asked('keys', $of_keys, 'roll_back()', 'pause()'), 0 ],
	[ 'that has run a command', asked('keys', $of_keys, q{run('CREATE TEMP TABLE empty ()')}, 'pause()'), 0 ])
{
	my ($name, $sql, $kept) = @$case;
	my ($seen, $answer, $state, $error) = while_paused($sql, sub { pinned('keys_id') });
	is($seen, $kept, "a query $name keeps $kept pages");
	is("$answer|$state", '0|', 'no key is denied') or diag $error;
	is(pinned('keys_id'), 0, 'and none is kept afterwards');
	$asker->query('ROLLBACK');
}
my ($seen) = while_paused(asked('many', "bloom_index_contains('many_id', id)", 'pause()'), sub { pinned('many_id') });
is($seen, 0, 'pages of a filter that has too many are not kept');

# Ends of queries.
foreach my $case (
	[ 'an error', asked('keys', $of_keys, 'pause()', '1 / (id - id) FROM keys'), sub { }, '22012' ],
	[ 'a cancellation', asked('keys', $of_keys, 'pause()'), \&cancel, '57014' ])
{
	my ($name, $sql, $end, $expected) = @$case;
	foreach my $before ('', 'BEGIN; ', 'BEGIN; SAVEPOINT s; ')
	{
		my (undef, undef, $state) = while_paused($before . $sql, $end);
		is($state, $expected, "$before$name ends a query");
		is(pinned('keys_id'), 0, 'and none of its pages is kept');
		$asker->query('ROLLBACK TO s') if $before =~ /SAVEPOINT/;
		$asker->query('ROLLBACK');
	}
}
my $victim = session($node);
$other->query('SELECT pg_advisory_lock(1)');
$victim->start(asked('keys', $of_keys, 'pause()'));
$node->poll_query_until('postgres', $waits) or die 'there is no pause';
is(pinned('keys_id'), $pages, 'a session keeps pages');
$other->query('SELECT pg_terminate_backend(' . $victim->pid . ')');
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = ' . $victim->pid);
$victim->abandon;
$other->query('SELECT pg_advisory_unlock(1)');
is(pinned('keys_id'), 0, 'and none when it was ended');

is($asker->query(<<"EOC"), 0, 'workers find all keys');
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
$denied;
EOC
is(pinned('keys_id'), 0, 'and keep no page when they are done');
$asker->query('RESET ALL');

# Others' keys, committed while a query keeps the pages, until most have overflowed.
$asker->query('BEGIN');
foreach my $round (1 .. 5)
{
	my $insert = "INSERT INTO keys SELECT generate_series($round * 50000 + 1, $round * 50000 + 50000)";
	my (undef, $answer) = while_paused(asked('keys', $of_keys, 'pause()', 'all_there()'), sub { $other->query($insert) });
	is($answer, 0, "round $round of insertions: no key is denied");
	is($asker->query($denied), 0, 'nor later');
}
$asker->query('COMMIT');

# What functions of a query and later commands of its transaction do to the file.  New files
# are truncated in place.
my $again = 'INSERT INTO keys SELECT generate_series(1, 50000)';
foreach my $change (
	"TRUNCATE keys; $again",
	"TRUNCATE keys; $again; TRUNCATE keys; $again",
	'REINDEX INDEX keys_id',
	'DROP INDEX keys_id; CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 50000)',
	'ALTER INDEX keys_id SET TABLESPACE elsewhere',
	'ALTER TABLE keys SET TABLESPACE elsewhere',
	"ALTER TABLE keys SET TABLESPACE elsewhere; TRUNCATE keys; $again",
	"ALTER INDEX keys_id SET (n = 500000); TRUNCATE keys; $again",
	'ALTER TABLE keys ALTER id TYPE bigint')
{
	# By name, as some give it another OID.
	my $asks = "bloom_index_contains('keys_id'::text::regclass, k)";
	my $of_series = "SELECT count(*) FILTER (WHERE NOT $asks) FROM generate_series(1, 50000) AS k";
	my $inside = "SELECT count(*) FILTER (WHERE NOT CASE WHEN k = 1000 AND run('$change') = 0 THEN true ELSE $asks END) FROM generate_series(1, 50000) AS k";
	my @steps = split /; /, $change;
	foreach my $end ('ROLLBACK', 'COMMIT')
	{
		$node->safe_psql('postgres', "ALTER INDEX keys_id SET (n = 50000); ALTER TABLE keys SET TABLESPACE pg_default; TRUNCATE keys; $again");
		is($asker->query("BEGIN; $of_series"), 0, "$change: no key is denied before");
		foreach my $step (@steps)
		{
			$asker->query($step);
			next if $asker->query("SELECT to_regclass('keys_id') IS NULL OR NOT EXISTS (SELECT FROM keys)") eq 't';
			is($asker->query($of_series), 0, "nor after $step");
		}
		$asker->query($end);
		is($other->query($denied), 0, "nor after $end");
		is($asker->query("BEGIN; $inside; $of_series"), "0\n0", 'nor where a function of the query does it');
		$asker->query($end);
		is($other->query($denied), 0, "nor after $end");
		is(pinned('keys_id'), 0, 'and no page is kept');
	}
}

# TRUNCATE may empty the index's old file, which a rollback does not bring back.
foreach my $options ('WITH (n = 50000)', '')
{
	foreach my $before ('', 'SAVEPOINT first; REINDEX INDEX keys_id; RELEASE first; SAVEPOINT second; ')
	{
		$other->query("ALTER TABLE keys ALTER id TYPE int; TRUNCATE keys; $again; DROP INDEX keys_id; CREATE INDEX keys_id ON keys USING bloomfilter (id) $options");
		$other->query('ALTER INDEX keys_id SET (n = 60000)') if $options;
		is($other->query($denied), 0, "$options $before: another session knows the layout");
		my ($found, undef, $said) = $asker->try("BEGIN; ${before}ALTER TABLE keys SET TABLESPACE elsewhere; ALTER TABLE keys SET TABLESPACE pg_default; TRUNCATE keys; SELECT bloom_index_contains('keys_id', 1)");
		is($found, 't', 'emptied in place: perhaps');
		like($said, qr/WARNING:.*says "perhaps" to all keys.*HINT: .*REINDEX/s, 'and a warning');
		$asker->query($before eq '' ? 'ROLLBACK' : 'ROLLBACK TO second; COMMIT');
		my ($lost, $state, $error) = $other->try($denied);
		like("$lost$state", qr/^(0|XX001)$/, 'rolled back, who knew it is denied no key') or diag $error;
		my $fresh = session($node);
		is($fresh->query("$denied; SELECT bloom_index_contains('keys_id', -1), bloom_index_verify('keys_id')"), "0\nt|t", 'nor is anybody else');
		is($fresh->query("REINDEX INDEX keys_id; $denied; SELECT bloom_index_contains('keys_id', -1)"), "0\nf", 'until it is rebuilt');
		$fresh->quit;
	}
}

# Cancelled in the middle, it has all pages; and after a crash.
$other->query('ALTER INDEX keys_id SET (n = 20000000); REINDEX INDEX keys_id; CHECKPOINT');
like($asker->state_of("BEGIN; ALTER TABLE keys SET TABLESPACE elsewhere; ALTER TABLE keys SET TABLESPACE pg_default; SET LOCAL statement_timeout = '20ms'; TRUNCATE keys"),
	qr/^(57014)?$/, 'TRUNCATE in place may be cancelled');
$asker->query('ROLLBACK');
is($other->query("$denied; INSERT INTO keys SELECT generate_series(50001, 60000); $denied; SELECT bloom_index_verify('keys_id')"), "0\n0\nt", 'rolled back, no key is denied, and the table takes more');
$_->quit foreach $asker, $other;
$node->stop('immediate');
$node->start;
($asker, $other) = (session($node), session($node));
is($asker->query("$denied; SELECT bloom_index_verify('keys_id')"), "0\nt", 'nor is any after a crash');
$other->query('ALTER INDEX keys_id SET (n = 50000); REINDEX INDEX keys_id');

# Questions of a function outlive the portal that has taken the locks for them.
$node->safe_psql('postgres', <<'EOC');
CREATE FUNCTION ask(k int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN bloom_index_contains('keys_id', k); END $$;
CREATE FUNCTION fail(k int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM 1 / (1001 - k); RETURN ask(k); END $$;
EOC
$asker->query('BEGIN; DECLARE c CURSOR FOR SELECT fail(k) FROM generate_series(1, 2000) AS k; MOVE 1000 FROM c');
is($asker->state_of('SAVEPOINT s; MOVE ALL FROM c'), '22012', 'a portal fails');
my $locks = "SELECT count(*) FROM pg_locks WHERE relation = 'keys_id'::regclass AND pid = " . $asker->pid;
$asker->query('ROLLBACK TO s; RELEASE s');
is($other->query($locks), 0, 'and its locks are gone');
is($asker->query('SELECT bool_and(ask(k)) FROM generate_series(1, 2000) AS k'), 't', 'the function asks again');
is($other->query($locks), 1, 'with a lock');
$asker->query('COMMIT');

$_->quit foreach $asker, $other;
unlike(slurp_file($node->logfile), qr/leak|still referenced|is pinned/, 'nothing was left to the transaction to release');
stayed_alive($node);
$node->stop;
done_testing();
