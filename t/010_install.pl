# Whoever may create objects in a database may install the extension, and gains
# nothing else by it; what was installed goes without a trace.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use BloomTest;

my $node = new_node('install');
$node->safe_psql('postgres', <<'EOC');
DROP EXTENSION bloomfilter;
CREATE ROLE plain LOGIN;
CREATE ROLE nobody LOGIN;
EOC
$node->safe_psql('postgres', 'GRANT CREATE ON DATABASE postgres TO plain');
my $super = session($node);
my $plain = session($node, on_connect => 'SET SESSION AUTHORIZATION plain');
my $nobody = session($node, on_connect => 'SET SESSION AUTHORIZATION nobody');

# Everything that an extension could leave, counted.
my $catalog = <<'EOC';
SELECT (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_type), (SELECT count(*) FROM pg_operator),
	(SELECT count(*) FROM pg_cast), (SELECT count(*) FROM pg_aggregate), (SELECT count(*) FROM pg_depend),
	(SELECT count(*) FROM pg_description), (SELECT count(*) FROM pg_init_privs), (SELECT count(*) FROM pg_opclass)
EOC

is($nobody->state_of('CREATE EXTENSION bloomfilter'), '42501', 'not without CREATE on the database');

$plain->query('CREATE SCHEMA home');
my $empty = $super->query($catalog);
$plain->query('CREATE EXTENSION bloomfilter SCHEMA home');
is($plain->query("SELECT bloom_contains(bloom_add(home.bloom_create(10), 5), 5)" =~ s/bloom_(contains|add)/home.bloom_$1/gr),
	't', 'a plain user with CREATE installs and uses it');
is( $super->query("SELECT extowner::regrole FROM pg_extension WHERE extname = 'bloomfilter'"),
	'plain', 'the extension is theirs');
is( $super->query(<<'EOC'), 'f', 'what runs with C code is not');
SELECT bool_or(proowner = 'plain'::regrole) FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid
WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter')
EOC
is( $super->query(<<'EOC'), '0', 'no function runs with the rights of its owner');
SELECT count(*) FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid
WHERE prosecdef AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter')
EOC
is($plain->state_of(q{ALTER FUNCTION home.bloom_random_seed() COST 1}),
	'42501', 'its functions cannot be changed by them');
is($plain->state_of(q{CREATE FUNCTION mine(internal) RETURNS home.bloomfilter AS '$libdir/bloomfilter', 'bloomfilter_recv' LANGUAGE C}),
	'42501', 'nor others made of its library');

# Another schema, also one that needs quotes.
$plain->query('CREATE SCHEMA "a""b; SELECT"');
is($super->state_of('ALTER EXTENSION bloomfilter SET SCHEMA "a""b; SELECT"'),
	'', 'the extension moves to a schema with a strange name');
is( $super->query('SET search_path = "a""b; SELECT"; SELECT bloom_agg(k) @> 5, bloom_union_agg(bloom_create(9)) = bloom_create(9) FROM generate_series(1, 9) AS k; RESET search_path'),
	't|t', 'and works there');
$plain->query('DROP EXTENSION bloomfilter; DROP SCHEMA "a""b; SELECT"');
is($super->query($catalog), $empty, 'dropping it leaves nothing')
  or diag('functions, types, operators, casts, aggregates, dependencies, comments, privileges, classes');

# Objects that have its names already are not taken over.  022_planted.pl has those that lie in wait.
$plain->query('CREATE SCHEMA evil');
foreach my $object (
	'FUNCTION evil.bloom_create(bigint, float8, bigint) RETURNS int LANGUAGE sql AS \'SELECT 1\'',
	'TYPE evil.bloomfilter AS ENUM (\'mine\')',
	'FUNCTION evil.bloom_hash(anyelement, bigint) RETURNS bigint LANGUAGE sql AS \'SELECT 1::bigint\'')
{
	my ($kind, $name) = $object =~ /^(\w+) (evil\.\w+(?:\([^)]*\))?)/;
	$plain->query("CREATE $object");
	like($plain->state_of('CREATE EXTENSION bloomfilter SCHEMA evil'),
		qr/^42/, "an older $name is in the way");
	is($super->query("SELECT count(*) FROM pg_extension WHERE extname = 'bloomfilter'"),
		0, 'and nothing is installed');
	$plain->query("DROP $kind $name");
}

# The library is loaded by functions only; and its settings are no one's secret.
is($plain->state_of("SET bloomfilter.no_such_setting = 1; LOAD 'bloomfilter'"),
	'42501', 'a plain user cannot load libraries by name');

$_->quit foreach $super, $plain, $nobody;
stayed_alive($node);
done_testing();
