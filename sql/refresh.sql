-- A list has an owner, whose query it is published again by, whoever calls; and nobody else changes it.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set client_min_messages = notice;
\set SHOW_CONTEXT never
create schema shop;
create table shop.member as select g as id from generate_series(1, 2000) g;
create role regress_bloom_nightly;
create role regress_bloom_other;
grant usage, create on schema public to regress_bloom_nightly, regress_bloom_other;
grant usage on schema shop to regress_bloom_nightly;
grant select on shop.member to regress_bloom_nightly;
grant execute on procedure bloom_publish to regress_bloom_nightly;
grant execute on function bloom_lookup(text, anyelement) to regress_bloom_nightly;
grant select on bloom_published to regress_bloom_nightly, regress_bloom_other;

set role regress_bloom_nightly;
set search_path = shop, public;
call bloom_publish('member', 'select id from member', 3000, 0.001, 2, 5);
reset role;
insert into shop.member select g from generate_series(2001, 2100) g;
-- by whom ever, whatever the search_path is by then
set search_path = public;
create table member as select 1 as id;
call bloom_refresh('member');
select bloom_lookup('member', 2100), rows, n, p, parts, owner, published_by = current_user as by_this, query, settings from bloom_published where name = 'member';
set role regress_bloom_nightly;
select serial as before from bloom_published where name = 'member' \gset
begin isolation level repeatable read;
call bloom_refresh('member');
commit;
select serial > :before as newer, published_by from bloom_published where name = 'member';
begin;
call bloom_refresh('member');
rollback;
reset role;
-- guarded as any publish is
delete from shop.member where id > 100;
\set VERBOSITY terse
call bloom_refresh('member');
\set VERBOSITY default
select rows, run_error from bloom_published where name = 'member';
insert into shop.member select g from generate_series(101, 2100) g;

-- what the query lacks is told with the role that lacks it
revoke select on shop.member from regress_bloom_nightly;
\set SHOW_CONTEXT errors
call bloom_refresh('member');
\set SHOW_CONTEXT never
grant select on shop.member to regress_bloom_nightly;

-- others see no query
set role regress_bloom_other;
select owner, query from bloom_published where name = 'member';
reset role;

-- each verb by each role, undone: PostgreSQL's own error, or it is done
create role regress_bloom_inherits in role regress_bloom_nightly;
create role regress_bloom_becomes noinherit in role regress_bloom_nightly;
create role regress_bloom_creates createrole;
create role regress_bloom_maker;
grant execute on procedure bloom_publish to regress_bloom_becomes, regress_bloom_creates, regress_bloom_maker;
grant execute on function bloom_publish_filter(text, bloomfilter, boolean, boolean) to public;
create table verb (number int, verb text, sql text);
insert into verb values
  (1, 'publish', $$call bloom_publish('member', 'select id from shop.member')$$),
  (2, 'filter', $$do 'begin perform bloom_publish_filter(''member'', bloom_agg(g)) from generate_series(1, 2000) g; end'$$),
  (3, 'refresh', $$call bloom_refresh('member')$$),
  (4, 'rollback', $$call bloom_rollback('member')$$),
  (5, 'identity', $$call bloom_set_identity('member', gen_random_uuid())$$),
  (6, 'to itself', $$do 'begin execute format(''call bloom_alter(''''member'''', owner => %L)'', current_user); end'$$),
  (7, 'to other', $$call bloom_alter('member', owner => 'regress_bloom_maker')$$),
  (8, 'drop', $$call bloom_drop('member')$$);
grant select on verb to public;
create function outcome(role name, sql text) returns text language plpgsql as $$
begin
  perform set_config('role', role, true);
  execute sql;
  raise exception using errcode = 'XX999';
exception when others then
  return case sqlstate when 'XX999' then 'done' else sqlerrm end;
end $$;
begin isolation level repeatable read;
select verb, outcome, string_agg(substr(role, 15), ', ' order by role) as roles
from verb, lateral (select role, outcome(role, sql) from unnest('{regress_bloom_nightly,regress_bloom_inherits,regress_bloom_becomes,regress_bloom_creates,regress_bloom_maker,regress_bloom_other}'::name[]) role offset 0) o
group by number, verb, outcome order by number, outcome collate "C";
rollback;
select verb, outcome(current_user, sql) from verb where verb not in ('publish', 'refresh') order by number;
set role regress_bloom_becomes;
call bloom_refresh('member');
reset role;

-- a name that is not there is not kept; who failed to make a list owns nothing
set role regress_bloom_maker;
call bloom_refresh('nobody');
call bloom_publish('new', 'select 1 where false');
set role regress_bloom_other;
call bloom_drop('new');
call bloom_publish('new', 'select 1');
reset role;
select name, owner, run from bloom_published where name in ('nobody', 'new');
set role regress_bloom_maker;
call bloom_drop('new');
reset role;
-- replaced by a superuser it stays its owner's
set search_path = "$user", public; call bloom_publish('member', 'select id from shop.member'); set search_path = public;
select owner, published_by = current_user as by_this from bloom_published where name = 'member';
-- given away with its query, without the one of the generation before; its $user is another one
create schema regress_bloom_maker; call bloom_alter('member', owner => 'regress_bloom_maker'); drop schema regress_bloom_maker;
select owner, query from bloom_published where name = 'member';
call bloom_refresh('member');
call bloom_rollback('member');
select query from bloom_published where name = 'member';
call bloom_publish('member', 'select id from shop.member');
call bloom_alter('member', owner => 'regress_bloom_nightly');
call bloom_publish('member', 'select id from shop.member');
call bloom_alter('member', owner => 'nobody'); call bloom_alter('nobody', owner => 'regress_bloom_nightly');
call bloom_alter(null);
-- the query comes back with its generation
call bloom_publish('member', 'select id from shop.member where id <= 2000');
call bloom_rollback('member');
select query from bloom_published where name = 'member';
-- a role that was renamed, and one that has its name now
alter role regress_bloom_nightly rename to regress_bloom_daily;
call bloom_refresh('member');
create role regress_bloom_nightly;
call bloom_refresh('member');
set role regress_bloom_daily;
select bloom_publish_filter('member', bloom_agg(1));
call bloom_drop('member');
reset role;
select owner, query from bloom_published where name = 'member';
drop role regress_bloom_nightly;
call bloom_alter('member', owner => 'regress_bloom_daily');
alter role regress_bloom_daily rename to regress_bloom_nightly;
call bloom_alter('member', owner => 'regress_bloom_nightly');
call bloom_refresh('member');
select owner from bloom_published where name = 'member';

