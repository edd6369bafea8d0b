-- A filter gives the same answers wherever and however it is stored.
set client_min_messages = warning;
set bloomfilter.overflow = ignore;

\pset format unaligned
\pset tuples_only on

-- small: fits into a row.  large: of many TOAST chunks.  sparse: large, and compresses well.
create temp table wanted as
  select 'small' as what, bloom_agg(k, 50) f from generate_series(1, 50) k union all
  select 'large', bloom_agg(k, 100000) from generate_series(1, 100000) k union all
  select 'sparse', bloom_agg(k, 100000) from generate_series(1, 20) k union all
  select 'sparse small', bloom_agg(k, 5000) from generate_series(1, 20) k union all
  select 'wide blocks', bloom_agg(k, 10000, 1e-8) from generate_series(1, 9000) k;
create temp table keys as select k, what, f @> k as found from wanted,
  lateral (select generate_series(1, 200) k union all select generate_series(99800, 100200)) s;
select what, count(*) filter (where found) >= 20 as some_found, count(*) filter (where not found) > 0 as some_not from keys group by what order by what;

create domain pg_temp.whitelist as bloomfilter check (bloom_cardinality(value) > 0);
create type pg_temp.named as (name text, f bloomfilter);

create temp table as_external (what text, f bloomfilter);
create temp table as_extended (what text, f bloomfilter);
create temp table as_lz4 (what text, f bloomfilter);
create temp table as_main (what text, f bloomfilter);
create temp table as_plain (what text, f bloomfilter);
create temp table in_domain (what text, f pg_temp.whitelist);
create temp table in_array (what text, f bloomfilter[]);
create temp table in_composite (what text, f pg_temp.named);
alter table as_extended alter f set storage extended;
alter table as_lz4 alter f set storage extended;
-- A server may have been built without it.
do $$ begin alter table as_lz4 alter f set compression lz4; exception when feature_not_supported then null; end $$;
alter table as_main alter f set storage main;
alter table as_plain alter f set storage plain;
insert into as_external select * from wanted;
insert into as_extended select * from wanted;
insert into as_lz4 select * from wanted;
insert into as_main select * from wanted;
insert into as_plain select * from wanted where octet_length(f::bytea) < 8000;
insert into in_domain select * from wanted;
insert into in_array select what, array[bloom_reset(f), f] from wanted;
insert into in_composite select what, row(what, f)::pg_temp.named from wanted;

-- stored as meant: external is not compressed, extended and main are where it helps
select 'external', what, pg_column_size(f) >= octet_length(f::bytea) from as_external union all
select 'extended', what, pg_column_size(f) < octet_length(f::bytea) / 2 from as_extended where what ~ 'sparse' union all
select 'main', what, pg_column_size(f) < octet_length(f::bytea) / 2 from as_main where what ~ 'sparse' union all
select 'plain', what, pg_column_size(f) >= octet_length(f::bytea) from as_plain order by 1, 2;

create function pg_temp.wrong(f bloomfilter, w text) returns bigint language sql as $$
  select count(*) from keys where what = w and (f @> k) <> found
$$;
create temp view stored as
  select 'external' as how, what, f from as_external union all
  select 'extended', what, f from as_extended union all
  select 'lz4', what, f from as_lz4 union all
  select 'main', what, f from as_main union all
  select 'plain', what, f from as_plain union all
  select 'domain', what, f::bloomfilter from in_domain union all
  select 'array', what, f[2] from in_array union all
  select 'composite', what, (f).f from in_composite;
-- the same answers, one by one and at once; the same bytes; the same header
select how, count(*), sum(pg_temp.wrong(s.f, what)) as wrong, bool_and(s.f = w.f) as same_bytes,
       bool_and(bloom_stats(s.f) = bloom_stats(w.f)) as same_stats,
       bool_and(bloom_contains_each(s.f, array(select k from keys where keys.what = s.what order by k)) = array(select found from keys where keys.what = s.what order by k)) as each
