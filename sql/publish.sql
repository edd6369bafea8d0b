-- Published lists: building, asking, the way back, and what is refused.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set client_min_messages = notice;
\set SHOW_CONTEXT never
create table account (id bigint primary key, email text not null);
insert into account select g, 'user' || g || '@example.com' from generate_series(1, 20000) g;
analyze account;

-- one statement
call bloom_publish('account', 'SELECT id FROM account');
select bloom_lookup('account', 42) as present, bloom_lookup('account', -42) as absent,
       bloom_lookup('account', null::bigint) as "null";
select count(*) filter (where bloom_lookup('account', id)) as found, count(*) filter (where not bloom_lookup('account', -id)) > 19000 as absent from account;
select bloom_lookup_each('account', array[[1, 2], [null, -42]]);
select bloom_lookup_each('account', '{}'::int[]), bloom_lookup_each('account', null::int[]);

-- what is known of it
select name, keys, n, p, parts, key_type, has_before,
       age < '1 hour' as young, build_seconds >= 0 as built, check_seconds >= 0 as checked,
       rate < p as kept, fullest_part between 0.75 and 0.85 as full, bytes
from bloom_published;
select l.name, l.part, s.part, s.cardinality between 19900 and 20100 as good
from bloom_list_part l cross join lateral bloom_stats(l.filter) s where l.name = 'account';

-- a set, of texts; a comment and a semicolon at the end do no harm
call bloom_publish('email', 'SELECT email FROM account; ', p => 0.001, parts => 5, seed => 7);
call bloom_publish('email', 'SELECT email FROM account -- all', p => 0.001, parts => 5, seed => 7);
select count(*) filter (where bloom_lookup('email', email)) as found from account;
select bloom_lookup('email', 'user1@example.com') as literal, bloom_lookup('email', 'nobody') as absent;
select bloom_lookup_each('email', array_agg(email order by id)) = array_agg(true order by id) as all_found from account;
-- what has no type is read as the list's kind of keys
prepare asks as select bloom_lookup('account', $1), bloom_lookup('email', $2), bloom_lookup_each('account', $3), count(*) filter (where not bloom_lookup('account', $1));
execute asks('42', 'user1@example.com', '{1, -1}');
deallocate asks;
-- also where part 0 is empty
create temp table few as select g as id from generate_series(1, 50) g where bloom_part(g, 3) = 2;
call bloom_publish('few', 'SELECT id FROM few', parts => 3);
select bloom_lookup('few', id::text::bloom_key), count(*) filter (where not bloom_lookup('few', id::text::bloom_key)) from few group by 1;
select bloom_lookup_each('few', '{6,7,8}') = bloom_lookup_each('few', array[6, 7, 8]) as same;
select bloom_lookup('few', 'x'::text);
select list, count(*) filter (where not bloom_lookup(list, key::bloom_key)) from (
  select 'few' as list, id::text as key from few union all select 'email', email from account) s group by 1 order by 1;
-- both in one query, and lists that change from row to row
select count(*) from account, (values ('account'), ('email')) l(list)
where not case list when 'account' then bloom_lookup(list, id) else bloom_lookup(list, email) end;
select bloom_lookup(list, 1::bigint) from (values ('account'), ('account'), (null)) l(list);

-- it sizes itself: with room for 20 to 35 % more keys
do $$
declare
  room float8;
begin
  for i in 100 .. 1000 by 11 loop
    call bloom_publish('size', format('SELECT generate_series(1, %s)', i));
    select n / i::float8 from bloom_list where name = 'size' into room;
    if room not between 1.2 and 1.35 then raise notice '% keys: %', i, room; end if;
    call bloom_drop('size');
  end loop;
