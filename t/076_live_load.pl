# Many writers and askers at once, as pgbench's clients, with REINDEX CONCURRENTLY in a loop
# and one of them killed by kill -9: whoever has inserted a key finds it, and so does whoever sees
# a row.  What is rebuilt in the end is what bloom_agg makes of the keys.  Nor is a key of a partitioned table
# denied in long transactions beside all that gives a partition or its index another file or takes the partition away,
# and no two wait for each other.
# BLOOMFILTER_LONG=1 makes 64 of each and minutes of it.
use BloomTest;
use Time::HiRes qw(sleep);

my $clients = rounds(8, 64);
my $transactions = rounds(30, 2000);

my $node = new_node('live_load', conf => "max_connections = 150\ndeadlock_timeout = 100ms\nlog_min_duration_statement = -1\nlog_statement = none\nrestart_after_crash = on\n");
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint, other bigint, code text, kind int) PARTITION BY LIST (kind);
CREATE TABLE keys_0 PARTITION OF keys FOR VALUES IN (0) WITH (fillfactor = 70);
CREATE TABLE keys_1 PARTITION OF keys FOR VALUES IN (1) WITH (fillfactor = 70);
CREATE INDEX keys_btree ON keys (id);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1);
CREATE INDEX keys_other ON keys USING bloomfilter (other) WITH (n = 100000);
CREATE INDEX keys_code ON keys USING bloomfilter (lower(code)) WITH (n = 20000) WHERE code IS NOT NULL;
INSERT INTO keys SELECT k, -k, 'Code ' || k, k % 2 FROM generate_series(1, 1000) AS k;
CREATE TABLE grows (id bigint);
CREATE INDEX grows_id ON grows USING bloomfilter (id) WITH (n = 1, p = 0.0001);
CREATE TABLE leaves (id bigint, part int) PARTITION BY LIST (part);
SELECT format('CREATE TABLE leaf_%s PARTITION OF leaves FOR VALUES IN (%s)', g, g) FROM generate_series(0, 4) AS g \gexec
CREATE INDEX leaves_id ON leaves USING bloomfilter (id) WITH (n = 1);
INSERT INTO leaves SELECT k, k % 5 FROM generate_series(1, 500) AS k;
EOC
mkdir $node->basedir . '/elsewhere';
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '" . $node->basedir . "/elsewhere'");

# A division by zero is a key that was denied.
my $denied = "SELECT 1 / (count(*) = 0)::int FROM leaves WHERE NOT bloom_index_contains('leaves', 'id', id)";
my %scripts = (
	ask_leaves => "$denied;\nBEGIN;\n$denied;\n$denied;\nCOMMIT;\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n$denied;\n$denied;\nCOMMIT;\n",
	write_leaves => <<'EOC',
\set k random(1, 1000000000000)
BEGIN;
INSERT INTO leaves SELECT :k::bigint + i, i % 3 FROM generate_series(0, 5) AS i;
SELECT 1 / bool_and(may)::int FROM unnest(bloom_index_contains_each('leaves', 'id', array[:k::bigint, :k::bigint + 5])) AS may;
COMMIT;
SELECT 1 / count(*)::int FROM bloom_search(NULL::leaves, 'id', :k::bigint);
DELETE FROM leaves WHERE id BETWEEN :k::bigint AND :k::bigint + 5;
EOC
	write => <<'EOC',
\set k random(1, 1000000000000)
\set undo random(0, 1)
BEGIN;
INSERT INTO keys SELECT :k::bigint + i, - :k::bigint - i, 'Code ' || :k::bigint + i, i % 2 FROM generate_series(0, 3) AS i;
UPDATE keys SET other = other - 1, code = code || ' anew' WHERE id = :k::bigint;
SAVEPOINT saved;
INSERT INTO keys VALUES (:k::bigint + 4, 0, NULL, 1);
DELETE FROM keys WHERE id = :k::bigint + 1;
\if :undo
ROLLBACK TO saved;
\endif
COMMIT;
SELECT 1 / bloom_index_contains('keys', 'id', :k::bigint)::int;
EOC
	grow => <<'EOC',
INSERT INTO grows SELECT random() * 1000000000000 FROM generate_series(1, 300);
EOC
	ask => <<'EOC');
\set k random(1, 1000000000000)
SELECT bloom_index_contains('keys', 'id', :k::bigint), bloom_index_contains('keys', 'other', :k::bigint);
SELECT 1 / bool_and(bloom_index_contains('keys', 'id', id) AND bloom_index_contains('keys', 'other', other) AND coalesce(bloom_index_contains('keys_code', lower(code)), true))::int FROM (SELECT * FROM keys WHERE id >= :k::bigint ORDER BY id LIMIT 10) AS several HAVING count(*) > 0;
SELECT 1 / bool_and(may)::int FROM (SELECT array_agg(id) AS ids FROM (SELECT id FROM keys WHERE id >= :k::bigint ORDER BY id LIMIT 100) AS several) AS arrays, unnest(bloom_index_contains_each('keys', 'id', ids)) AS may HAVING count(*) > 0;
EOC

# pgbench with all clients of a kind, each in a thread, as preparing a statement makes all of a thread wait.
sub start_clients
{
	my ($kind, $clients, @until) = @_;
	return start_pgbench($node, $kind, $scripts{$kind}, '-M', 'prepared', '-c', $clients, '-j', $clients, @until);
}

