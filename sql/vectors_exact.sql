-- The golden exact filters: looked up as values, as stored, by place and by copies; what refuses them.
\set table exact
\i `echo $PG_ABS_SRCDIR`/sql/lib/vectors.sql
create temp table vectors as
  select f[1] as name, f[2] as word, f[3]::int as key_type, f[5] as members, f[6] as others, f[7] as strangers,
    case f[8] when '-' then ''::bytea else decode(f[8], 'hex') end as bytes
  from lines where cardinality(f) = 8;
select count(*) filter (where word = '-') as valid, count(*) filter (where word <> '-') as broken from vectors;

-- an integer key from its bytes
create function pg_temp.word(key bytea) returns bigint language sql immutable as $$
  select ('x' || string_agg(lpad(to_hex(get_byte(key, i)), 2, '0'), '' order by i desc))::bit(64)::bigint from generate_series(0, 7) i
$$;
create temp table keys as
  select v.name, v.key_type, k.wanted, decode(key, 'hex') as key
  from vectors v cross join lateral (values (v.members, true), (v.others, false), (v.strangers, false)) k(list, wanted)
    cross join lateral string_to_table(nullif(k.list, '-'), ',') key
  where word = '-';
select count(*) > 5000 as enough from keys;

-- Stored in chunks that are read by place, and as it comes.
create table exact_stored (name text, filter bloomfilter);
alter table exact_stored alter filter set storage external;
insert into exact_stored select name, bytes::bloomfilter from vectors where word = '-';
create function pg_temp.wrong(query text) returns bigint language plpgsql as $$
declare
  sum bigint := 0; n bigint; v record;
begin
  for v in select name, max(key_type) as key_type from keys group by name order by name loop
    execute format(query, case v.key_type when 2 then $k$convert_from(k.key, 'UTF8')$k$ else 'pg_temp.word(k.key)' end, v.name) into n;
    sum := sum + n;
  end loop;
  return sum;
end $$;
select pg_temp.wrong('select count(*) from keys k, exact_stored s where k.name = %2$L and s.name = %2$L and bloom_contains(s.filter, %1$s) is distinct from k.wanted') as wrong_stored;
select pg_temp.wrong('select count(*) from keys k, vectors v where k.name = %2$L and v.name = %2$L and bloom_contains(v.bytes::bloomfilter, %1$s) is distinct from k.wanted') as wrong_values;
select pg_temp.wrong($$select count(*) from exact_stored s,
    lateral (select array_agg(%1$s) as keys, array_agg(k.wanted) as wanted from keys k where k.name = %2$L) a
  where s.name = %2$L and bloom_contains_each(s.filter, a.keys) is distinct from a.wanted$$) as wrong_each;
set bloomfilter.cache_size = 0;
select pg_temp.wrong('select count(*) from keys k, exact_stored s where k.name = %2$L and s.name = %2$L and bloom_contains(s.filter, %1$s) is distinct from k.wanted') as wrong_by_place;
select pg_temp.wrong($$select count(*) from exact_stored s,
    lateral (select array_agg(%1$s) as keys, array_agg(k.wanted) as wanted from keys k where k.name = %2$L) a
  where s.name = %2$L and bloom_contains_each(s.filter, a.keys) is distinct from a.wanted$$) as wrong_each_by_place;
reset bloomfilter.cache_size;

-- In and out, and compared.
select bool_and(s.filter::bytea = v.bytes and s.filter = v.bytes::bloomfilter and s.filter::text::bloomfilter = s.filter and bloom_verify(s.filter)) as same
from exact_stored s join vectors v using (name);
select (bloom_stats(filter)).* from exact_stored where name = 'crowded' \gx
select bloom_explain(filter, 1) from exact_stored where name = 'small';
select bloom_explain(filter, k) from exact_stored, generate_series(1, 100) k where name = 'crowded' and bloom_explain(filter, k) like '%level     3%' order by k limit 1;

-- The broken ones are refused.
do $$
declare v record;
begin
  for v in select name, bytes from vectors where word <> '-' loop
    begin
      perform v.bytes::bloomfilter;
      raise notice '% was taken', v.name;
    exception when invalid_parameter_value or feature_not_supported then
      null;
    end;
  end loop;
end $$;

drop table exact_stored;