end $$;
-- the same shape while there is room, a step when there is none
call bloom_publish('steps', 'SELECT g FROM generate_series(1, 1000) g');
select n, rows from bloom_list where name = 'steps';
call bloom_publish('steps', 'SELECT g FROM generate_series(1, 1100) g');
select n, rows from bloom_list where name = 'steps';
call bloom_publish('steps', 'SELECT g FROM generate_series(1, 1210) g');
select n, rows from bloom_list where name = 'steps';
call bloom_publish('steps', 'SELECT g FROM generate_series(1, 1215) g');
select n, rows from bloom_list where name = 'steps';
-- outgrown: larger in the same run, and not a word from the aggregate
call bloom_publish('steps', 'SELECT g FROM generate_series(1, 50000) g');
select n, rows from bloom_list where name = 'steps';
set bloomfilter.overflow = error;
call bloom_publish('steps', 'SELECT g FROM generate_series(1, 60000) g', n => 1000, parts => 3);
reset bloomfilter.overflow;
select n, rows, parts from bloom_list where name = 'steps';
-- keys that repeat don't count twice, and far too large becomes smaller
call bloom_publish('steps', 'SELECT g % 100 FROM generate_series(1, 50000) g', n => 1, parts => 1, allow_shrink => true);
call bloom_publish('steps', 'SELECT g % 100 FROM generate_series(1, 50000) g');
select n, rows from bloom_list where name = 'steps';

-- NULL keys are skipped
call bloom_publish('nulls', 'VALUES (1), (NULL), (3)', parts => 2, "check" => false);
select rows, parts, check_seconds, bloom_lookup('nulls', 1), bloom_lookup('nulls', 3) from bloom_list where name = 'nulls';

-- no keys
call bloom_publish('none', 'SELECT id FROM account WHERE id < 0');
call bloom_publish('none', 'SELECT id FROM account WHERE id < 0', parts => 3);
call bloom_publish('none', 'SELECT id FROM account WHERE id < 0', parts => 3, allow_empty => true);
select bloom_lookup('none', 1) as number, bloom_lookup('none', 'x') as text, rows from bloom_list where name = 'none';

