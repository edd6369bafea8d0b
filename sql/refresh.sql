-- A list is published again by its query: by the role that published it, and by no other.
set client_min_messages = notice;
\set SHOW_CONTEXT never
create schema shop;
create table shop.member as select g as id from generate_series(1, 2000) g;
create role regress_bloom_nightly;
create role regress_bloom_other;
grant usage, create on schema public to regress_bloom_nightly, regress_bloom_other;
grant usage on schema shop to regress_bloom_nightly;
grant select on shop.member to regress_bloom_nightly;
grant select, insert, update, delete on bloom_generation, bloom_generation_part, bloom_run
  to regress_bloom_nightly, regress_bloom_other;
grant execute on function bloom_lookup(text, anyelement) to regress_bloom_nightly;
grant select on bloom_published to regress_bloom_nightly, regress_bloom_other;

set role regress_bloom_nightly;
set search_path = shop, public;
call bloom_publish('member', 'select id from member', 3000, 0.001, 2, 5);
reset role;
insert into shop.member select g from generate_series(2001, 2100) g;
-- whatever the search_path is by then
set role regress_bloom_nightly;
set search_path = public;
create table member as select 1 as id;
call bloom_refresh('member');
select bloom_lookup('member', 2100), keys, n, p, parts, published_by, query from bloom_published where name = 'member';
show search_path;
select serial as before from bloom_published where name = 'member' \gset
begin isolation level repeatable read;
call bloom_refresh('member');
commit;
select serial > :before as newer from bloom_published where name = 'member';
begin;
call bloom_refresh('member');
rollback;
reset role;
-- guarded as any publish is
delete from shop.member where id > 100;
set role regress_bloom_nightly;
\set VERBOSITY terse
call bloom_refresh('member');
\set VERBOSITY default
select keys, run_error from bloom_published where name = 'member';
reset role;
insert into shop.member select g from generate_series(101, 2100) g;

-- nobody else, the superuser neither; nor is the query shown to others
call bloom_refresh('member');
set role regress_bloom_other;
call bloom_refresh('member');
select published_by, query from bloom_published where name = 'member';
reset role;
-- a role that got the name later
alter role regress_bloom_nightly rename to regress_bloom_daily;
set role regress_bloom_daily;
call bloom_refresh('member');
reset role;
alter role regress_bloom_daily rename to regress_bloom_nightly;

-- a query that is planted by a role with all rights that there are
create table ran (who name);
grant all on ran to public;
create function planted() returns int language sql as 'insert into ran values (current_user); select 1';
grant all on all tables in schema public to regress_bloom_other;
grant all on all functions in schema public to regress_bloom_other;
grant all on schema public to regress_bloom_other;
grant pg_write_all_data, pg_read_all_data to regress_bloom_other;
grant set on parameter session_replication_role to regress_bloom_other;
set role regress_bloom_other;
update bloom_definition set query = 'select planted()';
update bloom_definition set role = 10, role_name = 'postgres';
insert into bloom_definition values ('planted', 'regress_bloom_nightly'::regrole, 'regress_bloom_nightly', 'select planted()', 'public', true, false);
delete from bloom_definition;
truncate bloom_definition;
copy bloom_definition from stdin;
\.
merge into bloom_definition using (select 1) s on true when matched then update set query = 'select planted()';
set session_replication_role = replica;
update bloom_definition set query = 'select planted()';
insert into bloom_definition values ('planted', 'regress_bloom_nightly'::regrole, 'regress_bloom_nightly', 'select planted()', 'public', true, false);
reset session_replication_role;
alter table bloom_definition disable trigger guard;
drop trigger guard on bloom_definition;
-- a trigger of one's own comes with GRANT ALL, and is fired by nothing
create function steals() returns trigger language plpgsql as $$ begin
  insert into ran values (current_user);
  new.query := 'select planted()';
  return new;
end $$;
create trigger steals before insert or update on bloom_definition for each row execute function steals();
create trigger steals before insert or update on bloom_generation for each row execute function steals();
reset role;
set role regress_bloom_nightly;
call bloom_publish('member', 'select id from shop.member');
reset role;
call bloom_drop('member');
drop trigger steals on bloom_generation;
-- nor by a trigger whose function is a superuser's, with arguments that another role chose, or of a table that refers
create function obeys() returns trigger language plpgsql as $$ begin
  execute tg_argv[0];
  return new;
end $$;
set role regress_bloom_other;
create trigger steals before update on bloom_generation for each row execute function obeys('select public.planted()');
reset role;
set role regress_bloom_nightly;
call bloom_publish('member', 'select id from shop.member');
reset role;
drop trigger steals on bloom_generation;
drop function obeys();
set role regress_bloom_other;
create table referring (name text collate "C", back smallint, query text,
  foreign key (name, back) references bloom_generation on update cascade on delete cascade);
create trigger steals after insert or update or delete on referring for each row execute function steals();
reset role;
set role regress_bloom_nightly;
call bloom_publish('member', 'select id from shop.member');
reset role;
drop table referring;
set role regress_bloom_other;
-- its own list, by its own name
call bloom_publish('planted', 'select planted()', "check" => false);
reset role;
call bloom_refresh('planted');
set role regress_bloom_nightly;
call bloom_refresh('planted');
call bloom_refresh('member');
call bloom_publish('member', 'select id from shop.member');
call bloom_refresh('member');
select query, keys from bloom_published where name = 'member';
reset role;
select distinct who from ran;
drop trigger steals on bloom_definition;
-- a table that was given away is not believed
alter table bloom_definition owner to regress_bloom_nightly;
set role regress_bloom_nightly;
call bloom_refresh('member');
reset role;
do $$ begin execute format('alter table bloom_definition owner to %I', current_user); end $$;

-- taken over by publishing; no query, no refresh
set role regress_bloom_other;
call bloom_publish('member', 'select id from shop.member');
reset role;
set role regress_bloom_nightly;
call bloom_refresh('member');
reset role;
select bloom_publish_filter('member', bloom_agg(id)) > 0 as published from shop.member;
call bloom_refresh('member');
call bloom_refresh('nobody');
call bloom_refresh(null);
select query, nulls from bloom_published where name = 'member';
call bloom_drop('member');
call bloom_drop('planted');
select count(*) from bloom_definition;
-- not dumped
select count(*) from pg_extension, unnest(extconfig) c where c = 'bloom_definition'::regclass;

drop owned by regress_bloom_other, regress_bloom_nightly;
drop table ran;
drop schema shop cascade;
drop role regress_bloom_nightly, regress_bloom_other;
