-- Exact lists: a query of keys and booleans, and what look-ups give back.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set client_min_messages = notice;
\set SHOW_CONTEXT never
set max_parallel_workers_per_gather = 0;

create table users (id bigint primary key, email text not null, u uuid not null, active boolean);
insert into users select g, 'user' || g || '@example.com', md5(g::text)::uuid, g % 10 = 0 from generate_series(1, 20000) g;
analyze users;
-- how many of all users get another answer than their boolean, one by one and at once; how many were looked up
create function wrong(list text, key text, source text default 'users', member text default 'active') returns text language plpgsql as $$
declare
  answer text;
begin
  execute format('select concat_ws('' '', count(*) filter (where bloom_lookup(%1$L, %2$s) is distinct from coalesce(%4$s, false)),
      (select count(*) from (select unnest(bloom_lookup_each(%1$L, array_agg(%2$s))) as found, unnest(array_agg(coalesce(%4$s, false))) as wanted from %3$s where %2$s is not null) e where found is distinct from wanted),
      ''wrong of'', count(*)) from %3$s where %2$s is not null', list, key, source, member) into answer;
  return answer;
end $$;

-- one statement
call bloom_publish('active', 'SELECT id, active FROM users');
select bloom_lookup('active', 10) as member, bloom_lookup('active', 11) as other, bloom_lookup('active', null::bigint) as "null";
select wrong('active', 'id'), count(*) filter (where bloom_lookup('active', -id)) between 1 and 300 as few_strangers from users;
-- a plain list of the members is wrong for some of the others
call bloom_publish('plain', 'SELECT id FROM users WHERE active');
select wrong('plain', 'id') = '0 0 wrong of 20000' as right;
select name, exact, keys, others, unknown, conflicts, n, p, rate <= p as kept, bytes, key_type, build_seconds >= 0 and check_seconds >= 0 as timed
from bloom_published order by name;
select levels, others, format_version, n, cardinality between 1980 and 2020 as good, fpr <= 0.01 as rate, bytes from bloom_list_part, lateral bloom_stats(filter) where name = 'active';
select levels, others, format_version from bloom_list_part, lateral bloom_stats(filter) where name = 'plain';
-- the planner expects the members, not the share of a plain filter
create function expected(query text) returns float8 language plpgsql as $$
declare plan json; begin execute 'explain (format json) ' || query into plan; return plan->0->'Plan'->>'Plan Rows'; end $$;
select expected($$select from users where bloom_lookup('active', id)$$) between 1900 and 2100 as members,
       expected($$select from users where not bloom_lookup('active', id)$$) between 17900 and 18100 as others,
       expected($$select from generate_series(1, 10000) g where bloom_lookup('active', g)$$) between 500 and 1000 as share_of_the_universe;
-- and reads the value as a constant
select format('%L::bloomfilter', filter::text) as value from bloom_list_part where name = 'active' \gset
select expected('select from users where ' || :'value' || ' @> id') between 1900 and 2100 as members;
select count(*) filter (where :value @> id) from users;