-- a value that is there already, and a set
select bloom_publish_filter('value', bloom_agg(id, 30000, 0.01)) > 0 as published from account;
select bloom_lookup('value', 1), rows, n from bloom_list where name = 'value';
select bloom_publish_filter('value', array_agg(f order by part desc)) > 0 as published
from (select bloom_part(id, 3) as part, bloom_part_agg(id, 3, 30000, 0.01) as f from account group by 1) s;
select count(*) filter (where not bloom_lookup('value', id)) as missing from account;
select what, pg_temp.error_of(format('select bloom_publish_filter(''value'', %s)', what)) from (values
  ('(select array_agg(f) from (select bloom_part_agg(id, 3, 30000, 0.01) as f from account where bloom_part(id, 3) > 0 group by bloom_part(id, 3)) s)'),
  ('array[bloom_create_part(0, 2, 10), bloom_create_part(0, 2, 10)]'), ('array[bloom_create_part(0, 2, 10), bloom_create_part(1, 2, 10, 0.01, 1)]'),
  -- of the same size and k for another n or p
  ('array[bloom_create_part(0, 2, 10), bloom_create_part(1, 2, 12)]'), ('array[bloom_create_part(0, 2, 10), bloom_create_part(1, 2, 10, 0.0101)]'),
  ('bloom_create_part(0, 2, 10)'), ('null::bloomfilter'), ('''{}''::bloomfilter[]'), ('array[null]::bloomfilter[]')) v(what);
-- also where part 0 has no keys
select bloom_publish_filter('value', array[bloom_create_part(0, 3, 10),
	(select bloom_part_agg(k::text, 3, 10, 0.01) from generate_series(1, 9) k where bloom_part(k::text, 3) = 1),
	(select bloom_part_agg(k, 3, 10, 0.01) from generate_series(1, 9) k where bloom_part(k, 3) = 2)]);
-- too full is a warning that names the list, and is published
set bloomfilter.overflow = ignore;
select bloom_publish_filter('value', bloom_agg(id, 10000, 0.01)) > 0 as published from account;
-- by too much to tell
select bloom_publish_filter('full', bloom_agg(id, 100, 0.01)) > 0 as published from account;
call bloom_drop('full');
reset bloomfilter.overflow;
select bloom_lookup('value', 1), rate > p as too_high, fullest_part > 1.9 as overfull from bloom_published where name = 'value';

-- the way back: once
call bloom_rollback('value');
select count(*) filter (where not bloom_lookup('value', id)) as missing, bloom_lookup('value', 1) from account group by 2;
select parts from bloom_list where name = 'value';
call bloom_rollback('value');
call bloom_rollback('nobody');
-- away; what is published under the name again is another list
select identity as dropped from bloom_list where name = 'value' \gset
call bloom_drop('value');
select bloom_lookup('value', 1);
call bloom_drop('value');
select count(*) from bloom_published where name = 'value';
select bloom_publish_filter('value', bloom_agg(1)) > 0 as published;
call bloom_rollback('value');
select identity <> :'dropped' as other from bloom_list where name = 'value';

-- identity and serial: a serial grows whatever is done, and by the clock
create temp table told (step serial, serial bigint, identity uuid);
insert into told(serial) select bloom_publish_filter('value', bloom_agg(2));
call bloom_rollback('value');
insert into told(serial) select serial from bloom_list where name = 'value';
call bloom_set_identity('value', :'dropped');
insert into told(serial) select serial from bloom_list where name = 'value';
insert into told(serial) select bloom_publish_filter('value', bloom_agg(3));
update bloom_generation set serial = serial + 1000000000000 where name = 'value' and back = 0;
insert into told(serial) select bloom_publish_filter('value', bloom_agg(4));
select step, serial > lag(serial) over (order by step) as grows,
       abs(serial / 1e6 - extract(epoch from now())) < 60 as is_clock from told order by step;
select identity = :'dropped' as adopted, serial = (select max(serial) from told) as told, bloom_lookup('value', 4)
from bloom_list where name = 'value';
select count(distinct identity) from bloom_generation where name = 'value';
-- a copy of the list gets another one
call bloom_set_identity('value', gen_random_uuid());
select identity <> :'dropped' as other, (select count(distinct identity) from bloom_generation where name = 'value') as for_both_generations
from bloom_list where name = 'value';
call bloom_set_identity('value', null);
call bloom_set_identity('nobody', gen_random_uuid());

-- in a transaction: one snapshot, or none and an error
begin;
call bloom_publish('account', 'SELECT id FROM account');
rollback;
begin isolation level repeatable read;
call bloom_publish('account', 'SELECT id FROM account');
savepoint s;
call bloom_publish('account', 'SELECT id FROM account WHERE id <= 10', allow_shrink => true);
select count(*) filter (where bloom_lookup('account', id)) < 1000 as few from account;
rollback to s;
select count(*) filter (where bloom_lookup('account', id)) from account;
rollback;
select rows from bloom_list where name = 'account';
do $$ begin call bloom_publish('account', 'SELECT id FROM account'); end $$;
select rows, has_before from bloom_published where name = 'account';
create function publishes() returns void language plpgsql as $$ begin call bloom_publish('account', 'SELECT 1'); end $$;
select publishes();
drop function publishes();
-- an expression of PL/pgSQL sees what is published between two of its calls
do $$
declare
  answers text := '';
begin
  for i in 1 .. 4 loop
    begin
      perform bloom_publish_filter('loop', bloom_agg(i));
      answers := answers || bloom_lookup('loop', i)::int;
      if i % 2 = 0 then
        raise exception 'back';
      end if;
    exception when raise_exception then
      answers := answers || bloom_lookup('loop', i)::int || bloom_lookup('loop', i - 1)::int || ' ';
    end;
  end loop;
  raise notice '%', answers;
end $$;

-- refused
select call, pg_temp.error_of('select ' || call) from (values
  ('bloom_lookup(''acount'', 42)'), ('bloom_lookup(null, 42)'), ('bloom_lookup(''account'', ''{}''::jsonb)'), ('bloom_publish_agg('''', 1, true)'), ('bloom_publish_agg(null, 1, true)'),
  ('bloom_publish_agg(''\x00000000000102030405060708090a0b0c0d0e0f'', 1, true)'), ('bloom_publish_agg(''0123456789abcdefghij'', 1, true)')) v(call);
