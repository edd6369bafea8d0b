-- A filter gives the same answers wherever and however it is stored.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set bloomfilter.overflow = ignore;

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

do $$
declare
  how text;
begin
  foreach how in array '{external,extended,main,plain,lz4}'::text[] loop
    execute format('create temp table as_%s (what text, f bloomfilter)', how);
    execute format('alter table as_%s alter f set storage %s', how, replace(how, 'lz4', 'extended'));
    if how = 'lz4' then
      -- A server may have been built without it.
      begin alter table as_lz4 alter f set compression lz4; exception when feature_not_supported then null; end;
    end if;
    execute format('insert into as_%s select * from wanted where %s', how, case how when 'plain' then 'octet_length(f::bytea) < 8000' else 'true' end);
  end loop;
end $$;
create temp table in_domain as select what, f::pg_temp.whitelist from wanted;
create temp table in_array as select what, array[bloom_reset(f), f] as f from wanted;
create temp table in_composite as select what, row(what, f)::pg_temp.named as f from wanted;

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
select how, count(*) filter (where (f @> k) <> found) as wrong from stored s join keys using (what) group by how order by how;
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
