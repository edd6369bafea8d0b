# A look-up in a stored filter reads the header and one block, whatever its size;
# a scan reads slices for as long as they are cheaper than a copy, then copies once.
use BloomTest;

my $node = new_node('slices');
my $session = session($node);

# Keys for a filter of about 12 MB, or 124 MB, by rate.
my $scale = rounds(1, 10);
my %capacity = ('1e-2' => 10_000_000, '1e-4' => 5_000_000, '1e-6' => 3_333_000);
my $keys = 20_000;

# Blocks of a table's TOAST heap that some statements look at.
sub toast_blocks
{
	my ($table, @statements) = @_;
	my $count = sub {
		$session->query('SELECT pg_stat_force_next_flush()');
		return $session->query(<<"EOC");
SELECT toast_blks_read + toast_blks_hit
FROM pg_statio_all_tables WHERE relid = '$table'::regclass
EOC
	};
	my $before = $count->();
	$session->query($_) foreach @statements;
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
SKIP:
{
	skip 'no /proc to read memory from', 3 unless defined anonymous_kb($session->pid);
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

finish($node);
