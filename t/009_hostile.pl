# Nothing that SQL can hand to the extension brings a process down or gets in: each
# function with each argument at its extremes, and damaged values by every door.
use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::RealBin/lib";

use MIME::Base64;
use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;
use BloomTest::Format;

my $node = new_node('hostile', conf => <<'EOC');
statement_timeout = '120s'
log_statement = none
log_min_error_statement = panic
EOC
my $session = session($node);
my $dir = PostgreSQL::Test::Utils::tempdir;
my $seed = 1970;
srand($seed);
sub pick { return $_[ int(rand(@_)) ] }

$session->query(<<'EOC');
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN short_text AS text CHECK (length(VALUE) < 10);
CREATE DOMAIN filter_domain AS bloomfilter;
CREATE TABLE stored AS
SELECT bloom_add_all(bloom_create(100000), array(SELECT generate_series(1, 1000))) AS f;
ANALYZE stored;
EOC
$session->try(
	"CREATE COLLATION loose (provider = icu, locale = 'und', deterministic = false)");
my $loose =
  $session->state_of("SELECT 'a' COLLATE loose") eq '' ? "'a'::text COLLATE loose" : "'a'";

# Values of each type of argument; the first is the sound one.
my %values = (
	'bigint' => [
		'100', 'NULL::bigint', '(-9223372036854775808)', '-1', '0', '1',
		'1000000', '4294967297', '9223372036854775807'
	],
	'integer' => [ '7', 'NULL::int', '(-2147483648)', '-1', '0', '1', '32', '65536', '2147483647' ],
	'double precision' => [
		'0.01', 'NULL::float8', "'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8",
		'0::float8', "'-0'::float8", '1::float8', '-1::float8', '5e-324::float8', '1e-300::float8',
		'0.9999999999999999::float8', '1.7e308::float8'
	],
	'text' => [ "'key'::text", 'NULL::text', "''::text", "repeat('x', 1000000)", "E'\\x01'::text", $loose, "'abc'" ],
	'bytea' => [
		'bloom_create(100)::bytea', 'NULL::bytea', "''::bytea", "'\\x00'::bytea",
		"decode(repeat('00', 64), 'hex')", "decode(repeat('ff', 200), 'hex')",
		"'BLMF'::bytea || decode(repeat('ff', 60), 'hex')"
	],
	'bloomfilter' => [
		'bloom_create(100)', 'NULL::bloomfilter', 'bloom_create(1, 0.99)',
		'bloom_create_sized(1, 32, -1)', "bloom_add(bloom_create(100), 'key'::text)",
		'bloom_add(bloom_create(100), 7)', "bloom_add(bloom_create(100), 'NaN'::numeric)",
		'(SELECT f FROM stored)', 'bloom_create(100)::filter_domain',
		'(SELECT bloom_part_agg(k, 3, 100, 0.01) FROM generate_series(1, 9) k WHERE bloom_part(k, 3) = 1)'
	],
	'anyelement' => [
		'7', 'NULL::int', 'NULL', '7::smallint', '9223372036854775807', "'key'::name", "'key'::char(9)",
		"'key'::short_text", "'sad'::mood", "'NaN'::numeric", '10::numeric ^ 1000', "'NaN'::float8",
		"'-infinity'::timestamptz", "'5874897-12-31'::date", "'294276-12-31'::timestamp",
		"'10.0.0.1/8'::inet", "'::/0'::cidr", "'08:00:2b:01:02:03:04:05'::macaddr8",
		"'00000000-0000-0000-0000-000000000000'::uuid", "''::bytea", 'true', "'a'::\"char\"",
		"'{1}'::int[]", 'ROW(1, 2)', 'NULL::record', 'ROW(1)::record', 'ROW()', "ROW('x', NULL)", "ROW(1, 'x', ROW(2))", "ROW('x', repeat('y', 100000))", 'ROW(1, 2, 3, 4, 5, 6, 7)', '(SELECT c FROM pg_class c LIMIT 1)', "'1 day'::interval", "'{}'::jsonb",
		"'(1,1)'::point", "'[1,2)'::int4range", "B'1'", 'cash_out(0::money)', "'pg_class'::regclass",
		'bloom_create(1)', $loose
	],
	'anyarray' => [
		'ARRAY[1, 2]', 'NULL::int[]', 'NULL', "'{}'::int[]", "'{NULL}'::int[]", "'{{1,2},{3,4}}'::int[]",
		"'[-5:-4]={1,2}'::int[]", "ARRAY['a', NULL]", "'{NaN}'::numeric[]", "'{sad}'::mood[]",
		'array_fill(1, ARRAY[100000])', 'ARRAY[ROW(1)]', 'ARRAY[bloom_create(1)]', "'{1}'::oid[]",
		"ARRAY['a']::short_text[]", "'1 2'::int2vector",
		'(SELECT stavalues1 FROM pg_statistic WHERE stavalues1 IS NOT NULL LIMIT 1)'
	],
	'bloom_key' => [
		"'7'", "'key'", "''", "' '", "'{7}'", "'{a,\"b\",NULL}'", "'{'", "'\\x'", "'NaN'", "NULL::bloom_key",
		"'1.0e100000'", "'{{7},{8}}'", "'(7,x)'", "repeat('9', 100000)::bloom_key", "'::/0'",
		"'00000000-0000-0000-0000-000000000000'"
	],
	'character varying' => [ "'key'::varchar", 'NULL::varchar' ],
	'character' => [ "'key'::char(9)", 'NULL::char' ],
	'regclass' => [ "'pg_class'::regclass", "'stored'::regclass", '0::regclass', 'NULL::regclass' ],
	'name' => [ "'f'::name", "'none'::name", 'NULL::name' ],
	'smallint' => [ '7::smallint', 'NULL::smallint' ],
	'uuid' => [ "'00000000-0000-0000-0000-000000000000'::uuid", 'NULL::uuid' ],
	'oid' => [ '0::oid', '1::oid', 'NULL::oid', "'pg_class'::regclass::oid" ],
	'boolean' => [ 'true', 'NULL::boolean' ],
	'bloomfilter[]' => [
		'ARRAY[bloom_create(100)]', 'NULL::bloomfilter[]', "'{}'::bloomfilter[]", 'ARRAY[NULL::bloomfilter]',
		'ARRAY[bloom_create(100), bloom_add(bloom_create(1000), 1)]', 'ARRAY[ARRAY[bloom_create(100)]]'
	],
	'cstring' => [
		"bloomfilter_out(bloom_create(1))", "''::cstring", "'='::cstring", "'===='::cstring",
		"repeat('A', 1000000)::cstring", "'Qkx\nNRg=='::cstring", "E'\\x80'::cstring"
	],
	'internal' => [ 'NULL', '0' ]);
