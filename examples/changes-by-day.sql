-- changes-by-day.sql: a list that says at each commit what its table says.
--
-- t/050_operations.pl runs this file.  In an empty database:
--
--     psql -v ON_ERROR_STOP=1 -f changes-by-day.sql

create extension if not exists bloomfilter;
create table account (id bigint primary key, active boolean not null default true);
insert into account select g, g % 10 <> 0 from generate_series(1, 100000) g;

-- The first run, by hand, and the triggers.
call bloom_publish('account', 'select id, active from account');
call bloom_track('account', 'account', 'id', 'active');

-- By day: each of these is what look-ups answer from its commit on.
insert into account values (200001);
update account set active = false where id = 1;
update account set id = 200002 where id = 2;
delete from account where id = 3;
select bloom_lookup_each('account', array[200001, 1, 200002, 2, 3]);

-- What is rolled back was never there.
begin;
delete from account where id = 4;
select bloom_lookup('account', 4);
rollback;
select bloom_lookup('account', 4);

-- A load that no trigger sees, and the refresh that it needs.
call bloom_untrack('account');
truncate account;
insert into account select g, g % 10 <> 0 from generate_series(1, 200000) g;
call bloom_track('account', 'account', 'id', 'active');

-- By night.  The changes of the day are in the filter then.
update account set active = not active where id <= 1000;
call bloom_refresh('account');
select name, rows, others, changes, changes_kept from bloom_published;

-- No key of the table has a wrong answer.
select count(*) as wrong from account where bloom_lookup('account', id) <> active;
