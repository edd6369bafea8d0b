# A tracked list answers as its table does, at each moment and in each snapshot: while sessions of
# three isolation levels change the table, with savepoints and prepared transactions, and the list is
# published, rolled back and pruned.  Nobody who publishes fails by a changer or waits for one, and no
# changer waits for who publishes.
use BloomTest;

my $node = new_node('tracked', conf => "max_prepared_transactions = 20\ndeadlock_timeout = 100ms");

# Keys from 1 to 300, of which some have rows; of an exact list with so small a rate strangers are false, too.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE device (id int PRIMARY KEY, active boolean, note int);
INSERT INTO device SELECT g, g % 3 <> 0 FROM generate_series(1, 200) g;
CALL bloom_publish('active', 'SELECT id, active FROM device', p => 1e-9);
CALL bloom_alter('active', max_shrink => 1);
CALL bloom_track('active', 'device', 'id', 'active');
-- Another trigger, which fires before the list's.
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF new.id % 7 = 0 THEN
		DELETE FROM device WHERE id = new.id;
	ELSE
		UPDATE device SET active = NOT active WHERE id IN (new.id, new.id + 1);
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER again AFTER UPDATE ON device FOR EACH ROW
	WHEN (pg_trigger_depth() = 0 AND old.id = new.id AND new.id % 3 = 0) EXECUTE FUNCTION again();
