-- Changing: bloom_add, bloom_add_all, union, intersection, shrink, reset, overflow.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- bloom_add does not change its argument: a column
create temp table t as select bloom_agg(k, 1000, 1e-9) f, bloom_agg(k, 100000, 1e-9) as large from generate_series(1, 10) k;
select bloom_add(f, 11) @> 11, bloom_add(f, 12) @> 11, f @> 11, bloom_add_all(f, '{13,14}'::int[]) @> 14, f @> 14,
       bloom_add(large, 11) @> 11, large @> 11 from t;
select a @> 21, a @> 22, b @> 21, b @> 22, f @> 21 from (select f, bloom_add(f, 21) a, bloom_add(f, 22) b from t offset 0) s;
select a @> 21, a @> 22, b @> 21, b @> 22, f @> 21 from (select f, bloom_add(f, 21) a, bloom_add(f, 22) b from (select bloom_add(f, 20) f from t offset 0) s offset 0) s;
with e as materialized (select bloom_add(f, 20) f from t) select bloom_add(f, 21) @> 22, bloom_add(f, 22) @> 21, f @> 21 from e;
-- a constant (FORMAT.md's example, which holds 42), in each call of a loop
create function pg_temp.constant(k int) returns text language plpgsql as $$
begin
  return bloom_add('QkxNRgEHCQECAAAAAAABAAAAAAAAAAAAZAAAAAAAAAB7FK5H4XqEPwcAAAAAAAAAAQAAACKvaCz4JyNS6E2xpAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAABAAAAAAAAAAAAAQAAAQAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAQAAAAAAAAAA'::bloomfilter, k) @> (k - 1);
end $$;
select pg_temp.constant(k) from generate_series(1, 4) k;
-- a parameter that is used twice, with each kind of plan
prepare twice(bloomfilter) as select bloom_add($1, 31) @> 32, bloom_add($1, 32) @> 31, $1 @> 31;
set plan_cache_mode = force_generic_plan;
execute twice(bloom_create(100, 1e-9));
set plan_cache_mode = force_custom_plan;
execute twice(bloom_create(100, 1e-9));
reset plan_cache_mode;
-- arguments of functions, variables and their copies
create function pg_temp.in_sql(f bloomfilter) returns text language sql as $$
  select format('%s %s %s', bloom_add(f, 1) @> 2, bloom_add(f, 2) @> 1, f @> 1)
$$;
create function pg_temp.in_plpgsql(f bloomfilter) returns text language plpgsql as $$
declare
  g bloomfilter := f;
  h bloomfilter;
  r record;
begin
  g := bloom_add(g, 1);
  h := g;
  h := bloom_add(h, 2);
  g := bloom_add(g, 3);
  perform bloom_add(g, 4);
  execute 'select bloom_add($1, 5) @> 6 a, bloom_add($1, 6) @> 5 b, $1 @> 5 c' into r using g;
  return format('%s %s %s %s %s %s %s', f @> 1, g @> 2, h @> 3, g @> 4, r, g @> 1 and g @> 3, h @> 1 and h @> 2);
end $$;
select pg_temp.in_sql(bloom_create(100, 1e-9)), pg_temp.in_plpgsql(bloom_create(100, 1e-9));
select pg_temp.in_sql(f), pg_temp.in_plpgsql(bloom_reset(f)), bloom_cardinality(f) from t;
select pg_temp.in_sql(f), pg_temp.in_plpgsql(f) from (select bloom_reset(f) f from t) s;
-- NULL gives NULL; NULL keys of an array are skipped; no keys change nothing
select bloom_add(f, null::int), bloom_add(null, 1), bloom_add_all(f, null::int[]), bloom_add_all(null, '{1}'::int[]),
       bloom_add_all(f, '{null,null}'::int[]) = f, bloom_add_all(f, '{}'::int[]) = f from t;
select bloom_add_all(f, '{null,7000,null}'::int[]) = bloom_add(f, 7000), bloom_add_all(f, '{{7000,7001},{7002,null}}'::int[]) = bloom_add_all(f, '{7000,7001,7002}'::int[]) from t;

-- union and intersection, and their operators
create temp table u as select
  (select bloom_agg(k, 1000, 1e-6) from generate_series(1, 600) k) a, (select bloom_agg(k, 1000, 1e-6) from generate_series(401, 1000) k) b,
  (select bloom_agg(k, 1000, 1e-6) from generate_series(1, 1000) k) both_, bloom_create(1000, 1e-6) as empty;
select a | b = both_, b | a = both_, bloom_union(a, b) = both_, a | a = a, a | empty = a, empty | a = a, a | both_ = both_ from u;
select a & b = b & a, bloom_intersection(a, b) = a & b, a & a = a, a & both_ = a, (a & empty) @> 500, bloom_cardinality(a & empty) from u;
select count(*) filter (where (a & b) @> k and k between 401 and 600), count(*) filter (where (a | b) @> k) from u, generate_series(1, 1000) k;
select a | null is null, null & a is null, bloom_union(null, a) is null, bloom_intersection(a, null) is null from u;
-- the arguments are not changed
select a = (select bloom_agg(k, 1000, 1e-6) from generate_series(1, 600) k) from u;
-- n and p of the result are the larger ones
select u.n, u.p, i.n, i.p from (values (bloom_create(1000, 0.01), bloom_create(1001, 0.00999))) v(a, b), bloom_stats(a | b) u, bloom_stats(b & a) i;
-- what does not fit together is refused, with both sides in the detail
select pg_temp.error_of($$select bloom_create(1000) | bloom_create(100)$$);
select call, split_part(pg_temp.error_of(format('select %s | %s', split_part(call, ' with ', 1), split_part(call, ' with ', 2))), ' / ', 1),
       left(pg_temp.error_of(format('select %s & %s', split_part(call, ' with ', 1), split_part(call, ' with ', 2))), 5)
from (values ('bloom_create(1000, 0.01) with bloom_create(1000, 0.001)'), ('bloom_create(1000, seed => 1) with bloom_create(1000, seed => 2)'),
  ('bloom_add(bloom_create(1000), 1) with bloom_add(bloom_create(1000), ''1'')'), ('bloom_create_sized(1024, 3) with bloom_create_sized(1024, 4)'),
  ('bloom_create(1000) with bloom_create(1000)'), ('bloom_add(bloom_create(1000), 1) with bloom_create(1000)')) v(call);

-- bloom_reset keeps the parameters and nothing else
select bloom_reset(f) = bloom_create(1000, 1e-9), bloom_reset(f) @> 1, bloom_reset(f) @> 'text', bloom_reset(null) from t;
select bloom_reset(bloom_agg(k, 10, 0.1, 7)) = bloom_create(10, 0.1, 7), bloom_reset(bloom_create_sized(5000, 3)) = bloom_create_sized(5000, 3) from generate_series(1, 10) k;

-- bloom_shrink: the smallest size that keeps the rate for the keys that it holds
create temp table s as select bloom_agg(k, 1000000, 0.01) f from generate_series(1, 1000) k;
select o.bytes > 50 * n.bytes as smaller, n.bits_set > 0 as holds, n.fpr <= 0.01 as rate_kept, n.p = 0.01 as p_kept, n.n >= 1000 as n_holds, n.hashes = o.hashes, n.seed = o.seed, o.block_bits = n.block_bits, o.blocks % n.blocks = 0 as divides
from s, bloom_stats(f) o, bloom_stats(bloom_shrink(f)) n;
-- no false negative, and about the rate
select count(*) filter (where k <= 1000 and small @> k) as found, count(*) filter (where k > 1000 and small @> k) <= 1000 + 4 * sqrt(1000) as rate_kept
from (select bloom_shrink(f) small from s offset 0) s, generate_series(1, 101000) k;
-- with a rate of its own; a higher rate is smaller
select a.bytes >= b.bytes and b.bytes >= c.bytes as ordered, a.fpr <= 1e-4, b.fpr <= 0.01, c.fpr <= 0.5, a.p, c.p
from s, bloom_stats(bloom_shrink(f, 1e-4)) a, bloom_stats(bloom_shrink(f, 0.01)) b, bloom_stats(bloom_shrink(f, 0.5)) c;
select bloom_shrink(f, null) = bloom_shrink(f), bloom_shrink(f, 0.01) = bloom_shrink(f), bloom_shrink(bloom_shrink(f)) = bloom_shrink(f), bloom_shrink(null, 0.1), bloom_shrink(null) from s;
-- keys can be added afterwards, up to its n
select bool_and(g @> k) from (select bloom_add_all(bloom_shrink(f), array(select generate_series(2001, 2100))) g from s offset 0) s, generate_series(2001, 2100) k;
-- the blocks are those of a filter built at that size
select bloom_shrink(f) = bloom_add_all(bloom_reset(bloom_shrink(f)), array(select generate_series(1, 1000))) from s;
-- a full filter and one of a single block stay as they are; an empty one becomes one block
select bloom_shrink(f) = f from (select bloom_agg(k, 1000) f from generate_series(1, 1000) k) s;
select bloom_shrink(f) = f from (select bloom_agg(k, 10) f from generate_series(1, 3) k) s;
select (bloom_stats(bloom_shrink(bloom_create(1000)))).blocks, bloom_shrink(bloom_create(1000)) @> 1;
-- a prime number of blocks folds to one or not at all
select n.blocks, n.fpr <= 0.01 from (select bloom_add(bloom_create_sized(512 * 97, 7), 1) f) s, bloom_stats(bloom_shrink(f, 0.01)) n;
select call, left(pg_temp.error_of('select bloom_shrink(f, ' || call || ') from s'), 5) from (values ('0'), ('1'), ('-1'), ('''NaN'''), ('''Infinity'''), ('0.01'), ('1e-300')) v(call);

-- overflow: a filter that comes to hold more keys than n warns, errs or is silent
set client_min_messages = notice;
\set VERBOSITY default
set bloomfilter.overflow = warning;
create temp table o as select bloom_agg(k, 1000) f from generate_series(1, 1000) k;
select bloom_add_all(f, array(select generate_series(1001, 2000))) @> 2000 from o;
select bloom_agg(k, 1000) @> 2000 from generate_series(1, 2000) k;
select (a | b) @> 2000 from (select (select bloom_agg(k, 1000) from generate_series(1, 1000) k) a, (select bloom_agg(k, 1000) from generate_series(1001, 2000) k) b) s;
select bloom_union_agg(f) @> 2000 from (values ((select bloom_agg(k, 1000) from generate_series(1, 1000) k)), ((select bloom_agg(k, 1000) from generate_series(1001, 2000) k))) v(f);
set bloomfilter.overflow = error;
select call, split_part(pg_temp.error_of(call), ' / ', 1) from (values
  ('select bloom_add_all(f, array(select generate_series(1001, 2000))) from o'),
  ('select bloom_agg(k, 1000) from generate_series(1, 2000) k'),
  ('select bloom_agg(k, 1000) | bloom_agg(k + 1000, 1000) from generate_series(1, 1000) k'),
  ('select bloom_union_agg(f) from (select bloom_agg(k, 1000) f from generate_series(1, 2000) k group by k % 2) s'),
  -- what is within n is not refused, however often the keys come
  ('select bloom_agg(k, 1000) from generate_series(1, 1000) k'),
  ('select bloom_agg(k % 1000, 1000) from generate_series(1, 50000) k'),
  ('select bloom_add_all(f, array(select generate_series(1, 1000))) from o'),
  ('select bloom_agg(k) from generate_series(1, 100000) k'),
  ('select f | f, f & f from o'),
  -- nor an intersection, nor a full filter that is read
  ('select bloom_intersection_agg(f) from o'),
  ('select f @> 1, f::text::bloomfilter from o')) v(call);
-- one key too many is told when it is sure, and one key at a time too
create function pg_temp.told_after(n int) returns text language plpgsql as $$
declare
  f bloomfilter := bloom_create(n);
  k int := 0;
begin
  loop
    k := k + 1;
    f := bloom_add(f, k);
    exit when k > 10 * n;
  end loop;
  return 'never';
exception when program_limit_exceeded then
  return case when k <= n then 'too early' when k <= n * 1.5 + 8 then 'in time' else 'late' end;
end $$;
select n, pg_temp.told_after(n) from unnest('{10,100,1000,10000}'::int[]) n;
-- the key that was refused is not in the filter that the function has
do $$
declare
  f bloomfilter := bloom_create(10);
  k int := 0;
begin
  loop
    k := k + 1;
    f := bloom_add(f, k);
  end loop;
exception when program_limit_exceeded then
  raise notice 'the key is %', case when f @> k then 'there' else 'not there' end;
end $$;
-- a seed changes nothing about that: no false alarm at n keys, at 40 seeds and sizes
select count(*) from (select s, n, bloom_agg(k, n, 0.01, s) from generate_series(1, 40) s, unnest('{1,5,50,500,2000}'::int[]) n, generate_series(1, n) k group by s, n) x;
-- a full filter holds more than can be told
set bloomfilter.overflow = warning;
select bloom_agg(k, 10) @> 5 from generate_series(1, 10000) k;
set bloomfilter.overflow = ignore;
select bloom_add_all(f, array(select generate_series(1001, 2000))) @> 2000 from o;
-- the setting changes no bytes
select md5((bloom_agg(k, 1000))::bytea) as ignored from generate_series(1, 2000) k \gset
set bloomfilter.overflow = warning;
set client_min_messages = error;
select md5((bloom_agg(k, 1000))::bytea) = :'ignored' from generate_series(1, 2000) k;
-- it takes these three values
select pg_temp.error_of('set bloomfilter.overflow = maybe') ~ '^22023', pg_temp.error_of('set bloomfilter.cache_size = -1') ~ '^22023', pg_temp.error_of('set bloomfilter.cache_size = ''1MB''');