# Rebuilds until something is done; returns the session that rebuilds, still at it.
sub rebuild_until
{
	my ($done) = @_;
	my $rebuild = 'REINDEX TABLE CONCURRENTLY keys';
	my $builder = session($node);
	$builder->start($rebuild);
	while (!$done->())
	{
		sleep(0.02);
		$builder->{run}->pump_nb;
		next if !$builder->_at_mark('out');
		my (undef, $state, $err) = $builder->finish;
		# A client's lock and the rebuild's may be in a circle, which PostgreSQL ends.
		is($state, '', 'rebuilt') or diag $err if $state !~ /^(|40P01)$/;
		$builder->start($rebuild);
	}
	return $builder;
}

# Waits for clients of a round in which nobody is killed.
sub finish_whole
{
	my ($name, $builder, @runs) = @_;
	foreach my $run (@runs)
	{
		$run->{run}->finish;
		unlike($run->{out}, qr/aborted|ERROR/, "$name: no client had an error ($run->{name})") or diag $run->{out};
	}
	$builder->finish;
	$builder->quit;
	return;
}

# Whether all of these have ended.
sub all_ended
{
	my (@runs) = @_;
	$_->{run}->pump_nb foreach grep { $_->{run}->pumpable } @runs;
	return !grep { $_->{run}->pumpable } @runs;
}

sub check
{
	my ($name) = @_;
	is($node->safe_psql('postgres', <<'EOC'), '0|0|0', "$name: no key is denied");
SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys', 'id', id)), count(*) FILTER (WHERE NOT bloom_index_contains('keys', 'other', other)),
	count(*) FILTER (WHERE NOT bloom_index_contains('keys_code', lower(code))) FROM keys
EOC
	is($node->safe_psql('postgres', 'SELECT bool_and(bloom_index_verify(indexrelid)) FROM bloom_live WHERE valid'),
		't', "$name: the filters are whole");
	return;
}

foreach my $round (1 .. rounds(2, 6))
{
	my $killed = $round % 2 == 0;
	my @runs = map { start_clients($_, $clients, $killed ? ('-T', 600) : ('-t', $transactions)) } 'write', 'ask';
	my $enough = $node->safe_psql('postgres', 'SELECT count(*) FROM keys') + $clients * $transactions;
	my $builder = rebuild_until($killed
		? sub { $node->safe_psql('postgres', "SELECT count(*) >= $enough FROM keys") eq 't' }
		: sub { all_ended(@runs) });
	if ($killed)
	{
		kill 'KILL', $node->safe_psql('postgres', "SELECT min(pid) FROM pg_stat_activity WHERE application_name = 'pgbench'");
		$_->{run}->finish foreach @runs;
		$builder->abandon;
		wait_until_up($node);
	}
	else
	{
		finish_whole("round $round", $builder, @runs);
	}
	unlike($_->{out}, qr/division by zero/, "round $round: no client was denied a key ($_->{name})") foreach @runs;
	check("round $round");
	# What a rebuild that was killed has left behind.
	$node->safe_psql('postgres', $_)
	  foreach split /\n/, $node->safe_psql('postgres', "SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE NOT indisvalid");
}
# So many keys that several writers make the index grow at once.
my $growers = start_clients('grow', $clients, '-t', rounds(200, 2000));
$growers->{run}->finish;
unlike($growers->{out}, qr/aborted|ERROR/, 'no writer that made it grow had an error') or diag $growers->{out};
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('grows', 'id', id)), bloom_index_verify('grows_id') FROM grows"),
	'0|t', 'and all keys are there');

# Built anew, a filter has the keys and nothing else.
is($node->safe_psql('postgres', <<'EOC'), 't', 'rebuilt, the bytes are those of bloom_agg');
SET bloomfilter.overflow = ignore;
REINDEX TABLE keys_0;
SELECT bloom_snapshot('keys_0_id_idx1') = (SELECT bloom_agg(id, (SELECT n FROM bloom_index_stats('keys_0_id_idx1'))) FROM keys_0);
EOC

# What is done to leaf 1, in a session; leaf 4 has nobody else's keys.
my @changes = (
	'REINDEX TABLE leaf_1', 'ALTER INDEX leaf_1_id_idx SET (n = 100000, seed = 5); REINDEX INDEX leaf_1_id_idx',
	'ALTER INDEX leaf_1_id_idx SET TABLESPACE elsewhere', 'REINDEX TABLE CONCURRENTLY leaf_1', 'VACUUM FULL leaf_1',
	'ALTER INDEX leaf_1_id_idx SET (n = 1, seed = 0); REINDEX INDEX leaf_1_id_idx', 'ALTER INDEX leaf_1_id_idx SET TABLESPACE pg_default',
	'BEGIN; TRUNCATE leaf_4; INSERT INTO leaf_4 SELECT k, 4 FROM generate_series(4, 500, 5) AS k; COMMIT',
	'BEGIN; ALTER TABLE leaves DETACH PARTITION leaf_4; INSERT INTO leaf_4 VALUES (0, 4); ALTER TABLE leaves ATTACH PARTITION leaf_4 FOR VALUES IN (4); COMMIT');
my @runs = map { start_clients($_, 3, '-t', rounds(60, 2000)) } 'ask_leaves', 'write_leaves';
my $changer = session($node);
my $rounds = 0;
do
{
	is($changer->state_of($_), '', "round $rounds: $_") foreach @changes;
	$rounds++;
} until all_ended(@runs);
foreach my $run (@runs)
{
	ok($run->{run}->finish && $run->{out} !~ /aborted|ERROR/, "nobody had an error ($run->{name})") or diag $run->{out};
}
is($changer->query($denied), 1, 'no key is denied in the end');
$changer->quit;
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:/, 'the server crashed for nothing but the kill');
done_testing();