CREATE FUNCTION move(a int, b int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE device SET id = b WHERE id = a;
EXCEPTION WHEN unique_violation THEN
	DELETE FROM device WHERE id = b;
	UPDATE device SET id = b WHERE id = a;
END $$;
-- Each key by itself, and all in one call.
CREATE FUNCTION compare() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	wrong text;
BEGIN
	SELECT string_agg(format('%s is %s', k, d.active), ', ') INTO wrong
	FROM generate_series(1, 300) k LEFT JOIN device d ON d.id = k
	WHERE bloom_lookup('active', k) IS DISTINCT FROM coalesce(d.active, false)
		OR (bloom_lookup_each('active', ARRAY[k]))[1] IS DISTINCT FROM coalesce(d.active, false);
	IF wrong IS NOT NULL THEN
		RAISE EXCEPTION 'wrong answers: %', wrong;
	END IF;
END $$;
EOC

# Numbers of transactions by which each of these takes about a minute.
my $transactions = 3600 * rounds(1, 8);
my @runs = map {
	start_pgbench($node, "changer$_->[0]", <<"EOC", '-t', $transactions, '--max-tries=1000')
\\set a random(1, 300)
\\set b random(1, 300)
\\set c random(1, 10)
\\set n random(1, 1000000000)
BEGIN ISOLATION LEVEL $_->[1];
INSERT INTO device VALUES (:a, :c > 5) ON CONFLICT (id) DO UPDATE SET active = NOT coalesce(device.active, false), note = :n;
SAVEPOINT one;
DELETE FROM device WHERE id = :b;
\\if :c > 4
ROLLBACK TO one;
\\elif :c > 2
RELEASE one;
\\endif
UPDATE device SET active = CASE WHEN :c = 3 THEN NULL ELSE :c > 3 END WHERE id IN (:c, :b);
SELECT move(:b, :a) WHERE :c IN (1, 7);
$_->[2]
EOC
} ([ 1, 'READ COMMITTED', 'COMMIT;' ], [ 2, 'REPEATABLE READ', 'COMMIT;' ], [ 3, 'SERIALIZABLE', 'COMMIT;' ],
	[ 4, 'READ COMMITTED', "PREPARE TRANSACTION 'p';\n\\if :c = 5\nROLLBACK PREPARED 'p';\n\\else\nCOMMIT PREPARED 'p';\n\\endif" ]);
my $nights = join "\n", map { "CALL bloom_refresh('active');\n\\sleep 5 ms\n$_" }
  "CALL bloom_rollback('active');", '', "CALL bloom_refresh('active');", "CALL bloom_rollback('active');", "CALL bloom_refresh('active');\nCALL bloom_refresh('active');";
push @runs, start_pgbench($node, 'publisher', $nights, '-t', $transactions / 30);
push @runs, start_pgbench($node, 'checker', <<'EOC', '-t', $transactions, '-c', 2);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare();
COMMIT;
EOC
push @runs, start_pgbench($node, 'statement', <<'EOC', '-t', 2 * $transactions, '-M', 'prepared');
SELECT 1 / (count(*) = 0)::int FROM generate_series(1, 300) k LEFT JOIN device d ON d.id = k
WHERE bloom_lookup('active', k) IS DISTINCT FROM coalesce(d.active, false);
EOC
foreach my $run (@runs)
{
	ok($run->{run}->finish, "$run->{name}: no error") or diag($run->{out});
}

my $db = session($node);
$db->query('DROP TRIGGER again ON device');

# What is rolled back to before bloom_track is tracked: a removed key doesn't come back with it.
$db->query("CREATE TABLE early (id int PRIMARY KEY); INSERT INTO early VALUES (1), (2)");
$db->query("CALL bloom_publish('early', 'SELECT id FROM early', p => 1e-9)");
$db->query("CALL bloom_track('early', 'early', 'id')");
$db->query('DELETE FROM early WHERE id = 1');
$db->query("CALL bloom_rollback('early')");
is($db->query("SELECT bloom_lookup('early', 1), bloom_lookup('early', 2)"), 'f|t', 'the version before bloom_track is tracked, too');
$db->query("CALL bloom_drop('early')");

# Each step of what a generation takes up, with nobody else there.
my $other = session($node);
sub in_force
{
	return $db->query("SELECT string_agg(n.k || CASE WHEN c.value THEN '+' ELSE '-' END, ' ' ORDER BY n.k)
		FROM bloom_list_change c JOIN LATERAL (SELECT k FROM generate_series(1, 300) k WHERE bloom_hash(k, (SELECT seed FROM bloom_list)) = c.hash) n ON true");
}
sub kept { return $db->query('SELECT count(*) FROM bloom_change') . ' ' . $db->query('SELECT count(*) FROM bloom_absorbed'); }
$db->query("DELETE FROM device; INSERT INTO device SELECT g, true FROM generate_series(1, 200) g");
$db->query("CALL bloom_refresh('active')") foreach 1 .. 3;
is(kept(), '0 0', 'what both generations have taken up goes');
is(in_force(), '', 'and nothing is in force');
$db->query('UPDATE device SET active = false WHERE id IN (1, 2)');
is(in_force(), '1- 2-', 'two changes');
$db->query("CALL bloom_refresh('active')");
is(in_force() . ', ' . kept(), ', 2 2', 'are taken up, and stay for the generation before');
$db->query('UPDATE device SET active = true WHERE id = 1');
is(in_force(), '1+', 'a key that is changed again is in force again');
$db->query("CALL bloom_rollback('active')");
is(in_force(), '1+ 2-', 'a rollback brings back what the generation had taken up');
is($db->query("SELECT bloom_lookup('active', 1), bloom_lookup('active', 2)"), 't|f', 'so a removed key stays removed');
$db->query("CALL bloom_refresh('active')");
is(in_force() . ', ' . kept(), ', 2 2', 'one generation is not enough for a change to go');
my $log = -s $node->logfile;
$db->query("LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on");
$db->query("SET default_transaction_isolation = '$_'; CALL bloom_refresh('active')") foreach 'repeatable read', 'serializable';
is(kept(), '0 0', 'two are, in a session of any isolation level');
$log = slurp_file($node->logfile, $log);
ok($log =~ /Delete on bloom_absorbed/ && $log !~ /Nested Loop/, 'without nested loops, which take the square of their number before an ANALYZE');
$db->query("CALL bloom_publish('level', \$\$SELECT current_setting('transaction_isolation')\$\$)");
is($db->query("SELECT bloom_lookup('level', 'repeatable read')"), 't', 'which publishes at REPEATABLE READ, where no changer makes it fail');
$db->query("CALL bloom_drop('level')");
$db->query('RESET default_transaction_isolation; SET auto_explain.log_min_duration = -1; UPDATE device SET active = false WHERE id = 3');
$db->query("CALL bloom_refresh('active')");
$other->query('BEGIN; LOCK TABLE device');
is($db->state_of("SET lock_timeout = '100ms'; CALL bloom_refresh('active')"), '55P03', 'a run that fails takes none away');
$other->query('ROLLBACK');
$db->query("RESET lock_timeout; CALL bloom_rollback('active')");
is(in_force(), '3-', 'that the generation before had not taken up: a removed key stays removed');
$db->query("CALL bloom_refresh('active')") foreach 1, 2;
$db->query("CALL bloom_rollback('active')");
is(in_force(), '', 'what both had taken up is not in force after a rollback');
$db->query("CALL bloom_refresh('active')") foreach 1 .. 3;

# What a snapshot doesn't see is not taken up, and neither is what was changed again since.
$db->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$other->query('UPDATE device SET active = false WHERE id IN (5, 6)');
$db->query("CALL bloom_refresh('active'); COMMIT");
is(in_force(), '5- 6-', 'changes since the snapshot stay in force');
$db->query("CALL bloom_refresh('active')");
$db->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$other->query('UPDATE device SET active = true WHERE id = 5');
$db->query("CALL bloom_refresh('active'); COMMIT");
is(in_force(), '5+', 'and of a key that was changed again the later change');
is($db->query("SELECT bloom_lookup('active', 5), bloom_lookup('active', 6)"), 't|f', 'as it is answered');
$db->query("CALL bloom_refresh('active')") foreach 1 .. 3;

# A transaction sees its own row of a key, and the one that was removed since its snapshot: before its own or behind it, and with a greater version.
$db->query("VACUUM FULL bloom_change; UPDATE device SET active = NOT active WHERE id = 7; CALL bloom_refresh('active')");
$db->query("UPDATE device SET active = NOT active WHERE id IN (5, 6)");
$db->query("UPDATE bloom_change c SET version = version + 3600000000 WHERE NOT EXISTS (SELECT FROM bloom_absorbed a WHERE a.version = c.version)");
$db->query("CALL bloom_refresh('active'); CALL bloom_refresh('active'); VACUUM bloom_change");
$other->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; LOCK TABLE device');
is($db->state_of("SET lock_timeout = '100ms'; CALL bloom_refresh('active')"), '55P03', 'a run that removes changes, and fails');
$other->query("UPDATE device SET active = NOT active WHERE id = $_") foreach 6, 5;
is($other->query("SELECT bloom_lookup('active', 5), bloom_lookup_each('active', ARRAY[5, 6])"), 't|{t,f}', 'of two rows of a key its own counts');
$other->query('SELECT compare(); COMMIT');
$db->query("RESET lock_timeout; CALL bloom_refresh('active'); SELECT compare()") foreach 1 .. 3;

# The version grows when the clock doesn't, and for two that change one key.
$db->query("UPDATE device SET active = false WHERE id = 9");
$db->query("UPDATE bloom_change SET version = version + 3600000000");
my $version = $db->query('SELECT version FROM bloom_change');
$db->query("UPDATE device SET active = true WHERE id = 9");
is($db->query("SELECT version - $version FROM bloom_change"), 1, 'the version grows by one where the clock was set back');
$db->query("CALL bloom_refresh('active')") foreach 1 .. 3;

# Who waits for whom.
$other->query("SET lock_timeout = '200ms'");
my %publishers = (
	refresh => "CALL bloom_refresh('active')",
	rollback => "CALL bloom_rollback('active')",
	drop => "CALL bloom_drop('active')");
foreach my $what (sort keys %publishers)
{
	$db->query('UPDATE device SET active = NOT active WHERE id < 10');
	$db->query($what eq 'refresh' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN');
	$db->query($publishers{$what});
	is($other->state_of('UPDATE device SET active = NOT active WHERE id < 20'), '', "a changer doesn't wait for $what");
	$db->query('ROLLBACK');
	# both generations have taken these up, so the next run takes them away
	$db->query('UPDATE device SET active = NOT active WHERE id < 30');
	$db->query("CALL bloom_refresh('active')") foreach 1, 2;
	$db->query("BEGIN; UPDATE device SET active = NOT active WHERE id < 30");
	is($other->state_of($publishers{$what}), '', "$what doesn't wait for a changer") if $what ne 'drop';
	$db->query('COMMIT; SELECT compare()');
}
# A change that goes on while its list is dropped is taken up by the next list of that name.
$db->query('BEGIN; UPDATE device SET active = NOT active WHERE id < 30');
is($other->state_of("CALL bloom_drop('active')"), '', 'a list is dropped while its keys are changed');
$db->query('COMMIT');
cmp_ok($db->query('SELECT count(*) FROM bloom_change'), '>', 0, 'what was changed meanwhile is there');
$db->query("BEGIN; UPDATE device SET active = NOT active WHERE id < 20");
$other->query("CALL bloom_publish('active', 'SELECT id, active FROM device', p => 1e-9)");
is($other->state_of("CALL bloom_track('active')"), '55P03', 'which is not tracked before those end who have changed the table without a list');
$db->query("COMMIT; CALL bloom_track('active')");
is(in_force(), '', 'the first publish takes it up');
$db->query('SELECT compare()');

# From some probes on all changes are read, one way or the other: few, many, too many.
$db->query('CREATE TABLE large (id int PRIMARY KEY, active boolean); INSERT INTO large SELECT g, false FROM generate_series(1, 130000) g');
$db->query("CALL bloom_publish('large', 'SELECT id, active FROM large', p => 1e-9, allow_empty => true)");
$db->query("CALL bloom_track('large', 'large', 'id', 'active')");
# One row is no key's: a restore can bring anything.
$db->query("INSERT INTO bloom_change VALUES ('large', '\\x01', true, 1)");
my $previous = 0;
foreach my $changes (10, 1001, 100_001)
{
	$db->query("UPDATE large SET active = true WHERE id > $previous AND id <= $changes");
	$previous = $changes;
	is($db->query("SELECT count(*) FROM large WHERE bloom_lookup('large', id)"), $changes, "$changes changes: a scan");
	is($db->query("SELECT count(*) FROM (SELECT unnest(bloom_lookup_each('large', array_agg(id))) AS a FROM large) x WHERE a"), $changes, 'a batch');
	is($db->query("SELECT count(*) FROM large WHERE id % 10000 = 1 AND bloom_lookup('large', id)"), int(($changes + 9999) / 10000), 'a few');
	$db->query("UPDATE large SET active = NOT active WHERE id = 1; UPDATE large SET active = NOT active WHERE id = 1");
	$db->query("CALL bloom_refresh('large')") if $changes == 1001;
}
is($db->query(<<'EOC'), '100001|t', 'workers answer so, too');
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT count(*), (SELECT setting::int > 0 FROM pg_settings WHERE name = 'max_parallel_workers_per_gather') FROM large WHERE bloom_lookup('large', id)
EOC
like($db->query("EXPLAIN (COSTS off) SELECT count(*) FROM large WHERE bloom_lookup('large', id)"), qr/Parallel Seq Scan/, 'they do');
# So are large keys, until they are too much together.
$db->query("CREATE TABLE wide (id text PRIMARY KEY, active boolean); INSERT INTO wide SELECT g || repeat('x', 32768), false FROM generate_series(1, 2500) g");
$db->query("CALL bloom_publish('wide', 'SELECT id, active FROM wide', p => 1e-9, allow_empty => true); CALL bloom_track('wide', 'wide', 'id', 'active')");
foreach my $changes (100, 2400)
{
	$db->query("UPDATE wide SET active = split_part(id, 'x', 1)::int <= $changes");
	is($db->query("SELECT count(*) FROM wide WHERE bloom_lookup('wide', id)"), $changes, "$changes changes of large keys: a scan");
	is($db->query("SELECT count(*) FROM (SELECT unnest(bloom_lookup_each('wide', array_agg(id))) AS a FROM wide) x WHERE a"), $changes, 'a batch');
}

# Keys of another kind: earlier changes count no more, and what is changed meanwhile isn't lost.
my $publish = "CALL bloom_publish('active', 'SELECT id, active FROM device', p => 1e-9, allow_type_change => true)";
$db->query('UPDATE device SET active = NOT active WHERE id < 5');
foreach my $meanwhile ('SELECT bloom_change(\'active\', 7, true)', '')
{
	$db->query('BEGIN ISOLATION LEVEL REPEATABLE READ; ALTER TABLE device ALTER id TYPE text');
	$other->query($meanwhile);
	is($db->state_of($publish), $meanwhile eq '' ? '' : '40001', 'another kind of keys, ' . ($meanwhile || 'and no change meanwhile'));
	$db->query('COMMIT');
}
my $wrong = "SELECT count(*) FROM device WHERE bloom_lookup('active', id) IS DISTINCT FROM coalesce(active, false)";
is($db->query($wrong), 0, 'each text is answered');
$db->query("UPDATE device SET active = NOT active WHERE id IN ('3', '30')");
is($db->query("$wrong; SELECT count(*) FROM bloom_list_change WHERE name = 'active'"), "0\n2", 'and its changes, among which are none of numbers');

# The longest key that can be absorbed; one that is longer would fail each publish.
my $long = "INSERT INTO device SELECT string_agg(chr(33 + get_byte(sha256(g::text::bytea), 0) % 94), ''), true FROM generate_series(1, %d) g";
is($db->state_of(sprintf $long, 2680), '54000', 'a key that bloom_absorbed does not take is not recorded');
$db->query(sprintf($long, 2676) . "; CALL bloom_refresh('active')");
is($db->query($wrong), 0, 'one that it takes is absorbed');

# A list without a kind of keys, as it was before bloom_track, has that of the keys that are in by changes, not of those that were: they had another type.
$db->query("CREATE TABLE emptied (id int PRIMARY KEY); CALL bloom_publish('emptied', 'SELECT id FROM emptied', p => 1e-9, allow_empty => true)");
$db->query("CALL bloom_track('emptied', 'emptied', 'id'); CALL bloom_rollback('emptied')");
$db->query("INSERT INTO emptied VALUES (5); DELETE FROM emptied; ALTER TABLE emptied ALTER id TYPE text; INSERT INTO emptied VALUES ('5'), ('a')");
is($db->query("SELECT bloom_lookup('emptied', '5'), bloom_lookup('emptied', 'a'::text), bloom_lookup('emptied', 'b')"), 't|t|f', 'a list without a kind: keys of the type that its table has now');
$db->query("DELETE FROM emptied WHERE id = 'a'; ALTER TABLE emptied ALTER id TYPE int USING id::int");
is($db->state_of('INSERT INTO emptied VALUES (6)'), '42804', 'and no others beside them');
$db->query("CALL bloom_refresh('emptied'); INSERT INTO emptied VALUES (6)");
is($db->query("SELECT bloom_lookup_each('emptied', ARRAY[5, 6, 7])"), '{t,t,f}', 'until it is published');

sub tracked
{
	my ($list, $query) = @_;
	$db->query("CREATE TABLE $list (id int PRIMARY KEY); INSERT INTO $list VALUES (1); CALL bloom_publish('$list', '$query')");
	$db->query("CALL bloom_track('$list', '$list', 'id')");
	return;
}
# One makes the triggers, another one drops them: one after the other.
tracked('pair', 'SELECT id FROM pair, pg_advisory_xact_lock_shared(1)');
my $third = session($node);
$third->query('SELECT pg_advisory_lock(1)');
$other->query('RESET lock_timeout');
sub waits
{
	my ($count, $name) = @_;
	return eventually(sub { $third->query("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'") == $count }, $name);
}
$db->start("CALL bloom_untrack('pair')");
waits(1, 'one waits');
$other->start("CALL bloom_track('pair', 'pair', 'id')");
waits(2, 'and the other one');
$third->query('SELECT pg_advisory_unlock(1)');
is(($_->finish)[1], '', 'and end') foreach $db, $other;
$db->query('INSERT INTO pair VALUES (2)');
is($db->query("SELECT bloom_lookup('pair', 2)"), 't', 'a list that is tracked while it is untracked is tracked by its table');
$third->quit;

# What no trigger records any more, or did not record before, is told of.
sub warns
{
	my ($statement, $told, $name) = @_;
	like(($db->try($statement))[2], $told, $name);
	return;
}
warns("CALL bloom_untrack('pair'); CALL bloom_track('pair', 'pair', 'id'); CALL bloom_rollback('pair'); CALL bloom_refresh('pair'); CALL bloom_rollback('pair')", qr/(WARNING: [^\n]* rolled back to a version from before it was tracked.*){2}/s, 'two rollbacks to before bloom_track');
warns("CALL bloom_refresh('pair'); CALL bloom_refresh('pair'); CALL bloom_rollback('pair'); CALL bloom_refresh('pair')", qr/\A\z/, 'another one');
warns("ALTER TABLE pair DISABLE TRIGGER bloom_change_pair; CALL bloom_refresh('pair')", qr/WARNING: .* changes of table "pair" are not recorded/, 'a trigger that is disabled');
warns("CALL bloom_track('pair', 'pair', 'id'); CREATE TABLE heir () INHERITS (pair); CALL bloom_refresh('pair')", qr/WARNING: .* changes of table "heir" are not recorded/, 'a table that inherits');
$db->query('DROP TABLE heir; CREATE TABLE new_pair (LIKE pair); DROP TABLE pair; ALTER TABLE new_pair RENAME TO pair; INSERT INTO pair VALUES (1)');
warns("CALL bloom_refresh('pair')", qr/WARNING: .* is tracked, and no table has its triggers/, 'a table that has another one\'s name') foreach 1, 2;
warns("CALL bloom_track('pair'); CALL bloom_rollback('pair'); CALL bloom_refresh('pair')", qr/\A\z/, 'but not of a list without a table, nor where it had one before');

# Hints and rights of those that publish by the way.
tracked('hints', 'SELECT id FROM hints');
$db->query("INSERT INTO hints SELECT generate_series(2, 3000); CALL bloom_refresh('hints'); DELETE FROM hints WHERE id > 500");
warns("CALL bloom_untrack('hints')", qr/HINT: .* first CALL bloom_refresh\('hints', allow_shrink => true\)\./, 'a list that shrinks');
$db->query("CALL bloom_refresh('hints', allow_shrink => true); CREATE ROLE lists; CREATE ROLE writers; GRANT lists TO writers; ALTER TABLE hints OWNER TO writers; GRANT ALL ON hints TO lists; CALL bloom_alter('hints', owner => 'lists')");
is($db->state_of("SET ROLE lists; CALL bloom_track('hints', 'hints', 'id'); CALL bloom_untrack('hints')"), '42501', 'who does not own the table does not untrack');
$db->query("RESET ROLE; CREATE TABLE split (id int PRIMARY KEY) PARTITION BY LIST (id); CREATE TABLE split_rest PARTITION OF split DEFAULT; ALTER TABLE split OWNER TO lists; ALTER TABLE split_rest OWNER TO writers; GRANT ALL ON split_rest TO lists; CALL bloom_publish('split', 'SELECT id FROM split', allow_empty => true); CALL bloom_alter('split', owner => 'lists')");
is($db->state_of("SET ROLE lists; CALL bloom_track('split', 'split', 'id'); CALL bloom_untrack('split')"), '42501', 'nor who does not own a partition');
is($db->query("RESET ROLE; SELECT bool_and(tracked) FROM bloom_list WHERE name IN ('hints', 'split')"), 't', 'and nothing is done by halves');
is($db->state_of("SET ROLE writers; CALL bloom_untrack('hints'); RESET ROLE"), '', 'the owner does');

finish($node);
