# A live index after crashes: every key that was committed is found, whatever the
# moment, and so are the keys of tables that grow their filter, of COPY, of prepared
# transactions and of savepoints.  What is on disk after replay is what bloom_agg makes
# of the same keys.  Unlogged filters are empty, as their tables are, and take keys.
use BloomTest;
use Time::HiRes qw(usleep);

my $seed = 70;
srand($seed);

my $node = new_node('live_crash',
	conf => "max_prepared_transactions = 10\nwal_consistency_checking = 'generic'\n");

# Two filters: one with room, one that overflows from its first page on.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint, code text);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 200000);
CREATE INDEX keys_code ON keys USING bloomfilter (code) WITH (n = 1, p = 0.001);
CREATE UNLOGGED TABLE fleeting (id bigint);
CREATE INDEX fleeting_id ON fleeting USING bloomfilter (id) WITH (n = 1000000);
INSERT INTO fleeting SELECT generate_series(1, 1000);
CREATE PROCEDURE write(first bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 0 .. 100000 LOOP
		INSERT INTO keys SELECT k, 'code ' || k FROM generate_series(first + i * 50, first + i * 50 + 49) AS k;
		COMMIT;
	END LOOP;
END $$;
EOC

sub check
{
	my ($name) = @_;
	my $session = session($node);
	is($session->query('SELECT count(*) > 0, count(*) FILTER (WHERE NOT bloom_index_contains(\'keys_id\', id)), count(*) FILTER (WHERE NOT bloom_index_contains(\'keys_code\', code)) FROM keys'),
		't|0|0', "$name: no committed key is denied");
	is($session->query("SELECT bloom_index_verify('keys_id'), bloom_index_verify('keys_code')"),
		't|t', "$name: both filters are whole");
	$session->quit;
	return;
}

foreach my $round (1 .. rounds(3, 40))
{
	my $session = session($node);
	my $first = $round * 10_000_000;
	my $checkpoint = $round % 2 ? 'CHECKPOINT' : 'SELECT 1';
	$session->start("CALL write($first)");
	$node->poll_query_until('postgres', "SELECT count(*) > 2000 FROM keys WHERE id >= $first")
	  or die 'nothing was committed';
	$node->safe_psql('postgres', $checkpoint);
	usleep(rand(200_000));
	$node->stop('immediate');
	$session->abandon;
	$node->start;
	check("seed $seed, immediate stop $round");
}

# Right after a growth, with every new page but one unused, and no checkpoint since.
$node->safe_psql('postgres', 'CREATE TABLE grown (id int); CREATE INDEX grown_id ON grown USING bloomfilter (id) WITH (n = 1); CHECKPOINT');
my $size = "SELECT pg_relation_size('grown_id')";
my $small = $node->safe_psql('postgres', $size);
my ($grown, $pages) = split /\|/, $node->safe_psql('postgres', "SELECT pg_relation_filenode('grown_id'), pg_relation_size('grown_id') / current_setting('block_size')::int");
my $begin = $node->lsn('flush');
$node->safe_psql('postgres', <<"EOC");
DO \$\$ BEGIN
	FOR k IN 1 .. 100000 LOOP
		INSERT INTO grown VALUES (k);
		EXIT WHEN pg_relation_size('grown_id') > $small;
	END LOOP;
END \$\$
EOC
my $end = $node->lsn('flush');
$node->stop('immediate');

# Each new page is logged before the full page names the first of them, whenever it is that a
# crash comes between.
my ($records) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal', '-s', $begin, '-e', $end ]);
my @changes = map { m{^rmgr: (XLOG|Generic) .* rel \S+/$grown blk (\d+)} ? ($1 eq 'XLOG' ? 'new ' : $2 < $pages ? 'old ' : 'key ') : () } split /\n/, $records;
like(join('', @changes), qr/^(old )+(new ){2,}old key $/, 'all new pages are logged before one is named');
$node->start;
cmp_ok($node->safe_psql('postgres', $size), '>', $small, 'the filter has grown');
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE bloom_index_contains('grown_id', -k)) < 1000 FROM generate_series(1, 5000) AS k"),
	't', 'after a crash right then, all of its pages are there');
$node->safe_psql('postgres', 'INSERT INTO grown SELECT -generate_series(1, 5000)');
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('grown_id', id)), bloom_index_verify('grown_id') FROM grown"),
	'0|t', 'and take keys');

# A transaction that is prepared, and lost sessions, before the last crash.
my $session = session($node);
$session->query("BEGIN; INSERT INTO keys VALUES (-1, 'prepared'); SAVEPOINT s; INSERT INTO keys VALUES (-2, 'saved'); RELEASE s; PREPARE TRANSACTION 'keys'");
$session->query("COPY keys FROM PROGRAM 'seq 1 3000 | sed \"s/.*/-1&\\tcopied &/\"'");
$session->query("BEGIN; CREATE TABLE late (id int); INSERT INTO late SELECT generate_series(1, 5000); CREATE INDEX late_id ON late USING bloomfilter (id); INSERT INTO late VALUES (5001); COMMIT");
$session->query("INSERT INTO late SELECT generate_series(5002, 5100)");
# No checkpoint comes behind it.
$session->query("CREATE UNLOGGED TABLE latest (id int); CREATE INDEX latest_id ON latest USING bloomfilter (id); INSERT INTO latest VALUES (1)");
$node->stop('immediate');
$session->abandon;
$node->start;
$session = session($node);
$session->query("COMMIT PREPARED 'keys'");
is($session->query("SELECT bool_and(bloom_index_contains('keys_id', id)) AND bool_and(bloom_index_contains('keys_code', code)) FROM keys WHERE id < 0"),
	't', 'keys of a prepared transaction and of COPY are found');
check('prepared transaction');
is($session->query("SELECT count(*), count(*) FILTER (WHERE NOT bloom_index_contains('late_id', id)) FROM late"),
	'5100|0', 'keys of an index that was built just before the crash are found');
$session->query("SET bloomfilter.overflow = ignore");
is($session->query(<<'EOC'), 't|t', 'without keys that were lost, the bytes are those of bloom_agg');
SELECT bloom_snapshot('late_id') = (SELECT bloom_agg(id, (SELECT n FROM bloom_index_stats('late_id'))) FROM late),
	overflow_pages >= 2 FROM bloom_index_stats('keys_code')
EOC

# Unlogged: the table is empty, its filter small, and it grows.
is($session->query("SELECT count(*) FROM fleeting"), '0', 'an unlogged table is empty after a crash');
is($session->query("SELECT bloom_index_contains('fleeting_id', 1), n < 1000000 FROM bloom_index_stats('fleeting_id')"),
	'f|t', 'and so is its filter');
$session->query("INSERT INTO fleeting SELECT generate_series(1, 300000)");
is($session->query("SELECT count(*) FILTER (WHERE NOT bloom_index_contains('fleeting_id', id)), bloom_index_verify('fleeting_id') FROM fleeting"),
	'0|t', 'which takes keys again, beyond its size');
$session->query("INSERT INTO latest VALUES (2)");
is($session->query("SELECT bloom_index_contains('latest_id', 1), bloom_index_contains('latest_id', 2)"), 'f|t', 'so does one that was made after the last checkpoint');
unlike(slurp_file($node->logfile), qr/inconsistent page found/, 'replayed pages are those that were written');

finish($node);
