# Two snapshots may list as many transactions in progress and yet not the same: one that is
# being prepared is listed twice until it is, which takes as long as a standby's answer, and
# another may have committed.  A list that was published in between is asked as it is now.
use BloomTest;

# A standby that never answers, for who waits for one.
my $node = new_node('same_snapshot', conf => <<'EOC');
max_prepared_transactions = 2
wal_level = replica
max_wal_senders = 1
synchronous_standby_names = 'nobody'
synchronous_commit = local
EOC
my ($asker, $preparer, $publisher, $writer, $holder) = map { session($node) } 1 .. 5;

sub waits_for
{
	my ($event) = @_;
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = '$event'"),
		"one waits: $event")
	  or die 'nobody does';
	return;
}

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
