-- bloom_search: the rows of a table with a key, from the partitions that may have it.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set timezone = 'UTC';
create table log (id int, key int, at timestamptz, note varchar(20)) partition by range (at);
create table log_1 partition of log for values from ('2026-01-01') to ('2026-01-02');
-- columns in another order, one dropped, partitions of its own
create table log_2 (gone int, note varchar(20), key int, id int, at timestamptz) partition by list (note collate "C");
alter table log_2 drop column gone;
alter table log attach partition log_2 for values from ('2026-01-02') to ('2026-01-03');
create table log_2_a partition of log_2 for values in ('a', 'b');
create table log_2_other partition of log_2 default;
create table log_rest partition of log default;
insert into log select g, g / 2, timestamptz '2026-01-01' + g * interval '12 hours' / 100, case when g % 3 = 0 then 'a' else 'note ' || g % 7 end from generate_series(0, 599) g;
create index on log using bloomfilter (key);
create index on log using bloomfilter (note);
analyze log;

-- the same rows as a query, for each key, and for keys that are not there
create function pg_temp.differs(tab text, col text, key text) returns bigint language plpgsql as $$
declare
  n bigint;
begin
  execute format('select count(*) from ((select * from bloom_search(null::%1$s, %2$L, %3$s) except all select * from %1$s where %2$I = %3$s)
    union all (select * from %1$s where %2$I = %3$s except all select * from bloom_search(null::%1$s, %2$L, %3$s))) d', tab, col, key) into n;
  return n;
end $$;
select sum(pg_temp.differs('log', 'key', k::text)) from generate_series(-20, 320) k;
select sum(pg_temp.differs('log', 'key', k)) from unnest(array['42::bigint', '42::smallint', '42.0::bigint', '''42''', 'null::int']) k;
select sum(pg_temp.differs('log', 'note', quote_literal(k))) from unnest(array['a', 'b', 'note 1', 'note 6', 'note 7', '']) k;
select sum(pg_temp.differs('log_2', 'key', k::text)) from generate_series(90, 210) k;
select * from bloom_search(null::log, 'key', 42);
select id, at from bloom_search(null::log, 'key', '42') where id % 2 = 0;
select * from bloom_search(null::log, 'key', -42);
prepare search as select id from bloom_search(null::log, 'key', $1);
execute search('42');
execute search('43');

-- what was read: of partitions whose filter says false nothing
create function pg_temp.scanned(k int) returns text language plpgsql as $$
declare
  n bigint;
  answer text;
begin
  create temp table before as select relid, seq_scan from pg_stat_xact_user_tables;
  select count(*) into n from bloom_search(null::log, 'key', k);
  select n || ' rows: ' || coalesce(string_agg(relname, ', ' order by relname), 'none') into answer
  from pg_stat_xact_user_tables a left join before b using (relid) where relname ~ '^log' and a.seq_scan > coalesce(b.seq_scan, 0);
  drop table before;
  return answer;
end $$;
select pg_temp.scanned(k) from unnest(array[42, 52, 120, 125, 250, -42]) k;

-- a table without partitions: its filter decides whether it is read
create table single (key int);
insert into single values (1);
create index on single using bloomfilter (key);
select * from bloom_search(null::single, 'key', 1);
select * from bloom_search(null::single, 'key', 2);
-- hash partitions, which can't be pruned by their bounds, and a partition without an index
create table hashed (id int, key int) partition by hash (id);
create table hashed_0 partition of hashed for values with (modulus 2, remainder 0);
create table hashed_1 partition of hashed for values with (modulus 2, remainder 1);
insert into hashed select g, g from generate_series(1, 200) g;
create index on only hashed using bloomfilter (key);
create index on hashed_0 using bloomfilter (key);
select sum(pg_temp.differs('hashed', 'key', k::text)) from generate_series(-10, 210) k;
-- tables that inherit have no bounds
create table parent (key int);
create table child () inherits (parent);
create index on parent using bloomfilter (key);
create index on child using bloomfilter (key);
insert into child values (5);
select * from bloom_search(null::parent, 'key', 5);
select * from bloom_search(null::parent, 'key', 6);

-- it sees what its query's snapshot sees
begin;
insert into log values (1000, 5000, '2026-01-01 01:00', 'mine');
select id from bloom_search(null::log, 'key', 5000);
savepoint s;
delete from log where key = 5000;
select id from bloom_search(null::log, 'key', 5000);
rollback;
select id from bloom_search(null::log, 'key', 5000);

-- rights are those of a query of the table: none of the partitions is needed
create role regress_search;
set role regress_search;
select count(*) from bloom_search(null::log, 'key', 42);
reset role;
grant select (key) on log to regress_search;
set role regress_search;
select count(*) from bloom_search(null::log, 'key', 42);
reset role;
grant select on log to regress_search;
set role regress_search;
select count(*) from bloom_search(null::log, 'key', 42);
reset role;
-- so is row security
alter table log enable row level security;
create policy few on log using (id % 2 = 0);
set role regress_search;
select id from bloom_search(null::log, 'key', 42);
select id from bloom_search(null::log, 'key', -42);
select sum(pg_temp.differs('log', 'key', k::text)) from generate_series(30, 50) k;
reset role;

-- refused
create view log_view as select * from log;
select arguments, pg_temp.error_of(format('select from bloom_search(%s) r', arguments)) from (values
  ('null::int, ''key'', 42'), ('null::log, ''id'', 42'), ('null::log, ''missing'', 42'), ('null::log, ''key'', ''abc'''), ('null::log, ''key'', ''abc''::text'),
  ('null::log_view, ''key'', 42')) v(arguments);

drop owned by regress_search;
drop role regress_search;
drop table log, single, hashed, parent, child cascade;
