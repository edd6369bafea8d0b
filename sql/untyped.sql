-- Keys as users write them: a literal or a parameter without a type is read as the filter's kind.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

create temp table held (kind text, filter bloomfilter);
insert into held values
  ('integer', bloom_add(bloom_create(10, 1e-9), 42)),
  ('text', bloom_add(bloom_create(10, 1e-9), '42'::text)),
  ('bytea', bloom_add(bloom_create(10, 1e-9), '42'::bytea)),
  ('uuid', bloom_add(bloom_create(10, 1e-9), '00000000-0000-0000-0000-000000000042'::uuid)),
  ('numeric', bloom_add(bloom_create(10, 1e-9), 42.0)),
  ('float', bloom_add(bloom_create(10, 1e-9), 42::float8)),
  ('date', bloom_add(bloom_create(10, 1e-9), '2024-01-01'::date)),
  ('timestamp', bloom_add(bloom_create(10, 1e-9), '2024-01-01'::timestamp)),
  ('timestamptz', bloom_add(bloom_create(10, 1e-9), '2024-01-01'::timestamptz)),
  ('inet', bloom_add(bloom_create(10, 1e-9), '10.0.0.1'::inet)),
  ('macaddr', bloom_add(bloom_create(10, 1e-9), '08:00:2b:01:02:03'::macaddr)),
  ('none', bloom_create(10, 1e-9));

-- each kind, in the spellings that its type reads, and text that it does not read
select kind, literal, pg_temp.answer_of(format('select filter @> %L from held where kind = %L', literal, kind)) from (values
  ('integer', '42'), ('integer', ' 42 '), ('integer', '43'), ('integer', '-9223372036854775808'), ('integer', '42.0'), ('integer', 'x'),
  ('integer', ''), ('integer', '9223372036854775808'),
  ('text', '42'), ('text', ' 42'), ('text', ''),
  ('bytea', '42'), ('bytea', '\x3432'), ('bytea', '\064\062'), ('bytea', '\x3'),
  ('uuid', '00000000-0000-0000-0000-000000000042'), ('uuid', '{00000000000000000000000000000042}'), ('uuid', '42'),
  ('numeric', '42'), ('numeric', '4.20e1'), ('numeric', '42.000'), ('numeric', '42,0'),
  ('inet', '10.0.0.1'), ('inet', '10.0.0.1/32'), ('inet', '10.0.0.1/8'), ('inet', '10.0.0'),
  ('macaddr', '08:00:2b:01:02:03'), ('macaddr', '0800.2b01.0203'), ('macaddr', '08-00-2b-ff-fe-01-02-03'), ('macaddr', '08'),
  ('float', '42'), ('date', '2024-01-01'), ('timestamp', '2024-01-01'), ('timestamptz', '2024-01-01'),
  ('none', '42'), ('none', 'x')
) v(kind, literal);
-- by every function and operator
select kind, k <@ filter, bloom_contains(filter, k), filter @> k from held,
  lateral (select case when kind = 'uuid' then '00000000-0000-0000-0000-000000000042' else '42' end::bloom_key k) s
where kind in ('integer', 'text', 'uuid', 'numeric');
select '42' <@ filter, bloom_contains(filter, '42'), bloom_contains(key => '42', filter => filter), filter @> null, null <@ filter from held where kind = 'integer';
-- one call site, a filter of another kind in each row
select kind, bloom_contains(filter, '42') from held where kind in ('integer', 'text', 'numeric', 'none') order by kind;
select kind, bloom_contains(filter, '42') from held where kind in ('integer', 'text', 'numeric', 'none') order by kind desc;
-- added: read as the kind that the filter has, or text
select (bloom_stats(f)).key_type, f @> 43, f @> '43', f @> 44 from (select bloom_add(filter, '43') f from held where kind = 'integer') s;
select (bloom_stats(f)).key_type, f @> '43'::text from (select bloom_add(filter, '43') f from held where kind = 'none') s;
select bloom_add(filter, '43') = bloom_add(filter, 43) from held where kind = 'integer';

-- what has a type stays what it is: columns, expressions, variables, parameters with a type
create function pg_temp.ask(f bloomfilter, k text) returns boolean language plpgsql as $$
begin
  return f @> k;
end $$;
create function pg_temp.ask_any(f bloomfilter, k anyelement) returns boolean language plpgsql as $$
begin
  return f @> k;
