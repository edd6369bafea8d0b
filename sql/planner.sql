-- What the planner expects of a filter: as many rows as in a semi-join with its keys.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set max_parallel_workers_per_gather = 0;

create temp table members as select g as id, g::text as name, g % 100 as few, case when g % 2 = 0 then g end as half from generate_series(1, 20000) g;
analyze members;
create temp table held as select bloom_agg(id, 20000) filter (where id <= 200) as few, bloom_agg(id, 20000) filter (where id <= 5000) as many,
  bloom_agg(name, 20000) filter (where id <= 200) as names, bloom_agg(id, 20000, 0.3) as "all", bloom_create(1000) as none from members;
analyze held;

-- whether the rows expected are within a factor of so many
create function pg_temp.expects(query text, expected float8) returns text language plpgsql as $$
declare
  plan json;
  rows float8;
begin
  execute 'explain (format json) ' || query into plan;
  rows := plan->0->'Plan'->>'Plan Rows';
  return case when rows between expected / 1.5 - 1 and expected * 1.5 + 1 then 'as expected' else rows || ' rows instead of ' || expected end;
end $$;
-- the same of a statement with one parameter, by a custom plan, which knows it, and by a generic one
create function pg_temp.planned(query text, custom float8) returns text language plpgsql as $$
begin
  perform set_config('plan_cache_mode', 'force_custom_plan', true);
  query := 'execute ' || query;
  if pg_temp.expects(query, custom) <> 'as expected' then return pg_temp.expects(query, custom); end if;
  perform set_config('plan_cache_mode', 'force_generic_plan', true);
  return pg_temp.expects(query, 4000);
end $$;
select format('%L::bloomfilter', few::text) as few, format('%L::bloomfilter', many::text) as many, format('%L::bloomfilter', names::text) as names,
  format('%L::bloomfilter', "all"::text) as "all", format('%L::bloomfilter', none::text) as none from held \gset

-- a known filter, in each spelling
create temp table queries (q text, expected float8);
insert into queries values
  (format('%s @> id', :'few'), 200 + 20000 * 0.001), (format('id <@ %s', :'few'), 200), (format('bloom_contains(%s, id)', :'few'), 200),
  (format('bloom_contained(id, %s)', :'few'), 200), (format('%s @> name', :'names'), 200), (format('name <@ %s', :'names'), 200),
  (format('bloom_contains(%s, name)', :'names'), 200), (format('%s @> id', :'many'), 5000), (format('not %s @> id', :'many'), 15000),
  (format('bloom_contains(%s, id)', :'all'), 18000), (format('%s @> id', :'none'), 0),
  (format('not bloom_contains(%s, id)', :'none'), 20000),
  -- of a column with few keys, or NULLs
  (format('%s @> few', :'few'), 20000 * 0.9), (format('not %s @> few', :'few'), 20000 * 0.1), (format('%s @> half', :'few'), 400), ('null::bloomfilter @> id', 0), ('current_setting(''regress.none'', true)::bloomfilter @> id', 0),
  -- both
  (format('%s @> id and %s @> name', :'few', :'names'), 2);
select left(regexp_replace(q, '''[^'']{20,}''', '''...''', 'g'), 60), pg_temp.expects('select from members where ' || q, expected) from queries;
-- an index on the key's expression has statistics of its own
create index on members ((id % 1000));
analyze members;
select pg_temp.expects(format('select from members where %s @> id %% 1000', :'few'), 20000 * 0.2);

prepare ask(bloomfilter) as select from members where $1 @> id;
select pg_temp.planned(format('ask(%s)', :'few'), 200);

-- a filter that is not known: a fifth, by either spelling
select q, pg_temp.expects(q, 4000) from (values
  ('select from members where (select few from held) @> id'), ('select from members where bloom_contains((select few from held), id)'),
  ('select from members, held where held.few @> id'), ('select from members, held where id <@ held.few'), ('select from members, held where bloom_contains(held.few, id)'),
  ('select from members, held where bloom_contained(name, names)')) v(q);
select pg_temp.expects('select from generate_series(1, 1000) g where (select few from held) @> g', 200);

-- a published list is known by its name, in one part or several
select count(bloom_publish_filter(name, f)) from held, lateral (values ('few', few), ('many', many), ('names', names), ('none', none)) v(name, f);
select count(bloom_publish_filter('parts', array(select bloom_part_agg(id, 4, 20000, 0.01) from members where id <= 5000 group by bloom_part(id, 4) order by bloom_part(id, 4))));
select q, pg_temp.expects('select from members where ' || q, expected) from (values
  ('bloom_lookup(''few'', id)', 200), ('bloom_lookup(''many'', id)', 5000), ('not bloom_lookup(''many'', id)', 15000), ('bloom_lookup(''names'', name)', 200),
  ('bloom_lookup(''parts'', id)', 5000), ('bloom_lookup(''few'', few)', 18000), ('bloom_lookup(lower(''FEW''), id)', 200),
  -- by what it will hold, not by what it holds, if that is nothing
  ('bloom_lookup(''none'', id)', 4000),
  -- not known, or nothing that can be asked
  ('bloom_lookup(lower(name), id)', 4000), ('bloom_lookup((select ''few''), id)', 4000), ('bloom_lookup(''unpublished'', id)', 4000), ('bloom_lookup(null, id)', 4000)) v(q, expected);
select pg_temp.expects('select from members a, members b where bloom_lookup(''few'', a.id + b.id)', 20000 * 4000);
prepare look(text) as select from members where bloom_lookup($1, id);
select pg_temp.planned('look(''few'')', 200);

-- a damaged list is an error where it is asked, and none of a plan
create function pg_temp.unchecked(bytea, bytea default '') returns bloomfilter language internal immutable strict as 'byteacat';
begin;
update bloom_generation_part set filter = pg_temp.unchecked(set_byte(filter::bytea, 20, 255 - get_byte(filter::bytea, 20))) where name = 'few' and back = 0;
select pg_temp.expects('select from members where bloom_lookup(''few'', id)', 4000);
select bloom_lookup('few', 1);
rollback;

-- filters made of a join's own sides count twice, by themselves and by the join: three of
-- them must not make the planner join by nested loops over whole tables
create temp table fact as select (hashint4(g) & 1048575) % 3000 as k1, (hashint4(g + 100000) & 1048575) % 3000 as k2, (hashint4(g + 200000) & 1048575) % 3000 as k3 from generate_series(1, 30000) g;
create temp table dim1 as select g as id, g % 10 as sel from generate_series(0, 2999) g;
create temp table dim2 as select g as id, g % 10 as sel from generate_series(0, 2999) g;
create temp table dim3 as select g as id, g % 10 as sel from generate_series(0, 2999) g;
analyze fact, dim1, dim2, dim3;
create function pg_temp.joins(query text) returns text language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (format json) ' || query into plan;
  return (select string_agg(m[1], ', ') from regexp_matches(plan::text, '"Node Type": "(Nested Loop|Hash Join|Merge Join)"', 'g') m);
end $$;
select pg_temp.joins('select count(*) from fact join dim1 on dim1.id = k1 join dim2 on dim2.id = k2 join dim3 on dim3.id = k3
where dim1.sel < 2 and dim2.sel < 2 and dim3.sel < 2
  and (select bloom_agg(id) from dim1 where sel < 2) @> k1 and (select bloom_agg(id) from dim2 where sel < 2) @> k2 and (select bloom_agg(id) from dim3 where sel < 2) @> k3');

call pg_temp.drop_lists();
