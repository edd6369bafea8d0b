-- What may be cast to bloom_key: PostgreSQL's own strings, and nothing else by its text.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
create extension citext;
create type pg_temp.mood as enum ('sad', 'happy');
create domain pg_temp.word as varchar(10);
create domain pg_temp.nick as citext;
create domain pg_temp.key as bloom_key;

create function pg_temp.result_of(statement text) returns text language plpgsql as $$
declare
  answer text;
  hint text;
begin
  execute statement into answer;
  return 'taken: ' || coalesce(answer, 'null');
exception when others then
  get stacked diagnostics hint = pg_exception_hint;
  return sqlstate || ': ' || sqlerrm;
end $$;

-- each type by a constant, by a column, in an array, and by an assignment
create temp table sources (type text, value text);
insert into sources values
  ('text', 'K5'), ('varchar', 'K5'), ('char(4)', 'K5'), ('pg_temp.word', 'K5'), ('bloom_key', 'K5'), ('pg_temp.key', 'K5'),
  ('name', 'K5'), ('citext', 'K5'), ('pg_temp.nick', 'K5'), ('pg_temp.mood', 'sad'), ('"char"', 'x'),
  ('integer', '42'), ('bigint', '42'), ('numeric', '1.50'), ('real', '0.1'), ('float8', '1e23'), ('boolean', 't'), ('uuid', '00000000-0000-0000-0000-000000000042'),
  ('bytea', '\x42'), ('date', '2024-02-29'), ('timestamp', '2024-02-29'), ('timestamptz', '2024-02-29 00:00+00'), ('time', '12:00'), ('interval', '1 day'),
  ('inet', '10.0.0.1'), ('cidr', '10.0.0.0/8'), ('macaddr', '08:00:2b:01:02:03'), ('jsonb', '{}'), ('json', '{}'), ('xml', '<a/>'), ('money', '1'),
  ('int4range', '[1,2)'), ('point', '(1,2)'), ('bit(2)', '01'), ('tsvector', 'a'), ('regtype', 'integer'), ('oid', '42'), ('integer[]', '{42}'), ('text[]', '{a}');
select type, pg_temp.result_of(format('select %L::%s::bloom_key', value, type)) as constant,
  pg_temp.result_of(format('select v::bloom_key from (values (%L::%s), (null)) t(v) where v is not null offset 0', value, type)) as "column"
from sources;
select distinct left(pg_temp.result_of(format('select array[v]::bloom_key[] from (values (%L::%s), (null)) t(v) where v is not null offset 0', value, type)), 6) as array,
  count(*) from sources where type !~ '^(text|varchar|char|pg_temp.(word|key)|bloom_key)|\[' group by 1;
create temp table of_keys (k bloom_key);
select distinct left(pg_temp.result_of(format('insert into of_keys select v from (values (%L::%s)) t(v) returning k', value, type)), 6) as assigned,
  count(*) from sources where type !~ 'key' group by 1 order by 1;
create function pg_temp.assigned(value anyelement) returns bloom_key language plpgsql as $$
declare
  k bloom_key := value;
begin
  return k;
end $$;
select type, left(pg_temp.result_of(format('select pg_temp.assigned(%L::%s)', value, type)), 60) as variable from sources
where type in ('text', 'varchar', 'citext', 'numeric', 'pg_temp.mood', 'date');

-- the message, and what it says to do
create table regress_casts (c citext);
insert into regress_casts values ('K5');
select bloom_agg(c::bloom_key) from regress_casts;
select bloom_agg(lower(c::text)::bloom_key) @> 'k5' from regress_casts;
drop table regress_casts;

-- literals, parameters and results without a type are taken, in every form
prepare untyped as select bloom_agg('a'::text) @> $1 from generate_series(1, 1);
execute untyped ('a');
deallocate untyped;
select bloom_agg(k::bloom_key) @> 'a' from (select 'a' as k) s;
select bloom_agg(k) @> 'a' from (values ('a'::bloom_key)) v(k);
select f @> k from (select bloom_agg('a'::text) f) s, json_populate_record(null::pg_temp.of_keys, '{"k": "a"}');
copy of_keys from stdin;
a
\.
select k from of_keys;
drop extension citext cascade;
