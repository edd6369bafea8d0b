# An imitation of Citus: examples/citus.sql, as far as it goes with stand-ins for its functions,
# which make four parts of a table the shards, run every statement of the file.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BloomTest;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# Interfaces as Citus documents them; its own results are text, and empty for NULL.
$node->safe_psql('postgres', q{
create function create_reference_table(table_name regclass)
returns void language sql as 'select';
-- Two workers with two shards each.
create table pg_dist_shard (logicalrelid oid, shardid bigint);
create table pg_dist_placement (placementid bigint, shardid bigint, groupid int);
create table pg_dist_node (groupid int, nodename text, nodeport int, noderole text);
create table pg_dist_local_group (groupid int);
insert into pg_dist_placement select s, s, 1 + s % 2 from generate_series(0, 3) s;
insert into pg_dist_node values (1, 'one', 5432, 'primary'), (2, 'two', 5432, 'primary');
create function create_distributed_table(table_name regclass, distribution_column text)
returns void language sql as $$
insert into pg_dist_shard select table_name, s from generate_series(0, 3) s where table_name::text = 'member'
$$;
create function shard_name(table_name oid, shardid bigint) returns text language sql as $$
select format('(select * from %s where id %% 4 = %s) shard', table_name::regclass, shardid)
$$;
create function run_command_on_workers(command text)
returns table (nodename text, nodeport int, success boolean, result text) language plpgsql as $$
declare
	node pg_dist_node;
begin
	for node in select * from pg_dist_node loop
		nodename := node.nodename;
		nodeport := node.nodeport;
		delete from pg_dist_local_group;
		insert into pg_dist_local_group values (node.groupid);
		begin
			execute command into result;
			success := true;
			result := coalesce(result, '');
		exception when others then
			success := false;
			result := sqlerrm;
		end;
		return next;
	end loop;
end
$$;
});

my $script = slurp_file(doc::root() . '/examples/citus.sql');
is($script =~ s/^create extension if not exists citus;$//m, 1, 'the script wants Citus');
my ($status, $out, $err) = $node->psql('postgres', $script, on_error_stop => 1);
is("$status $err", '0 ', 'every statement runs');
is(scalar(() = $out =~ /^0$/mg), 2, 'no member is missing');

is($node->safe_psql('postgres', q{
select w.filter = (select bloom_agg(id, 1200000, 0.01) from member) from whitelist w}), 't',
	'the union of the workers is the build of the whole, byte for byte');
is($node->safe_psql('postgres', q{
select bool_and(p.filter = l.filter) || ' ' || count(*) from member_part p
join (select bloom_part(id, 8) as part, bloom_part_agg(id, 8, 1200000, 0.01) as filter
	from member group by 1) l using (part)}), 'true 8', 'so are the parts');

# The night again, with shards that nobody is asked for, or that a worker has no more.
my ($night) = $script =~ /(^begin;.*?^commit;)/ms;
foreach my $trouble (
	[ q{update pg_dist_placement set groupid = 3 where shardid = 2}, qr/group 3: was not asked/ ],
	[ q{update pg_dist_placement set groupid = 1 where shardid = 2;
create or replace function shard_name(table_name oid, shardid bigint) returns text language sql as $$select 'gone'$$},
		qr/group 1: relation "gone" does not exist/ ])
{
	my ($change, $reason) = @$trouble;
	($status, $out, $err) = $node->psql('postgres', "begin; delete from whitelist; $change; commit; $night",
		on_error_stop => 1);
	isnt($status, 0, 'the night fails');
	like($err, qr/a worker could not build its filter.*$reason/s, 'and says why');
	is($node->safe_psql('postgres', 'select count(*) from whitelist'), 0, 'without a filter');
}

# What Citus asks of an aggregate that it splits: a combine function, a state of a
# type with a text form, concrete arguments.
is($node->safe_psql('postgres', q{
select a.aggcombinefn <> 0, a.aggtranstype::regtype, p.proargtypes[0]::regtype, t.typtype
from pg_aggregate a join pg_proc p on p.oid = a.aggfnoid join pg_type t on t.oid = a.aggtranstype
where p.proname = 'bloom_union_agg'}), 't|bloomfilter|bloomfilter|b',
	'bloom_union_agg can be split');

# Citus plans a statement by its parameters: a list of a distributed table is built and checked
# with these given, in one part and in several.
SKIP:
{
	my $library = build_library('bound_engine');
	skip 'a library of C functions can\'t be built here', 1 if !defined $library;
	my $load = "load '$library'";
	$node->safe_psql('postgres', 'create table sharded as select id from member where id <= 3000');
	($status, $out, $err) = $node->psql('postgres', "$load; prepare x(int) as select id from sharded where id = \$1;
set plan_cache_mode = force_generic_plan; execute x(1)");
	like($err, qr/could not create distributed plan/, 'the stand-in refuses a plan without parameters');
	foreach my $parts (1, 3)
	{
		is($node->safe_psql('postgres', qq{
$load;
call bloom_publish('sharded', 'select id from sharded', n => 4000, parts => $parts);
call bloom_refresh('sharded');
select count(*) filter (where not bloom_lookup('sharded', id)), max(parts) from sharded, bloom_list where name = 'sharded'}),
			"0|$parts", "a list in $parts");
	}
	is($node->safe_psql('postgres', q{
select bool_and(p.filter = l.filter) from bloom_list_part p
join (select bloom_part(id, 3) as part, bloom_part_agg(id, 3, 4000, 0.01) as filter from sharded group by 1) l using (part)
where p.name = 'sharded'}), 't', 'has the bytes of bloom_part_agg');
}

$node->stop;
done_testing();
