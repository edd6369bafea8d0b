# What bloom_lookup answers is the snapshot's: of another row at the place of the last one, of
# a file that was cut off or replaced, of what the own transaction did and took back, and of what
# was committed between two snapshots that look alike.
use BloomTest;

# A standby that never answers, for who waits for one.
my $node = new_node('lookup', conf => <<'EOC');
max_prepared_transactions = 2
wal_level = replica
max_wal_senders = 1
synchronous_standby_names = 'nobody'
synchronous_commit = local
EOC
my $asker = session($node);
my $writer = session($node);

# Lists that hold one key each; an answer names the keys from 1 to 9 that are held.
$writer->query(<<'EOC');
CREATE FUNCTION publish(name text, key int, parts int DEFAULT 1) RETURNS void LANGUAGE sql AS $$
SELECT bloom_publish_filter(name, array_agg(bloom_add_all(bloom_create_part(part, parts, 2000, 1e-9),
	CASE bloom_part(key, parts) WHEN part THEN ARRAY[key] ELSE '{}' END) ORDER BY part))
FROM generate_series(0, parts - 1) AS part
$$;
CREATE FUNCTION held(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	keys text := '';
BEGIN
	FOR k IN 1 .. 9 LOOP
		IF bloom_lookup(name, k) THEN keys := keys || k; END IF;
	END LOOP;
	RETURN keys;
EXCEPTION WHEN undefined_object THEN
	RETURN 'unknown';
END $$;
CREATE FUNCTION place(list text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(ctid::text, ' ' ORDER BY part) FROM bloom_generation_part WHERE name = list AND back = 0 $$;
CREATE FUNCTION statement(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	keys text;
BEGIN
	SELECT string_agg(k::text, '' ORDER BY k) INTO keys FROM generate_series(1, 9) AS k WHERE bloom_lookup(name, k);
	RETURN keys;
EXCEPTION WHEN undefined_object THEN
	RETURN 'unknown';
END $$;
EOC

# What a session is told about a list, by a statement, by an expression, by an array.
sub held
{
	my ($session, $list) = @_;
	my $told = $session->query("SELECT held('$list') || ' ' || coalesce(statement('$list'), '')");
	my ($one, $other) = split / /, $told, -1;
	return $one eq $other ? $one : "two answers: $told";
}

$writer->query("SELECT publish('a', 1), publish('set', 2, 8)");
is(held($asker, 'a') . held($asker, 'set'), '12', 'lists are asked');
$asker->query('BEGIN ISOLATION LEVEL SERIALIZABLE');
is(held($asker, 'a'), '1', 'and by a serializable transaction');
$asker->query('COMMIT');

# Another night, whose row is elsewhere, and one whose row is at the same place.
sub vacuumed
{
	my ($truncate) = @_;
	$writer->query("VACUUM (TRUNCATE $truncate) bloom_generation_part");
	return;
}
$writer->query("SELECT publish('a', 3)");
is(held($asker, 'a'), '3', 'the next night is heeded');
$writer->query("CALL bloom_rollback('a')");
is(held($asker, 'a'), '1', 'so is the way back');
$writer->query("CALL bloom_drop('a')");
is(held($asker, 'a'), 'unknown', 'and the end');
vacuumed('off');

my $reused = 0;
foreach my $key (4 .. 7)
{
	my $list = $key % 2 ? 'a' : 'b';
	my $other = $key % 2 ? 'b' : 'a';
	$writer->query("SELECT publish('$list', $key)");
	my $place = $writer->query("SELECT place('$list')");
	is(held($asker, $list), $key, "$list has $key");
	$writer->query("CALL bloom_drop('$list')");
	vacuumed('off');
	$writer->query("SELECT publish('$other', 9)");
	$reused++ if $writer->query("SELECT place('$other')") eq $place;
	is(held($asker, $list), 'unknown', "the row of $other at its place is not that of $list");
	is(held($asker, $other), '9', 'but its own');
	$writer->query("CALL bloom_drop('$other')");
	vacuumed('off');
	$writer->query("SELECT publish('$list', 8)");
	$reused++ if $writer->query("SELECT place('$list')") eq $place;
	is(held($asker, $list), '8', "and another row of $list there is asked itself");
	$writer->query("CALL bloom_drop('$list')");
	vacuumed('off');
}
is($reused, 8, 'all of them were at one place');

# The generation before is where the current one was, and each part where another one was.
$writer->query("SELECT publish('a', 1), publish('set', 2, 8)");
my $first = $writer->query("SELECT place('a')");
is(held($asker, 'a') . held($asker, 'set'), '12', 'two lists are asked');
$writer->query("SELECT publish('a', 3)");
vacuumed('off');
$writer->query("SELECT publish('a', 4)");
is($writer->query("SELECT back FROM bloom_generation_part WHERE ctid = '$first'"), '1', 'the generation before is there now');
is(held($asker, 'a'), '4', 'and the current one is asked');
my @places;
foreach my $lists ("publish('set', 5, 8), publish('b', 9)", "publish('b', 9), publish('set', 5, 8)")
{
	$writer->query(join ';', map { "CALL bloom_drop('$_')" } split /\|/, $writer->query("SELECT string_agg(name, '|') FROM bloom_list"));
	vacuumed('off');
	$writer->query("SELECT $lists");
	push @places, [ split / /, $writer->query("SELECT place('set')") ];
	is(held($asker, 'set') . held($asker, 'b'), '59', "SELECT $lists");
}
is("@{$places[1]}[0 .. 6]", "@{$places[0]}[1 .. 7]", 'each part is where the next one was');
$writer->query("CALL bloom_drop('b'); CALL bloom_drop('set')");
vacuumed('off');
$writer->query("SELECT publish('a', 8), publish('set', 2, 8)");

# The page is cut off, the file is another one.
my $large = join ', ', map { "publish('x$_', 1)" } 1 .. 200;
$writer->query("SELECT publish('a', 1)");
$writer->query("SELECT $large");
my $lists = join ', ', map { "held('x$_')" } 1 .. 200;
like($asker->query("SELECT $lists"), qr/^1(\|1){199}$/, 'lists on many pages');
$writer->query(join ';', map { "CALL bloom_drop('x$_')" } 1 .. 200);
vacuumed('on');
is($writer->query("SELECT pg_relation_size('bloom_generation_part') < 3 * 8192"), 't', 'pages are cut off');
like($asker->query("SELECT $lists"), qr/^unknown(\|unknown){199}$/, 'what was there is gone');
is(held($asker, 'a'), '1', 'what was on another page is not');
foreach my $rewrite ('VACUUM FULL bloom_generation_part', 'CLUSTER bloom_generation_part USING bloom_generation_part_pkey')
{
	$writer->query($rewrite);
	is(held($asker, 'a') . held($asker, 'set'), '12', $rewrite);
}

# A snapshot keeps its list, whatever others do meanwhile.
$asker->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
is(held($asker, 'a') . held($asker, 'set'), '12', 'a snapshot');
foreach my $key (3 .. 5)
{
	$writer->query("SELECT publish('a', $key), publish('set', $key, $key)");
	vacuumed('off');
	is(held($asker, 'a') . held($asker, 'set'), '12', "keeps its lists beside generation $key");
}
$asker->query('COMMIT');
is(held($asker, 'a') . held($asker, 'set'), '55', 'and the next one has the new ones');

# What the own transaction does, and takes back.
my @steps = (
	[ "SELECT publish('a', 6), publish('set', 6, 2)", '66' ],
	[ 'SAVEPOINT one', '66' ],
	[ "CALL bloom_rollback('a'); CALL bloom_rollback('set')", '55' ],
	[ "CALL bloom_drop('a')", 'unknown5' ],
	[ 'SAVEPOINT two', 'unknown5' ],
	[ "SELECT publish('a', 7), publish('set', 7, 8)", '77' ],
	[ 'ROLLBACK TO two', 'unknown5' ],
	[ 'TRUNCATE bloom_generation, bloom_generation_part, bloom_run', 'unknownunknown' ],
	[ "SELECT publish('a', 8), publish('set', 8, 8)", '88' ],
	# In place this time: the file is new in this transaction.
	[ 'TRUNCATE bloom_generation, bloom_generation_part, bloom_run', 'unknownunknown' ],
	[ "SELECT publish('a', 9), publish('set', 9, 4)", '99' ],
	[ 'ROLLBACK TO two', 'unknown5' ],
	[ 'ROLLBACK TO one', '66' ]);
foreach my $end ([ 'ROLLBACK', '55' ], [ 'COMMIT', '66' ])
{
	$asker->query('BEGIN');
	foreach my $step (@steps)
	{
		$asker->query($step->[0]);
		is(held($asker, 'a') . held($asker, 'set'), $step->[1], $step->[0]);
	}
	is(held($writer, 'a') . held($writer, 'set'), '55', 'nothing of it is for others') if $end->[0] eq 'ROLLBACK';
	$asker->query($end->[0]);
	is(held($asker, 'a') . held($asker, 'set'), $end->[1], $end->[0]);
	is(held($writer, 'a') . held($writer, 'set'), $end->[1], 'for others as well');
}

# Two snapshots may list as many transactions in progress and yet not be the same: one that is
# being prepared is listed twice until it is, which takes as long as a standby's answer, and
# another may have committed.
sub waits_for
{
	my ($event) = @_;
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = '$event'"),
		"one waits: $event")
	  or die 'nobody does';
	return;
}

my ($preparer, $publisher, $holder) = map { session($node) } 1 .. 3;

# One call site, asked under two snapshots; what it should have said; how many are listed.
$writer->query(<<'EOC');
CREATE TABLE other (i int);
CALL bloom_publish('l', 'SELECT generate_series(1, 2000)', n => 10000);
CREATE FUNCTION ask_twice() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	told text := '';
	answer boolean;
	right_one boolean;
BEGIN
	FOR i IN 1 .. 2 LOOP
		answer := bloom_lookup('l', 3000);
		SELECT filter @> 3000 INTO right_one FROM bloom_list_part WHERE name = 'l';
		told := told || format('%s of %s, %s running; ', answer, right_one,
			(SELECT count(*) FROM pg_snapshot_xip(pg_current_snapshot())));
		PERFORM pg_advisory_lock_shared(1);
	END LOOP;
	RETURN told;
END $$;
EOC

$holder->query('SELECT pg_advisory_lock(1)');
$preparer->query('BEGIN; INSERT INTO other VALUES (1)');
$publisher->query("BEGIN ISOLATION LEVEL REPEATABLE READ; CALL bloom_publish('l', 'SELECT generate_series(1, 4000)', n => 10000)");
$writer->query('INSERT INTO other VALUES (2)');

$asker->start('SELECT ask_twice()');
waits_for('advisory');
$preparer->start("SET synchronous_commit = on; PREPARE TRANSACTION 'p'");
waits_for('SyncRep');
$publisher->query('COMMIT');
$holder->query('SELECT pg_advisory_unlock(1)');
my ($told) = $asker->finish;
like($told, qr/^f of f, 2 running; t of t, 1 running; /, 'the second answer is of the second snapshot');

$writer->query('SELECT pg_cancel_backend(' . $preparer->pid . ')');
$preparer->finish;
$writer->query("ROLLBACK PREPARED 'p'");

# A look-up has its statement's snapshot, whatever was published since.
# One session has asked it before, and one has not, which doesn't know where its row is.
$_->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1') foreach $asker, $holder;
$writer->query("CALL bloom_publish('l', 'SELECT generate_series(1, 6000)', n => 10000)");
my $later = "SELECT count(*) FILTER (WHERE bloom_lookup('l', k)) FROM generate_series(4001, 6000) AS k";
foreach my $session ($asker, $holder)
{
	cmp_ok($session->query($later), '<', 200, 'an older snapshot asks the older list');
	$session->query('COMMIT');
}
is($asker->query($later), 2000, 'and a later one the newer');

finish($node);
