# A damaged filter is an error where the damage can be seen, and never a "no" for
# want of bytes; bloom_verify sees any.
use BloomTest;
use Config;
use BloomTest::Damage;

plan skip_all => 'damages files as a little-endian server writes them'
  if $Config{byteorder} !~ /^1234/;

my $node = new_node('corruption', initdb => BloomTest::Damage->initdb);
my $session = session($node);
my $keys = 1000;

# A table with one filter of about 100 chunks that contains 1 .. $keys.
sub make_filter
{
	my ($table) = @_;
	$session->query(<<"EOC");
CREATE TABLE $table AS
SELECT bloom_add_all(bloom_create(160000), array(SELECT generate_series(1, $keys))) AS f;
EOC
	return BloomTest::Damage->locate($session, $table);
}

# Damages the files of a stopped server.
sub while_stopped
{
	my ($damage) = @_;
	$session->quit;
	$node->stop;
	$damage->();
	$node->start;
	$session = session($node, on_connect => 'SET bloomfilter.overflow = error');
	return;
}

# Bits in the blocks: of chunks at the start, between and at the end.
my %flipped = map { ("flipped_$_" => make_filter("flipped_$_")) } 0, 50, 95;

# A filter for each bit of the header; its own checksum is for all but the last eight bytes.
my $header_bits = 64 * 8;
$session->query(<<"EOC");
CREATE TABLE bits AS
SELECT i AS bit, f FROM generate_series(0, $header_bits - 1) AS i,
	bloom_add_all(bloom_create(2500), array(SELECT generate_series(1, $keys))) AS f ORDER BY i;
EOC
my $bits = BloomTest::Damage->locate_starts($session, 'bits');
is($bits->count, $header_bits, 'each of these filters is stored in chunks');

# Chunks that are gone, short, or another's.
my %gone = map { ("gone_$_" => make_filter("gone_$_")) } 0, 1, 50, 95;
my %short = map { ("short_$_" => make_filter("short_$_")) } 0, 1, 50, 95;
my %tiny = ("tiny_0" => make_filter('tiny_0'));
my %twice = ("twice_50" => make_filter('twice_50'));
my ($disowned, $rewritten, $doubled) = map { make_filter($_) } 'disowned', 'rewritten', 'doubled';
my $last = $gone{gone_0}->count - 1;
my %end = ("end_$last" => make_filter("end_$last"));
make_filter($_) foreach 'whole', 'as_made';

# The chunk or byte that a table's name ends with.
sub place { my ($table) = @_; return ($table =~ /_(\d+)$/)[0]; }

while_stopped(
	sub {
		$flipped{$_}->flip($node, place($_), 1000, 0x10) foreach keys %flipped;
		$bits->flip($node, $_, $_ >> 3, 1 << ($_ & 7)) foreach 0 .. $header_bits - 1;
		$gone{$_}->remove($node, place($_)) foreach keys %gone;
		$short{$_}->shorten($node, place($_), 100) foreach keys %short;
		$tiny{$_}->shorten($node, place($_), 1990) foreach keys %tiny;
		$twice{$_}->renumber($node, place($_), 51) foreach keys %twice;
		$disowned->disown($node, 50);
		$rewritten->rewrite($node, 50);
		$doubled->renumber($node, 50, 51);
		$end{$_}->shorten($node, $last, 1) foreach keys %end;
	});

is($session->query('SELECT bloom_verify(f) FROM whole'), 't',
	'a filter that was left alone is whole');
is($session->query("SELECT count(*) FROM whole, generate_series(1, $keys) AS k WHERE bloom_contains(f, k)"),
	$keys, 'and finds every key');

# What reads a whole value before it does anything with it.
my %readers = (
	'a scan that copies' =>
	  'SELECT count(*) FROM {t}, generate_series(1, 5000) AS k WHERE bloom_contains(f, k % 10)',
	'bloom_add' => 'SELECT bloom_add(f, 5) FROM {t}',
	'bloom_add_all' => "SELECT bloom_add_all(f, '{5}'::int[]) FROM {t}",
	'bloom_union' => 'SELECT bloom_union(t.f, w.f) FROM {t} AS t, whole AS w',
	'bloom_union, second' => 'SELECT bloom_union(w.f, t.f) FROM {t} AS t, whole AS w',
	'bloom_intersection' => 'SELECT bloom_intersection(w.f, t.f) FROM {t} AS t, whole AS w',
	'bloom_shrink' => 'SELECT bloom_shrink(f) FROM {t}',
	'bloom_publish' => "SELECT bloom_publish_filter('list', f) FROM {t}",
	'bloom_union_agg' => 'SELECT bloom_union_agg(f) FROM (SELECT f FROM whole UNION ALL SELECT f FROM {t}) AS q',
	'bloom_intersection_agg' => 'SELECT bloom_intersection_agg(f) FROM {t}',
);
foreach my $table (sort keys %flipped)
{
	is($session->query("SELECT bloom_verify(f) FROM $table"),
		'f', "$table: bloom_verify finds a flipped bit");
	foreach my $reader (sort keys %readers)
	{
		is($session->state_of($readers{$reader} =~ s/\{t\}/$table/r),
			'XX001', "$table: $reader finds it");
	}
}

