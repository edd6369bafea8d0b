# Copies of stored filters: one for all who ask, of many filters in turn as well, and
# together no more than bloomfilter.cache_size.
use BloomTest;

my $node = new_node('copies', conf => "max_parallel_workers_per_gather = 0\nenable_nestloop = off\n");
my $session = session($node);
plan skip_all => 'no /proc to read memory from' unless defined peak_kb($session->pid);

# A filter of 10 MB; 64 and 1000 filters of tenants, whose rows come in turn.
$session->query(<<'EOC');
CREATE TABLE large AS SELECT i AS id, bloom_add_all(bloom_create(8000000), '{1,2,3}'::int[]) AS f FROM generate_series(1, 2) AS i;
CREATE TABLE event (tenant int, k int);
INSERT INTO event SELECT hashint4(i) & 63, i FROM generate_series(1, 200000) AS i;
CREATE TABLE parted (k int, day int) PARTITION BY LIST (day);
SELECT format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%s)', i, i) FROM generate_series(1, 32) AS i \gexec
INSERT INTO parted SELECT i, i % 32 + 1 FROM generate_series(1, 320000) AS i;
CREATE TABLE whole AS SELECT * FROM parted;
CREATE TABLE tenant_64 AS
SELECT tenant, bloom_agg(k, 40000) AS f FROM event WHERE k % 2 = 0 GROUP BY tenant;
CREATE TABLE tenant_1000 AS
SELECT tenant, bloom_agg(k, 4000) AS f
FROM (SELECT hashint4(i) & 1023 AS tenant, i AS k FROM generate_series(1, 100000) AS i WHERE i % 2 = 0) AS e GROUP BY tenant;
CREATE TABLE event_1000 AS SELECT hashint4(i) & 1023 AS tenant, i AS k FROM generate_series(1, 100000) AS i;
VACUUM ANALYZE;
EOC

# Answer and peak of memory of a statement in a session of its own, in kB above what
# a session that has asked for nothing has.
sub measured
{
	my ($query) = @_;
	my $own = session($node);
	$own->query('SELECT count(*) FROM whole, bloom_create(1)');
	my $before = own_peak_kb($own->pid);
	my $answer = $own->query($query);
	my $peak = own_peak_kb($own->pid) - $before;
	$own->quit;
	return ($answer, $peak);
}

my $copy_kb = $session->query('SELECT bytes / 1024 FROM large, bloom_stats(f) WHERE id = 1');
my $ask = '(SELECT f FROM large WHERE id = 1) @> k';
my ($answer, $single) = measured("SELECT count(*) FROM whole WHERE $ask");
is($answer, 3, 'a scan finds the keys');
note "a copy has $copy_kb kB; a scan takes $single kB";
cmp_ok($single, '>', $copy_kb, 'a scan has a copy');

my %sharers = (
	'partitions' => "SELECT count(*) FROM parted WHERE $ask",
	'questions' => 'SELECT count(*) FROM whole WHERE ' . join(' OR ', ($ask) x 6),
	'functions' => 'DO $do$ DECLARE n int := 0; BEGIN '
	  . join(' ', map { "FOR i IN 1..6000 LOOP n := n + ask_$_(i); END LOOP;" } 1 .. 6)
	  . "RAISE NOTICE '%', n; END \$do\$; SELECT 3",
);
$session->query(<<"EOC") foreach 1 .. 6;
CREATE FUNCTION ask_$_(k int) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE filter bloomfilter := f FROM large WHERE id = 1;
BEGIN RETURN (filter \@> k)::int; END \$\$;
EOC
foreach my $name (sort keys %sharers)
{
	my ($found, $peak) = measured($sharers{$name});
	note "$name: $peak kB";
	is($found, 3, "many $name find the keys");
	cmp_ok($peak, '<=', 1.2 * $single + 4096, "many $name share one copy");
}

# Blocks of a table's TOAST heap that some statements look at, after the first answer.
sub toast_blocks
{
	my ($table, @statements) = @_;
	my $count = sub {
		$session->query('SELECT pg_stat_force_next_flush()');
		return $session->query(<<"EOC");
SELECT toast_blks_read + toast_blks_hit FROM pg_statio_all_tables WHERE relid = '$table'::regclass
EOC
	};
	my $before = $count->();
	my @answers = map { $session->query($_) } @statements;
	return ($count->() - $before, @answers);
}