$values{anycompatible} = $values{anyelement};

# Functions and aggregates of the extension, with the types of their arguments.
my @functions = map { [ split /\|/ ] } split /\n/, $session->query(<<'EOC');
SELECT proname, prokind, array_to_string(ARRAY(
	SELECT format_type(t, NULL) FROM unnest(proargtypes) WITH ORDINALITY AS a (t, i) ORDER BY i), '/')
FROM pg_depend JOIN pg_proc AS p ON p.oid = objid
WHERE classid = 'pg_proc'::regclass AND deptype = 'e'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter')
ORDER BY proname, proargtypes::text
EOC
cmp_ok(scalar @functions, '>', 50, 'the catalog tells the functions');
is( join(' ', grep { !exists $values{$_} } map { split m{/}, $_->[2] // '' } @functions),
	'', 'there are values for every type of argument');

# The statements that call a function with these arguments.
sub calls
{
	my ($name, $kind, @arguments) = @_;
	my $list = join ', ', @arguments;
	return "SELECT ($name($list)) IS NULL" if $kind ne 'a';
	return (
		"SELECT ($name($list)) IS NULL FROM generate_series(1, 2)",
		"SELECT ($name($list) OVER (ORDER BY i)) IS NULL FROM generate_series(1, 2) AS i");
}

my (@single, @pairs);
foreach my $function (@functions)
{
	my ($name, $kind, $types) = @$function;
	my @types = split m{/}, $types // '';
	my @sound = map { $values{$_}[0] } @types;
	push @single, calls($name, $kind, @sound);
	foreach my $i (0 .. $#types)
	{
		foreach my $value (@{ $values{ $types[$i] } })
		{
			my @arguments = @sound;
			$arguments[$i] = $value;
			push @single, calls($name, $kind, @arguments);
			foreach my $j ($i + 1 .. $#types)
			{
				foreach my $other (@{ $values{ $types[$j] } })
				{
					$arguments[$j] = $other;
					push @pairs, calls($name, $kind, @arguments);
				}
				$arguments[$j] = $sound[$j];
			}
		}
	}
}
@pairs = map { pick(@pairs) } 1 .. rounds(2000, 20_000);

# Runs statements and returns the messages of errors that are not clean ones: those
# of classes 22 (data), 42 (types, syntax), 54 (limits), 55 (state), 0A (support), 39P01 (no trigger).
# What PostgreSQL itself says before a function is called may be an internal error.
sub unclean
{
	my (@statements) = @_;
	my @unclean;
	while (my @batch = splice @statements, 0, 100)
	{
		my ($out, $state, $err) = $session->try(join ";\n", @batch);
		while ($err =~ /^psql:\S+:(\d+): ERROR:  (\w{5}): (.*)$/mg)
		{
			my ($line, $code, $message) = ($1, $2, $3);
			next if $code =~ /^(22|42|54|55|0A|39P01)/;
			push @unclean, "$code: $message";
		}
	}
	return join "\n", @unclean;
}

is(unclean(@single), '', scalar(@single) . ' calls with one argument at an extreme');
is(unclean(@pairs), '', scalar(@pairs) . " calls with two arguments at extremes, seed $seed");

# Casts and operators come by the same doors.
my @filters = @{ $values{'bloomfilter'} };
my @operators;
foreach my $filter (@filters)
{
	push @operators, map { "SELECT $filter $_ $filter" } '=', '<>', '|', '&';
	push @operators, map { ("SELECT $filter @> $_", "SELECT $_ <@ $filter") }
	  @{ $values{'anyelement'} }, @{ $values{'text'} };
	push @operators, "SELECT ($filter)::bytea", "SELECT ($filter)::text";
}
push @operators, map { "SELECT ($_)::bloomfilter" } @{ $values{'bytea'} }, @{ $values{'text'} };
is(unclean(@operators), '', scalar(@operators) . ' operators and casts');

# Damaged values.  Every door gives the same verdict, and what is let in is whole.
$session->query(<<"EOC");
CREATE TABLE damaged (id int, bytes bytea);
CREATE TABLE sink (f bloomfilter);
CREATE TABLE bases (id int, f bloomfilter, d bytea);

CREATE FUNCTION by_text(bytes bytea) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	PERFORM translate(encode(bytes, 'base64'), E'\\n', '')::bloomfilter;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END \$\$;
CREATE FUNCTION by_cast(bytes bytea) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	RETURN CASE WHEN bytes::bloomfilter::bytea = bytes THEN 'ok' ELSE 'other' END;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END \$\$;
CREATE FUNCTION by_copy(id int) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	EXECUTE format('COPY sink FROM %L (FORMAT binary)', '$dir/value' || id);
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END \$\$;
CREATE FUNCTION whole(f bloomfilter) RETURNS text LANGUAGE sql AS
'SELECT CASE WHEN bloom_verify(f) AND f::text::bloomfilter = f THEN ''ok'' ELSE ''broken'' END';

-- Uses a value that was let in for all that values are used for.
CREATE FUNCTION use(bytes bytea, base bloomfilter, OUT result text) LANGUAGE plpgsql AS \$\$
DECLARE f bloomfilter := bytes::bloomfilter; query text;
BEGIN
	result := whole(f);
	FOREACH query IN ARRAY ARRAY['whole(\$1 | \$2)', 'whole(\$1 & \$2)', 'whole(\$1 | \$1)', 'whole(bloom_shrink(\$1))',
			'whole(bloom_shrink(\$1, 0.9))', 'whole(bloom_reset(\$1))', 'whole(bloom_add(\$1, 5))', 'whole(bloom_add(\$1, ''a''))',
			'bloom_contains(\$1, 5)', 'bloom_contains(\$1, ''a'')', 'bloom_contains(bloom_add(\$1, 5), 5)', 'bloom_stats(\$1)',
			'bloom_cardinality(\$1)', 'bloom_fpr(\$1)', 'bloom_chunk(\$1, 60, 100)',
			'(SELECT whole(bloom_union_agg(g)) FROM (VALUES (\$1), (\$2), (\$1)) AS v (g))']
	LOOP
		DECLARE answer text;
		BEGIN
			EXECUTE 'SELECT ' || query INTO answer USING f, base;
			IF answer = 'broken' THEN result := query || ' gives a broken filter'; END IF;
		EXCEPTION WHEN OTHERS THEN
			IF SQLSTATE !~ '^(22|42|54|0A)' THEN result := query || ': ' || SQLSTATE || ' ' || SQLERRM; END IF;
		END;
	END LOOP;
END \$\$;
EOC

my @bases = map { pack 'H*', $_->{filter_hex} } vectors('filters.tsv');
is(BloomTest::Format::sealed($bases[$_]), $bases[$_], "filter $_ of the vectors is sealed as it is")
  foreach 0 .. $#bases;
@bases = grep { length $_ < 3000 } @bases;
my $base = pick(@bases);

# Numbers that arithmetic trips over.
my @edges = (0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7fffffffffffffff, ~0, 0x3ff0000000000000, 0x7ff8000000000000, 0xfff0000000000000);

# Bytes with some damage; may be whole by chance.
sub damaged
{
	my ($bytes) = @_;
	foreach (1 .. pick(1, 1, 1, 2, 5))
	{
		my $length = length $bytes or return $bytes;
		my $at = rand() < 0.5 ? int(rand($length < 64 ? $length : 64)) : int(rand($length));
		my $how = int(rand(7));
		if    ($how == 0) { vec($bytes, $at * 8 + int(rand(8)), 1) ^= 1 }
		elsif ($how == 1) { substr($bytes, $at, 1) = chr(int(rand(256))) }
		elsif ($how == 2) { $bytes = substr($bytes, 0, $at) }
		elsif ($how == 3) { $bytes .= chr(int(rand(256))) x pick(1, 7, 64, 512) }
		elsif ($how == 4) { substr($bytes, $at, pick(1, 8, 64)) = '' }
		elsif ($how == 5) { substr($bytes, $at, 0) = substr($bytes, int(rand($length)), pick(1, 8, 64)) }
		else
		{
			my ($format, $size) = @{ pick([ 'C', 1 ], [ 'v', 2 ], [ 'V', 4 ], [ 'Q<', 8 ]) };
			$at -= $at % $size;
			substr($bytes, $at, $size) = pack($format, pick(@edges) & (~0 >> (64 - 8 * $size)))
			  if $at + $size <= $length;
		}
	}
	return $bytes;
}

my $batch = 500;
my ($let_in, $values_tried, @problems) = (0, 0);
while ($values_tried < rounds(2000, 200_000))
{
	my @batch = map { damaged(pick(@bases)) } 1 .. $batch;
	foreach my $i (0 .. $#batch)
	{
		$batch[$i] = BloomTest::Format::sealed($batch[$i]) if rand() < 0.7;
		copy_binary_file("$dir/value$i", $batch[$i]);
	}
	my $hex = join ",\n", map { "($_, '\\x" . unpack('H*', $batch[$_]) . "')" } 0 .. $#batch;
	my $base_hex = unpack 'H*', $base;
	push @problems, grep { $_ ne '' } split /\n/, $session->query(<<"EOC");
TRUNCATE damaged, sink;
INSERT INTO damaged VALUES $hex;
SELECT t, c, b, u, encode(bytes, 'hex')
FROM (SELECT bytes, by_text(bytes) AS t, by_cast(bytes) AS c, by_copy(id) AS b FROM damaged OFFSET 0) AS v,
	LATERAL (SELECT CASE WHEN c = 'ok' THEN use(bytes, '\\x$base_hex'::bytea::bloomfilter) ELSE 'ok' END AS u) AS w
WHERE (t, c, b) NOT IN (('ok', 'ok', 'ok'), ('22P02', '22023', '22P03'), ('0A000', '0A000', '0A000')) OR u <> 'ok'
EOC
	$let_in += $session->query('SELECT count(*) FROM sink');
	$values_tried += @batch;
}
is(join("\n", @problems), '', "$values_tried damaged values, seed $seed: one verdict by all doors");
cmp_ok($let_in, '>', $values_tried / 100, "$let_in of them were whole after all and were used");
cmp_ok($let_in, '<', $values_tried / 2, 'most were not');

# Damaged texts.  They come in if they are base64 to the letter and their bytes are a
# filter.
$session->query(<<'EOC');
CREATE FUNCTION by_letter(typed text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM typed::bloomfilter;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END $$;
CREATE TABLE texts (typed text, bytes bytea);
EOC
my @alphabet = ('A' .. 'Z', 'a' .. 'z', 0 .. 9, '+', '/');
my $base64 = qr{[A-Za-z0-9+/]};

sub damaged_text
{
	my ($text) = @_;
	foreach (1 .. pick(1, 1, 2))
	{
		my $at = int rand(rand() < 0.3 ? 8 : length $text);
		$at = length($text) - 1 - $at if rand() < 0.3;
		my $new = join '', map { pick(@alphabet, (' ', "\n", '=', '-', '_', '*', "\x7f") x 8) } 1 .. pick(1, 1, 2, 4);
		substr($text, $at, pick(0, 1, length $new)) = pick('', $new, $new);
	}
	return $text;
}

my ($texts_tried, $texts_in) = (0, 0);
@problems = ();
while ($texts_tried < rounds(2000, 200_000))
{
	my @texts = map { damaged_text(encode_base64(pick(@bases), '')) } 1 .. $batch;
	my $rows = join ",\n", map
	{
		my $strict = m{\A(?:$base64{4})*(?:$base64{2}==|$base64{3}=)?\z};
		sprintf "('%s', '\\x%s')", $_, $strict ? unpack('H*', decode_base64($_)) : '';
	} @texts;
	push @problems, grep { $_ ne '' } split /\n/, $session->query(<<"EOC");
TRUNCATE texts;
INSERT INTO texts VALUES $rows;
SELECT t, c, encode(typed::bytea, 'hex') FROM (SELECT typed, by_letter(typed) AS t, by_cast(bytes) AS c FROM texts OFFSET 0) AS v
WHERE (t, c) NOT IN (('ok', 'ok'), ('22P02', '22023'), ('0A000', '0A000'))
EOC
	$texts_in += $session->query("SELECT count(*) FROM texts WHERE by_letter(typed) = 'ok'");
	$texts_tried += @texts;
}
is(join("\n", @problems), '', "$texts_tried damaged texts, seed $seed: they come in if their bytes do");
cmp_ok($texts_in, '>', $texts_tried / 100, "$texts_in of them came in");
cmp_ok($texts_in, '<', $texts_tried / 2, 'most did not');

# A large text is read in pieces of 4 MiB; damage where two of them meet.
$session->query('CREATE TABLE long_text AS SELECT bloom_create(5000000)::text AS typed');
is($session->query('SELECT by_letter(typed), length(typed) > 8000000 FROM long_text'), 'ok|t', 'a text of more than one piece');
is($session->query(<<'EOC'), '', 'is refused if there is a wrong letter where they meet');
SELECT at, letter FROM long_text, generate_series(4194300, 4194310) AS at,
	unnest(ARRAY[' ', E'\n', '=', '==', '    ', '*', E'\x7f', '====']) AS letter
WHERE by_letter(overlay(typed PLACING letter FROM at)) <> '22P02'
	OR by_letter(overlay(typed PLACING letter FROM at FOR 0)) <> '22P02'
EOC

$session->quit;
stayed_alive($node);
$node->stop;
done_testing();