from stored s join wanted w using (what) group by how order by how;
-- also when asked in a join, straight from the table
select 'external', count(*) from as_external s join keys using (what) where (f @> k) <> found union all
select 'extended', count(*) from as_extended s join keys using (what) where (f @> k) <> found union all
select 'main', count(*) from as_main s join keys using (what) where (f @> k) <> found union all
select 'plain', count(*) from as_plain s join keys using (what) where (f @> k) <> found union all
select 'domain', count(*) from in_domain s join keys using (what) where (f @> k) <> found union all
select 'array', count(*) from in_array s join keys using (what) where (f[2] @> k) <> found or f[1] @> k union all
select 'composite', count(*) from in_composite s join keys using (what) where ((f).f @> k) <> found;
-- and with no memory for a copy
set bloomfilter.cache_size = 0;
select how, sum(pg_temp.wrong(f, what)) from stored group by how order by how;
select count(*) from as_extended s join keys using (what) where (f @> k) <> found;
reset bloomfilter.cache_size;
-- changed from where they are stored, without a change of what is stored
select how, bool_and(bloom_add(f, -1) @> -1 and f | bloom_reset(f) = f and bloom_add_all(f, '{-1,-2}'::int[]) @> -2) as changed
from stored group by how order by how;
select how, bool_and(s.f = w.f and not s.f @> -1) from stored s join wanted w using (what) where what <> 'small' group by how order by how;
select how, bloom_union_agg(f) = (select f from wanted where what = 'large') from stored where what in ('large', 'sparse') group by how order by how;
-- the same after the table is rewritten
create table rewritten (what text, f bloomfilter, primary key (what));
insert into rewritten select * from wanted;
select count(*) from rewritten join keys using (what) where (f @> k) <> found;
vacuum full rewritten;
select count(*) from rewritten join keys using (what) where (f @> k) <> found;
cluster rewritten using rewritten_pkey;
select count(*) from rewritten join keys using (what) where (f @> k) <> found;
alter table rewritten alter f set storage extended;
update rewritten set f = f | bloom_reset(f);
select count(*) from rewritten join keys using (what) where (f @> k) <> found;
-- the same through a row variable, a record, jsonb of its text, a materialized view
create materialized view refreshed as select what, f from rewritten;
create unique index on refreshed (what);
refresh materialized view concurrently refreshed;
select count(*) from refreshed join keys using (what) where (f @> k) <> found;
update rewritten set f = bloom_add(f, -5) where what = 'large';
refresh materialized view concurrently refreshed;
select count(*) filter (where f @> -5), count(*) from refreshed where what in ('large', 'wide blocks');
drop table rewritten cascade;
create function pg_temp.by_row() returns bigint language plpgsql as $$
declare
  r as_external%rowtype;
  x record;
  wrong bigint := 0;
begin
  for r in select * from as_external loop
    for x in select * from keys where what = r.what and k % 10 = 0 loop
      if (r.f @> x.k) <> x.found then wrong := wrong + 1; end if;
    end loop;
  end loop;
  return wrong;
end $$;
select pg_temp.by_row();
-- analyze does not mind filters
analyze as_external;
select stanullfrac from pg_statistic where starelid = 'as_external'::regclass and staattnum = 2;
-- a trigger's NEW and OLD
create table watched (f bloomfilter);
create function pg_temp.watch() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise warning 'old % new %', old.f @> 1, new.f @> 1;
  end if;
  new.f := bloom_add(new.f, 2);
  return new;
end $$;
create trigger watch before insert or update on watched for each row execute function pg_temp.watch();
insert into watched values (bloom_create(50000));
update watched set f = bloom_add(f, 1);
select f @> 1, f @> 2, f @> 3 from watched;
drop table watched;

-- Chunks of a filter make the filter; one at the end is short, one behind it empty.
create temp table chunked as select n, bloom_add_all(bloom_create(n), array(select generate_series(1, least(n, 1000)))) as f from unnest('{1, 100, 3000, 1000000}'::int[]) n;
create function pg_temp.in_chunks(filter bloomfilter, size int) returns bytea language sql as
'select string_agg(bloom_chunk(filter, at, size), '''' order by at) from generate_series(0, (bloom_stats(filter)).bytes, size) at';
select size, count(*) as filters, bool_and(pg_temp.in_chunks(f, size) = f::bytea) as same
from chunked, unnest('{64, 1996, 1000003, 536870912, 2147483647}'::int[]) size where size > 64 or n < 5000 group by 1 order by 1;
select bool_and(bloom_chunk(f, bytes, 10) = '' and bloom_chunk(f, bytes - 3, 10) = substr(f::bytea, bytes::int - 2) and bloom_chunk(f, 9223372036854775807, 2147483647) = '')
from chunked, lateral (select (bloom_stats(f)).bytes) s;
select bloom_chunk(f, -1, 10) from chunked;
select bloom_chunk(f, 0, -1) from chunked;
select bloom_chunk(f, (-9223372036854775808), -2147483648) from chunked;
