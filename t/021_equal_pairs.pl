# What SQL finds, every way of looking up finds, or refuses by an error: for all pairs of
# types between which SQL has an equality, with random values, and for literals without a type.
# test/drivers has drivers' parameters.  BLOOMFILTER_SEED repeats a run.
use BloomTest;

my $seed = $ENV{BLOOMFILTER_SEED} // rand();
note("BLOOMFILTER_SEED=$seed");

my $node = new_node('equal_pairs');
# Settings by which a text means another value; the same in all sessions.
my @settings = (
	[ 'ISO, DMY', 'UTC', 1 ], [ 'SQL, MDY', 'America/St_Johns', 0 ], [ 'German', 'Asia/Kathmandu', -15 ], [ 'Postgres, DMY', 'Europe/Dublin', 3 ]);
my ($style, $zone, $digits) = @{ $settings[ int(1000 * $seed) % @settings ] };
note("DateStyle $style, TimeZone $zone, extra_float_digits $digits");
$node->safe_psql('postgres', "CREATE EXTENSION citext;
	ALTER DATABASE postgres SET datestyle = '$style'; ALTER DATABASE postgres SET timezone = '$zone';
	ALTER DATABASE postgres SET extra_float_digits = $digits");
$node->command_ok([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-v', "seed=$seed", '-f', "$FindBin::RealBin/lib/pairs.sql",
	'-o', '/dev/null', $node->connstr('postgres') ], 'all pairs are looked up');

sub rows
{
	return $node->safe_psql('postgres', $_[0]);
}

is( rows(q{SELECT string_agg(t.oid::regtype::text, ' ' ORDER BY t.oid) FROM pg_type t,
			lateral run(format('SELECT 0, 0 FROM bloom_add_all(bloom_create(1), %L::%s)', '{}', t.typarray::regtype)) r
		WHERE t.typtype = 'b' AND t.typnamespace = 'pg_catalog'::regnamespace AND t.typarray <> 0 AND r.state IS NULL
			AND t.oid NOT IN (SELECT atttypid FROM pg_attribute a JOIN types ON attrelid = ('k' || id)::regclass WHERE attname = 'k')}),
	'', 'every type that can be a key is among them');

# Typed keys.
cmp_ok(rows('SELECT count(DISTINCT (a, b)) FROM typed'), '>=', 170, 'many pairs of types have equal values');
cmp_ok(rows('SELECT sum(members) FROM typed WHERE state IS NULL'), '>=', 20000, 'many members are looked up');
is(rows('SELECT DISTINCT a, b, way FROM typed WHERE wrong > 0 LIMIT 20'), '', 'no key is denied that SQL finds');
is(rows("SELECT DISTINCT state FROM typed WHERE state NOT IN ('42804', '0A000') LIMIT 20"), '',
	'keys are refused for their type and for nothing else');
is(rows('SELECT a, b FROM typed GROUP BY a, b HAVING count(DISTINCT state IS NULL) > 1'), '',
	'what one way refuses all ways refuse');
# The kinds between which SQL casts and filters don't.
is( rows(q{
		SELECT DISTINCT least(x, y), greatest(x, y) FROM typed,
			lateral (SELECT (bloom_stats(f)).key_type FROM held JOIN types USING (id) WHERE name = a) p(x),
			lateral (SELECT coalesce((SELECT (bloom_stats(f)).key_type FROM held JOIN types USING (id) WHERE name = b), b)) q(y)
		WHERE state IS NOT NULL ORDER BY 1, 2}),
	join("\n", '"char"|text', 'citext|text', 'date|timestamp', 'date|timestamptz', 'float|integer', 'float|numeric', 'integer|numeric', 'integer|oid',
		'timestamp|timestamptz'),
	'the pairs of kinds that are refused');

# Hints.
cmp_ok(rows('SELECT count(*) FROM followed WHERE state IS NULL'), '>=', 10, 'some pairs have a hint that proposes a cast');
is(rows("SELECT a, b, type, wrong, state FROM followed WHERE wrong > 0 OR state NOT LIKE '22%' LIMIT 20"), '', 'who follows it gets what EXISTS says');

# Literals.
cmp_ok(rows('SELECT count(*) FROM literals WHERE state IS NULL'), '>=', 3000, 'many literals are looked up');
is(rows(q{SELECT DISTINCT a, way, t FROM literals WHERE wrong > 0 AND NOT (a = 'name' AND octet_length(t) > 63) LIMIT 20}), '',
	'no literal is denied that SQL finds, but beyond the length of a name');
is(rows(q{SELECT DISTINCT a, state FROM literals WHERE state IS NOT NULL AND way !~ 'index|column' ORDER BY 1, 2}),
	join("\n", 'bytea|42804', 'date|42804', 'double precision|42804', 'macaddr|22P02', 'real|42804', 'timestamp|42804', 'timestamptz|42804'),
	'literals are refused by filters whose kind a text does not tell, and spellings that macaddr8 doesn\'t read');
is(rows(q{SELECT DISTINCT a, state FROM literals WHERE state IS NOT NULL AND way ~ 'index|column' ORDER BY 1, 2}), 'bytea|42804',
	'live indexes refuse those of bytea alone');

done_testing();
