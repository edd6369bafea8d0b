# A look-up in a stored filter reads the header and one block, whatever its size;
# a scan reads slices for as long as they are cheaper than a copy, then copies once: one copy
# for all who ask, of many filters in turn as well, and together no more than bloomfilter.cache_size.
use BloomTest;

my $node = new_node('slices', conf => "max_parallel_workers_per_gather = 0\nenable_nestloop = off\n");
my $session = session($node);
plan skip_all => 'no /proc to read memory from' unless defined peak_kb($session->pid);

# Keys for a filter of about 12 MB, or 124 MB, by rate.
my $scale = rounds(1, 10);
my %capacity = ('1e-2' => 10_000_000, '1e-6' => 3_333_000);
my $keys = 20_000;

# What the last statement answered whose blocks were counted.
my $answer;

# Blocks of a table's TOAST heap that statements look at.
sub toast_blocks
{
	my ($table, $statements) = @_;
	my $count = sub {
		$session->query('SELECT pg_stat_force_next_flush()');
		return $session->query(<<"EOC");
SELECT toast_blks_read + toast_blks_hit
FROM pg_statio_all_tables WHERE relid = '$table'::regclass
EOC
	};
	my $before = $count->();
	$answer = $session->query($statements);
	return $count->() - $before;
}

# What the scan's answers are compared with: the keys that are in, and some more.
$session->query(<<'EOC');
CREATE TABLE known AS SELECT generate_series(1, 20000) AS k;
EOC