foreach my $count (64, 1000)
{
	my $events = $count == 64 ? 'event' : 'event_1000';
	my $table = "tenant_$count";
	my $join = "SELECT count(*), count(*) FILTER (WHERE k % 2 = 0) FROM $events JOIN $table USING (tenant) WHERE f \@> k";
	my $chunks = $session->query("SELECT sum(bytes / 1996 + 1) FROM $table, bloom_stats(f)");
	my $kb = $session->query("SELECT sum(bytes) / 1024 FROM $table, bloom_stats(f)");
	my $expected = $session->query(
		"SELECT count(*) FILTER (WHERE k % 2 = 0) FROM $events JOIN $table USING (tenant)");

	$session->query('SET bloomfilter.cache_size = 0');
	my ($by_chunk, $right) = toast_blocks($table, $join);
	like($right, qr/\|$expected$/, "$count filters by chunks: every key is found");
	$session->query('RESET bloomfilter.cache_size');
	my ($copied, $same) = toast_blocks($table, $join);
	is($same, $right, "$count filters by copies: the same answer");
	note "$count filters in $chunks chunks: $by_chunk blocks by chunks, $copied by copies";
	# A question counts as 512 bytes: four of them a chunk, then the copy.
	cmp_ok($copied, '<=', 6 * $chunks + 100, "$count filters in turn are each copied once");

	foreach my $share (2, 8)
	{
		my $limit = int($kb / $share);
		$session->query("SET bloomfilter.cache_size = $limit");
		my ($some, $found) = toast_blocks($table, $join);
		note "$count filters, room for one in $share: $some blocks";
		is($found, $right, "$count filters, room for one in $share: the same answer");
		cmp_ok($some, '<=', 1.02 * $by_chunk, "$count filters, room for one in $share: no more is read than by chunks");
		cmp_ok($some, '<=', (1 - 0.5 / $share) * $by_chunk, "$count filters, room for one in $share: and the room is of use");
	}
	$session->query('RESET bloomfilter.cache_size');

	# Statements of one transaction find the copies of those before; the next one doesn't.
	my ($again) = toast_blocks($table, "BEGIN; $join; $join; $join; COMMIT");
	cmp_ok($again, '<=', $copied * 1.1 + 100, "$count filters: a transaction copies once");
}

# The limit is of all copies together, also when it is lowered, and nothing is left
# when the transaction ends.
my $two = 'SELECT sum((f @> k)::int) FROM large, generate_series(1, 20000) AS k';
my $own = session($node);
$own->query('SELECT bloom_create(1)');
my $before = anonymous_kb($own->pid);
$own->query("BEGIN; SET LOCAL enable_nestloop = on; $two");
cmp_ok(anonymous_kb($own->pid) - $before, '>', 2 * $copy_kb, 'a transaction keeps its copies');
$own->query("SET LOCAL bloomfilter.cache_size = 12288; SELECT f \@> 1 FROM large");
cmp_ok(anonymous_kb($own->pid) - $before, '<', 1.8 * $copy_kb, 'until the limit is lowered');
is($own->query($two), 6, 'and the answers are right');
cmp_ok(anonymous_kb($own->pid) - $before, '<', 1.8 * $copy_kb, 'within the limit');
$own->query('COMMIT');
cmp_ok(anonymous_kb($own->pid) - $before, '<', 0.5 * $copy_kb, 'or the transaction ends');

# Two cursors that are fetched from in turn push out each other's copy.
$own->query(<<'EOC');
BEGIN;
SET LOCAL bloomfilter.cache_size = 12288;
DECLARE a CURSOR FOR SELECT k, (SELECT f FROM large WHERE id = 1) @> k FROM generate_series(1, 100000) AS k;
DECLARE b CURSOR FOR SELECT k, (SELECT f FROM large WHERE id = 2) @> k FROM generate_series(1, 100000) AS k;
EOC
my $wrong = 0;
foreach my $turn (1 .. 8)
{
	foreach my $cursor ('a', 'b')
	{
		my @true = grep { /\|t$/ } split /\n/, $own->query("FETCH 12000 FROM $cursor");
		$wrong++ if "@true" ne ($turn == 1 ? '1|t 2|t 3|t' : '');
	}
}
is($wrong, 0, 'cursors go on when their copy has gone');
$own->query('COMMIT');

# A message tells of each copy.
sub copies_told
{
	my ($query) = @_;
	my $told = ($own->try("SET client_min_messages = debug1; $query"))[2];
	return scalar(() = $told =~ /bloomfilter \d+ of TOAST relation \d+ is copied, \d+ bytes/g);
}
is(copies_told('SELECT count(*) FROM large, generate_series(1, 30000) AS k WHERE f @> k AND id = 1'),
	1, 'a scan copies a filter once');
is(copies_told('SELECT count(*) FROM large, generate_series(1, 10000) AS k WHERE f @> k AND id = 1'),
	0, 'and a short one never');
is(copies_told('SELECT f @> 1 FROM large WHERE id = 1'), 0, 'a single look-up copies nothing');
my $each = 'SELECT bloom_contains_each(f, array(SELECT generate_series(1, %d))) FROM large WHERE id = 1';
is(copies_told(sprintf $each, 6000), 0, 'nor does a call for some keys a chunk');
is(copies_told(sprintf $each, 200000), 1, 'but one for many more does');
is(copies_told('SELECT count(*) FROM event JOIN tenant_64 USING (tenant) WHERE f @> k'),
	64, 'filters that are asked in turn are copied once each');

finish($node);
