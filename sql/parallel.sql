-- A parallel plan builds the same filter as a serial one, byte for byte.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

create table rows_of (i int, u uuid, t text, few int, n numeric, empty int);
insert into rows_of select i, md5(i::text)::uuid, 'key ' || i, i % 7, i / 10.0, null from generate_series(1, 20000) i;
create table filters_of (g int, f bloomfilter);
insert into filters_of select i % 40, bloom_agg(i, 20000) from rows_of group by 1;
-- deleted rows leave pages for workers that then have nothing to send
create table sparse as select i from rows_of;
delete from sparse where i > 2000;
create table divided (i int, few int) partition by list (few);
select format('create table divided_%s partition of divided for values in (%1$s) with (parallel_workers = 2)', g) from generate_series(0, 6) g \gexec
insert into divided select i, few from rows_of;
analyze rows_of;
analyze filters_of;
analyze sparse;
analyze divided;
alter table rows_of set (parallel_workers = 2);
alter table sparse set (parallel_workers = 2);
alter table filters_of set (parallel_workers = 2);

-- The words that tell of a parallel aggregate, of those that the plan has.
create function pg_temp.words_of(query text) returns text language sql as $$
  select string_agg(distinct w[1], ', ' order by w[1]) from pg_temp.plan_of(query) line, regexp_matches(line, 'Gather|Partial|Finalize|Parallel Seq Scan', 'g') w
$$;
create function pg_temp.force(mode text) returns text language sql as $$
  select set_config(case when current_setting('server_version_num')::int >= 160000 then 'debug_parallel_query' else 'force_parallel_mode' end, mode, false)
$$;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set enable_hashagg = on;
set bloomfilter.overflow = ignore;

create temp table queries (q text);
insert into queries values
  ('select bloom_agg(i) from rows_of'),
  ('select bloom_agg(i, 20000) from rows_of'),
  ('select bloom_agg(i, 20000, 0.001) from rows_of'),
  ('select bloom_agg(i, 20000, 0.001, 7) from rows_of'),
  ('select bloom_agg(i, null, 0.001, 5) from rows_of'),
  ('select bloom_agg(i, 1000) from sparse'),
  ('select bloom_agg(i, 20000) from divided'),
  ('select bloom_agg(i, 1000000) from rows_of'),
  ('select bloom_agg(i, 10) from rows_of'),
  ('select bloom_agg(i, 3000) from rows_of'),
  ('select bloom_agg(u, 20000) from rows_of'),
  ('select bloom_agg(t) from rows_of'),
  ('select bloom_agg(n, 20000) from rows_of'),
  ('select bloom_agg(few) from rows_of'),
  ('select bloom_agg(few, 5000) from rows_of'),
  ('select bloom_agg(few, 1) from rows_of'),
  ('select bloom_agg(empty) from rows_of'),
  ('select bloom_agg(empty, 100) from rows_of'),
  ('select bloom_agg(i) from rows_of where i < 0'),
  ('select bloom_agg(i, 100) from rows_of where i <= 100'),
  ('select bloom_agg(i) from rows_of where i = 7'),
  ('select bloom_agg(case when i > 19900 then i end, 20000) from rows_of'),
  ('select bloom_agg(i, 20000) filter (where i % 2 = 0) from rows_of'),
  ('select bloom_union_agg(f) from filters_of'),
  ('select bloom_intersection_agg(f) from filters_of'),
  ('select bloom_union_agg(f) from filters_of where g < 0'),
  ('select bloom_union_agg(case when g = 3 then f end) from filters_of'),
  ('select bloom_intersection_agg(case when g = 3 then f end) from filters_of'),
  ('select bloom_union_agg(f) from filters_of where g = 39');

-- each query has a parallel plan
set max_parallel_workers_per_gather = 2;
select count(*), count(*) filter (where plan ~ 'Gather') as gathered, count(*) filter (where plan = 'Finalize, Gather, Parallel Seq Scan, Partial') >= 20 as in_parts
from (select pg_temp.words_of(q) plan from queries) s;
-- and the answer of a serial one, with and without the leader taking part
create temp table answers (q text, how text, f bloomfilter);
create function pg_temp.answer(how text) returns void language plpgsql as $$
declare
  query text;
  f bloomfilter;
begin
  for query in select q from queries loop
    execute query into f;
    insert into answers values (query, how, f);
  end loop;
end $$;
select pg_temp.answer('parallel');
set parallel_leader_participation = off;
select pg_temp.answer('without leader');
reset parallel_leader_participation;
set max_parallel_workers = 0;
select pg_temp.answer('no worker came');
reset max_parallel_workers;
set max_parallel_workers_per_gather = 0;
select count(*) from (select pg_temp.words_of(q) plan from queries) s where plan ~ 'Gather';
select pg_temp.answer('serial');
select a.q, a.how from answers a join answers s using (q)
where s.how = 'serial' and (a.f is null) <> (s.f is null) or s.how = 'serial' and a.f <> s.f;
select how, count(*), count(f) from answers group by how order by how;

