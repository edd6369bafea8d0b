-- Building a live index: which rows of a table get into it, by one process and by several.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- deleted, updated, rolled back and not yet committed rows, on pages seen by all or not
create table mixed (k int, pad int) with (autovacuum_enabled = off, fillfactor = 60);
insert into mixed select i, 0 from generate_series(1, 20000) i;
vacuum mixed;
delete from mixed where k between 1 and 500;
begin;
insert into mixed select i, 0 from generate_series(30001, 30500) i;
rollback;
begin;
savepoint before;
insert into mixed select i, 0 from generate_series(40001, 40500) i;
rollback to before;
insert into mixed select i, 0 from generate_series(50001, 50500) i;
delete from mixed where k between 50001 and 50100;
create index mixed_open on mixed using bloomfilter (k) with (n = 30000);
select bloom_index_verify('mixed_open');
select n = 30000 as laid_out, cardinality between 19900 and 20100 as keys from bloom_index_stats('mixed_open');
commit;
create index mixed_k on mixed using bloomfilter (k) with (n = 30000);
select bloom_snapshot('mixed_k') = bloom_agg(k, 30000) as same from mixed;
select reltuples from pg_class where oid = 'mixed_k'::regclass;
-- keys replaced on their pages in the transaction that builds are there, too: older
-- snapshots see them
drop index mixed_open, mixed_k;
begin;
update mixed set k = -k where k between 10001 and 10100;
create index mixed_replaced on mixed using bloomfilter (k) with (n = 30000);
select indcheckxmin from pg_index where indexrelid = 'mixed_replaced'::regclass;
select bloom_index_contains('mixed_replaced', 10001) as replaced, bloom_index_contains('mixed_replaced', 10101) as kept, bloom_index_contains('mixed_replaced', -1) as never;
rollback;
-- expressions, predicates and NULLs
create index mixed_part on mixed using bloomfilter ((nullif(k % 5000, 0) + 7)) with (n = 30000) where k > 8000;
select bloom_snapshot('mixed_part') = bloom_agg(nullif(k % 5000, 0) + 7, 30000) filter (where k > 8000) as same from mixed;

-- so is a table whose access method is heap by another name
create access method other_heap type table handler heap_tableam_handler;
create table other (k int) using other_heap;
insert into other select generate_series(1, 20000);
delete from other where k % 7 = 0;
create index other_k on other using bloomfilter (k) with (n = 20000);
create index other_sized on other using bloomfilter (k);
select bloom_snapshot('other_k') = bloom_agg(k, 20000) as same from other;
select bloom_index_verify('other_sized');
drop table other;
drop access method other_heap;
drop table mixed;

-- by several processes, beside an alone one, and concurrently: the same bytes
create table wide (k int, t text);
insert into wide select i, 'text ' || i from generate_series(1, 30000) i;
delete from wide where k % 10 = 0;
alter table wide set (parallel_workers = 2);
set min_parallel_table_scan_size = 0;
set maintenance_work_mem = '96MB';
set max_parallel_maintenance_workers = 2;
create index wide_k on wide using bloomfilter (k) with (n = 50000);
create index concurrently wide_t on wide using bloomfilter ((t || 'x')) with (n = 50000, p = 0.0001, seed = 3) where k % 2 = 0;
set max_parallel_maintenance_workers = 0;
create index wide_alone on wide using bloomfilter (k) with (n = 50000);
select bloom_snapshot('wide_k') = bloom_agg(k, 50000) as same, bloom_snapshot('wide_alone') = bloom_agg(k, 50000) as same,
       bloom_snapshot('wide_t') = bloom_agg(t || 'x', 50000, 0.0001, 3) filter (where k % 2 = 0) as same from wide;
reset min_parallel_table_scan_size;
reset maintenance_work_mem;
reset max_parallel_maintenance_workers;
-- more keys than a batch has room for, and than the first part of the table lets expect:
-- it is built once more
create table skewed (k int);
insert into skewed select i % 33000 from generate_series(1, 65600) i;
insert into skewed select i from generate_series(1, 600000) i;
set maintenance_work_mem = '1MB';
create index skewed_k on skewed using bloomfilter (k);
select n >= 600000 as room, fpr < p as rate, overflow_pages from bloom_index_stats('skewed_k');
select bloom_snapshot('skewed_k') = bloom_agg(k, (select n from bloom_index_stats('skewed_k'))) as same from skewed;
-- rows and keys are those of the last time
select relname, reltuples from pg_class where relname in ('skewed', 'skewed_k') order by relname;
-- and so it is by several
set max_parallel_maintenance_workers = 2;
set min_parallel_table_scan_size = 0;
alter table skewed set (parallel_workers = 2);
create index skewed_shared on skewed using bloomfilter (k);
select n >= 600000 as room, fpr < p as rate, overflow_pages from bloom_index_stats('skewed_shared');
select bloom_index_verify('skewed_shared');
reset min_parallel_table_scan_size;
reset max_parallel_maintenance_workers;
reset maintenance_work_mem;
-- a column with repeats is not sized for the rows that its first part lets expect, and one
-- whose keys come late is not too small
create table repeated as select (i * 7919::bigint % 50000)::int as k from generate_series(1, 500000) i;
create table late as select case when i <= 200000 then i % 20000 else i end as k from generate_series(1, 600000) i;
set maintenance_work_mem = '1MB';
create index repeated_k on repeated using bloomfilter (k);
create index late_k on late using bloomfilter (k);
select n between 50000 and 125000 as sized, bytes = pg_relation_size('repeated_k') as bytes, bloom_index_verify('repeated_k') from bloom_index_stats('repeated_k');
select n between 420000 and 1050000 as sized, fpr < p as rate, bloom_index_verify('late_k') from bloom_index_stats('late_k');
select bloom_snapshot('repeated_k') = bloom_agg(k, (select n from bloom_index_stats('repeated_k'))) as same from repeated;
select bloom_snapshot('late_k') = bloom_agg(k, (select n from bloom_index_stats('late_k'))) as same from late;
reset maintenance_work_mem;
drop table wide, skewed, repeated, late;
