# planted.t
#	  Whoever may create in a schema on the role's search_path plants operators and functions
#	  that fit better than those of our statements: export and pull run none of them.

use FindBin;
use Cluster;
use CommandLine;
use Server;

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

# A pooler that gives each transaction a session as the role has it
my ($pgbouncer) = grep { -x } '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer';
my $pooler;
END { kill 'TERM', $pooler if $pooler }
if (defined $pgbouncer)
{
	my ($folder) = $dsn =~ /host=(\S+)/;
	spew("$folder/pgbouncer.ini", join("\n", '[databases]', "pool = host=$folder port=5432 dbname=bloomfilter_cli_planted user=postgres",
		'[pgbouncer]', 'listen_addr =', 'listen_port = 6432', "unix_socket_dir = $folder", 'auth_type = any', 'pool_mode = transaction',
		'server_reset_query_always = 1', "logfile = $folder/pgbouncer.log", ''));
	my $command = Cluster::as_owner($pgbouncer, '-q', "$folder/pgbouncer.ini");
	$pooler = fork() // die "fork: $!";
	exec 'sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', @$command or die if $pooler == 0;
	my $pool = "host=$folder port=6432 user=postgres dbname=pool";
	ok(wait_for(30, sub { system("psql -XAtqc 'SELECT 1' -d '$pool' >/dev/null 2>&1") == 0 }), 'a pooler');
	mkdir 'index_pooled' and mkdir 'list_pooled' or die;
	foreach my $name (keys %commands)
	{
		$commands{"$name through a pooler"} = [ map { $_ eq $dsn ? $pool : /^(?:index|list|out)$/ ? "${_}_pooled" : $_ } @{ $commands{$name} } ];
	}
}

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
