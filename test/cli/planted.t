# planted.t
#	  Whoever may create in a schema on the role's search_path plants operators and functions
#	  that fit better than those of our statements: export and pull run none of them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Server;
use Test::More;

my $dsn = own_database('bloomfilter_cli_planted');
my $tree = "$FindBin::Bin/../..";

# Names that are followed by a parenthesis in the program's texts
my %called;
foreach my $file (split /\n/, `find '$tree/src/cli' -name '*.c'`)
{
	my @texts = slurp($file) =~ /"((?:[^"\\\n]|\\.)*)"/g;
	$called{$_} = 1 foreach join("\n", @texts) =~ /(\w+)\(/g;
}
my $called = join ',', sort keys %called;

publish('account', 2, 1, 5000);
sql(<<'EOC');
DROP ROLE IF EXISTS bloomfilter_cli_planter;
CREATE ROLE bloomfilter_cli_planter;
GRANT CREATE ON SCHEMA public TO bloomfilter_cli_planter;
GRANT USAGE ON SCHEMA ext TO bloomfilter_cli_planter;
CREATE SCHEMA planter AUTHORIZATION bloomfilter_cli_planter;
CREATE TABLE users (id bigint);
CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 10000);
INSERT INTO users SELECT generate_series(1, 5000);
EOC
my $planting = "SET ROLE bloomfilter_cli_planter; SET search_path = pg_catalog; SET check_function_bodies = off;";
sql($planting . slurp("$tree/t/lib/planted.sql") . "SELECT planter.plant_operators('public')");
my $planted = sql(<<"EOC");
SET search_path = pg_catalog;
INSERT INTO planter.signature SELECT p.proname, ARRAY(SELECT unnest(p.proargtypes)), p.prorettype, p.pronamespace = 'ext'::regnamespace
FROM pg_proc p WHERE p.pronamespace = 'ext'::regnamespace OR p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY ('{$called}');
$planting
SELECT planter.plant_functions('public')
EOC
cmp_ok((split /\n/, $planted)[-1], '>', 1000, 'functions are planted');

# In front of PostgreSQL's own, and of every role
sql('ALTER DATABASE bloomfilter_cli_planted SET search_path = public, pg_catalog, ext');
my $seen = do { open my $psql, '-|', "psql -XAtq -d '$dsn' -c 'SELECT 1::int2 = 1::int2' 2>&1" or die; local $/; <$psql> };
like($seen, qr/planted: public\.compares\(smallint, smallint\)/, 'what runs leaves a trace');

mkdir 'index' and mkdir 'list' or die;
my %commands = (
	'export of an index' => [ 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'index' ],
	'export of a list' => [ 'export', '--dsn', $dsn, '--list', 'account', '--to', 'list' ],
	'pull of a list' => [ 'pull', '--dsn', $dsn, '--list', 'account', '--out', 'out' ]);
foreach my $round ('at first', 'again')
{
	foreach my $name (sort keys %commands)
	{
		my ($status, undef, $err) = run('', @{ $commands{$name} });
		is($status, 0, "$name succeeds $round") or diag $err;
		unlike($err, qr/planted:/, "$name runs nothing that was planted");
	}
	sql('SET search_path = pg_catalog; INSERT INTO public.users VALUES (5001)');
}
my (undef, $count) = run(join('', map { "$_\n" } 1 .. 5000), 'contains', '-c', 'out');
is($count + 0, 5000, 'what was pulled has all keys');
done_testing();
