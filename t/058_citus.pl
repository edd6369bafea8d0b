# examples/citus.sql, as far as it goes without Citus: stand-ins for its functions,
# which make a table of four partitions the shards, run every statement of the file.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# Interfaces as Citus documents them; its own results are text, and empty for NULL.
$node->safe_psql('postgres', q{
create function create_distributed_table(table_name regclass, distribution_column text)
returns void language sql as 'select';
create function create_reference_table(table_name regclass)
returns void language sql as 'select';
create function run_command_on_shards(table_name regclass, command text)
returns table (shardid bigint, success boolean, result text) language plpgsql as $$
begin
	for shardid in 0 .. 3 loop
		success := true;
		execute format(command, format('(select * from %s where id %% 4 = %s) shard',
			table_name, shardid)) into result;
		result := coalesce(result, '');
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
	'the union of the shards is the build of the whole, byte for byte');
is($node->safe_psql('postgres', q{
select bool_and(p.filter = l.filter) || ' ' || count(*) from member_part p
join (select bloom_part(id, 8) as part, bloom_part_agg(id, 8, 1200000, 0.01) as filter
	from member group by 1) l using (part)}), 'true 8', 'so are the parts');

# What Citus asks of an aggregate that it splits: a combine function, a state of a
# type with a text form, concrete arguments.
is($node->safe_psql('postgres', q{
select a.aggcombinefn <> 0, a.aggtranstype::regtype, p.proargtypes[0]::regtype, t.typtype
from pg_aggregate a join pg_proc p on p.oid = a.aggfnoid join pg_type t on t.oid = a.aggtranstype
where p.proname = 'bloom_union_agg'}), 't|bloomfilter|bloomfilter|b',
	'bloom_union_agg can be split');

$node->stop;
done_testing();