foreach my $p (sort keys %capacity)
{
	my $n = $capacity{$p} * $scale;
	my $table = 'filter_' . ($p =~ s/1e-//r);

	$session->query(<<"EOC");
CREATE TABLE $table AS
SELECT bloom_add_all(bloom_create($n, $p), array(SELECT k FROM known)) AS f;
EOC
	my ($bytes, $block) = split /\|/,
	  $session->query("SELECT s.bytes, s.block_bits / 8 FROM $table, bloom_stats(f) AS s");
	my $chunks = int($bytes / 1996) + 1;
	note "p $p: $bytes bytes in $chunks chunks, blocks of $block bytes";

	my $worst = 0;
	foreach my $key (map { $_ * 97 } 1 .. 30)
	{
		my $blocks =
		  toast_blocks($table, "SELECT bloom_contains(f, $key) FROM $table");
		$worst = $blocks if $blocks > $worst;
	}
	cmp_ok($worst, '<=', 3,
		"p $p: no look-up reads more than the header's chunk and a block's two");
	cmp_ok($worst, '>=', 1, "p $p: blocks are counted");

	cmp_ok(toast_blocks($table, "SELECT f @> 5, 5 <@ f FROM $table"),
		'<=', 6, "p $p: neither do the operators");
	cmp_ok(
		toast_blocks(
			$table,
			"SELECT bloom_stats(f), bloom_cardinality(f), bloom_fpr(f) FROM $table"),
		'<=', 3, "p $p: estimates read the header alone");
	cmp_ok(toast_blocks($table, "SELECT bloom_chunk(f, $bytes / 2, 2000) FROM $table"),
		'<=', 3, "p $p: a chunk reads what it returns");

	# A join that hands the same stored value to one call site again and again.
	my $scan = sub {
		my ($rows) = @_;
		return "SELECT count(*) FROM $table, generate_series(1, $rows) AS k"
		  . ' WHERE bloom_contains(f, k)';
	};
	# A question counts as 512 bytes: after four a chunk comes the copy.
	my $short = toast_blocks($table, $scan->(6 * $chunks));
	my $long = toast_blocks($table, $scan->(30 * $chunks));
	note "p $p: scans of 6 and 30 rows a chunk read $short and $long blocks";
	cmp_ok($short, '<=', 5.5 * $chunks + 100,
		"p $p: a scan costs at most twice the best choice");
	cmp_ok(abs($long - $short), '<=', $chunks / 4 + 100,
		"p $p: a scan five times longer reads no more");
	is( $session->query(
			"SELECT count(*) FROM $table, known WHERE NOT bloom_contains(f, k)"),
		0, "p $p: a scan finds every key");

	my $few = toast_blocks($table, $scan->(int($chunks / 10)));
	cmp_ok($few, '<=', $chunks / 4 + 100, "p $p: a short scan copies nothing");

	# A call for many keys knows how many before the first.
	my $call = sub {
		my ($asked) = @_;
		return toast_blocks($table,
			"SELECT bloom_contains_each(f, array(SELECT generate_series(1, $asked))) FROM $table");
	};
	cmp_ok($call->(3 * $chunks), '<=', $chunks * 1.25 + 100,
		"p $p: a call for some keys a chunk reads each chunk once");
	cmp_ok($call->(30 * $chunks), '<=', $chunks * 1.25 + 100,
		"p $p: a call for many keys copies and reads no slices before");
	cmp_ok($call->(int($chunks / 10)), '<=', $chunks / 4 + 100,
		"p $p: a call for few copies nothing");

	$session->query('SET bloomfilter.cache_size = 0');
	my $uncached = toast_blocks($table, $scan->(3 * $chunks));
	cmp_ok($uncached, '>=', 3 * $chunks,
		"p $p: with cache_size 0 each row reads its block");
	cmp_ok($call->(3 * $chunks), '<=', $chunks * 1.25 + 100,
		"p $p: and a call for many keys each chunk once");
	is( $session->query(
			"SELECT count(*) FROM $table, known WHERE NOT bloom_contains(f, k)"),
		0, "p $p: and finds every key");
	$session->query('RESET bloomfilter.cache_size');
}

# Memory of the backend: neither statements nor loops gather copies.
{
	my $asker = session($node);
	my $ask = sub {
		my ($statements) = @_;
		$asker->query("SELECT bloom_contains(f, $_) FROM filter_2") foreach 1 .. $statements;
		return anonymous_kb($asker->pid);
	};
	my $before = $ask->(100);
	my $after = $ask->(1000);
	cmp_ok($after - $before, '<=', 1024, '1000 statements leave no memory behind');

	# Two filters in turn through one expression of a function: what was fetched
	# of the one must not answer for the other.
	$asker->query(<<'EOC');
CREATE TABLE pair AS
SELECT i AS id, bloom_add_all(bloom_create(1000000), array(SELECT k FROM known WHERE k % 2 = i)) AS f
FROM generate_series(0, 1) AS i;
CREATE FUNCTION wrong_answers(rounds int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE wrong int := 0; row pair;
BEGIN
	FOR i IN 1..rounds LOOP
		FOR row IN SELECT * FROM pair ORDER BY id LOOP
			IF NOT bloom_contains(row.f, i * 2 + row.id) THEN wrong := wrong + 1; END IF;
		END LOOP;
	END LOOP;
	RETURN wrong;
END $$;
EOC
	is($asker->query('SELECT wrong_answers(100)'), 0,
		'an expression that is handed two filters in turn answers for each');
	$before = anonymous_kb($asker->pid);
	is($asker->query('SELECT wrong_answers(3000)'), 0, 'and in a longer loop');
	cmp_ok(anonymous_kb($asker->pid) - $before,
		'<=', 3 * 1024, 'which leaves no memory behind');
	$asker->quit;
}

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
my ($members, $single) = measured("SELECT count(*) FROM whole WHERE $ask");
is($members, 3, 'a scan finds the keys');
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
	my $by_chunk = toast_blocks($table, $join);
	my $right = $answer;
	like($right, qr/\|$expected$/, "$count filters by chunks: every key is found");
	$session->query('RESET bloomfilter.cache_size');
	my $copied = toast_blocks($table, $join);
	is($answer, $right, "$count filters by copies: the same answer");
	note "$count filters in $chunks chunks: $by_chunk blocks by chunks, $copied by copies";
	# A question counts as 512 bytes: four of them a chunk, then the copy.
	cmp_ok($copied, '<=', 6 * $chunks + 100, "$count filters in turn are each copied once");

	foreach my $share (2, 8)
	{
		my $limit = int($kb / $share);
		$session->query("SET bloomfilter.cache_size = $limit");
		my $some = toast_blocks($table, $join);
		note "$count filters, room for one in $share: $some blocks";
		is($answer, $right, "$count filters, room for one in $share: the same answer");
		cmp_ok($some, '<=', 1.02 * $by_chunk, "$count filters, room for one in $share: no more is read than by chunks");
		cmp_ok($some, '<=', (1 - 0.5 / $share) * $by_chunk, "$count filters, room for one in $share: and the room is of use");
	}
	$session->query('RESET bloomfilter.cache_size');

	# Statements of one transaction find the copies of those before; the next one doesn't.
	cmp_ok(toast_blocks($table, "BEGIN; $join; $join; $join; COMMIT"), '<=', $copied * 1.1 + 100, "$count filters: a transaction copies once");
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

# A look-up in an exact list reads one block for a stranger, and at most three for a member.
$session->query(<<'EOC');
SET bloomfilter.cache_size = 0;
CREATE TABLE universe AS SELECT g::bigint AS id, hashint8extended(g, 42) % 10 = 0 AS member FROM generate_series(1, 430000) g;
VACUUM ANALYZE universe;
CALL bloom_publish('exact', 'SELECT id, member FROM universe');
EOC
cmp_ok($session->query("SELECT bytes * 8.0 / rows FROM bloom_published WHERE name = 'exact'"), '<=', 1.35 * 11.2,
	'by default an exact list has at most 1.35 times the bits that its keys need');
foreach my $case (
	[ 'a stranger', 'SELECT -g AS id FROM generate_series(1::bigint, 2000) g', 1, 1.1 ],
	[ 'a member', 'SELECT id FROM universe WHERE member LIMIT 2000', 1.9, 2.2 ])
{
	my ($who, $keys_of, $least, $most) = @$case;
	my $ask_all = "SELECT count(bloom_lookup('exact', id)) FROM ($keys_of) s";
	$session->query($ask_all);
	my $each = toast_blocks('bloom_generation_part', $ask_all) / 2000;
	note "$who of an exact list: $each blocks";
	ok($each >= $least && $each < $most, "$who reads from $least to $most blocks");
}

finish($node);