-- all kinds of keys, and parts
call bloom_publish('text', 'SELECT email, active FROM users', parts => 3);
call bloom_publish('uuid', 'SELECT u, active FROM users', p => 0.5, seed => 5);
call bloom_publish('row', 'SELECT ROW(id, email), active FROM users', parts => 3, p => 0.001);
call bloom_publish('untyped', 'SELECT email::bloom_key, active FROM users');
call bloom_publish('int', 'SELECT id::int, active FROM users');
select wrong('text', 'email'), wrong('uuid', 'u'), wrong('row', 'ROW(id, email)'), wrong('int', 'id'), wrong('untyped', 'email');
select count(*) filter (where bloom_lookup('active', id::text::bloom_key) <> active) as wrong_untyped from users;
select count(*) from bloom_list_part where name = 'row';
-- a domain, a boolean that is computed, one that is sorted by, and keys that come several times
create domain agreed as boolean;
create table terms (id bigint, agreed agreed);
insert into terms select id, active from users, generate_series(1, 2);
call bloom_publish('domain', 'SELECT id, agreed FROM terms ORDER BY agreed');
select wrong('domain', 'id', 'terms', 'agreed');
call bloom_publish('domain', 'SELECT id, agreed FROM terms LIMIT 40000');
call bloom_publish('domain', 'WITH t AS MATERIALIZED (SELECT id, agreed FROM terms) SELECT id, agreed FROM t');
select wrong('domain', 'id', 'terms', 'agreed');
call bloom_publish('computed', $$SELECT id, email LIKE '%7@%' FROM users$$);
select wrong('computed', 'id', 'users', $$email LIKE '%7@%'$$);
-- rows of one key are one member, from the first run on
call bloom_publish('often', 'SELECT id, active FROM users, generate_series(1, 10)');
select rows, others, n from bloom_published where name = 'often';
select wrong('often', 'id');

-- a boolean that is NULL is false, a key that is NULL is skipped
create table signup (id int, confirmed boolean);
insert into signup values (1, true), (2, false), (3, null), (null, true), (null, null), (4, null);
call bloom_publish('signup', 'SELECT id, confirmed FROM signup');
select rows, others, unknown, nulls from bloom_published where name = 'signup';
select wrong('signup', 'id', 'signup', 'confirmed');

-- no others; no members; nothing
call bloom_publish('all', 'SELECT id, true FROM users');
select wrong('all', 'id', 'users', 'true');
call bloom_publish('none', 'SELECT id, false FROM users');
call bloom_publish('none', 'SELECT id, false FROM users', allow_empty => true);
select wrong('none', 'id', 'users', 'false');
call bloom_publish('nothing', 'SELECT id, true FROM users WHERE id < 0', allow_empty => true);
select exact, rows, others from bloom_published where name in ('all', 'none', 'nothing') order by name;

-- refresh: a member and an other more, each with the other's boolean of before
update users set active = not active where id <= 100;
insert into users select g, 'user' || g || '@example.com', md5(g::text)::uuid, g % 2 = 0 from generate_series(20001, 20100) g;
call bloom_refresh('active');
select wrong('active', 'id');
-- many more others than were planned for: the levels grow, and nothing is wrong
insert into users select g, 'user' || g || '@example.com', md5(g::text)::uuid, false from generate_series(20101, 200000) g;
call bloom_refresh('active');
select wrong('active', 'id'), rows, others from bloom_published where name = 'active';
-- max_shrink is about members, and about others
\set VERBOSITY terse
call bloom_publish('active', 'SELECT id, active FROM users WHERE id <= 20000');
call bloom_publish('active', 'SELECT id, active AND id > 15000 FROM users');
call bloom_publish('active', 'SELECT id, active FROM users WHERE id <= 20000', allow_shrink => true);
delete from users where id > 20000;
select wrong('active', 'id');
\set VERBOSITY default

