# Nothing that SQL can hand to the extension brings a process down or gets in: each
# function with each argument at its extremes, and damaged texts.
use BloomTest;
no warnings 'portable';

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
	'text' => [ "'key'::text", 'NULL::text', "''::text", "repeat('x', 100000)", "E'\\x01'::text", $loose, "'abc'" ],
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
	'timestamp with time zone' => [ 'now()', 'NULL::timestamptz', "'infinity'::timestamptz", "'-infinity'::timestamptz" ],
	'bloomfilter[]' => [
		'ARRAY[bloom_create(100)]', 'NULL::bloomfilter[]', "'{}'::bloomfilter[]", 'ARRAY[NULL::bloomfilter]',
		'ARRAY[bloom_create(100), bloom_add(bloom_create(1000), 1)]', 'ARRAY[ARRAY[bloom_create(100)]]'
	],
	'cstring' => [
		"bloomfilter_out(bloom_create(1))", "''::cstring", "'='::cstring", "'===='::cstring",
		"repeat('A', 100000)::cstring", "'Qkx\nNRg=='::cstring", "E'\\x80'::cstring"
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
@pairs = map { pick(@pairs) } 1 .. rounds(1000, 20_000);

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

# Damaged texts, of each length of padding: at each place one or two letters, or none, come in or take others'
# place.  They are a filter if they are base64 to the letter and their bytes are one.
# (Damaged bytes: test/fuzz/fuzz_parse.c tries millions, sql/vectors_invalid.sql each rule by each door.)
$session->query(<<'EOC');
CREATE FUNCTION by_letter(typed text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM typed::bloomfilter;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END $$;
CREATE FUNCTION by_cast(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN bytes::bloomfilter::bytea = bytes THEN 'ok' ELSE 'other' END;
EXCEPTION WHEN OTHERS THEN RETURN CASE SQLSTATE WHEN '22023' THEN '22P02' ELSE SQLSTATE END;
END $$;
CREATE TABLE texts AS SELECT typed, by_letter(typed) AS told
FROM (SELECT bloom_add(bloom_create_sized(m * 512, 3), 7)::text AS whole FROM generate_series(1, 3) AS m) AS w, generate_series(1, length(whole)) AS at,
	unnest(ARRAY['A', 'Q', '/', '', ' ', E'\n', '=', '==', '-', '*', E'\x7f']) AS letter, unnest(ARRAY[0, 1, length(letter)]) AS instead,
	overlay(whole PLACING letter FROM at FOR instead) AS typed;
EOC
is($session->query(<<'EOC'), '', 'damaged texts come in if their bytes do');
SELECT typed, told FROM texts
WHERE told <> CASE WHEN typed ~ '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$' THEN by_cast(decode(typed, 'base64')) ELSE '22P02' END
EOC
is($session->query("SELECT count(DISTINCT told) FROM texts"), 3, 'and some of them do');

# A large text is read in pieces of 4 MiB; damage in the four letters on each side of where two of
# them meet.
$session->query(<<'EOC');
CREATE TABLE long_text (typed text);
ALTER TABLE long_text ALTER typed SET STORAGE external;
INSERT INTO long_text SELECT bloom_create(2700000)::text;
EOC
is($session->query('SELECT by_letter(typed), length(typed) > 4194310 FROM long_text'), 'ok|t', 'a text of more than one piece');
is($session->query(<<'EOC'), '', 'is refused if there is a wrong letter where they meet');
SELECT at, letter FROM long_text, generate_series(4194301, 4194308) AS at,
	unnest(ARRAY[' ', '==', '*']) AS letter
WHERE by_letter(overlay(typed PLACING letter FROM at)) <> '22P02'
	OR by_letter(overlay(typed PLACING letter FROM at FOR 0)) <> '22P02'
EOC

finish($node);
