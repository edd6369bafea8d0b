-- Keys of several columns: ROW(...) and composite types.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

create type pg_temp.mood as enum ('sad');
create type pg_temp.account as (tenant int, email text);
create type pg_temp.wider as (tenant bigint, email varchar(40));
create domain pg_temp.known as pg_temp.account;
create domain pg_temp.mail as varchar(40);

create temp table members as select (g % 10)::int as tenant, 'user' || g as email, g as id from generate_series(1, 1000) g;
create temp table held as select bloom_agg(row(tenant, email), 1000, 1e-9) as f from members;
select key_type, cardinality between 990 and 1010 from held, bloom_stats(f);

-- members are found, by every function and operator, and others not
select count(*) from held, members where f @> row(tenant, email) and row(tenant, email) <@ f and bloom_contains(f, row(tenant, email))
  and f @> any (array[row(tenant, email)]) and (bloom_contains_each(f, array[row(tenant, email)]))[1];
select count(*) from held, members where f @> row(tenant + 1, email) or f @> row(tenant, email || 'x');
-- a width of integer, a type of text, a composite type, a domain: the same keys
select count(*) from held, members where f @> row(tenant::bigint, email::varchar) and f @> row(tenant::smallint, email::name)
  and f @> row(tenant, email)::pg_temp.account and f @> row(tenant, email)::pg_temp.wider and f @> row(tenant, email)::pg_temp.known
  and f @> row(tenant, email::pg_temp.mail) and f @> row(tenant, email::char(20));
-- what has no type is read as the filter's column
select f @> row(1, 'user1'), f @> row('1', 'user1'), f @> row(' 1 ', 'user1'), f @> row(2, 'user1'), row('1', 'user1') <@ f, f @> row(1, 'user1'::bloom_key) from held;
select bloom_contains_each(f, array[row(1, 'user1'), row(2, 'user1')]), bloom_contains_each(f, array[row(1, 'user1'), row(2, 'user1'), null]::pg_temp.account[]) from held;
select pg_temp.answer_of(format('select f @> row(%s) from held', columns)) from (values
  ('1, 2'), ('''x'', ''y'''), ('1'), ('1, ''a'', 2'), ('''user1'', 1'), ('1::numeric, ''user1'''), ('1, null'), ('null::int, ''user1'''), ('1, ''user1''::bytea'), ('')) v(columns);
select pg_temp.answer_of('select f @> 1 from held'), pg_temp.answer_of('select f @> ''(1,user1)'' from held'), pg_temp.answer_of('select bloom_add(bloom_create(9), 1) @> row(1, 2)'),
  pg_temp.answer_of('select bloom_add(bloom_create(9), ''x''::text) @> row(''x'')');
-- not the same bytes though the texts run together
select f @> row('a', 'bc'), f @> row('ab', 'c'), f @> row('abc', '') from (select bloom_agg(row('ab'::text, 'c'::text), 10, 1e-9) f) s;

-- builds: serial, parallel, one by one, an array, by part, by group: the same bytes
select f = (select bloom_agg(row(tenant::bigint, email::varchar(30)), 1000, 1e-9) from members), f = (select bloom_agg(m::pg_temp.account, 1000, 1e-9) from (select tenant, email from members) m),
  f = (select bloom_add_all(bloom_create(1000, 1e-9), array_agg(row(tenant, email))) from members), f = (select bloom_union_agg(g) from (select bloom_agg(row(tenant, email), 1000, 1e-9) g from members group by tenant) s) from held;
create table public.many_members as select * from members;
alter table many_members set (parallel_workers = 2);
set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;
explain (costs off) select bloom_agg(row(tenant, email), 1000, 1e-9) from many_members;
select f = (select bloom_agg(row(tenant, email), 1000, 1e-9) from many_members) from held;
-- workers that saw none, or nulls alone
select f = (select bloom_agg(case when id = 7 then row(tenant, email)::pg_temp.account end, 1000, 1e-9) from many_members), bloom_cardinality(f)
  from (select bloom_add(bloom_create(1000, 1e-9), row(7, 'user7')) f) s;
