# Operators and functions that a plain role plants on every search_path, and that fit better than
# PostgreSQL's or the extension's where names are looked up by their arguments' types: none is run
# or kept by CREATE EXTENSION, ALTER EXTENSION, the views, or a function that is called exactly.
use BloomTest;
use File::Find qw(find);

my $tree = "$FindBin::RealBin/..";
my $node = new_node('planted', conf => 'log_min_duration_statement = -1');
$node->safe_psql('postgres', <<'EOC');
CREATE ROLE planter LOGIN;
CREATE ROLE plain LOGIN;
GRANT CREATE ON DATABASE postgres TO plain;
GRANT CREATE ON SCHEMA public TO planter, plain;
CREATE SCHEMA planter AUTHORIZATION planter;
CREATE SCHEMA ext;
CREATE TABLE ext.account AS SELECT g::bigint AS id FROM generate_series(1, 3000) g;
EOC

# The log since the last time: warnings of what ran.
my $from = -s $node->logfile;
sub traces
{
	my $log = slurp_file($node->logfile, $from);
	$from += length $log;
	my %seen = map { $_ => 1 } $log =~ /WARNING:\s+(?:\w{5}: )?(planted: [^\n]*)/g;
	return join "\n", sort keys %seen;
}

# Names that are followed by a parenthesis in the script, and in what C code has between quotes.
sub called
{
	my %names;
	my $read = sub {
		return unless /\.(sql|sql\.in|c)$/;
		my $text = slurp_file($_);
		$text = join "\n", $text =~ /"((?:[^"\\\n]|\\.)*)"/g if /\.c$/;
		$names{$_} = 1 foreach $text =~ /(\w+)\(/g;
	};
	find($read, map { "$tree/src/$_" } qw(sql pg live cli));
	return join ',', sort keys %names;
}
my $called = called();

# Plants what the catalogs have signatures for: of PostgreSQL's functions those that are called.
my $planter = session($node, on_connect => 'SET SESSION AUTHORIZATION planter; SET search_path = pg_catalog; SET check_function_bodies = off');
sub plant_functions
{
	$node->safe_psql('postgres', <<"EOC");
SET search_path = pg_catalog;
INSERT INTO planter.signature SELECT p.proname, ARRAY(SELECT unnest(p.proargtypes)), p.prorettype, d.objid IS NOT NULL
FROM pg_proc p LEFT JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE d.objid IS NOT NULL OR p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY ('{$called}');
EOC
	return $planter->query("SELECT planter.plant_functions('public')");
}

# Before there is an extension: nothing has its types yet, but its names are known.
$planter->query("\\i $FindBin::RealBin/lib/planted.sql");
is($planter->query("SELECT planter.plant_operators('public')"), 12 * 25 * 25, 'all operators of 25 types are planted');
$node->safe_psql('postgres', <<'EOC');
SET search_path = pg_catalog;
INSERT INTO planter.signature SELECT p.proname, ARRAY(SELECT unnest(p.proargtypes)), 'text'::regtype, true
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE NOT EXISTS (SELECT FROM unnest(p.proargtypes) a JOIN pg_type t ON t.oid = a WHERE t.typnamespace <> 'pg_catalog'::regnamespace);
DROP EXTENSION bloomfilter;
EOC
cmp_ok(plant_functions(), '>', 1000, 'and functions that differ in a type');

my $super = session($node);
$super->query('SELECT public.compares(1::int2, 1::int2)');
is(traces(), 'planted: public.compares(smallint, smallint)', 'what runs leaves a trace');

# Runs statements as a superuser, which must succeed without a trace.
sub quiet
{
	my ($name, $sql) = @_;
	my (undef, $state, $messages) = $super->try($sql);
	is($state, '', "$name succeeds") or diag $messages;
	is(traces(), '', "$name runs nothing that was planted");
	return;
}

# The views, as the script makes them.
my $extensions = `pg_config --sharedir` =~ s/\n/\/extension/r;
my @views = slurp_file("$extensions/bloomfilter--1.0.sql") =~ /^(CREATE VIEW .*?;)$/msg;
my @names = map { /^CREATE VIEW (\w+)/ } @views;
is(scalar(grep { /^bloom_(live|published)$/ } @names), 2, 'the views are found in the script');

