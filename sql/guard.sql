-- What a list keeps from one publish to the next, and what a publish is refused for.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set client_min_messages = notice;
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO';
create function shown(name text) returns table (n bigint, p float8, seed bigint, parts int, max_shrink float8, rows bigint, nulls bigint)
language sql as 'select n, p, seed, parts, max_shrink, rows, nulls from bloom_generation where name = $1 and back = 0';
create table member as select g as id from generate_series(1, 2000) g;

-- p and seed stay; n and parts stay as a minimum, until another one is given
call bloom_publish('member', 'select id from member', 5000, 0.001, 3, 42);
call bloom_alter('member', max_shrink => 0.8);
select * from shown('member');
call bloom_publish('member', 'select id from member');
select * from shown('member');
call bloom_publish('member', 'select g from generate_series(1, 9000) g');
select * from shown('member');
call bloom_publish('member', 'select id from member', p => 0.02, seed => 7);
select * from shown('member');
call bloom_publish('member', 'select id from member', n => 1, parts => 1);
select * from shown('member');
call bloom_publish('member', 'select id from member');
select * from shown('member');
-- and by bloom_alter, which the next run heeds, whoever runs it
call bloom_alter('member', max_shrink => 0.5, n => 7000, p => 0.004);
select * from shown('member');
call bloom_refresh('member');
select * from shown('member');
call bloom_publish('member', 'select id from member', n => 1, p => 0.02);

-- NULLs are counted
call bloom_publish('member', 'select id from member union all select null from generate_series(1, 5)');
select nulls, rows from bloom_published where name = 'member';
call bloom_publish('member', 'select id from member union all select null from generate_series(1, 5)', parts => 3);
select nulls, rows from bloom_published where name = 'member';
call bloom_publish('member', 'select id from member', parts => 1);
select nulls, rows from bloom_published where name = 'member';

-- a list that lost more than it may: nothing changes but what is shown
select serial as before from bloom_published where name = 'member' \gset
\set VERBOSITY terse
call bloom_publish('member', 'select id from member where id <= 900');
\set VERBOSITY default
select serial = :before as stays, run_started_at > built_at as later, run, run_error from bloom_published where name = 'member';
select count(*) filter (where bloom_lookup('member', id)) from member;
-- the error says which list stays
do $$
declare
  detail text;
  hint text;
begin
  begin
    perform bloom_publish_filter('member', bloom_agg(id)) from member where id <= 900;
  exception when data_exception then
    get stacked diagnostics detail = pg_exception_detail, hint = pg_exception_hint;
    select replace(replace(detail, built_at::text, 'BUILT AT'), most_keys_at::text, 'MOST AT') into detail
    from bloom_generation where name = 'member' and back = 0;
    raise notice '% | %', detail, hint;
  end;
end $$;
-- half is what it may lose; all, when that is said
call bloom_publish('member', 'select id from member where id <= 1000');
select rows, run, run_error from bloom_published where name = 'member';
\set VERBOSITY terse
call bloom_publish('member', 'select id from member where id < 0', allow_empty => true);
\set VERBOSITY default
call bloom_publish('member', 'select id from member where id < 0', allow_empty => true, allow_shrink => true);
select rows, max_shrink from bloom_published where name = 'member';
-- one that had fewer than 1,000 keys may lose any number
call bloom_publish('few', 'select id from member where id <= 999');
call bloom_publish('few', 'select id from member where id <= 1');
call bloom_publish('few', 'select id from member where id <= 1000');
\set VERBOSITY terse
call bloom_publish('few', 'select id from member where id <= 1');
call bloom_alter('few', max_shrink => 0.1);
call bloom_publish('few', 'select id from member where id <= 499');
call bloom_publish('few', 'select id from member where id <= 950');
call bloom_publish('few', 'select id from member where id <= 800');
-- it is the different keys that count
call bloom_publish('five', 'select g % 5 from generate_series(1, 2000) g');
call bloom_publish('five', 'select g % 2 from generate_series(1, 2000) g');
select rows from shown('five');
call bloom_drop('five');

