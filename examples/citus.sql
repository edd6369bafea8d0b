-- citus.sql: filters on a Citus cluster.
--
-- Run it with psql on a coordinator that has workers, in an empty database:
--
--     psql -v ON_ERROR_STOP=1 -f citus.sql
--
-- The extension must be installed on all nodes, in the same version, and not be in
-- the way of Citus in shared_preload_libraries: citus comes first there.  Only
-- documented interfaces of Citus are used.

create extension if not exists citus;
-- Citus creates it on the workers, too, as it does with every extension.
create extension if not exists bloomfilter;

-- The source: a million members, distributed by id.
create table member (id bigint primary key, email text not null);
select create_distributed_table('member', 'id');
insert into member
select g, 'member' || g || '@example.com' from generate_series(1, 1000000) g;

--
-- 1. One filter
--
-- The statement that one would write first works as well:
--
--     insert into whitelist select 'member', bloom_agg(id, 1200000, 0.01) from member;
--
-- Citus up to 14 gathers all rows for it on the coordinator; a release after that splits
-- it, for keys of smallint, integer, bigint and uuid (and text, cast to bloom_key).  What
-- follows is the fastest on all releases: each worker reads its own shards and sends one
-- filter.  n, p and seed are those of the whole set, so that the filters can be united.
--

create table whitelist (name text primary key, filter bloomfilter not null);

-- Citus creates the function on the workers, too.  Each reads the shards that the
-- coordinator says it has: one that has moved away is an error, not a filter without it.
create function filter_of_shards(shards jsonb, n bigint, p double precision)
returns bloomfilter language plpgsql as $$
declare
    own text := (select string_agg(format('select id from %s', name), ' union all ')
                 from jsonb_array_elements_text(
                     shards -> (select groupid::text from pg_dist_local_group)) as name);
    result bloomfilter;
begin
    if own is not null then
        execute format('select bloom_agg(id, $1, $2) from (%s) as shard', own)
        into result using n, p;
    end if;
    return result;
end
$$;

begin;
create temporary table placed on commit drop as
select distinct on (shardid) shardid, groupid, shard_name(logicalrelid, shardid) as name
from pg_dist_shard join pg_dist_placement using (shardid)
where logicalrelid = 'member'::regclass
order by shardid, placementid;

-- Casts at once: as a text the filter would be compressed, which takes most of the time.
create temporary table worker_filter on commit drop as
select nodename, nodeport, success,
    case when success and result <> '' then result::bloomfilter end as filter,
    case when not success then result end as failure
from run_command_on_workers((
    select format('select filter_of_shards(%L, 1200000, 0.01)', jsonb_object_agg(groupid, names))
    from (select groupid, jsonb_agg(name) as names from placed group by groupid) as g));

-- A worker that failed or was not asked must fail the night (the coordinator itself is not
-- asked, should it have shards): a union without it would deny members.
do $$
declare
    failure text := (
        select string_agg(format('group %s: %s', g.groupid, coalesce(w.failure, 'was not asked')), E'\n')
        from (select distinct groupid from placed) as g
        left join pg_dist_node as node on node.groupid = g.groupid and node.noderole = 'primary'
        left join worker_filter as w using (nodename, nodeport)
        where w.success is not true);
begin
    if failure is not null then
        raise exception 'a worker could not build its filter' using detail = failure;
    end if;
end
$$;

insert into whitelist
select 'member', bloom_union_agg(filter) from worker_filter
on conflict (name) do update set filter = excluded.filter;
commit;

-- The workers' union is the filter that one build makes, byte for byte.
select bloom_verify(filter) as whole, t.cardinality, t.fpr, t.bytes
from whitelist, bloom_stats(filter) t where name = 'member';
select count(*) as members_missing
from (select id from member where id % 10 = 0 offset 0) m, whitelist w
where w.name = 'member' and not bloom_contains(w.filter, m.id);

-- Asked by day.  As a reference table the filter is on every node: look-ups can be sent to
-- any of them, and members' rows be joined with it on their workers.  Don't join rows of a
-- distributed table with a filter in a local table.
select create_reference_table('whitelist');
select bloom_contains(filter, 4711) from whitelist where name = 'member';

--
-- 2. A distributed table of filters: bloom_union_agg is split
--
-- The aggregate's state is a bloomfilter itself, so the filters of each shard are united
-- on its worker, and the coordinator unites the shards'.  EXPLAIN VERBOSE shows
-- worker_partial_agg('bloom_union_agg(bloomfilter)', ...) in the task's query.
--

create table tenant_filter (tenant int primary key, filter bloomfilter not null);
select create_distributed_table('tenant_filter', 'tenant');
insert into tenant_filter
select tenant, filter
from (
    select g % 16 as tenant, bloom_agg(g::bigint, 200000, 0.01) as filter
    from generate_series(1, 160000) g
    group by g % 16
) t;

explain (verbose, costs off)
select bloom_union_agg(filter) from tenant_filter;

with united as (select bloom_union_agg(filter) as filter from tenant_filter)
select count(*) filter (where not bloom_contains(filter, g)) as members_missing
from united, generate_series(1, 160000) g;

-- One tenant's filter is asked on the worker that has it.
select bloom_contains(filter, 4711::bigint) from tenant_filter where tenant = 4711 % 16;

--
-- 3. A set of parts, distributed by part
--
-- bloom_part of a constant is a constant: the look-up names one shard, and Citus
-- sends it to the worker that has it.
--
-- Citus gathers the rows for the statement below, or splits it, as in section 1.  The
-- coordinator has the whole set in memory at its end; where that is too much, build part
-- after part with a function like the one above.
--

create table member_part (part int primary key, filter bloomfilter not null);
select create_distributed_table('member_part', 'part');

insert into member_part
select bloom_part(id, 8), bloom_part_agg(id, 8, 1200000, 0.01) from member group by 1
on conflict (part) do update set filter = excluded.filter;

-- The headers are read on the workers.
select (bloom_stats(filter)).* from member_part order by part;

explain (costs off)
select bloom_contains(filter, 4711::bigint)
from member_part where part = bloom_part(4711::bigint, 8);
select bloom_contains(filter, 4711::bigint)
from member_part where part = bloom_part(4711::bigint, 8);