-- Nor has what another engine runs for it any use by hand.
\set shape '''64000000000000007b14ae47e17a843f0700000000000000'''
\set one '(''\\x01000000''::bytea || decode(' :shape ', ''hex''))'
\set three '(''\\x03000000''::bytea || decode(' :shape ', ''hex''))'
select bloom_publish_key(1, 'short');
select bloom_publish_apart('short');
select bloom_publish_apart('\x000000000000000000000000' || :one);
select bloom_publish_apart('\x00000000000000000d000000' || :one);
select bloom_publish_apart(bloom_publish_key(k, :three)) from generate_series(1, 10) k;
select bloom_publish_apart(case k when 1 then bloom_publish_key(k, :one) else bloom_publish_key('a'::text, :one) end) from generate_series(1, 2) k;
select bloom_publish_apart(bloom_publish_key(k, :one)) = bloom_agg(k, 100, 0.01, 7) from unnest(array[1, null, 3]) k;
select bloom_publish_apart(null) is null;
select bloom_publish_part(bloom_publish_key(k, :three)) = bloom_part(k, 3, 7) and
	bloom_publish_part(bloom_publish_key(k::text::bloom_key, :three)) = bloom_part(k::text, 3, 7) as parts from generate_series(1, 100) k group by 1;
select bloom_publish_part('short');
select bloom_publish_part(bloom_publish_key(1, '\x00000000' || decode(:shape, 'hex')));
-- A query of filters is told before it runs.
call bloom_publish('filters', 'select bloom_create(1 / 0, 0.01)');
call bloom_publish('filters', 'select point(1 / 0, 1)');
-- an error names the list that it is about
\set SHOW_CONTEXT errors
select bloom_lookup('account', 'x');
select bloom_lookup('account', 'x'::text);
select bloom_lookup_each('email', array[1]);
select bloom_lookup_each('account', '{1,x}');
\set SHOW_CONTEXT never
select pg_temp.error_of(format('call bloom_publish(%L, ''SELECT 1'')', name)) as told, count(*) from (values
  (''), (repeat('x', 201)), (E'line\n'), (E'to the left \u202e'), (E'isolated \u2066'), (E'\u0085'), (' x'), (repeat(U&'\00e9', 100) || 'x')) v(name) group by 1;
\set VERBOSITY terse
select bloom_publish_filter('x ', bloom_agg(1));
call bloom_publish(repeat(U&'\00e9', 100), 'SELECT 1');
call bloom_drop(repeat(U&'\00e9', 100));
-- what a run tells while it goes on, and what has come out
call bloom_publish('told', 'SELECT g % 1500 FROM generate_series(1, 2000) g', n => 2000, verbose => true);
call bloom_refresh('told', verbose => true);
call bloom_publish('told', 'SELECT g, g % 3 = 0 FROM generate_series(1, 2000) g', verbose => true, allow_shrink => true, allow_type_change => true);
-- so far: each ten seconds, or each time that it could where debug messages are shown; rows that come slowly are told, too
set client_min_messages = debug1;
call bloom_publish('told', 'SELECT g FROM generate_series(1, 150) g', n => 2000, verbose => true, allow_shrink => true, allow_type_change => true);
call bloom_publish('told', 'SELECT nullif(g, 1), g > 30 FROM generate_series(1, 100) g', verbose => true, allow_shrink => true, allow_type_change => true);
reset client_min_messages;
call bloom_drop('told');
-- a plan of each kind is looked through: what is not known is an error
create table plans (k int primary key, v text);
insert into plans select g, g from generate_series(1, 500) g;
create index plans_v on plans (v);
analyze plans;
begin isolation level repeatable read;
do $$
declare
	query text;
	off text;
