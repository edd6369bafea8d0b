# Live indexes on a standby that compares each replayed page with the primary's
# (wal_consistency_checking), whose snapshots never see a row whose key is denied, and
# that goes on as a primary; and on a subscriber, which builds its own.  A list that is asked there
# while the primary publishes: no error, and no member is ever denied.
use BloomTest;

require "$FindBin::Bin/050_doc.pm";

my $primary = new_node('live_primary',
	allows_streaming => 'logical',
	conf => "wal_consistency_checking = 'generic'\nwal_keep_size = '2GB'\nmax_prepared_transactions = 10\n");
$primary->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint PRIMARY KEY);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1);
INSERT INTO keys SELECT generate_series(1, 1000);
CREATE TABLE pairs (id bigint PRIMARY KEY, other bigint);
CREATE INDEX pairs_other ON pairs USING bloomfilter (other);
EOC
my $standby = new_standby($primary, 'live_standby',
	conf => "max_standby_streaming_delay = -1\nhot_standby_feedback = on\nwal_receiver_status_interval = 1s\n");

my $writer = session($primary);
my $reader = session($standby);
my $lost = "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys', 'id', id)) FROM keys";

# How many keys the standby denies.  Replay of the drop at the end of REINDEX CONCURRENTLY waits for
# nobody: the planner, or a look-up, may find an index that is gone when it opens it.  Such a
# statement fails, and is sent again.
sub lost
{
	foreach (1 .. 100)
	{
		my ($count, $state, $error) = $reader->try($lost);
		return $count if $state eq '';
		die $error if $error !~ /ERROR:  XX000: could not open relation with OID/;
	}
	die 'the index stays away';
}

# The standby is asked while it replays insertions, checkpoints' page images and growth.
my $seen = 0;
foreach my $round (1 .. rounds(4, 100))
{
	my $first = $round * 2000;
	$writer->start("INSERT INTO keys SELECT generate_series($first, $first + 1999); CHECKPOINT; UPDATE keys SET id = -id WHERE id BETWEEN $first AND $first + 99");
	$seen += lost() foreach 1 .. 5;
	$writer->finish;
	$writer->query('REINDEX INDEX CONCURRENTLY keys_id') if $round == 3;
}
is($seen, 0, 'no snapshot of the standby sees a row whose key is denied');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is($reader->query($lost), 0, 'nor after it has caught up');
my $pages = "SELECT md5(string_agg(bloom_index_contains('keys', 'id', k)::int::text, '' ORDER BY k)) FROM generate_series(-3000, 200000) AS k";
is($reader->query($pages), $writer->query($pages), 'it answers as the primary does');
is($reader->query("SELECT bloom_index_verify('keys_id')"), 't', 'its pages are whole');
is($reader->query("SET bloomfilter.overflow = ignore; SELECT md5(bloom_snapshot('keys_id')::text)"),
	$writer->query("SET bloomfilter.overflow = ignore; SELECT md5(bloom_snapshot('keys_id')::text)"), 'and its snapshot is the same');

# Built concurrently on the primary while the standby has a snapshot that sees deleted rows.
$writer->query('CREATE TABLE old (id int); INSERT INTO old SELECT generate_series(1, 100)');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
$reader->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM old');
my $keeper = session($standby);
$keeper->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM old');
# Told of this snapshot, the primary does not prune what it sees; and the build does not wait.
$primary->poll_query_until('postgres', 'SELECT bool_or(backend_xmin IS NOT NULL) FROM pg_stat_replication')
  or die 'the primary is not told of the snapshot';
$writer->query('DELETE FROM old WHERE id <= 50');
$writer->query('CREATE INDEX CONCURRENTLY old_id ON old USING bloomfilter (id)');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is($reader->query("SELECT count(*), count(*) FILTER (WHERE NOT bloom_index_contains('old', 'id', id)) FROM old"),
	'100|0', 'a snapshot of the standby that is older than an index is told "perhaps"');
$reader->query('COMMIT');
is($reader->query("SELECT count(*), count(*) FILTER (WHERE NOT bloom_index_contains('old', 'id', id)), bloom_index_contains('old', 'id', -1) FROM old"),
	'50|0|f', 'a later one is told what is there');