-- groups, hashed and sorted
create temp table groups as select few, bloom_agg(i, 3000) f, bloom_agg(t) h from rows_of group by 1;
set max_parallel_workers_per_gather = 2;
select pg_temp.words_of('select few, bloom_agg(i, 3000), bloom_agg(t) from rows_of group by 1') ~ 'Partial';
select count(*), bool_and(f = pf and h = ph) from groups join (select few, bloom_agg(i, 3000) pf, bloom_agg(t) ph from rows_of group by 1) s using (few);
set enable_hashagg = off;
select count(*), bool_and(f = pf and h = ph) from groups join (select few, bloom_agg(i, 3000) pf, bloom_agg(t) ph from rows_of group by 1) s using (few);
reset enable_hashagg;
-- of partitions, each by itself
set enable_partitionwise_aggregate = on;
select count(*), bool_and(f = pf) from groups join (select few, bloom_agg(i, 3000) pf from divided group by 1) s using (few);
reset enable_partitionwise_aggregate;

-- parts of a set: with statistics of the expression, else the number of groups is taken for that of the keys
create statistics parts_of_rows on (bloom_part(i, 5, 9)) from rows_of;
analyze rows_of;
set max_parallel_workers_per_gather = 0;
create temp table parts as select bloom_part(i, 5, 9) part, bloom_part_agg(i, 5, 20000, 0.01, 9) f from rows_of group by 1;
set max_parallel_workers_per_gather = 2;
select pg_temp.words_of('select bloom_part(i, 5, 9), bloom_part_agg(i, 5, 20000, 0.01, 9) from rows_of group by 1') ~ 'Partial';
select count(*), bool_and(f = pf) from parts join (select bloom_part(i, 5, 9) part, bloom_part_agg(i, 5, 20000, 0.01, 9) pf from rows_of group by 1) s using (part);

-- DISTINCT and ORDER BY have no parallel plan, and the same answer
select coalesce(pg_temp.words_of('select bloom_agg(distinct i, 20000) from rows_of') ~ 'Partial', false);
select (select bloom_agg(distinct i, 20000) from rows_of) = (select f from answers where how = 'serial' and q = 'select bloom_agg(i, 20000) from rows_of');

-- rows from more than one table: workers without rows
create table more_rows (like rows_of);
alter table more_rows set (parallel_workers = 2);
select pg_temp.words_of('select bloom_agg(i, 20000) from (select i from rows_of union all select i from more_rows) s') ~ 'Partial';
select (select bloom_agg(i, 20000) from (select i from rows_of union all select i from more_rows) s) = (select f from answers where how = 'serial' and q = 'select bloom_agg(i, 20000) from rows_of');

-- parameters that change between workers are an error, as within one
select pg_temp.error_of('select bloom_agg(i, i) from rows_of');
select pg_temp.error_of('select bloom_agg(i, 20000, 0.01, (i > 10000)::int) from rows_of');
select pg_temp.error_of('select bloom_agg(i, 0) from rows_of');

-- look-ups in workers: each has its own copy of the filter, stored or not
create table one_filter as select f from answers where how = 'serial' and q = 'select bloom_agg(i, 20000) from rows_of';
select count(*) from rows_of where (select f from one_filter) @> i;
select count(*) from rows_of, one_filter where f @> i;
select count(*) from rows_of r, filters_of o where o.g = r.i % 40 and o.f @> r.i;
-- everything in a worker: functions keep their word to be parallel safe
select pg_temp.force('on');
select f @> 7, 7 <@ f, bloom_contains_each(f, '{1,2}'::int[]), bloom_cardinality(f) between 19000 and 21000,
       (bloom_stats(f)).n, bloom_add(f, 20001) @> 20001, bloom_add_all(f, '{20001}'::int[]) @> 20001, f | f = f, f & f = f, (f::text)::bloomfilter = f,
       (f::bytea)::bloomfilter = f, bloom_shrink(f, 0.5) @> 7, bloom_reset(f) @> 7, bloom_verify(f), bloom_hash(7) = bloom_hash(7::bigint),
       (bloom_sizing(10, 0.1)).hashes = (bloom_stats(bloom_create(10, 0.1))).hashes
from one_filter;
select bloom_agg(i, 20000) = (select f from one_filter) from rows_of;
-- live indexes, too; a temporary table's can be read by its session alone, so a worker says "perhaps"
create table shared_keys as select 7 as k;
create index shared_live on shared_keys using bloomfilter (k);
create temp table own_keys as select 7 as k;
create index own_live on own_keys using bloomfilter (k);
select bloom_index_contains('shared_live', 7) as member, bloom_index_contains('shared_live', -7) as other;
select bloom_index_contains('own_live', 7) as member, bloom_index_contains('own_keys', 'k', -7) as perhaps, bloom_index_contains_each('own_live', array[7, -7]) as each;
drop table shared_keys, own_keys;
select pg_temp.force('off');
drop table rows_of, filters_of, sparse, divided, more_rows, one_filter;
-- groups of few keys are not worth shipping, larger ones are
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
create table small_groups as select i % 100000 as g, i as k from generate_series(1, 300000) i;
analyze small_groups;
select pg_temp.words_of('select g, bloom_agg(k, 100, 0.001) from small_groups group by g');
select pg_temp.words_of('select k > 1000, bloom_agg(k, 100, 0.001) from small_groups group by 1');
drop table small_groups;