select bloom_agg(case when id < 0 then row(tenant, email)::pg_temp.account end) from many_members;
drop table many_members;
reset parallel_setup_cost; reset parallel_tuple_cost; reset min_parallel_table_scan_size;
select count(*), bool_and(p.f @> row(tenant, email)) from members,
  (select bloom_part(row(tenant, email), 4) as part, bloom_part_agg(row(tenant, email), 4, 1000, 0.01) f from members group by 1) p where part = bloom_part(row(tenant, email), 4);
select (bloom_stats(bloom_add(bloom_create(9), row('a', 1.5, now(), '10.0.0.1'::inet, 'f'::bytea, 2::smallint)))).key_type;

-- bytes: each column its type, its length, its bytes
select bloom_hash(row(7, 'x'::text), 5) = bloom_hash('\x0108000000070000000000000002'::bytea || '\x01000000'::bytea || 'x'::bytea, 5);
select pg_temp.answer_of(statement) from (values ('select bloom_hash(row(7, ''x''))'), ('select bloom_part(row(7, ''x''), 8)')) v(statement);

-- columns that can't be keys, too many or none
select pg_temp.answer_of(format('select bloom_agg(%s)', key)) from (values
  ('row(1, ''sad''::pg_temp.mood)'), ('row(1, true)'), ('row(row(1), 2)'), ('row()'), ('row(1, 2, 3, 4, 5, 6, 7)'), ('row(array[1])')) v(key);
-- one call site, rows of different columns
create temp table kinds as select 1 as i, bloom_agg(row(1, 'a'::text)) f union all select 2, bloom_agg(row(1, 2)) union all select 3, bloom_create(9) union all select 4, bloom_agg(row('1'::text, 'a'::text));
select i, f @> r from kinds, (select row(1, 'a'::text) r offset 0) s where i in (1, 3) order by i;
select i, f @> row('1', 'a') from kinds where i <> 2 order by i;
select i, f @> row('1', 'a') from kinds where i <> 2 order by i desc;
select pg_temp.answer_of('select f @> row(''1'', ''2'') from kinds where i = 2'), pg_temp.answer_of('select bool_and(f @> row(1, ''a''::text)) from kinds');
-- also anonymous ones, in either order
select i, bloom_hash(r) = h from (values (1, row(1, 2), bloom_hash(row(1, 2))), (2, row('a'::text, 3), bloom_hash(row('a'::text, 3))), (3, row(1, 2), bloom_hash(row(1, 2)))) v(i, r, h);
-- a column dropped, and a row as a whole
alter table members drop column id;
select count(*) from held, members m where f @> m;
alter table members add column extra text default 'x';
select pg_temp.answer_of('select count(*) from held, members m where f @> m');
-- a type that changes while one expression is asked
create function pg_temp.ask(f bloomfilter, k pg_temp.account) returns boolean language plpgsql as $$
begin
  return f @> k;
end $$;
begin;
select pg_temp.ask(f, row(1, 'user1')) from held;
alter type pg_temp.account add attribute extra text;
select pg_temp.answer_of('select pg_temp.ask(f, row(1, ''user1'', ''x'')) from held');
select pg_temp.ask(bloom_add(bloom_create(9), row(1, 'user1'::text, 'x'::text)), row(1, 'user1', 'x'));
rollback;
-- a union of other columns
select pg_temp.answer_of('select bloom_add(bloom_create(9), row(1, 2)) | bloom_add(bloom_create(9), row(1, ''a''))');
-- a filter without keys denies any row
select bloom_create(9) @> row(1, 'a');
-- a nondeterministic collation in a column, with a type or without
create collation pg_temp.nd (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
select pg_temp.answer_of(format('select bloom_agg(row(1, %s collate pg_temp.nd))', key)) from unnest('{''a''::text, ''a''}'::text[]) key;
-- anonymous rows of other types at the same call site
select bloom_hash(r) = case i when 1 then bloom_hash(row(1, 2)) else bloom_hash(row('a'::text, 3)) end as same from (values (1, row(1, 2)), (2, row('a'::text, 3))) v(i, r);