begin
	for query, off in values
	('WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r WHERE n < 20) SELECT n FROM r', ''),
	('WITH c AS MATERIALIZED (SELECT k FROM plans) SELECT a.k FROM c a, c b WHERE a.k = b.k', ''),
	('SELECT k FROM plans TABLESAMPLE system (100)', ''),
	('SELECT k FROM plans WHERE ctid = ''(0,1)''', ''),
	('SELECT k FROM plans WHERE ctid > ''(0,1)''', ''),
	('SELECT k FROM plans WHERE k < 5 OR v = ''9''', 'enable_seqscan enable_indexscan'),
	('SELECT k FROM plans WHERE k < 50', 'enable_seqscan enable_bitmapscan'),
	('SELECT a.k FROM plans a JOIN plans b USING (k)', 'enable_hashjoin enable_nestloop'),
	('SELECT a.k FROM plans a JOIN plans b ON a.v = b.v', 'enable_hashjoin enable_mergejoin enable_seqscan enable_bitmapscan'),
	('SELECT a.k FROM plans a JOIN plans b ON a.v = b.v', ''),
	('SELECT k FROM plans UNION ALL SELECT k + 1000 FROM plans', ''),
	('(SELECT k FROM plans ORDER BY k) UNION ALL (SELECT k FROM plans ORDER BY k) ORDER BY 1', 'enable_seqscan'),
	('SELECT k FROM plans EXCEPT SELECT 7', ''),
	('SELECT max(k) OVER (PARTITION BY v) FROM plans', ''),
	('SELECT DISTINCT ON (v) k FROM plans ORDER BY v, k LIMIT 400', ''),
	('SELECT k FROM plans GROUP BY k HAVING random() >= 0', 'enable_hashagg'),
	('SELECT generate_series(1, k) FROM plans WHERE k < 30', ''),
	('VALUES (1), (2)', ''),
	('SELECT f::int FROM unnest(ARRAY[1, 2, 3]) f', ''),
	('SELECT x.a FROM xmltable(''/r/c'' PASSING ''<r><c>1</c></r>'' COLUMNS a int PATH ''.'') x', ''),
	('SELECT (SELECT k FROM plans b WHERE b.k = a.k) FROM plans a', ''),
	('SELECT k FROM (SELECT k FROM plans OFFSET 0) s', ''),
	('SELECT k FROM (SELECT k FROM plans ORDER BY v, k LIMIT 300) s ORDER BY k', '')
	loop
		perform set_config(name, 'off', true) from regexp_split_to_table(off, ' ') name where name <> '';
		call bloom_publish('plan', query, allow_shrink => true);
		perform set_config(name, 'on', true) from regexp_split_to_table(off, ' ') name where name <> '';
	end loop;