-- keys with both booleans
create table twice (id bigint, good boolean);
insert into twice select g, g % 3 = 0 from generate_series(1, 3000) g;
insert into twice values (7, true), (9, false), (9, false);
call bloom_publish('twice', 'SELECT id, good FROM twice');
call bloom_publish('twice', 'SELECT id, good FROM twice', on_conflict => true);
select bloom_lookup('twice', 7), bloom_lookup('twice', 9), wrong('twice', 'id', 'twice', 'good OR id IN (7, 9)'), conflicts from bloom_published where name = 'twice';
call bloom_refresh('twice');
select wrong('twice', 'id', 'twice', 'good OR id IN (7, 9)'), conflicts from bloom_published where name = 'twice';
call bloom_publish('twice', 'SELECT id, good FROM twice', on_conflict => false, parts => 2);
select bloom_lookup('twice', 7), bloom_lookup('twice', 9), wrong('twice', 'id', 'twice', 'good AND id NOT IN (7, 9)'), conflicts from bloom_published where name = 'twice';
call bloom_publish('twice', 'SELECT id, good FROM twice WHERE id NOT IN (7, 9)');
select conflicts from bloom_published where name = 'twice';
-- two keys of one hash: somebody chose them
create table chosen (name text, good boolean);
insert into chosen values ('m_tZJWFhaRzZFUEYR4OFtdxN7oUQVJs7----3---5OjzxQkcJ0H444EYhlE3WWXs', true), ('m_tZJWFxaRzZFUEYR4OFtdxN7oUQVJs7---u--dS5OjzxQkcJ0H444EYhlE3WWXs', false);
call bloom_publish('chosen', 'SELECT name, good FROM chosen');
call bloom_publish('chosen', 'SELECT name, good FROM chosen', seed => 7);
select wrong('chosen', 'name', 'chosen', 'good');
call bloom_publish('chosen', 'SELECT name, good FROM chosen', on_conflict => true);
select bool_and(bloom_lookup('chosen', name)) from chosen;
call bloom_publish('chosen', 'SELECT name, good FROM chosen', on_conflict => false, allow_empty => true);
select bool_or(bloom_lookup('chosen', name)) from chosen;
-- keys of a row, and untyped ones, are named as well; equal keys of two texts are equal, whatever their type, and also
-- in a row with a column without a type
begin isolation level repeatable read;
select pg_temp.error_of(format('call bloom_publish(''equal'', %L)', query)) from (values
  ('SELECT ROW(id, 1), good FROM twice'), ('SELECT id::text::bloom_key, good FROM twice'), ('SELECT * FROM (VALUES (1.0, true), (1.00, false)) v (k, good)'),
  ('SELECT * FROM (VALUES (0::float8, true), (''-0''::float8, false)) v (k, good)'), ('SELECT * FROM (VALUES (''a''::char(3), true), (''a  ''::char(5), false)) v (k, good)'),
  ('SELECT ROW(k, ''x''), good FROM (VALUES (1.0, true), (1.00, false)) v (k, good)'), ('SELECT k::bloom_key, good FROM (VALUES (''7'', true), (''7'', false)) v (k, good)')) v(query);
commit;
-- what a level lets in is bounded while it is gathered
set bloomfilter.publish_memory = '2MB';
call bloom_publish('grows', 'SELECT g, g <= 50000 FROM generate_series(1, 50010) g', p => 0.5);
\set VERBOSITY terse
call bloom_publish('grows', 'SELECT g, g <= 50000 FROM generate_series(1, 1000000) g');
\set VERBOSITY default
reset bloomfilter.publish_memory;
call bloom_publish('plain', 'SELECT id FROM users WHERE active', on_conflict => true);

-- a query that gives other rows each time
\set VERBOSITY terse
call bloom_publish('luck', 'SELECT id, random() < 0.5 FROM users');
create sequence turn;
create function next_turn() returns bigint language sql volatile as $$ select nextval('turn') $$;
create view moving as select id, id / 10 % 10 = t % 10 as active from (select next_turn() as t offset 0) s, users;
call bloom_publish('luck', 'SELECT id, active FROM moving');
call bloom_publish('luck', 'SELECT id, active FROM users OFFSET (SELECT next_turn())');
-- two others, then one of them twice, which the filter of the members lets in: no answer is wrong
create view others_go as select -1 as id, false as active union all select -1 - t % 2, false from (select next_turn() as t offset 0) s union all select g, true from generate_series(1, 10000) g;
select setval('turn', 1);
call bloom_publish('luck', 'SELECT id, active FROM others_go', p => 0.9);
select setval('turn', 2);
call bloom_publish('luck', 'SELECT id, active FROM others_go', p => 0.9);
select count(*) from bloom_published where name = 'luck' and serial is not null;

