-- bloom_agg, bloom_union_agg and bloom_intersection_agg.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- The same keys one by one: what an aggregate must be equal to.
create function pg_temp.built(keys int[], n bigint, p float8 default 0.01, seed bigint default 0) returns bloomfilter language plpgsql as $$
declare
  f bloomfilter := bloom_create(n, p, seed);
  k int;
begin
  foreach k in array keys loop
    f := bloom_add(f, k);
  end loop;
  return f;
end $$;

-- no rows and no keys give NULL, in every form
select bloom_agg(k), bloom_agg(k, 10), bloom_agg(k, 10, 0.01), bloom_agg(k, 10, 0.01, 7) from generate_series(1, 0) k;
select bloom_agg(k), bloom_agg(k, 10), bloom_agg(k, 10, 0.01), bloom_agg(k, 10, 0.01, 7) from unnest('{null,null}'::int[]) k;
select coalesce(bloom_agg(k, 10), bloom_create(10)) @> 1 from generate_series(1, 0) k;
-- one row
select bloom_agg(42) = pg_temp.built('{42}', 1), bloom_agg(42, 10) = pg_temp.built('{42}', 10),
       bloom_agg(42, 10, 0.1) = pg_temp.built('{42}', 10, 0.1), bloom_agg(42, 10, 0.1, 7) = pg_temp.built('{42}', 10, 0.1, 7);
-- the forms without n, p and seed have the documented defaults
select bloom_agg(k) = bloom_agg(k, null, 0.01, 0), bloom_agg(k, 100) = bloom_agg(k, 100, 0.01, 0), bloom_agg(k, 100, 0.02) = bloom_agg(k, 100, 0.02, 0)
from generate_series(1, 100) k;
-- NULL keys are skipped
select bloom_agg(k, 10) = pg_temp.built('{1,2}', 10), bloom_agg(k) = pg_temp.built('{1,2}', 2) from unnest('{null,1,null,2,null}'::int[]) k;
-- without n the filter is sized for the different keys that came
select (bloom_stats(bloom_agg(k % 50))).n, (bloom_stats(bloom_agg(k % 50, null, 0.001))).n, bloom_agg(k % 50) = bloom_agg(distinct k % 50)
from generate_series(1, 1000) k;
-- the same bytes as one by one, around the size where the list gives way to the filter (155 hashes for 1000 keys)
set bloomfilter.overflow = ignore;
select count(*), bool_and(bloom_agg = built) from (
  select m, bloom_agg(k, 1000), pg_temp.built(array_agg(k), 1000) as built
  from generate_series(1, 340, 3) m, generate_series(1, m) k group by m) s;
select count(*), bool_and(bloom_agg = built) from (
  select m, bloom_agg(k % (m / 2 + 1), 200), pg_temp.built(array_agg(k % (m / 2 + 1)), 200) as built
  from generate_series(1, 200) m, generate_series(1, m) k group by m) s;
select count(*), bool_and(bloom_agg = built) from (
  select m, bloom_agg(k), pg_temp.built(array_agg(k), m) as built
  from unnest('{1,2,15,16,17,31,32,33,63,64,65,127,128,129,255,256,257,1023,1024,1025}'::int[]) m, generate_series(1, m) k group by m) s;
select bloom_agg(k) = pg_temp.built(array_agg(k), 20000), bloom_agg(k, 20000) = pg_temp.built(array_agg(k), 20000), bloom_agg(k, 10) = pg_temp.built(array_agg(k), 10)
from generate_series(1, 20000) k;
-- repeats: many rows of few keys
select bloom_agg(k % 3) = pg_temp.built('{0,1,2}', 3), bloom_agg(k % 3, 5000) = pg_temp.built('{0,1,2}', 5000) from generate_series(1, 100000) k;
reset bloomfilter.overflow;

