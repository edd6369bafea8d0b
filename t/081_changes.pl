# bloom_index_changes: a copy that takes what it tells has every key that was committed, after
# growth, crashes, promotion and whatever gives the index another file or another layout; and
# without crashes it is bloom_snapshot, bit for bit.
use BloomTest;

my $node = new_node('changes', allows_streaming => 1,
	conf => "wal_writer_delay = 10s\nwal_writer_flush_after = 1GB\nwal_keep_size = '1GB'\n");
my $elsewhere = PostgreSQL::Test::Utils::tempdir;
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");

# A reader of changes: its copy of each part, and the token of the last call.
sub new_copy
{
	my ($session, $index) = @_;
	return { session => $session, index => $index, parts => {}, token => 'NULL', pages => 0, whole => 0 };
}

# Asks once.  Sets what was told: pages, whole.
sub take
{
	my ($copy) = @_;
	my $rows = $copy->{session}->query(<<"EOC");
SELECT coalesce((c).part::text, '-'), coalesce((c).block::text, '-'), encode((c).bytes, 'hex'), coalesce((c).build::text, '-')
FROM (SELECT bloom_index_changes('$copy->{index}', $copy->{token}) AS c OFFSET 0) AS rows
EOC
	@$copy{qw(pages whole bits)} = (0, 0, 0);
	foreach my $row (split /\n/, $rows)
	{
		my ($part, $block, $hex, $build) = split /\|/, $row;
		my $bytes = pack('H*', $hex);
		if ($part eq '-')
		{
			$copy->{token} = "'\\x$hex'";
			$copy->{position} = unpack('Q<', substr($bytes, -8));
			$copy->{other_build} = ($copy->{build} // $build) ne $build;
			$copy->{build} = $build;
			$copy->{parts} = {} if $copy->{other_build};
			next;
		}
		if ($block eq '-')
		{
			my ($log2, $blocks) = unpack('x6 C x V', $bytes);
			$copy->{whole} = 1;
			$copy->{block_bytes} = 2**($log2 - 3);
			$copy->{type} = unpack('x7 C', $bytes);
			$copy->{parts}{$part} //= "\0" x ($blocks * $copy->{block_bytes});
			next;
		}
		my $at = $block * $copy->{block_bytes};
		die 'beyond the end' if $at + length $bytes > length $copy->{parts}{$part};
		substr($copy->{parts}{$part}, $at, length $bytes) |= $bytes;
		$copy->{pages}++;
	}
	return $copy;
}

# The blocks that bloom_snapshot has, without the header.
sub snapshot
{
	my ($copy) = @_;
	return pack('H*', $copy->{session}->query("SELECT encode(substring(bloomfilter_send(bloom_snapshot('$copy->{index}')), 65), 'hex')"));
}

# Blocks of a snapshot that lack nothing in a copy.
sub has_all
{
	my ($copy) = @_;
	my $snapshot = snapshot($copy);
	return ($copy->{parts}{0} | $snapshot) eq $copy->{parts}{0};
}

my $session = session($node);
$session->query('CREATE TABLE keys (id bigint); CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 100000)');
my $copy = new_copy($session, 'keys_id');

take($copy);
ok($copy->{whole} && $copy->{pages} == 0 && $copy->{type} == 1, 'an empty index is told as a whole, with its key type');
take($copy);
ok(!$copy->{whole} && $copy->{pages} == 0, 'nothing new: no page');
$session->query('INSERT INTO keys SELECT generate_series(1, 5)');
take($copy);
ok(!$copy->{whole} && $copy->{pages} > 0 && $copy->{pages} <= 5, 'five keys: at most five pages');
is($copy->{parts}{0}, snapshot($copy), 'the copy is the snapshot, bit for bit');
$session->query('INSERT INTO keys SELECT generate_series(1, 50000)');
take($copy);
is($copy->{parts}{0}, snapshot($copy), 'also after many keys');

# Beyond n: overflow pages of several levels, whose home pages don't change any more.
$session->query('CREATE TABLE small (id bigint); CREATE INDEX small_id ON small USING bloomfilter (id) WITH (n = 1)');
my $small = take(new_copy($session, 'small_id'));
foreach my $round (1 .. 6)
{
	my $first = $round * 10000;
	$session->query("INSERT INTO small SELECT generate_series($first, $first + 9999)");
	take($small);
	ok(!$small->{whole}, "growth $round is told by what changed") if $round > 1;
	is($small->{parts}{0}, snapshot($small), "the copy of a grown filter is the snapshot, round $round");
}
cmp_ok($session->query("SELECT overflow_depth FROM bloom_index_stats('small_id')"), '>=', 2, 'it has overflow pages of overflow pages');
$session->query("INSERT INTO small VALUES (-1)");
take($small);
ok(!$small->{whole} && $small->{pages} <= 2, 'one key more changes a page of an overflow, and that is told');
is($small->{parts}{0}, snapshot($small), 'with its bits');

# While others write, and in an open transaction.
my $writer = session($node);
$writer->start("INSERT INTO keys SELECT generate_series(100000, 200000)");
take($copy) foreach 1 .. 3;
$writer->finish;
take($copy);
is($copy->{parts}{0}, snapshot($copy), 'a copy taken while keys came is the snapshot at the end');

# The position is flushed write-ahead log, as the insert position is used again after a crash.
$writer->query("SET synchronous_commit = off; BEGIN; INSERT INTO keys SELECT generate_series(300000, 301000)");
take($copy);
my ($flushed, $inserted) = split /\|/, $session->query("SELECT pg_current_wal_flush_lsn() - '0/0', pg_current_wal_insert_lsn() - '0/0'");
cmp_ok($copy->{position}, '<=', $flushed, 'the position is not beyond what is flushed');
cmp_ok($copy->{position}, '<', $inserted, 'although more was inserted');
take($copy);
cmp_ok($copy->{pages}, '>', 0, 'what was not flushed is told again');
$writer->query('COMMIT');

# A crash: the copy has keys that were lost, and must get those that came instead.
my $old_token = $copy->{token};
$node->stop('immediate');
$_->abandon foreach $session, $writer;
$node->start;
$session = session($node);
$copy->{session} = $small->{session} = $session;
$session->query('INSERT INTO keys SELECT generate_series(400000, 401000)');
take($copy);
ok($copy->{whole} && !$copy->{other_build}, 'after a crash all is told, of the same build');
ok(has_all($copy), 'and the copy has all');
take($small);
is($small->{parts}{0}, snapshot($small), 'a filter that lost nothing is the snapshot');

# Whatever makes it another filter.
sub is_told
{
	my ($name, $other_build, @statements) = @_;
	$session->query($_) foreach @statements;
	take($copy);
	ok($copy->{whole}, "$name: all is told");
	is($copy->{other_build} ? 'other' : 'same', $other_build, "$name: of the right build");
	is($copy->{parts}{0}, snapshot($copy), "$name: the copy is the snapshot") if $other_build eq 'other';
	take($copy);
	ok(!$copy->{whole} && $copy->{pages} == 0, "$name: then nothing");
	return;
}

is_told('REINDEX', 'other', 'REINDEX INDEX keys_id');
is_told('REINDEX CONCURRENTLY', 'other', 'REINDEX INDEX CONCURRENTLY keys_id');
is_told('TRUNCATE', 'other', 'TRUNCATE keys', 'INSERT INTO keys SELECT generate_series(1, 2000)');
is_told('another n', 'other', 'ALTER INDEX keys_id SET (n = 300000)', 'REINDEX INDEX keys_id');

# The same file laid out anew, by the second TRUNCATE of a transaction.
$session->query('BEGIN; TRUNCATE keys; INSERT INTO keys SELECT generate_series(1, 300)');
take($copy);
$session->query('ALTER INDEX keys_id SET (seed = 5); TRUNCATE keys; INSERT INTO keys SELECT generate_series(1, 300)');
take($copy);
ok($copy->{whole} && $copy->{other_build} && $copy->{parts}{0} eq snapshot($copy), 'TRUNCATE in place: all is told, of another build');
$session->query('COMMIT');
is_told('DROP and CREATE', 'other', 'DROP INDEX keys_id', 'CREATE INDEX keys_id ON keys USING bloomfilter (id)');
is_told('SET TABLESPACE and TRUNCATE', 'other', 'ALTER INDEX keys_id SET (n = 1000)',
	'BEGIN; ALTER TABLE keys SET TABLESPACE elsewhere; TRUNCATE keys; INSERT INTO keys SELECT generate_series(1, 300); COMMIT');
is_told('of another tablespace', 'other', 'ALTER INDEX keys_id SET TABLESPACE elsewhere');

# A token of another session, of another index, and what is none.
my $other = session($node);
my $theirs = take(new_copy($other, 'keys_id'));
$copy->{token} = $theirs->{token};
take($copy);
ok($copy->{whole} && !$copy->{other_build}, "another session's token: all is told");
$copy->{token} = $small->{token};
take($copy);
ok($copy->{whole}, "another index's token: all is told");
$copy->{token} = "'\\x00'";
take($copy);
ok($copy->{whole}, 'bytes that are no token: all is told');

# Another backend may get this one's process identifier: the token has when this one began, too.
take($copy);
my $began = pack('Q<', unpack('Q>', pack('H*', $session->query("SELECT encode(timestamptz_send(backend_start), 'hex') FROM pg_stat_activity WHERE pid = pg_backend_pid()"))));
ok(index(pack('H*', $copy->{token} =~ /x(\w+)/), $began) > 0, 'a token says when its backend began');

# Time: what was committed before true_at is told.
is($session->query("SELECT count(*) FROM (SELECT clock_timestamp() AS before OFFSET 0) AS t, bloom_index_changes('keys_id', NULL) AS c WHERE c.true_at BETWEEN t.before - interval '1 s' AND clock_timestamp()"),
	'1', 'on a primary true_at is the time of the call');

# What is refused.
$session->query('CREATE UNLOGGED TABLE fleeting (id int); CREATE INDEX fleeting_id ON fleeting USING bloomfilter (id); CREATE TABLE split (id int) PARTITION BY HASH (id); CREATE INDEX split_id ON split USING bloomfilter (id); CREATE ROLE stranger; CREATE ROLE column_reader; GRANT SELECT (id) ON keys TO column_reader');
is($session->state_of("SELECT bloom_index_changes('fleeting_id', NULL)"), '0A000', 'an unlogged index is refused');
is($session->state_of("SELECT bloom_index_changes('split_id', NULL)"), '42809', 'and a partitioned one');
is($session->state_of("SELECT bloom_index_changes(NULL, NULL)"), '22004', 'and none');
$session->query('SET ROLE stranger');
is($session->state_of("SELECT bloom_index_changes('keys_id', NULL)"), '42501', 'who may not read the column may not see its filter');
$session->query('SET ROLE column_reader');
is($session->query("SELECT count(*) > 1 FROM bloom_index_changes('keys_id', NULL)"), 't', 'who may read the column, may');
$session->query('RESET ROLE');
is($session->query("SELECT count(*) FROM (SELECT bloom_index_changes('keys_id', NULL) LIMIT 2) AS t"), '2', 'a query may end before the last row');
# An exporter looks each second, and its role may have a limit.
$session->query("SET work_mem = '64kB'; SET temp_file_limit = 0");
is($session->query("SELECT count((c).part) > 10 FROM (SELECT bloom_index_changes('small_id', NULL) AS c OFFSET 0) AS r"), 't', 'rows are told one by one, without a temporary file');
$session->query('RESET work_mem; RESET temp_file_limit');

# A standby, and the same one when it has become a primary: the session goes on.
{
	$session->query('DROP INDEX keys_id; ALTER TABLE keys SET TABLESPACE pg_default; CREATE INDEX keys_id ON keys USING bloomfilter (id)');
	$session->query('DROP TABLESPACE elsewhere');
	my $standby = new_standby($node, 'changes_standby');
	$node->wait_for_catchup($standby, 'replay', $node->lsn('write'));
	my $primary_copy = take(new_copy($session, 'keys_id'));
	my $there = session($standby);
	my $mirror = take(new_copy($there, 'keys_id'));
	is($mirror->{build}, $primary_copy->{build}, 'a standby tells of the same build');
	is($mirror->{parts}{0}, $primary_copy->{parts}{0}, 'and of the same bits');
	$session->query("INSERT INTO keys SELECT generate_series(500000, 500100)");
	$node->wait_for_catchup($standby, 'replay', $node->lsn('write'));
	take($mirror);
	take($primary_copy);
	ok(!$mirror->{whole}, 'a standby tells what changed');
	is($mirror->{parts}{0}, $primary_copy->{parts}{0}, 'all of it');
	is($there->query("SELECT count(*) FROM bloom_index_changes('keys_id', NULL) WHERE true_at <= (SELECT pg_last_xact_replay_timestamp())"), '1',
		'its time is that of the last transaction that it replayed');
	$standby->promote;
	$there->query("INSERT INTO keys SELECT generate_series(600000, 600100)");
	take($mirror);
	ok(!$mirror->{whole} && has_all($mirror), 'when it has become a primary it goes on');
	$there->quit;
	$standby->stop;
}

finish($node);
