-- Which form of an aggregate or a function a call is taken for: each width of integer its own,
-- what has no type bloom_key, all else anyelement; and nothing is ambiguous.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
create extension if not exists citext;

create domain pg_temp.small as smallint;
create domain pg_temp.id as pg_temp.small;
create domain pg_temp.word as text;
create domain pg_temp.guid as uuid;
create type pg_temp.pair as (a int, b text);

create function pg_temp.resolved(call text) returns text language plpgsql as $$
declare
  answer text;
begin
  execute 'create temp view called as select ' || call || ' as x';
  select regexp_replace(coalesce(p.oid::regprocedure::text, o.oid::regoperator::text), '^.*?\(', '(') into answer
  from pg_depend d left join pg_proc p on refclassid = 'pg_proc'::regclass and p.oid = refobjid
    left join pg_operator o on refclassid = 'pg_operator'::regclass and o.oid = refobjid
  where objid = (select oid from pg_rewrite where ev_class = 'called'::regclass)
    and (proname ~ '^bloom_(agg|part_agg|contains|contains_each|matches|add|hash)$' or oprname = '@>');
  drop view called;
  return answer;
exception when others then
  return sqlstate || ' ' || sqlerrm;
end $$;

select resolved, string_agg(key, ' ' order by key collate "C") as keys from (values
  ('1'), ('1::smallint'), ('1::bigint'), ('10000000000'), ('1.5'), ('1::numeric'), ('1::real'), ('1::float8'), ('1::oid'), ('true'),
  ('''1'''), ('null'), ('''1''::text'), ('''1''::varchar'), ('''1''::varchar(9)'), ('''1''::char(9)'), ('''1''::name'), ('''1''::"char"'), ('''1''::citext'),
  ('1::pg_temp.small'), ('1::pg_temp.id'), ('''1''::pg_temp.word'), ('''00000000-0000-0000-0000-000000000001''::pg_temp.guid'),
  ('''00000000-0000-0000-0000-000000000001''::uuid'), ('''\x01''::bytea'), ('''10.0.0.1''::inet'), ('''10.0.0.0/8''::cidr'), ('''08:00:2b:01:02:03''::macaddr'),
  ('current_date'), ('localtimestamp'), ('now()'), ('row(1, ''x'')'), ('row(1, ''x'')::pg_temp.pair'), ('''1''::bloom_key'), ('''1''::text::bloom_key'),
  ('''pg_class''::regclass'), ('1::money'), ('''1 day''::interval'), ('''1''::bit'), ('array[1]')) v(key), pg_temp.resolved(format('bloom_agg(%s)', key)) resolved group by 1 order by resolved collate "C";
-- the same in each form: with n, p and seed of any type that they may have
select resolved, count(*), array_to_string(array_agg(distinct key collate "C"), ' ') as keys, array_to_string(array_agg(distinct more collate "C"), '; ') as more from
  (values ('1'), ('1::smallint'), ('1::bigint'), ('''1'''), ('''1''::text'), ('''1''::citext'), ('1::pg_temp.small'), ('1.5')) k(key),
  (values ('1000'), ('1000, 0.01'), ('1000::bigint, 0.01::float8'), ('1000::smallint, 0.01::real'), ('''1000'', ''0.01'''), ('null, 0.01'),
    ('1000, 1e-3, 7'), ('1000::bigint, 0.01, 7::bigint')) m(more),
  pg_temp.resolved(format('bloom_agg(%s, %s)', key, more)) resolved group by 1 order by resolved collate "C";
select resolved, count(*), array_to_string(array_agg(distinct key collate "C"), ' ') as keys, array_to_string(array_agg(distinct more collate "C"), '; ') as more from
  (values ('1'), ('1::smallint'), ('1::bigint'), ('''1'''), ('''1''::text'), ('''1''::citext')) k(key),
  (values ('8, 1000, 0.01'), ('8::smallint, 1000::bigint, 0.01'), ('8, 1000, 0.01, 7')) m(more),
  pg_temp.resolved(format('bloom_part_agg(%s, %s)', key, more)) resolved group by 1 order by resolved collate "C";
-- functions and operators
select call, pg_temp.resolved(call) from (values
  ('bloom_create(9) @> 1'), ('bloom_create(9) @> ''1'''), ('bloom_create(9) @> ''1''::text'), ('bloom_create(9) @> ''1''::citext'), ('bloom_create(9) @> null'),
  ('bloom_create(9) @> row(1, ''x'')'), ('bloom_create(9) @> any (array[1])'), ('bloom_create(9) @> any (array[''1''])'), ('bloom_contains(bloom_create(9), ''1'')'),
  ('bloom_contains_each(bloom_create(9), ''{1}'')'), ('bloom_contains_each(bloom_create(9), array[1])'), ('bloom_contains_each(bloom_create(9), array[''1''])'),
  ('bloom_contains_each(bloom_create(9), ''{1}''::text[])'), ('bloom_add(bloom_create(9), ''1'')'),
  ('bloom_add(bloom_create(9), 1::bigint)'), ('bloom_hash(''1'')'), ('bloom_hash(1)')) v(call);
-- a parameter without a type, in each form
prepare p1 as select bloom_agg($1), bloom_agg($2, $3), bloom_agg($4, $5, $6), bloom_agg($7, $8, $9, $10), bloom_part_agg($11, $12, $13, $14);
select parameter_types from pg_prepared_statements where name = 'p1';
prepare p2(int, bigint) as select bloom_agg($1, $2, $3), bloom_agg($2, $1, $3);
select parameter_types from pg_prepared_statements where name = 'p2';

-- all forms make the same filter
select count(distinct f) from (select unnest(array[bloom_agg(k::smallint, 100, 0.01), bloom_agg(k, 100, 0.01), bloom_agg(k::bigint, 100, 0.01),
  bloom_agg(k::pg_temp.id, 100, 0.01)])::text f from generate_series(1, 100) k) s;
select bloom_agg(k::text, 100) = bloom_agg(k::text::bloom_key, 100), bloom_agg(k::text) = bloom_agg(k::text::bloom_key) from generate_series(1, 100) k;
drop extension citext;