-- parameters must not change within a group, nor p and seed be NULL
select statement, pg_temp.error_of(statement) from (values
  ('select bloom_agg(k, n) from (values (1, 10), (2, 20)) v(k, n)'),
  ('select bloom_agg(k, n) from (values (1, 10), (2, null)) v(k, n)'),
  ('select bloom_agg(k, n) from (values (1, null), (2, 10)) v(k, n)'),
  ('select bloom_agg(k, 10, p) from (values (1, 0.1), (2, 0.2)) v(k, p)'),
  ('select bloom_agg(k, 10, 0.1, s) from (values (1, 1), (2, 2)) v(k, s)'),
  ('select bloom_agg(k, n) from (values (1, 10), (null, 20)) v(k, n)'),
  ('select bloom_agg(k, 10, null) from (values (1)) v(k)'),
  ('select bloom_agg(k, 10, p) from (values (1, 0.1), (2, null)) v(k, p)'),
  ('select bloom_agg(k, 10, 0.1, null) from (values (1)) v(k)'),
  ('select bloom_agg(k, 0) from (values (1)) v(k)'),
  ('select bloom_agg(k, -1) from (values (1)) v(k)'),
  ('select bloom_agg(k, 10, 0) from (values (1)) v(k)'),
  ('select bloom_agg(k, 10, 1) from (values (1)) v(k)'),
  ('select bloom_agg(k, 10, ''NaN'') from (values (1)) v(k)'),
  ('select bloom_agg(k, null, 5) from (values (1)) v(k)'),
  ('select bloom_agg(k, 1000000000) from (values (1)) v(k)'),
  -- whichever row comes first, a NULL key too
  ('select bloom_agg(k, n) from (values (null, 20), (1, 10)) v(k, n)'),
  ('select bloom_agg(k, 10, p) from (values (null, 0.2), (1, 0.1)) v(k, p)'),
  ('select bloom_agg(k, 10, 5.0) from (values (null::int)) v(k)')
) v(statement);
-- groups may differ in their parameters
select n, (bloom_stats(bloom_agg(k, n, 0.1, n))).seed, bloom_agg(k, n, 0.1, n) = pg_temp.built(array_agg(k), n, 0.1, n)
from (values (10), (20), (30)) v(n), generate_series(1, 10) k group by n order by n;

-- DISTINCT, ORDER BY, FILTER and HAVING
select bloom_agg(distinct k, 100) = bloom_agg(k, 100), bloom_agg(k, 100 order by k desc) = bloom_agg(k, 100),
       bloom_agg(k, 100) filter (where k <= 10) = pg_temp.built('{1,2,3,4,5,6,7,8,9,10}', 100),
       bloom_agg(k, 100) filter (where k < 0)
from generate_series(1, 100) k, generate_series(1, 2);
select k % 3 from generate_series(1, 30) k group by k % 3 having bloom_agg(k, 30) @> 7;
-- GROUPING SETS: each set's filter is that of a GROUP BY of its own
create temp table t as select i, i % 3 as a, i % 5 as b from generate_series(1, 3000) i;
select bool_and(s.f = o.f), count(*) from
  (select a, b, grouping(a, b) g, bloom_agg(i, 3000) f from t group by cube (a, b)) s join
  (select a, b, 0 g, bloom_agg(i, 3000) f from t group by a, b union all select a, null, 1, bloom_agg(i, 3000) from t group by a
   union all select null, b, 2, bloom_agg(i, 3000) from t group by b union all select null, null, 3, bloom_agg(i, 3000) from t) o
  on (s.a, s.b, s.g) is not distinct from (o.a, o.b, o.g);
-- many small groups, also where they spill
set work_mem = '64kB';
select count(*), bool_and(f @> (g + 0) and f @> (g + 30000) and not f @> (g + 1)) as right_keys, bool_and(octet_length(f::bytea) = 128) as small
from (select k % 10000 g, bloom_agg(k) f from generate_series(0, 39999) k group by 1) s where g < 9999;
select count(*), bool_and(f = pg_temp.built(array[g, g + 10000], 2)) as right_keys
from (select k % 10000 g, bloom_agg(k, 2) f from generate_series(0, 19999) k group by 1 offset 0) s where g % 10 = 0;
reset work_mem;

-- windows: a running frame and a moving frame are runs of their own
select bool_and(f = pg_temp.built((select array_agg(i) from generate_series(1, k) i), 50)) as running, count(*)
from (select k, bloom_agg(k, 50) over (order by k) f from generate_series(1, 50) k) s;
select bool_and(f = pg_temp.built((select array_agg(i) from generate_series(1, k) i), k)) as running_without_n
from (select k, bloom_agg(k) over (order by k) f from generate_series(1, 50) k) s;
select bool_and(f = pg_temp.built((select array_agg(i) from generate_series(greatest(k - 2, 1), least(k + 2, 400)) i), 5)) as moving
from (select k, bloom_agg(k, 5) over (order by k rows between 2 preceding and 2 following) f from generate_series(1, 400) k) s;
-- results of earlier rows keep what they were, also once the list has given way
set bloomfilter.overflow = ignore;
create temp table running as select k, bloom_agg(k, 50) over (order by k) f from generate_series(1, 500) k;
select bool_and(f = pg_temp.built((select array_agg(i) from generate_series(1, k) i), 50)) as kept from running where k % 7 = 0;
select bool_and(bloom_cardinality(f) <= bloom_cardinality(next)), count(distinct f::text) > 100
from (select f, lead(f) over (order by k) as next from (select k, bloom_agg(k, 50) over (order by k) f from generate_series(1, 500) k) s) s where next is not null;
reset bloomfilter.overflow;
select bool_and(f = pg_temp.built('{1,2,3,4,5,6,7,8,9,10}', 10)) from (select bloom_agg(k, 10) over () f from generate_series(1, 10) k) s;

