# However a filter is built, by how many processes and in which order of rows, its
# bytes are the same.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use BloomTest;

my $node = new_node(
	'parallel', conf => <<'EOC');
max_worker_processes = 16
max_parallel_workers = 16
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
work_mem = 64MB
EOC
my $session = session($node);

$session->query(<<'EOC');
CREATE TABLE few AS SELECT i::bigint AS k, i % 7 AS g FROM generate_series(1, 500) AS i;
CREATE TABLE many AS SELECT (i * 7919::bigint) % 250000 AS k, i % 7 AS g FROM generate_series(1, 300000) AS i;
CREATE TABLE none (LIKE many);
CREATE TABLE nulls AS SELECT NULL::bigint AS k, i % 7 AS g FROM generate_series(1, 5000) AS i;
CREATE TABLE words AS SELECT md5(k::text) AS k, g FROM many;
-- Deleted rows leave pages for workers that then have nothing to send.
CREATE TABLE sparse AS SELECT * FROM many;
DELETE FROM sparse WHERE k > 1000;
CREATE TABLE divided (k bigint, g bigint) PARTITION BY LIST (g);
SELECT format('CREATE TABLE divided_%s PARTITION OF divided FOR VALUES IN (%s)', g, g)
FROM generate_series(0, 6) AS g \gexec
INSERT INTO divided SELECT * FROM many;
CREATE TABLE filters AS SELECT g, k % 5 AS h, bloom_agg(k, 250000) AS f FROM many GROUP BY g, k % 5;
ANALYZE;
EOC
my %tables = (
	few => 'bigint', many => 'bigint', none => 'bigint', nulls => 'bigint',
	words => 'text', sparse => 'bigint', divided => 'bigint');

# Tables get the workers that a query asks for, not what their size suggests.
sub set_workers
{
	my ($workers, $leader) = @_;
	my $sql = "SET max_parallel_workers_per_gather = $workers;"
	  . ' SET parallel_leader_participation = ' . ($leader ? 'on' : 'off') . ';';
	foreach my $table ($session->query(<<"EOC") =~ /\S+/g)
SELECT oid::regclass FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
EOC
	{
		$sql .= "ALTER TABLE $table SET (parallel_workers = $workers);";
	}
	$session->query($sql);
	return;
}

# A query's filters in a form to compare.
sub answer
{
	my ($query) = @_;
	return $session->query("SELECT g, md5(f::bytea) FROM ($query) AS q (g, f) ORDER BY g");
}

# Checks that a query's filters do not depend on workers, and returns how many
# of its plans were parallel.
sub same_for_all
{
	my ($query, $name, @ways) = @_;
	my $parallel = 0;
	my @different;

	set_workers(0, 1);
	my $serial = answer($query);
	foreach my $way (@ways)
	{
		set_workers(@$way);
		$parallel++ if $session->query("EXPLAIN $query") =~ /Workers Planned: [1-9]/;
		push @different, "@$way" if answer($query) ne $serial;
	}
	is("@different", '', "$name: the same bytes for all numbers of workers");
	return $parallel;
}

# Workers, and whether the leader takes part.
my @ways = ([ 1, 0 ], [ 2, 1 ], [ 4, 1 ], [ 4, 0 ]);
push @ways, ([ 1, 1 ], [ 2, 0 ], [ 8, 1 ], [ 8, 0 ]) if rounds(0, 1);

# A dense state has more keys than a list may have; the other stays a list.
my @builds = (
	[ 'n absent', 'SELECT 1, bloom_agg(k) FROM many' ],
	[ 'n NULL', 'SELECT 1, bloom_agg(k, NULL, 0.001, 5) FROM many' ],
	[ 'dense', 'SELECT 1, bloom_agg(k, 250000) FROM many' ],
	[ 'list', 'SELECT 1, bloom_agg(k, 20000000) FROM many' ],
	[ 'overfull', 'SELECT 1, bloom_agg(k, 100, 0.001) FROM many' ],
	[ 'seeded', 'SELECT 1, bloom_agg(k, 250000, 0.0001, -3) FROM many' ],
	[ 'text', 'SELECT 1, bloom_agg(k, 250000) FROM words' ],
	[ 'few rows', 'SELECT 1, bloom_agg(k, 1000) FROM few' ],
	[ 'workers without rows', 'SELECT 1, bloom_agg(k, 1000) FROM sparse' ],
	[ 'no rows', 'SELECT 1, bloom_agg(k, 1000) FROM none' ],
	[ 'no keys', 'SELECT 1, bloom_agg(k) FROM nulls' ],
	[
		'UNION ALL',
		'SELECT 1, bloom_agg(k, 250000) FROM (SELECT k FROM few UNION ALL SELECT k FROM none UNION ALL SELECT k FROM many UNION ALL SELECT k FROM nulls) AS u'
	],
	[ 'groups', 'SELECT g, bloom_agg(k, 50000) FROM many GROUP BY g' ],
	[ 'groups, n absent', 'SELECT g, bloom_agg(k) FROM many GROUP BY g' ],
	[ 'partitions', 'SELECT 1, bloom_agg(k, 250000) FROM divided' ],
	[ 'grouped partitions', 'SELECT g, bloom_agg(k, 50000) FROM divided GROUP BY g' ],
	[
		'parts',
		'SELECT bloom_part(k, 5, 9), bloom_part_agg(k, 5, 250000, 0.01, 9) FROM many GROUP BY bloom_part(k, 5, 9)'
	],
	[
		'parts, n absent',
		'SELECT bloom_part(k, 5), bloom_part_agg(k, 5, NULL, 0.01) FROM words GROUP BY bloom_part(k, 5)'
	],
	[ 'union of filters', 'SELECT 1, bloom_union_agg(f) FROM filters' ],
	[ 'unions in groups', 'SELECT g, bloom_union_agg(f) FROM filters GROUP BY g' ],
	[
		'intersection of filters',
		'SELECT 1, bloom_intersection_agg(f) FROM filters'
	],
);
my $parallel = 0;
$session->query('SET enable_partitionwise_aggregate = on');
$parallel += same_for_all($_->[1], $_->[0], @ways) foreach @builds;
cmp_ok($parallel, '>', @builds * @ways * 2 / 3, 'most of these plans were parallel');