sub look_at_views
{
	my ($name, $schema) = @_;
	quiet($name, join '; ', map { "SELECT * FROM $schema.$_" } @names);
	return;
}

# A plain role creates it in the schema, which runs the script as a superuser.
$super->query('SET SESSION AUTHORIZATION plain');
quiet('CREATE EXTENSION', 'CREATE EXTENSION bloomfilter SCHEMA public');
$super->query('RESET SESSION AUTHORIZATION');
cmp_ok(plant_functions(), '>', 1000, 'more functions are planted, with the types of the extension');
$super->query('CREATE INDEX account_id ON ext.account USING bloomfilter (id) WITH (n = 10000)');
quiet('bloom_publish', q{CALL public.bloom_publish(name => 'first'::text, query => 'SELECT id FROM ext.account'::text, n => 10000::bigint,
	p => 0.01::float8, parts => 2::int, seed => 0::bigint, "check" => true, allow_empty => false, allow_shrink => true, allow_type_change => false)});
look_at_views('the views', 'public');

# A made-up version, whose script makes the views again and asks who may create.
my $update = "$extensions/bloomfilter--1.0--planted.sql";
END { unlink $update }
append_to_file($update, join "\n", 'DROP VIEW ' . join(', ', @names) . ';', @views, slurp_file("$tree/src/sql/rights.sql"));
quiet('ALTER EXTENSION UPDATE', "ALTER EXTENSION bloomfilter UPDATE TO 'planted'");
look_at_views('the views of the update', 'public');
quiet('SET SCHEMA', 'ALTER EXTENSION bloomfilter SET SCHEMA ext');

# All roles have what was planted in front of PostgreSQL's own.
$super->quit;
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = public, pg_catalog, ext');
$super = session($node);
traces();
look_at_views('the views of another schema', 'ext');

# Lists, all statements.
quiet('bloom_publish', q{CALL ext.bloom_publish('first', 'SELECT id FROM ext.account', parts => 2)});
quiet('bloom_publish of a value', q{SELECT ext.bloom_publish_filter('value'::text, ext.bloom_agg(id)) FROM ext.account});
quiet('bloom_publish of values', q{SELECT ext.bloom_publish_filter('values'::text, ARRAY[ext.bloom_agg(id)]) FROM ext.account});
quiet('bloom_publish in a bad time', q{BEGIN ISOLATION LEVEL REPEATABLE READ; CALL ext.bloom_publish('first', 'SELECT id FROM ext.account', n => 5); COMMIT});
quiet('bloom_refresh', q{CALL ext.bloom_refresh('first')});
quiet('bloom_rollback', q{CALL ext.bloom_rollback('first')});
quiet('bloom_set_identity', q{CALL ext.bloom_set_identity('first', '00000000-0000-0000-0000-000000000000'::uuid)});
quiet('bloom_lookup', q{SELECT ext.bloom_lookup('first', id) FROM ext.account});
quiet('bloom_snapshot', q{SELECT ext.bloom_snapshot('ext.account_id')});
quiet('bloom_drop', q{CALL ext.bloom_drop('value')});

# All functions, by exact types, whatever they answer.
my %value = (
	bigint => '10', integer => '1', 'double precision' => '0.01', text => 'first', bytea => '\x00', oid => '1',
	uuid => '00000000-0000-0000-0000-000000000000', smallint => '1', name => 'id', regclass => 'ext.account_id',
	boolean => 't', 'character varying' => 'k', character => 'k', 'ext.bloom_key' => '7');