-- no role writes the tables, with all rights that there are
create table ran (who name);
grant all on ran to public;
create function planted() returns int language sql as 'insert into ran values (current_user); select 1';
grant all on all tables in schema public to regress_bloom_other;
grant all on all functions in schema public to regress_bloom_other;
grant all on schema public to regress_bloom_other;
grant pg_write_all_data, pg_read_all_data to regress_bloom_other;
grant set on parameter session_replication_role to regress_bloom_other;
create function writes(t text, but text default '-') returns setof text language plpgsql as $$
declare
  sql text;
  replication text;
begin
  foreach replication in array array['origin', 'replica'] loop
    perform set_config('session_replication_role', replication, true);
    foreach sql in array array['insert into %1$s select * from %1$s', 'insert into %1$s select * from %1$s on conflict do nothing',
        'update %1$s set name = name', 'delete from %1$s', 'truncate %1$s', 'copy %1$s from program ''true''',
        'merge into %1$s t using (select 1) s on true when matched then delete',
        'with d as (delete from %1$s returning 1) select count(*) from d', 'alter table %1$s disable trigger guard',
        'drop trigger guard on %1$s'] loop
      continue when sql ~ but;
      begin
        execute format(sql, t);
        return next format(sql, t) || ' is done';
      exception when others then
        if sqlstate <> '42501' then
          return next format(sql, t) || ': ' || sqlerrm;
        end if;
      end;
    end loop;
  end loop;
end $$;
set role regress_bloom_other;
select writes(t) from unnest('{bloom_generation,bloom_generation_part,bloom_run,bloom_definition,bloom_owner}'::text[]) t;
update bloom_definition set query = 'select planted()';
reset role;
-- a superuser cures, but no queries and owners
begin;
select writes(t, 'trigger') from unnest('{bloom_run,bloom_definition,bloom_owner}'::text[]) t;
rollback;
-- a trigger of one's own comes with GRANT ALL, and is fired by nothing
set role regress_bloom_other;
create function steals() returns trigger language plpgsql as $$ begin
  insert into ran values (current_user);
  new.query := 'select planted()';
  return new;
end $$;
create trigger steals before insert or update on bloom_definition for each row execute function steals();
reset role;
call bloom_publish('member', 'select id from shop.member');
drop trigger steals on bloom_definition;
create function plants(what text) returns void language plpgsql as $$
begin
  execute 'set role regress_bloom_other';
  execute what;
  execute 'reset role';
end $$;
select plants('create trigger steals before insert or update on bloom_generation for each row execute function steals()');
set role regress_bloom_nightly;
call bloom_publish('member', 'select id from shop.member');
call bloom_refresh('member');
call bloom_rollback('member');
call bloom_drop('member');
reset role;
drop trigger steals on bloom_generation;
-- nor is one whose function is the extension's, with a condition of another role
select plants('create trigger steals before update on bloom_run when (planted() = 1) execute function bloom_guard()');
call bloom_refresh('member');
drop trigger steals on bloom_run;
-- nor a foreign key's
select plants($$create table referring (name text collate "C", back smallint, query text,
  foreign key (name, back) references bloom_generation on update cascade on delete cascade)$$);
select plants('create trigger steals after insert or update or delete on referring for each row execute function steals()');
call bloom_refresh('member');
drop table referring;
select * from ran;
-- a table that was given away is not believed
alter table bloom_definition owner to regress_bloom_nightly;
call bloom_refresh('member');
do $$ begin execute format('alter table bloom_definition owner to %I', current_user); end $$;
alter table bloom_owner owner to regress_bloom_nightly;
call bloom_refresh('member');
do $$ begin execute format('alter table bloom_owner owner to %I', current_user); end $$;
call bloom_refresh('member');

-- no query, no refresh
select bloom_publish_filter('member', bloom_agg(id)) > 0 as published from shop.member;
call bloom_refresh('member');
call bloom_refresh(null);
select owner, query, settings, nulls from bloom_published where name = 'member';
call bloom_drop('member');
select (select count(*) from bloom_definition) as definitions, (select count(*) from bloom_owner) as owners;

drop owned by regress_bloom_other, regress_bloom_nightly, regress_bloom_inherits, regress_bloom_becomes, regress_bloom_creates, regress_bloom_maker;
drop function outcome, writes, plants;
drop table ran, verb, member;
drop schema shop cascade;
drop role regress_bloom_nightly, regress_bloom_other, regress_bloom_inherits, regress_bloom_becomes, regress_bloom_creates, regress_bloom_maker;
