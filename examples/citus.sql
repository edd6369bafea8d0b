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
-- 1. Each shard builds a filter of its own, on its worker; they are merged here
--
-- n, p and seed are those of the whole set, for all shards, so that the filters can
-- be united.  What travels is a filter from each shard.
--

create table whitelist (name text primary key, filter bloomfilter not null);

begin;
create temporary table shard_filter on commit drop as
select shardid, success, result
from run_command_on_shards('member', 'select bloom_agg(id, 1200000, 0.01) from %s');

-- A shard that failed must fail the night: a union without it would deny members.
do $$
declare
    failure text := (select string_agg(format('shard %s: %s', shardid, result), E'\n')
                     from shard_filter where success is not true);
begin
    if failure is not null then
        raise exception 'a shard could not build its filter' using detail = failure;
    end if;
end
$$;

-- An empty shard has an empty result, and no filter.
insert into whitelist
select 'member', bloom_union_agg(result::bloomfilter)
from shard_filter where result <> ''
on conflict (name) do update set filter = excluded.filter;
commit;

-- A union of the shards is the filter that one build makes, byte for byte.
select bloom_verify(filter) as whole, t.cardinality, t.fpr, t.bytes
from whitelist, bloom_stats(filter) t where name = 'member';
select count(*) as members_missing
from (select id from member where id % 10 = 0 offset 0) m, whitelist w
where w.name = 'member' and not bloom_contains(w.filter, m.id);

-- Asked by day, on the coordinator.  As a reference table the filter is on every
-- node, and look-ups can be sent to any of them.
select create_reference_table('whitelist');
select bloom_contains(filter, 4711) from whitelist where name = 'member';

--
-- 2. A distributed table of filters: bloom_union_agg is split
--
-- The aggregate's state is a bloomfilter itself, so each worker unites its filters,
-- and the coordinator the workers'.  EXPLAIN VERBOSE shows
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
-- Part after part is built in the shards and united here, so the coordinator has one
-- part of each shard at a time, and never the whole set.  That costs each shard a
-- scan for each part.  What travels is the number of shards times the set's size, and
-- a third more, since it is text.
--

create table member_part (part int primary key, filter bloomfilter not null);
select create_distributed_table('member_part', 'part');

do $$
declare
    failure text;
    united bloomfilter;
begin
    for number in 0 .. 7 loop
        select string_agg(format('shard %s: %s', shardid, result), E'\n')
                filter (where success is not true),
            bloom_union_agg(result::bloomfilter)
                filter (where success and result <> '')
        into failure, united
        from run_command_on_shards('member', format($command$
            select bloom_part_agg(id, 8, 1200000, 0.01)
            from %%s where bloom_part(id, 8) = %s
        $command$, number));
        if failure is not null then
            raise exception 'a shard could not build its share of part %', number
                using detail = failure;
        end if;
        if united is null then
            raise exception 'part % has no members', number;
        end if;
        insert into member_part values (number, united)
        on conflict (part) do update set filter = excluded.filter;
    end loop;
end
$$;

-- The headers are read on the workers.
select (bloom_stats(filter)).* from member_part order by part;

explain (costs off)
select bloom_contains(filter, 4711::bigint)
from member_part where part = bloom_part(4711::bigint, 8);
select bloom_contains(filter, 4711::bigint)
from member_part where part = bloom_part(4711::bigint, 8);