-- two aggregates over one state: asking for a result twice changes nothing
create aggregate pg_temp.twin_agg(anyelement, bigint) (sfunc = bloom_agg_transfn, stype = internal, finalfunc = bloom_agg_finalfn);
select n, bloom_agg(k, n) = pg_temp.twin_agg(k, n) as same, bloom_agg(k, n) = pg_temp.built(array_agg(k), n) as right
from unnest('{null,10000,500}'::bigint[]) n, generate_series(1, 500) k where n is not null group by n order by n;
create aggregate pg_temp.twin_agg(anyelement) (sfunc = bloom_agg_transfn, stype = internal, finalfunc = bloom_agg_finalfn);
select bloom_agg(k) = pg_temp.twin_agg(k), pg_temp.twin_agg(k) = pg_temp.built(array_agg(k), 500) from generate_series(1, 500) k;
-- one result used twice: neither use sees what the other adds
select a @> 1001, a @> 1002, b @> 1001, b @> 1002, c @> 1001
from (select bloom_add(bloom_agg(k, 100), 1001) a, bloom_add(bloom_agg(k, 100), 1002) b, bloom_agg(k, 100) c from generate_series(1, 10) k) s;
select a @> 1001, a @> 1002, b @> 1001, b @> 1002, c @> 1001
from (select bloom_add(bloom_union_agg(f), 1001) a, bloom_add(bloom_union_agg(f), 1002) b, bloom_union_agg(f) c
      from (select bloom_agg(k, 100) f from generate_series(1, 2) k group by k) v) s;

-- a union is the filter of all keys
create temp table parts as select k % 4 as part, bloom_agg(k, 1000) f, array_agg(k) keys from generate_series(1, 1000) k group by 1;
select bloom_union_agg(f) = (select bloom_agg(k, 1000) from generate_series(1, 1000) k), bloom_union_agg(f order by part desc) = bloom_union_agg(f),
       bloom_union_agg(distinct_f) = bloom_union_agg(f) from parts, lateral (select f as distinct_f) s;
-- NULL filters are skipped; none at all give NULL
select bloom_union_agg(f) = (select f from parts where part = 1), bloom_intersection_agg(f) = (select f from parts where part = 1)
from (values (null::bloomfilter), ((select f from parts where part = 1)), (null)) v(f);
select bloom_union_agg(f), bloom_intersection_agg(f) from parts where part < 0;
select bloom_union_agg(f), bloom_intersection_agg(f) from (values (null::bloomfilter)) v(f);
-- an intersection holds what is in all
select bool_and(f @> k) as common, min(bloom_cardinality(f)) between 40 and 70 as near_50
from (select bloom_intersection_agg(f) f from (values ((select bloom_agg(k, 1000) from generate_series(1, 100) k)),
      ((select bloom_agg(k, 1000) from generate_series(51, 150) k)), ((select bloom_agg(k, 1000) from generate_series(1, 200) k))) v(f) offset 0) s,
     generate_series(51, 100) k;
-- they leave their arguments as they were
select bool_and(f = pg_temp.built(keys, 1000)) from parts;
-- over windows
select bool_and(u = (select bloom_union_agg(f) from parts q where q.part <= s.part)), bool_and(i = (select bloom_intersection_agg(f) from parts q where q.part <= s.part))
from (select part, bloom_union_agg(f) over (order by part) u, bloom_intersection_agg(f) over (order by part) i from parts) s;
-- filters that do not fit together are an error
select statement, left(pg_temp.error_of(statement), 40) from (values
  ('select bloom_union_agg(f) from (values (bloom_create(10)), (bloom_create(1000))) v(f)'),
  ('select bloom_intersection_agg(f) from (values (bloom_create(10)), (bloom_create(10, 0.01, 1))) v(f)'),
  ('select bloom_union_agg(f) from (values (bloom_add(bloom_create(10), 1)), (bloom_add(bloom_create(10), ''a''))) v(f)')
) v(statement);
-- an empty filter and one with keys do
select bloom_union_agg(f) @> 1, bloom_intersection_agg(f) @> 1, bool_or(f @> 1) from (values (bloom_create(10)), (bloom_add(bloom_create(10), 1))) v(f);
-- the aggregate's memory is its own: a filter of a column that is in a filter of filters
select bloom_union_agg(f) = bloom_agg(1, 10) | bloom_agg(2, 10) from (select bloom_agg(k, 10) f from generate_series(1, 2) k group by k) s;
