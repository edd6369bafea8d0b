-- new-keys-by-day.sql: a second list for the keys that came since the first one was built.
--
-- For sources that can have no live index: where CREATE INDEX ... USING bloomfilter is possible, it
-- does all of this.  t/050_operations.pl runs this file and looks for keys that are lost.  In an empty database:
--
--     psql -v ON_ERROR_STOP=1 -f new-keys-by-day.sql

create extension if not exists bloomfilter;
create table account (id bigint primary key, email text not null);
insert into account select g, 'user' || g || '@example.com' from generate_series(1, 100000) g;

-- Each row knows the transaction that inserted it.  Rows that are there get the one of ALTER TABLE,
-- without a rewrite of the table.
alter table account add column added_xid xid8 not null default pg_current_xact_id();
create index on account (added_xid);

-- By night.
call bloom_publish('account', 'select id from account');

-- A statement that changes a key must set the column again.
update account set id = 200001, added_xid = default where id = 100000;

-- By day, as often as you like: it reads new rows only.
--
-- No key is missed.  built_xmin is the lowest transaction that was still running when the snapshot of
-- the first list's build was taken.  Each transaction below it had ended, so a row with a lower
-- added_xid was visible to the build.  A row that the build could not see has added_xid >= built_xmin, and
-- is read by the next run, however long its transaction stayed open.  A timestamp loses keys, as now()
-- is the time at which a transaction began.
--
-- built_xmin is NULL where a filter was published as a value.  Numbers of transactions belong to a
-- cluster: after pg_restore, or on a subscriber of logical replication, publish the first list again.
call bloom_publish('account today', $$
    select id from account
    where added_xid >= (select built_xmin from bloom_list where name = 'account')
$$, p => 0.001, allow_empty => true);

-- The rates add up: here 1 % and 0.1 %.
select bloom_lookup('account', 200001) or bloom_lookup('account today', 200001);

-- If a minute is too late, the table has the rest: only keys that neither list has reach it.
insert into account values (200002, 'late@example.com');
select bloom_lookup('account', 200002) or bloom_lookup('account today', 200002)
    or exists (
        select from account
        where id = 200002
            and added_xid >= (select built_xmin from bloom_list where name = 'account today'));