-- plain to exact and back
call bloom_publish('plain', 'SELECT id, active FROM users');
call bloom_publish('active', 'SELECT id FROM users WHERE active');
\set VERBOSITY default
call bloom_publish('plain', 'SELECT id, active FROM users', allow_type_change => true);
select exact, wrong('plain', 'id') from bloom_published where name = 'plain';
call bloom_rollback('plain');
select exact, wrong('plain', 'id') = '0 0 wrong of 20000' as right from bloom_published where name = 'plain';
call bloom_publish('plain', 'SELECT id, active FROM users', allow_type_change => true);
call bloom_publish('plain', 'SELECT id FROM users WHERE active', allow_shrink => true, allow_type_change => true);
select exact, others from bloom_published where name = 'plain';
call bloom_rollback('plain');
select exact, others, wrong('plain', 'id') from bloom_published where name = 'plain';
-- within one kind nothing is said
call bloom_publish('plain', 'SELECT id, active FROM users');
call bloom_rollback('plain');

-- what was given wrongly
begin isolation level repeatable read;
select arguments, pg_temp.error_of(format('call bloom_publish(''x'', %s)', arguments)) from (values
  ('''SELECT id, active FROM users'', "check" => false'), ('''SELECT id, email FROM users'''), ('''SELECT active, id FROM users'''),
  ('''SELECT id, active, active FROM users'''), ('''SELECT id, 1 FROM users''')) v(arguments);
commit;
set bloomfilter.publish_memory = '1MB';
call bloom_publish('x', 'SELECT id, active FROM users', n => 10000000);
reset bloomfilter.publish_memory;

-- a value: looked up, published, and not changed
create temp table value as select filter as f from bloom_list_part where name = 'active';
create temp table parts as select part, filter as f from bloom_list_part where name = 'text';
select count(*) filter (where (f @> id) <> active), count(*) filter (where bloom_contains(f, id) <> active), count(*) filter (where (id <@ f) <> active) from users, value;
select count(*) filter (where bloom_contains_each(f, array[id]) <> array[active]), bloom_contains_each((select f from value), array_agg(id)) = array_agg(active) as at_once from users, value;
select bloom_publish_filter('again', f) > 0 from value;
select bloom_publish_filter('again text', array_agg(f)) > 0 from parts;
select wrong('again', 'id'), count(*) filter (where bloom_lookup('again text', email) <> active) from users where id > 100;
select name, exact, rows, others, parts from bloom_published where name ~ 'again' order by name;
\set VERBOSITY terse
select bloom_publish_filter('plain', bloom_create(1000)) > 0;
select bloom_publish_filter('again', bloom_create(1000)) > 0;
select bloom_publish_filter('again text', array[f, bloom_create_part(1, 3, 1000), bloom_create_part(2, 3, 1000)]) from parts where part = 0;
-- a list that was a value and gets a query
call bloom_publish('again', 'SELECT id, active FROM users');
select wrong('again', 'id'), others from bloom_published where name = 'again';
select bloom_verify(f), f = f::text::bloomfilter as text, f = f::bytea::bloomfilter as bytes from value;
select bloom_explain('active', 110) ~ 'level     2' as member_looked_at_twice, bloom_explain('active', 110) ~ 'answer    true' as member, bloom_explain('active', 111) ~ 'answer    false' as other;
-- what would make it wrong is refused; nor is it put into a plain one
select call, pg_temp.error_of(format('select %s from value', call)) from unnest(array['bloom_add(f, 1)', 'bloom_add_all(f, array[1])', 'f | f', 'f & f', 'bloom_union(f, f)',
  'bloom_intersection(f, f)', 'bloom_union_agg(f)', 'bloom_intersection_agg(f)', 'bloom_shrink(f)', 'bloom_reset(f)', 'bloom_create(1000) | f', 'bloom_create(1000) & f']) call
union all select 'union of both', pg_temp.error_of('select bloom_union_agg(each) from value, unnest(array[bloom_create(1000), f]) each');

set client_min_messages = warning;
drop table users, terms, signup, twice, chosen cascade;
drop view others_go;
drop function wrong, expected, next_turn;
call pg_temp.drop_lists();