end $$;
commit;
call bloom_drop('plan');
drop table plans;
\set VERBOSITY default
begin isolation level repeatable read;
select arguments, pg_temp.error_of(format('call bloom_publish(%s)', arguments)) from (values
  ('null, ''SELECT 1'''), ('''x'', null'), ('''x'', ''SELECT 1'', p => 0'), ('''x'', ''SELECT 1'', n => 0'), ('''x'', ''SELECT 1'', parts => 0'),
  ('''x'', ''SELECT 1'', "check" => null'), ('''x'', ''SELECT 1'', allow_empty => null')) v(arguments);
select query, pg_temp.error_of(format('call bloom_publish(''x'', %L)', query)) from (values
  ('SELECT id, email FROM account'), (''), ('SELECT 1; SELECT 2'), ('EXPLAIN SELECT 1'), ('DELETE FROM account RETURNING id'),
  ('WITH d AS (DELETE FROM account RETURNING id) SELECT id FROM d'), ('SELECT $1'), ('SELECT id::text::jsonb FROM account')) v(query);
commit;
-- a query that is another one each time
create sequence another_key;
call bloom_publish('x', 'SELECT nextval(''another_key'') FROM account');
-- one that has all keys of the first time, and fewer of them the second time
create sequence pass_number;
call bloom_publish('x', 'SELECT g FROM (SELECT nextval(''pass_number'') AS t OFFSET 0) AS pass, generate_series(1, 3) AS g WHERE g + t < 5');
select count(*) from bloom_list where name = 'x';

-- rights: an asker gets answers and no filter; a fetcher, filters; a publisher, lists of his own
create role regress_bloom_asker;
create role regress_bloom_fetcher;
create role regress_bloom_publisher;
set role regress_bloom_asker;
select bloom_lookup('account', 42);
select bloom_lookup_each('account', array[42]);
reset role;
grant execute on function bloom_lookup(text, anyelement), bloom_lookup(text, bloom_key),
  bloom_lookup_each(text, anyarray), bloom_lookup_each(text, bloom_key)
to regress_bloom_asker;
grant select on bloom_list, bloom_list_part to regress_bloom_fetcher;
grant execute on procedure bloom_publish to regress_bloom_publisher;
-- without the right nothing of the query runs
create sequence ran;
grant select on account to regress_bloom_asker;
grant all on bloom_generation, bloom_generation_part, bloom_run to regress_bloom_asker;
grant usage on sequence ran to regress_bloom_asker;
set role regress_bloom_asker;
call bloom_publish('account', 'SELECT nextval(''ran'')');
reset role;
select is_called from ran;
revoke all on account, bloom_generation, bloom_generation_part, bloom_run, ran from regress_bloom_asker;
drop sequence ran;
set role regress_bloom_asker;
select bloom_lookup('account', 42), bloom_lookup_each('account', array[42]);
select filter from bloom_list_part;
select filter from bloom_generation_part;
select count(*) from bloom_published;
select bloom_publish_filter('account', bloom_agg(1));
call bloom_publish('account', 'SELECT 1');
call bloom_rollback('account');
call bloom_drop('account');
set role regress_bloom_fetcher;
select count(*) > 0 from bloom_list join bloom_list_part using (name);
delete from bloom_list_part;
select bloom_lookup('account', 42);
set role regress_bloom_publisher;
call bloom_publish('other', 'SELECT id FROM account');
call bloom_publish('other', 'SELECT 1');
call bloom_drop('other');
reset role;
drop owned by regress_bloom_asker, regress_bloom_fetcher, regress_bloom_publisher;
drop role regress_bloom_asker, regress_bloom_fetcher, regress_bloom_publisher;

-- whatever the caller's search_path has in front
create schema evil;
create function evil.count(bigint) returns bigint language sql as 'select 0::bigint';
create table evil.bloom_generation (name text);
set search_path = evil, public, pg_catalog;
call bloom_publish('account', 'SELECT id FROM account');
select count(*) filter (where not public.bloom_lookup('account', id)) as missing from account;
reset search_path;
drop schema evil cascade;

call pg_temp.drop_lists();
select count(*) from bloom_generation_part;
drop table account;

-- what was restored or cured doesn't stop the next publish without saying what heals it
select bloom_publish_filter('poisoned', bloom_agg(1)) > 0;
\set VERBOSITY terse
update bloom_generation set min_parts = 2147483647 where name = 'poisoned';
update bloom_generation set n = 0 where name = 'poisoned';
\set VERBOSITY default
update bloom_generation set serial = 9223372036854775807 where name = 'poisoned';
select bloom_publish_filter('poisoned', bloom_agg(1));
call bloom_rollback('poisoned');
call bloom_set_identity('poisoned', gen_random_uuid());
update bloom_generation set serial = 1 where name = 'poisoned'; call bloom_set_identity('poisoned', gen_random_uuid());
select bloom_publish_filter('poisoned', bloom_agg(1)) > 0;
call bloom_drop('poisoned');

-- a part that is not of its list's set, or gone: an error, where a "no" would be wrong
call bloom_publish('mixed', 'select generate_series(1, 2000)', n => 10000, parts => 2);
create function mix(filter bloomfilter) returns setof text language plpgsql as $$
declare
  others text;
begin
  update bloom_generation_part set filter = mix.filter where name = 'mixed' and back = 0 and part = 1;
  perform bloom_lookup('mixed', k) from generate_series(1, 2000) k;
exception when data_corrupted then
  get stacked diagnostics others = pg_exception_detail;
  return next sqlerrm;
  return next others;
end $$;
select mix(filter) from bloom_list_part where name = 'mixed' and part = 0;
select mix(bloom_create_part(1, 2, 10000, 0.01, 42));
select mix(bloom_create_part(1, 3, 10000, 0.01, seed)) from bloom_list where name = 'mixed';
select mix(bloom_create(10000, 0.01, seed)) from bloom_list where name = 'mixed';
select count(*) from generate_series(1, 2000) k where not bloom_lookup('mixed', k);
delete from bloom_generation_part where name = 'mixed' and back = 0 and part = 1;
select bloom_lookup_each('mixed', array_agg(k)) from generate_series(1, 100) k;
drop function mix;
call bloom_drop('mixed');