# Logical.
my $subscriber = new_node('live_subscriber');
$subscriber->safe_psql('postgres', <<'EOC');
CREATE TABLE pairs (id bigint PRIMARY KEY, other bigint);
CREATE INDEX pairs_other ON pairs USING bloomfilter (other) WITH (n = 1);
EOC
$writer->query('INSERT INTO pairs SELECT k, k FROM generate_series(1, 20000) AS k');
$primary->safe_psql('postgres', 'CREATE PUBLICATION pairs_pub FOR TABLE pairs');
my $source = $primary->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION pairs_sub CONNECTION '$source' PUBLICATION pairs_pub");
$subscriber->poll_query_until('postgres',
	"SELECT count(*) > 0 AND bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel")
  or die 'the subscription did not start';
$writer->query('INSERT INTO pairs SELECT k, k FROM generate_series(20001, 30000) AS k; UPDATE pairs SET other = -other WHERE id <= 1000');
$primary->wait_for_catchup('pairs_sub', 'replay', $primary->lsn('write'));
is($subscriber->safe_psql('postgres', "SELECT count(*), min(other), count(*) FILTER (WHERE NOT bloom_index_contains('pairs', 'other', other)) FROM pairs"),
	'30000|-1000|0', 'a subscriber finds what was copied, inserted and updated');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION pairs_sub');

# Swaps that change everything, the number of parts, the size, the seed, while a list is asked: a
# denied member, or an answer that is none, is a division by zero.
$primary->safe_psql('postgres', q{CREATE TABLE account AS SELECT generate_series(1, 100000)::bigint AS id; CALL bloom_publish('account', 'SELECT id FROM account', parts => 8)});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
my $clients = doc::ask_members($standby, 'postgres', q{
\set k random(1, 100000)
select 1 / bloom_lookup('account', :k::bigint)::int;
});
foreach my $night (1 .. 6)
{
	my ($parts, $n) = (1 + $night % 5, 200000 + 50000 * ($night % 3));
	$primary->safe_psql('postgres', "CALL bloom_publish('account', 'SELECT id FROM account', parts => $parts, n => $n, seed => $night)");
	$primary->safe_psql('postgres', 'VACUUM bloom_generation_part') if $night % 4 == 0;
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
	is($reader->query('SELECT seed FROM bloom_list'), $night, "the standby has seen night $night");
}
is(doc::stop_asking($clients), '', 'no error and no denied member');
my $denied = q{SELECT count(*) FILTER (WHERE NOT bloom_lookup('account', id)) FROM account};
is($reader->query($denied), 0, 'the standby finds every key');
my $bytes = q{SELECT md5(string_agg(filter::text, ',' ORDER BY back, part)) FROM bloom_generation_part};
is($reader->query($bytes), $writer->query($bytes), 'in the same bytes');
is($reader->state_of(q{CALL bloom_publish('account', 'SELECT id FROM account')}), '25006', 'a standby does not publish');

# The standby takes over, with a transaction that was prepared on the primary.
$writer->query("BEGIN; INSERT INTO keys VALUES (-77777); PREPARE TRANSACTION 'keys'");
$writer->query("CREATE UNLOGGED TABLE fleeting (id int); CREATE INDEX fleeting_id ON fleeting USING bloomfilter (id); INSERT INTO fleeting VALUES (1)");
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
$writer->quit;
$primary->stop;
$standby->promote;
$reader->query("COMMIT PREPARED 'keys'; INSERT INTO keys SELECT generate_series(1000001, 1020000)");
is($keeper->query("SELECT count(*), count(*) FILTER (WHERE NOT bloom_index_contains('old', 'id', id)) FROM old"),
	'100|0', 'a snapshot of its time as a standby is still told "perhaps"');
$keeper->quit;
is($reader->query($lost), 0, 'promoted, it finds all keys, those of a prepared transaction and new ones');
is($reader->query("SELECT bloom_index_contains('keys', 'id', -77777), bloom_index_verify('keys_id')"), 't|t', 'and its pages are whole');
$reader->query('INSERT INTO fleeting VALUES (2)');
is($reader->query("SELECT bloom_index_contains('fleeting_id', 1), bloom_index_contains('fleeting_id', 2)"), 'f|t', 'an unlogged one is empty, and takes keys');
is($reader->query($denied), 0, 'it finds every key of the list');
my $serial = $reader->query('SELECT serial FROM bloom_list');
cmp_ok($reader->query(q{CALL bloom_publish('account', 'SELECT id FROM account'); CALL bloom_rollback('account'); SELECT serial FROM bloom_list}), '>', $serial,
	'publishes itself then, and has the way back');
unlike(slurp_file($standby->logfile), qr/inconsistent page found/, 'replayed pages are those of the primary');

finish($primary, $standby, $subscriber);