-- night by night: the most of 14 days counts
call bloom_publish('nights', 'select generate_series(1, 10000)');
call bloom_publish('nights', 'select generate_series(1, 6000)');
call bloom_publish('nights', 'select generate_series(1, 3100)');
select rows from shown('nights');
-- what is older doesn't, and then the list of before does
update bloom_generation set most_keys_at = most_keys_at - interval '13 days' where name = 'nights' and back = 0;
call bloom_publish('nights', 'select generate_series(1, 3100)');
update bloom_generation set most_keys_at = most_keys_at - interval '1 day' where name = 'nights' and back = 0;
call bloom_publish('nights', 'select generate_series(1, 3100)');
call bloom_publish('nights', 'select generate_series(1, 1600)');
select rows from shown('nights');
-- another max_shrink counts from the list that there is on
call bloom_alter('nights', max_shrink => 0.6);
call bloom_publish('nights', 'select generate_series(1, 1600)');
call bloom_alter('nights', max_shrink => 0.5);
call bloom_publish('nights', 'select generate_series(1, 600)');
call bloom_publish('nights', 'select generate_series(1, 900)');
select rows from shown('nights');
-- one run that may lose what it likes, as the hint says, and the next one may not
call bloom_publish('nights', 'select generate_series(1, 5000)');
call bloom_publish('nights', 'select generate_series(1, 1200)');
call bloom_publish('nights', 'select generate_series(1, 1200)', allow_shrink => true);
call bloom_refresh('nights');
create table night as select generate_series(1, 1200) as id;
call bloom_publish('nights', 'select id from night');
delete from night where id > 500;
call bloom_refresh('nights');
call bloom_refresh('nights', allow_shrink => true);
call bloom_refresh('nights');
drop table night;
select rows from shown('nights');
call bloom_drop('nights');
-- an exact list's members and others each, and of a value
call bloom_publish('nights', 'select g, g > 2000 from generate_series(1, 12000) g');
call bloom_publish('nights', 'select g, g > 6000 from generate_series(1, 12000) g');
call bloom_publish('nights', 'select g, g > 8900 from generate_series(1, 12000) g');
call bloom_publish('nights', 'select g, g > 4000 from generate_series(1, 12000) g');
call bloom_publish('nights', 'select g, g > 2500 from generate_series(1, 12000) g');
call bloom_publish('nights', 'select generate_series(1, 6000)', allow_type_change => true);
select bloom_publish_filter('nights', bloom_agg(g)) from generate_series(1, 4000) g;
call bloom_drop('nights');

-- other keys: also where the list is small
call bloom_publish('few', 'select id::text from member', allow_shrink => true);
select bloom_publish_filter('few', bloom_agg(id::text)) from member;
select bloom_lookup('few', 1), run_error from bloom_published where name = 'few';
call bloom_publish('few', 'select id::bigint from member');
call bloom_publish('few', 'select id::text from member', allow_type_change => true);
select bloom_lookup('few', '1'::text), key_type, run_error from bloom_published where name = 'few';
-- an empty list takes any
call bloom_publish('few', 'select ''''::text where false', allow_empty => true, allow_shrink => true);
call bloom_publish('few', 'select id from member');
select key_type from bloom_published where name = 'few';

-- refused
select pg_temp.error_of(format('call bloom_alter(''few''%s)', what)) from (values
  (', max_shrink => -0.1'), (', max_shrink => 1.1'), (', max_shrink => ''NaN'''), (', n => 0'), (', p => 1'), ('')) v(what);
call bloom_publish('few', 'select 1', allow_shrink => null);
call bloom_publish('few', 'select 1', allow_type_change => null);
call bloom_publish('few', 'select 1', 1000000, 2);
\set VERBOSITY default
-- what the hint says works
call bloom_publish('few', 'select id from member', 1000000, 0.01);

call bloom_drop('member');
call bloom_drop('few');
drop table member;
drop function shown(text);