# A look-up by slices reads the header and one block.  A bit that is flipped in the
# header is an error for keys that are there and for others, whichever bit it is, but in the
# checksum of everything; who reads all finds that, too.  A newer version's number is not damage.
$session->query(<<'EOC');
CREATE FUNCTION asked(bit_number int, question text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
	EXECUTE format('SELECT %s FROM bits WHERE bit = %s', question, bit_number) INTO answer;
	RETURN 'an answer';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
EOC
$session->query('SET bloomfilter.cache_size = 0');
foreach my $question ('bloom_contains(f, 5)', 'bloom_contains(f, -5)', "bloom_contains_each(f, '{5}'::int[])",
	'bloom_stats(f)', 'bloom_cardinality(f)', 'bloom_reset(f)')
{
	is($session->query(qq{SELECT answer, count(*) FROM bits, asked(bit, \$q\$$question\$q\$) AS answer WHERE bit < 56 * 8 GROUP BY answer ORDER BY answer}),
		"0A000|8\nXX001|440", "$question refuses each flipped bit of a header");
}
$session->query('RESET bloomfilter.cache_size');
is($session->query('SELECT count(*) FROM bits WHERE bloom_verify(f)'), 0, 'bloom_verify finds each');
is($session->query("SELECT count(*) FROM bits WHERE asked(bit, 'bloom_shrink(f)') = 'an answer'"), 0, 'and so does bloom_shrink');

# Bytes that are not there: each look-up finds the key or is an error.
foreach my $table (sort keys %gone, keys %short, keys %tiny, keys %twice, keys %end)
{
	my %answers;
	foreach my $copy (1, 0)
	{
		my $slices = $copy ? '' : 'SET bloomfilter.cache_size = 0;';
		$session->query(<<"EOC");
$slices
CREATE OR REPLACE FUNCTION answer(k int) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	RETURN bloom_contains(f, k) FROM $table;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END \$\$;
EOC
		foreach (split /\n/, $session->query(
				"SELECT a, count(*) FROM generate_series(1, $keys) AS k, answer(k) AS a GROUP BY a"))
		{
			my ($answer, $count) = split /\|/;
			$answers{$answer} += $count;
		}
		$session->query('RESET bloomfilter.cache_size');
	}
	is(join(' ', grep { !/^(true|XX\d\d\d)$/ } sort keys %answers),
		'', "$table: no key is lost, and other answers are errors");
	my %together = map { split /\|/ } split /\n/, $session->query(<<"EOC");
SET bloomfilter.cache_size = 0;
CREATE OR REPLACE FUNCTION answer_each(first int, many int) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	RETURN true = ALL (bloom_contains_each(f, array(SELECT generate_series(first, first + many - 1)))) FROM $table;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END \$\$;
SELECT a, count(*) FROM (SELECT answer_each(k, 20) AS a FROM generate_series(1, $keys - 20, 20) AS k
	UNION ALL SELECT answer_each(1, $keys)) AS q GROUP BY a;
RESET bloomfilter.cache_size;
EOC
	is(join(' ', grep { !/^(true|XX001)$/ } sort keys %together),
		'', "$table: nor of many at a time");
	cmp_ok($together{XX001} // 0, '>', 0, "$table: of which some are errors");
	cmp_ok($answers{XX001} // 0, '>', 0, "$table: there are errors");

	my ($out, $state) = $session->try("SELECT bloom_verify(f) FROM $table");
	ok($out eq 'f' || $state =~ /^XX/, "$table: bloom_verify finds it");
	foreach my $reader (sort keys %readers)
	{
		# What copies nothing may not come to the damage.
		next if $reader eq 'a scan that copies' && $table =~ /^(end|twice)/;
		like($session->state_of($readers{$reader} =~ s/\{t\}/$table/r),
			qr/^XX/, "$table: $reader finds it");
	}
}

# A chunk where one of the value must lie, but another value's.
my $all = "SELECT true = ALL (bloom_contains_each(f, array(SELECT generate_series(1, $keys)))) FROM";
is($session->state_of("SET bloomfilter.cache_size = 0; $all disowned"), 'XX001', 'a chunk of another value is not asked');

# One of another transaction than the others is not taken without the index.
sub index_scans
{
	my ($table) = @_;
	my $scans = "SELECT pg_stat_force_next_flush(); SELECT idx_scan FROM pg_class AS c JOIN pg_stat_all_indexes AS i ON i.relid = c.reltoastrelid WHERE c.oid = '$table'::regclass";
	my $before = ($session->query($scans) =~ /(\d+)$/)[0];
	is($session->query("$all $table"), 't', "$table: all keys are found");
	return ($session->query($scans) =~ /(\d+)$/)[0] - $before;
}
my $usual = index_scans('as_made');
cmp_ok(index_scans('rewritten'), '>', $usual + 5, 'a chunk of another transaction is looked up');

# A chunk that is there twice: the index is made anew, as one that lets it be.
my ($toast) = $session->query("SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'doubled'::regclass");
$session->query("SET allow_system_table_mods = on; UPDATE pg_index SET indisunique = false WHERE indrelid = '$toast'::regclass; REINDEX INDEX ${toast}_index");
my $key = $session->query(<<"EOC");
SELECT min(k) FROM doubled, bloom_stats(f) AS s, generate_series(1, $keys) AS k, bloom_hash(k, s.seed) AS h
WHERE (64 + s.block_bits / 8 * trunc((h + CASE WHEN h < 0 THEN 2::numeric ^ 64 ELSE 0 END) * s.blocks / 2::numeric ^ 64))::bigint / 1996 = 51
EOC
is($session->state_of("SELECT bloom_contains(f, $key) FROM doubled"), 'XX001', 'a chunk that is there twice is an error');

$session->query('RESET bloomfilter.cache_size');
is($session->query('SELECT bloom_verify(f) FROM whole'), 't',
	'the backend that saw all this still answers');

finish($node);
