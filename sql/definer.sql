-- A function for one list, as OPERATIONS writes it: it runs the extension's functions, whatever
-- others have made.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
\set SHOW_CONTEXT never
drop extension bloomfilter cascade;
create role regress_bloom_bob;
create schema bloom;
create extension bloomfilter schema bloom;
grant usage on schema bloom to public;
create table account as select g::bigint as id from generate_series(1, 1000) g;
call bloom.bloom_publish('account', 'select id from account');
create index account_live on account using bloomfilter (id);

create function may_be_an_account(key bigint) returns boolean
language sql stable parallel safe security definer set search_path = pg_catalog, bloom, pg_temp
as $$ select bloom_lookup('account', key) $$;
create function may_be_account(key bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, bloom, pg_temp
as $$ select bloom_index_contains('public.account'::regclass, 'id', key) $$;

-- somebody who may create functions and tables in other schemas, and his temporary one
grant create on schema public to regress_bloom_bob;
set role regress_bloom_bob;
create function public.bloom_lookup(text, bigint) returns boolean language plpgsql as $$ begin raise exception 'runs as %', current_user; end $$;
create function public.bloom_index_contains(regclass, name, bigint) returns boolean language plpgsql as $$ begin raise exception 'runs as %', current_user; end $$;
create function pg_temp.bloom_lookup(text, bigint) returns boolean language plpgsql as $$ begin raise exception 'runs as %', current_user; end $$;
create temp table account (id bigint);
create temp table bloom_generation_part (name text);
set search_path = pg_temp, public, bloom;
select may_be_an_account(5), may_be_an_account(-5), may_be_account(5), may_be_account(-5);
select bloom.bloom_lookup('account', 5::bigint);
reset search_path;
drop table pg_temp.account;
create function bloom.bloom_lookup(text, bigint) returns boolean language sql as 'select true';
reset role;

-- CREATE EXTENSION warns of a schema that others may create in
drop extension bloomfilter cascade;
grant create on schema bloom to regress_bloom_bob;
create extension bloomfilter schema bloom;
drop extension bloomfilter;
grant create on schema bloom to public;
create extension bloomfilter schema bloom;
drop extension bloomfilter;
revoke create on schema bloom from public, regress_bloom_bob;
create extension bloomfilter schema bloom;
select count(*) from pg_proc where proname = 'bloom_warn_of_schema';

drop extension bloomfilter;
drop owned by regress_bloom_bob;
drop role regress_bloom_bob;
drop function may_be_an_account, may_be_account;
drop table account;
drop schema bloom;
create extension bloomfilter;