my $filter = '(SELECT ext.bloom_agg(id) FROM ext.account)';
sub value_of
{
	my ($type) = @_;
	return $filter if $type eq 'ext.bloomfilter';
	return "ARRAY[$filter]" if $type eq 'ext.bloomfilter[]';
	return '7::pg_catalog.int8' if $type eq 'anyelement';
	return "'{7}'::pg_catalog.int8[]" if $type eq 'anyarray';
	return exists $value{$type} ? "'$value{$type}'::$type" : "NULL::$type";
}
my @functions = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', <<'EOC');
SET search_path = pg_catalog;
SELECT p.proname, array_to_string(ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY a (t, i) ORDER BY i), '/')
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE p.prokind <> 'p' AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[]) AND NOT 'cstring'::regtype = ANY (p.proargtypes::oid[])
EOC
cmp_ok(scalar @functions, '>', 50, 'there are functions');
my %called;
foreach my $function (@functions)
{
	my ($name, $types) = @$function;
	my (undef, $state) = $super->try("SELECT * FROM ext.$name(" . join(', ', map { value_of($_) } split m{/}, $types // '') . ')');
	$called{$name} = 1 if $state eq '';
	is(traces(), '', "$name runs nothing that was planted");
}
cmp_ok(scalar(keys %called), '>', 30, 'most of them have answered');

# What finds victims, as SECURITY.md has it.
my ($victims) = slurp_file("$tree/SECURITY.md") =~ /^```sql\n(set search_path[^`]*)```$/m;

# What the extension's objects, with all that hangs on them, depend on.
my $foreign = <<'EOC';
SET search_path = pg_catalog;
WITH RECURSIVE own AS (
	SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
	WHERE d.deptype = 'e' AND e.extname = 'bloomfilter'
	UNION
	SELECT d.classid, d.objid FROM pg_depend d JOIN own ON own.classid = d.refclassid AND own.objid = d.refobjid
	WHERE d.deptype IN ('i', 'a')
)
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ' on ' || pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
FROM pg_depend d JOIN own USING (classid, objid)
WHERE d.refclassid NOT IN ('pg_namespace'::regclass, 'pg_extension'::regclass)
	AND (d.refclassid, d.refobjid) NOT IN (SELECT classid, objid FROM own)
	-- what initdb makes after the catalogs, such as the view pg_locks
	AND (pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid)).schema IS DISTINCT FROM 'pg_catalog'
EOC
$node->safe_psql('postgres', 'DROP TABLE ext.account');
is($node->safe_psql('postgres', $foreign), '', q(the extension depends on nothing that is neither its own nor pg_catalog's));
is($node->safe_psql('postgres', $victims), '', 'and has no victims');
$node->safe_psql('postgres', 'CREATE VIEW ext.victim AS SELECT public.compares(1::smallint, 1::smallint); ALTER EXTENSION bloomfilter ADD VIEW ext.victim');
like($node->safe_psql('postgres', $foreign), qr/^rule .* on function public\.compares\(smallint,smallint\)$/, 'which would be seen');
is($node->safe_psql('postgres', $victims), 'function public.compares(smallint,smallint)|ext.victim', 'and found');

# The owner of a database, who may create the extension, names its schema: a name that ends a literal, and a cast of an enum of its own.
$node->safe_psql('postgres', 'CREATE DATABASE named OWNER plain TEMPLATE template0');
my $owner = session($node, dbname => 'named', on_connect => 'SET SESSION AUTHORIZATION plain');
$owner->query(<<'EOC');
CREATE SCHEMA s;
CREATE TYPE s.e AS ENUM ('"x');
CREATE FUNCTION s.f(s.e) RETURNS oid LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'planted: runs as %', current_user; RETURN 0; END $$;
CREATE CAST (s.e AS oid) WITH FUNCTION s.f(s.e) AS IMPLICIT;
CREATE SCHEMA "x'::s.e--";
CREATE EXTENSION bloomfilter SCHEMA "x'::s.e--";
SET search_path = "x'::s.e--";
CREATE TABLE s.t AS SELECT 1 AS id;
CREATE UNIQUE INDEX ON s.t (id);
CALL bloom_publish('l', 'SELECT id FROM s.t');
CALL bloom_track('l', 's.t', 'id');
CALL bloom_untrack('l');
CALL bloom_drop('l');
EOC
is($owner->query('SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = \'s.t\'::regclass') . traces(), '0', 'nor by the name of its schema');

finish($node);
