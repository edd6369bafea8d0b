-- Types whose equal values may have different bytes are refused, and never answered.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

create type pg_temp.pair as (a int, b boolean);
create domain pg_temp.answer as boolean;
create type pg_temp.mood as enum ('sad', 'ok');
create domain pg_temp.feeling as pg_temp.mood;

-- the message names the type, the hint tells what to do
select pg_temp.error_of('select bloom_hash(interval ''1 day'')');
-- each type, by the hash
select key, split_part(pg_temp.error_of(format('select bloom_hash(%s)', key)), ' /', 1) from (values
  ($$'1 day'::interval$$),
  ($$'{}'::jsonb$$),
  ($$'{}'::json$$),
  ($$true$$),
  ($$true::pg_temp.answer$$),
  ($$'sad'::pg_temp.mood$$),
  ($$'sad'::pg_temp.feeling$$),
  ($$1::oid$$),
  ($$'pg_class'::regclass$$),
  ($$1::money$$),
  ($$array[1]$$),
  ($$array[array[1]]$$),
  ($$row(row(1, 2))$$),
  ($$row(1, true)::pg_temp.pair$$),
  ($$'[1,2)'::int4range$$),
  ($$'(1,2)'::point$$),
  ($$'1'::bit$$),
  ($$'1'::varbit$$),
  ($$'a'::tsvector$$),
  ($$'a'::tsquery$$),
  ($$'0/0'::pg_lsn$$),
  ($$'12:00'::time$$),
  ($$'12:00+00'::timetz$$),
  ($$'(0,0)'::tid$$),
  ($$bloom_create(1)$$),
  ($$cash_out(0::money)$$),
  ($$textout('a')$$),
  ($$'a'::"char"$$)
) v(key);
-- one of them, by every function, operator and aggregate
select statement, left(pg_temp.error_of(statement), 8) from (values
  ($$select bloom_create(1) @> true$$),
  ($$select true <@ bloom_create(1)$$),
  ($$select bloom_contains(bloom_create(1), true)$$),
  ($$select bloom_contains_each(bloom_create(1), array[true])$$),
  ($$select bloom_contains_each(bloom_create(1), '{}'::boolean[])$$),
  ($$select bloom_add(bloom_create(1), true)$$),
  ($$select bloom_add_all(bloom_create(1), array[true])$$),
  ($$select bloom_add_all(bloom_create(1), array[null::boolean])$$),
  ($$select bloom_create(1) @> any (array[true])$$),
  ($$select bloom_agg(true)$$),
  ($$select bloom_agg(true, 1)$$),
  ($$select bloom_agg(true, 1, 0.01)$$),
  ($$select bloom_agg(true, 1, 0.01, 0)$$),
  ($$select bloom_agg(distinct true)$$),
  ($$select bloom_agg(true) over ()$$)
) v(statement);
-- the type is refused before there is a key
select pg_temp.error_of($$select bloom_add_all(bloom_create(1), '{}'::interval[])$$);
-- an enum's label may be renamed, and the key of a stored row with it
select pg_temp.error_of($$select bloom_add_all(bloom_create(1), '{sad}'::pg_temp.mood[])$$);
-- as text they can be keys
select bloom_agg(v) @> v from (select '1 day'::interval::text) s(v) group by v;

-- Text under a nondeterministic collation is refused; COLLATE lets it in.
create collation pg_temp.nd (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create temp table nd_text (k text collate pg_temp.nd, ks text[] collate pg_temp.nd);
insert into nd_text values ('a', '{a}');
select statement, left(pg_temp.error_of(statement), 8) from (values
  ($$select bloom_hash(k) from nd_text$$),
  ($$select bloom_hash('A' collate pg_temp.nd)$$),
  ($$select bloom_create(1) @> k from nd_text$$),
  ($$select bloom_add_all(bloom_create(1), ks) from nd_text$$),
  ($$select bloom_contains_each(bloom_create(1), ks) from nd_text$$),
  ($$select bloom_create(1) @> any (ks) from nd_text$$),
  ($$select bloom_agg(k) from nd_text$$),
  ($$select bloom_hash(k collate "C") from nd_text$$),
  ($$select bloom_agg(k collate "C") @> 'a' from nd_text$$),
  ($$select bloom_add_all(bloom_create(1), ks collate "C") from nd_text$$)
) v(statement);
-- two collations that contradict each other are no collation
select left(pg_temp.error_of($$select bloom_hash(a || b) from (values ('a' collate "C", 'b' collate "POSIX")) v(a, b)$$), 5);

-- Aggregate support functions refuse to be called from SQL.
-- those with an internal argument cannot be called at all (an unknown function)
select distinct regexp_replace(p.oid::regproc::text, '^public\.', ''), case when pg_temp.error_of(
    format('select %s(%s)', p.oid::regproc, (select string_agg(case t when 'internal'::regtype then 'null' when 'anyelement'::regtype then '1'
      else 'null::' || t::regtype end, ', ' order by n) from unnest(p.proargtypes::oid[]) with ordinality u(t, n)))) ~ '^(42883|42725|XX000|0A000)'
  then 'refused' else 'CALLED' end
from pg_proc p where proname ~ '^bloom_.*_(transfn|combine|serialize|deserialize|finalfn)$' and proargtypes::oid[] @> array['internal'::regtype::oid]
order by 1;
-- those that could be called say where they belong
select statement, pg_temp.error_of(statement) from (values
  ($$select bloom_union_agg_transfn(bloom_create(1), bloom_create(1))$$),
  ($$select bloom_union_agg_transfn(null, null)$$),
  ($$select bloom_intersection_agg_transfn(bloom_create(1), bloom_create(1))$$),
  ($$select bloom_intersection_agg_transfn(null, bloom_create(1))$$)
) v(statement);
