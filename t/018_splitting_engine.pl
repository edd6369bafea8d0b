# An imitation of an engine that splits aggregates between machines makes the filter that one build makes:
# it compares declared types of arguments exactly, and calls the aggregate's functions
# without an expression, a memory from row to row, or, in a row of arguments, a collation.
use BloomTest;

my $library = build_library('splitting_engine');
plan skip_all => 'a library of C functions can\'t be built here' if !defined $library;

my $node = new_node('splitting_engine');
my $session = session($node);
$session->query(<<"EOC");
CREATE FUNCTION worker_row(internal, oid, anyelement) RETURNS internal AS '$library' LANGUAGE C;
CREATE FUNCTION worker_ship(internal) RETURNS bytea AS '$library' LANGUAGE C;
CREATE AGGREGATE worker(oid, anyelement) (SFUNC = worker_row, STYPE = internal, FINALFUNC = worker_ship);
CREATE FUNCTION coordinator_take(internal, oid, bytea) RETURNS internal AS '$library' LANGUAGE C;
CREATE FUNCTION coordinator_finish(internal) RETURNS bloomfilter AS '$library' LANGUAGE C;
CREATE AGGREGATE coordinator(oid, bytea) (SFUNC = coordinator_take, STYPE = internal, FINALFUNC = coordinator_finish);
CREATE TABLE members AS SELECT k::smallint AS small, k::int AS plain, k::bigint AS big, 'key ' || k AS word,
	md5(k::text)::uuid AS guid, k::numeric AS number, CASE WHEN k % 3 = 0 THEN k END AS holes, bloom_part(k, 4) AS part
	FROM generate_series(1, 3000) AS k;
EOC

# The filter that the engine makes of four workers' rows, and the one of one build.
sub split_and_whole
{
	my ($aggregate, $column, $from, @more) = @_;
	my $types = join ', ', (map { s/.*:://r } @more);
	my $type = $column =~ /bloom_key$/ ? 'bloom_key' : $session->query("SELECT pg_typeof($column) FROM members LIMIT 1");
	my $oid = "'$aggregate($type" . ($types && ", $types") . ")'::regprocedure";
	my $arguments = @more ? 'ROW(' . join(', ', $column, @more) . ')' : $column;
	my $call = "$aggregate(" . join(', ', $column, @more) . ')';
	return map { $session->try("SELECT $_") } "md5(coordinator($oid, shipped)::text) FROM
		(SELECT worker($oid, $arguments) AS shipped FROM $from GROUP BY plain % 4) AS s",
	  "md5($call\::text) FROM $from";
}

my @n = ('4000::bigint', '0.001::double precision', '7::bigint');
foreach my $column (qw(small plain big guid word::bloom_key holes))
{
	foreach my $more ([], [ $n[0] ], [ @n[ 0, 1 ] ], [@n], [ '3::bigint' ], ['NULL::bigint'])
	{
		my ($split, $error, undef, $whole) = split_and_whole('bloom_agg', $column, 'members', @$more);
		is("$error $split", " $whole", join ', ', $column, @$more);
	}
}
foreach my $part (0 .. 3)
{
	foreach my $more ([ '4::integer', @n[ 0, 1 ] ])
	{
		my ($split, $error, undef, $whole) =
		  split_and_whole('bloom_part_agg', 'big', "members WHERE bloom_part(big, 4) = $part", @$more);
		is("$error $split", " $whole", "part $part of 4");
	}
}
my ($split, $error, undef, $whole) = split_and_whole('bloom_agg', 'big', 'members WHERE false');
is("$error $split $whole", '  ', 'no rows, no filter');

# What has no form of its own is refused by the engine, and by us where it doesn't look.
(undef, $error) = split_and_whole('bloom_agg', 'number', 'members', $n[0]);
is($error, '42883', 'there is no bloom_agg of numeric alone');
(undef, $error) = $session->try(
	q{SELECT worker('bloom_agg(anyelement)'::regprocedure, number) FROM members});
is($error, '42804', 'nor does anyelement do');

# A text's collation is looked at where it is cast, since in a row it gets lost.
SKIP:
{
	skip 'no ICU', 1
	  if $session->state_of(q{CREATE COLLATION nd (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) ne '';
	$session->query('ALTER TABLE members ADD folded text COLLATE nd');
	$session->query('UPDATE members SET folded = word');
	(undef, $error) = split_and_whole('bloom_agg', 'folded::bloom_key', 'members', @n);
	is($error, '0A000', 'a nondeterministic collation is refused');
}

# Citus plans a statement by its parameters: a list of a distributed table is built and checked
# with these given, in one part and in several.
SKIP:
{
	my $bound = build_library('bound_engine');
	skip 'a library of C functions can\'t be built here', 1 if !defined $bound;
	$session->query("LOAD '$bound'; CREATE TABLE sharded AS SELECT plain AS id FROM members");
	my $refused = ($session->try('PREPARE x(int) AS SELECT id FROM sharded WHERE id = $1; SET plan_cache_mode = force_generic_plan; EXECUTE x(1)'))[2];
	like($refused, qr/could not create distributed plan/, 'the stand-in refuses a plan without parameters');
	$session->query('RESET plan_cache_mode');
	foreach my $parts (1, 3)
	{
		is($session->query(<<"EOC"), "0|$parts|t", "a list in $parts has the bytes of bloom_part_agg");
CALL bloom_publish('sharded', 'SELECT id FROM sharded', n => 4000, parts => $parts);
CALL bloom_refresh('sharded');
SELECT (SELECT count(*) FROM sharded WHERE NOT bloom_lookup('sharded', id)), count(*), bool_and(p.filter = l.filter) FROM bloom_list_part p
JOIN (SELECT bloom_part(id, $parts) AS part, bloom_part_agg(id, $parts, 4000, 0.01) AS filter FROM sharded GROUP BY 1) l USING (part)
WHERE p.name = 'sharded'
EOC
	}
}

finish($node);
