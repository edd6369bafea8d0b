-- Case-insensitive text never becomes a key unnoticed: its equality is not that of its bytes.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
create extension citext;

create temp table names (c citext, cs citext[]);
insert into names values ('ABC', '{ABC}');
create domain pg_temp.nick as citext;
create temp table nicks (c pg_temp.nick);
insert into nicks values ('ABC');
create domain pg_temp.written as text;
create temp view plain as
  select c::text as as_text, c::varchar as as_varchar, c::text collate "C" as in_c from names;
-- a function of one's own takes text: what it is given is text before it is a key
create function pg_temp.ask_text(f bloomfilter, k text) returns boolean language sql immutable as 'select f @> k';
create temp table held as select bloom_agg('abc'::text, 10) f;

-- the message
select pg_temp.answer_of('select bloom_hash(c) from names');
-- a column, by every function, operator and aggregate
select statement, left(pg_temp.answer_of(statement), 8) from (values
  ('select bloom_hash(c) from names'),
  ('select bloom_hash(key => c, seed => 5) from names'),
  ('select bloom_part(c, 3) from names'),
  ('select f @> c from held, names'),
  ('select c <@ f from held, names'),
  ('select bloom_contains(f, c) from held, names'),
  ('select bloom_contains(filter => f, key => c) from held, names'),
  ('select f @> any (cs) from held, names'),
  ('select bloom_contains_each(f, cs) from held, names'),
  ('select bloom_add(f, c) from held, names'),
  ('select bloom_add_all(f, cs) from held, names'),
  ('select bloom_add_all(f, (select array_agg(c) from names)) from held'),
  ('select bloom_agg(c) from names'),
  ('select bloom_agg(c, 10) from names'),
  ('select bloom_agg(c, 10, 0.01) from names'),
  ('select bloom_agg(c, 10, 0.01, 7) from names'),
  ('select bloom_part_agg(c, 1, 10, 0.01) from names'),
  ('select bloom_agg(distinct c) from names'),
  ('select bloom_agg(c order by c) from names'),
  ('select bloom_agg(c) filter (where c is not null) from names'),
  ('select bloom_agg(c) over () from names'),
  ('select bloom_agg(c, 10, 0.01) over (order by c) from names'),
  ('select f @> c from held, nicks'),
  ('select f @> ''ABC''::citext from held')
) v(statement);
-- and a parameter, with a custom or a generic plan
prepare ask(citext) as select f @> $1 from held;
set plan_cache_mode = force_custom_plan;
select left(pg_temp.answer_of('execute ask(''ABC'')'), 8);
set plan_cache_mode = force_generic_plan;
select left(pg_temp.answer_of('execute ask(''ABC'')'), 8);
reset plan_cache_mode;
-- and a variable of PL/pgSQL
create function pg_temp.ask(k citext, query boolean) returns boolean language plpgsql as $$
declare
  h bloomfilter := bloom_agg('abc'::text);
begin
  return case when query then (select f @> k from held) else h @> k end;
end $$;
select left(pg_temp.answer_of('select pg_temp.ask(''ABC'', false)'), 8), left(pg_temp.answer_of('select pg_temp.ask(''ABC'', true)'), 8);

-- Who writes the cast knows what he asks for.
select statement, pg_temp.answer_of(statement) from (values
  ('select bloom_hash(c::text) = bloom_hash(''ABC''::text) from names'),
  ('select f @> c::text from held, names'),
  ('select f @> lower(c) from held, names'),
  ('select f @> any (cs::text[]) from held, names'),
  ('select bloom_agg(c::text, 10) @> ''ABC'' from names'),
  ('select f @> (c::text collate "C") from held, names'),
  ('select f @> c::varchar from held, names'),
  ('select f @> c::pg_temp.written from held, names'),
  ('select c::text, bloom_agg(c::text) @> ''ABC'' from names group by c::text'),
  ('select f @> as_text and f @> as_varchar and f @> in_c from held, plain'),
  ('select f @> any (cs::varchar[]) from held, names'),
  ('select f @> c::bloom_key from held, names'),
  ('select pg_temp.ask_text(f, c) from held, names')
) v(statement);
-- a column that becomes citext below its live index, which no rewrite tells
create table lived (k text);
insert into lived values ('ABC');
create index lived_k on lived using bloomfilter (k);
create index lived_on on lived using bloomfilter (k);
prepare asks as select bloom_index_contains('lived', 'k', 'ABC'::text);
execute asks;
alter table lived alter k type citext;
insert into lived values ('x');
update lived set k = 'y';
select bloom_index_contains('lived_k', 'ABC'::text);
select bloom_index_contains('lived', 'k', 'ABC');
select bloom_index_contains_each('lived_on', array['ABC']);
select bloom_snapshot('lived_k') is null;
execute asks;
select indexname, status from bloom_live where tablename = 'lived' order by 1;
drop index lived_k;
insert into lived values ('x');
drop index lived_on;
insert into lived values ('x');
drop table lived;
drop extension citext cascade;