end $$;
create function pg_temp.ask_sql(f bloomfilter, k text) returns boolean language sql immutable as 'select f @> k';
prepare typed(text) as select filter @> $1 from held where kind = 'integer';
create temp table words as select '42'::text as word;
select pg_temp.answer_of(statement) from (values
  ('select filter @> ''42''::text from held where kind = ''integer'''),
  ('select filter @> ''42''::varchar from held where kind = ''integer'''),
  ('select filter @> (''4'' || ''2'') from held where kind = ''integer'''),
  ('select filter @> coalesce(''42'', ''43'') from held where kind = ''integer'''),
  ('select filter @> word from held, words where kind = ''integer'''),
  ('select filter @> k from held, (values (''42'')) v(k) where kind = ''integer'''),
  ('select filter @> (select ''42'') from held where kind = ''integer'''),
  ('select pg_temp.ask(filter, ''42'') from held where kind = ''integer'''),
  ('select pg_temp.ask_any(filter, ''42''::text) from held where kind = ''integer'''),
  ('select pg_temp.ask_sql(filter, ''42'') from held where kind = ''integer'''),
  ('execute typed(''42'')')
) v(statement);
set plan_cache_mode = force_generic_plan;
select pg_temp.answer_of('execute typed(''42'')');
reset plan_cache_mode;
-- unless somebody writes the cast; char(n) loses its padding as its comparison does
select filter @> word::bloom_key, filter @> word::varchar::bloom_key, filter @> word::char(5)::bloom_key from held, words where kind in ('integer', 'text') order by kind;
select 'a'::char(5)::bloom_key, pg_typeof('a'::bloom_key), bloom_add(bloom_create(10), 'a'::text) @> 'a  '::char(5)::bloom_key;

-- prepared, without a type
prepare p as select filter @> $1 from held where kind = $2;
execute p('42', 'integer');
execute p(42, 'integer');
execute p('43', 'integer');
execute p(null, 'integer');
execute p('00000000-0000-0000-0000-000000000042', 'uuid');
execute p('42', 'text');
set plan_cache_mode = force_generic_plan;
execute p('42', 'integer');
execute p('00000000-0000-0000-0000-000000000042', 'uuid');
execute p('x', 'integer');
reset plan_cache_mode;
select parameter_types from pg_prepared_statements where name = 'p';

-- arrays without a type
select bloom_contains_each(filter, '{42,43,NULL}'), bloom_contains_each(filter, '{{42},{43}}'), bloom_contains_each(filter, '{}'),
  bloom_contains_each(filter, '{43," 42"}'), bloom_contains_each(filter, null) from held where kind = 'integer';
select bloom_contains_each(filter, '{42,"4 2"}') from held where kind = 'text';
prepare each as select bloom_contains_each(filter, $1) from held where kind = 'integer';
execute each('{42,43}');
execute each('{}');
select pg_temp.answer_of(format('select bloom_contains_each(filter, %L) from held where kind = %L', literal, kind)) from (values
  ('integer', '{42,x}'), ('integer', '42'), ('integer', '{42'), ('date', '{2024-01-01}'), ('integer', '{"42",""}'), ('date', '{}'), ('float', '{NULL}'), ('none', '{x}')) v(kind, literal);
select pg_temp.answer_of('select bloom_contains_each(filter, ''{42}''::text[]) from held where kind = ''integer''');
select bloom_add_all(filter, '{43,NULL,44}') = bloom_add_all(filter, '{43,44}'::int[]), bloom_add_all(filter, '{}') = filter from held where kind = 'integer';
select (bloom_stats(bloom_add_all(filter, '{43}'))).key_type, (bloom_stats(bloom_add_all(filter, '{}'))).key_type from held where kind = 'none';
-- arrays that have a type are what they are
select pg_temp.answer_of('select bloom_contains_each(filter, array[''42'']) from held where kind = ''integer''');

-- where no filter tells the kind, a key needs a type
select pg_temp.answer_of(statement) from (values ('select bloom_part(''42'', 8)'), ('select bloom_hash(''42'')'), ('select bloom_part(''42''::text, 8)')) v(statement);
-- to an aggregate it is text
select (bloom_stats(bloom_agg('42'))).key_type, bloom_agg('42', 10) = bloom_agg('42'::text, 10) from generate_series(1, 2);
-- a key of a set's part is read before its part is looked at
select filter @> '42', filter @> 42 from (select bloom_part_agg(42, 8, 10, 0.01) as filter) s;
select pg_temp.answer_of(format('select filter @> %L from (select bloom_part_agg(42, 8, 10, 0.01) as filter) s', k)) from generate_series(1, 3) k;
