-- Live indexes of partitioned tables and of tables that inherit.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- partitioned tables
create table event (id int, day date) partition by range (day);
create index event_filter on event using bloomfilter (id);
select bloom_index_contains('event_filter', 1), bloom_index_contains('event', 'id', 1);
create table event_1 partition of event for values from ('2026-01-01') to ('2026-02-01');
create table event_2 partition of event for values from ('2026-02-01') to ('2026-03-01') partition by list (id);
create table event_2a partition of event_2 for values in (7, 8);
create table event_2b partition of event_2 default;
insert into event values (1, '2026-01-05'), (7, '2026-02-05'), (9, '2026-02-06');
select array_agg(bloom_index_contains('event_filter', k)), array_agg(bloom_index_contains('event', 'id', k)) from unnest(array[1, 7, 9, 2]) k;
select bloom_index_contains_each('event', 'id', array[1, 7, 9, 2, null]), bloom_index_contains_each('event_filter', array[2, 7]);
select partition, index from bloom_index_partitions('event', 'id', 7);
select partition from bloom_index_partitions('event', 'id', '9');
-- a table that is attached brings its keys
create table event_3 (id int, day date);
insert into event_3 values (33, '2026-03-03');
alter table event attach partition event_3 for values from ('2026-03-01') to ('2026-04-01');
select bloom_index_contains('event_filter', 33), bloom_index_contains('event', 'id', 34);
-- with an index of other options, hashes are made for each
drop index event_filter;
create index on event_1 using bloomfilter (id) with (seed = 1);
create index on event_2a using bloomfilter (id) with (seed = 2);
select bloom_index_contains('event', 'id', 1);
create index event_filter on event using bloomfilter (id);
select bloom_index_contains_each('event', 'id', array[1, 7, 9, 33, 2]);
-- a partition whose index is not valid may have anything
update pg_index set indisvalid = false where indrelid = 'event_2b'::regclass;
select partition, index from bloom_index_partitions('event', 'id', -1);
select bloom_index_contains('event_filter', -1);
select bloom_snapshot('event_filter');
drop table event;

-- tables that inherit
create table parent (k int);
create table child () inherits (parent);
create index on parent using bloomfilter (k);
insert into child values (5);
select bloom_index_contains('parent', 'k', 5), bloom_index_contains('parent', 'k', 6);
create index on child using bloomfilter (k);
select bloom_index_contains('parent', 'k', 5), bloom_index_contains('parent', 'k', 6);
-- by its name, an index is of its own table: a false could be a child's key
select bloom_index_contains('parent_k_idx', 5);
drop table parent cascade;

-- an option n is each partition's
create table half (k int) partition by range (k);
create table half_1 partition of half for values from (0) to (10);
create table half_2 partition of half for values from (10) to (20);
set client_min_messages = notice;
create index half_filter on half using bloomfilter (k) with (n = 1000);
create table half_3 partition of half for values from (20) to (30);
reindex index half_1_k_idx;
reset client_min_messages;
select c.relname, n from pg_class c, bloom_index_stats(c.oid::regclass) where relname ~ '^half_._k' order by 1;
drop table half;
