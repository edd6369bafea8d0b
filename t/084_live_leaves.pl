# Look-ups of a partitioned table, in long transactions, beside all that gives a partition or its
# index another file or takes the partition away: no key is denied, nobody has an error, and no
# two wait for each other.
use BloomTest;
use IPC::Run ();

my $node = new_node('live_leaves', conf => "deadlock_timeout = 100ms\n");
mkdir $node->basedir . '/elsewhere';
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '" . $node->basedir . "/elsewhere'");
$node->safe_psql('postgres', 'CREATE TABLE keys (id bigint, part int) PARTITION BY LIST (part)');
$node->safe_psql('postgres', "CREATE TABLE leaf_$_ PARTITION OF keys FOR VALUES IN ($_)") foreach 0 .. 4;
$node->safe_psql('postgres', 'CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1); INSERT INTO keys SELECT k, k % 5 FROM generate_series(1, 500) AS k');

# A division by zero is a key that was denied.

my $denied = "SELECT 1 / (count(*) = 0)::int FROM keys WHERE NOT bloom_index_contains('keys', 'id', id)";
my %scripts = (
	ask => "$denied;\nBEGIN;\n$denied;\n$denied;\nCOMMIT;\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n$denied;\n$denied;\nCOMMIT;\n",
	write => <<"EOC");
\\set k random(1, 1000000000000)
BEGIN;
INSERT INTO keys SELECT :k::bigint + i, i % 3 FROM generate_series(0, 5) AS i;
SELECT 1 / bool_and(may)::int FROM unnest(bloom_index_contains_each('keys', 'id', array[:k::bigint, :k::bigint + 5])) AS may;
COMMIT;
SELECT 1 / count(*)::int FROM bloom_search(NULL::keys, 'id', :k::bigint);
DELETE FROM keys WHERE id BETWEEN :k::bigint AND :k::bigint + 5;
EOC

# What is done to leaf 1, in a session; leaf 4 has nobody else's keys.
my @changes = (
	'REINDEX TABLE leaf_1', 'ALTER INDEX leaf_1_id_idx SET (n = 100000, seed = 5); REINDEX INDEX leaf_1_id_idx',
	'ALTER INDEX leaf_1_id_idx SET TABLESPACE elsewhere', 'REINDEX TABLE CONCURRENTLY leaf_1', 'VACUUM FULL leaf_1',
	'ALTER INDEX leaf_1_id_idx SET (n = 1, seed = 0); REINDEX INDEX leaf_1_id_idx', 'ALTER INDEX leaf_1_id_idx SET TABLESPACE pg_default',
	'BEGIN; TRUNCATE leaf_4; INSERT INTO leaf_4 SELECT k, 4 FROM generate_series(4, 500, 5) AS k; COMMIT',
	'BEGIN; ALTER TABLE keys DETACH PARTITION leaf_4; INSERT INTO leaf_4 VALUES (0, 4); ALTER TABLE keys ATTACH PARTITION leaf_4 FOR VALUES IN (4); COMMIT');

# A thread for each client: one that prepares a statement waits for its locks, and all of its thread with it.
my @runs = map {
	my %run = (kind => $_, out => '');
	my $file = PostgreSQL::Test::Utils::tempdir . "/$_.sql";
	append_to_file($file, $scripts{$_});
	$run{run} = IPC::Run::start([ 'pgbench', '-n', '-M', 'prepared', '-c', 3, '-j', 3, '-t', rounds(60, 2000), '-f', $file, $node->connstr('postgres') ], '<', \undef, '>&', \$run{out});
	\%run;
} sort keys %scripts;
my $changer = session($node);
my $rounds = 0;
while ($rounds == 0 || grep { $_->{run}->pumpable } @runs)
{
	foreach my $change (@changes)
	{
		is($changer->state_of($change), '', "round $rounds: $change");
		$_->{run}->pump_nb foreach grep { $_->{run}->pumpable } @runs;
	}
	$rounds++;
}
foreach my $run (@runs)
{
	ok($run->{run}->finish && $run->{out} !~ /aborted|ERROR/, "nobody who would $run->{kind} had an error") or diag $run->{out};
}
is($changer->query($denied), 1, 'no key is denied in the end');

finish($node);