# All roads to the same set of keys.
set_workers(0, 1);
my $whole = $session->query('SELECT md5(bloom_agg(k, 250000)::bytea) FROM many');
my %roads = (
	'in order' => 'SELECT bloom_agg(k, 250000 ORDER BY k) FROM many',
	'in reverse' => 'SELECT bloom_agg(k, 250000 ORDER BY k DESC) FROM many',
	'without repeats' => 'SELECT bloom_agg(DISTINCT k, 250000) FROM many',
	'merged' => 'SELECT bloom_union_agg(f) FROM filters',
	'added' => 'SELECT bloom_add_all(bloom_create(250000), array_agg(k)) FROM many',
	'united' => 'SELECT bloom_agg(k, 250000) FILTER (WHERE g < 3) | bloom_agg(k, 250000) FILTER (WHERE g >= 2) FROM many',
);
foreach my $road (sort keys %roads)
{
	is($session->query("SELECT md5(f::bytea) FROM ($roads{$road}) AS q (f)"),
		$whole, "$road: the same bytes");
}

# Parallel plans for everything that can have one.
my $force =
  server_version($node) < 16 ? 'force_parallel_mode' : 'debug_parallel_query';
$session->query("SET $force = regress");
set_workers(2, 1);
is( $session->query('SELECT md5(bloom_agg(k, 250000)::bytea) FROM many'),
	$whole, 'forced parallel plan: the same bytes');
is( $session->query(
		'SELECT count(*) FROM many, (SELECT bloom_union_agg(f) AS f FROM filters) AS q WHERE NOT bloom_contains(f, k)'
	),
	0, 'forced parallel plan: every key is found');
$session->query(
	'CREATE TABLE stored AS SELECT bloom_union_agg(f) AS f FROM filters');
is( $session->query('SELECT count(*) FROM many, stored WHERE NOT bloom_contains(f, k)'),
	0, 'workers find every key in a stored filter');
is( $session->query(
		'SELECT bool_and(bloom_verify(f)), count(DISTINCT bloom_cardinality(f)) > 0 FROM filters'),
	't|t', 'workers verify filters');
$session->query("RESET $force");

# Random plans.  A failure names its query and workers; the seed is fixed.
my $seed = 20240229;
srand($seed);
sub pick { return $_[ int(rand(@_)) ] }

sub random_build
{
	my @sources = map { pick(sort grep { $_ ne 'words' } keys %tables) } 1 .. pick(1, 1, 2, 3);
	@sources = ('words') if rand() < 0.15;
	my $from = @sources == 1 ? $sources[0] : '('
	  . join(' UNION ALL ', map { "SELECT k, g FROM $_" } @sources) . ') AS u';
	my $n = pick('NULL', 1, 1000, 30000, 250000, 5000000);
	my $p = pick('0.5', '0.1', '0.01', '1e-4', '1e-7');
	my $s = pick(0, 1, -1, int(rand(1e9)));
	my $where = pick('', '', ' WHERE k::text LIKE \'1%\'', ' WHERE g = 3', ' WHERE false');
	my $parts = pick(2, 3, 64);
	return pick(
		"SELECT 1, bloom_agg(k, $n, $p, $s) FROM $from$where",
		"SELECT g, bloom_agg(k, $n, $p, $s) FROM $from$where GROUP BY g",
		"SELECT bloom_part(k, $parts, $s), bloom_part_agg(k, $parts, $n, $p, $s) FROM $from$where GROUP BY 1",
		"SELECT 1, bloom_union_agg(f) FROM (SELECT g, bloom_agg(k, coalesce($n, 9), $p, $s) FROM $from$where GROUP BY g) AS q (g, f)");
}

foreach my $round (1 .. rounds(20, 200))
{
	my $build = random_build();
	my ($partitionwise, $hash) = (pick('on', 'off'), pick('on', 'off'));
	$session->query(
		"SET enable_partitionwise_aggregate = $partitionwise; SET enable_hashagg = $hash");
	same_for_all($build, "seed $seed, plan $round ($build)", [ pick(1, 2, 4, 8), pick(0, 1) ]);
}

$session->quit;
stayed_alive($node);
$node->stop;
done_testing();
