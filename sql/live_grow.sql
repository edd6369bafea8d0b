-- Live indexes that get more keys than they were sized for.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- overflow pages, and the view of all
create table small (k int) with (autovacuum_enabled = off);
create index small_filter on small using bloomfilter (k) with (n = 1);
insert into small select generate_series(1, 100000);
select count(*) filter (where not bloom_index_contains('small_filter', k)) as missing,
       count(*) filter (where bloom_index_contains('small_filter', -k)) < 5000 as few_others from small;
select indexname, key, valid, status, p, cardinality between 95000 and 102000 as keys, overflow_pages > 10 as grown, overflow_depth, fpr < 0.05 as rate
from bloom_live where tablename = 'small';
select bloom_index_verify('small_filter');
set bloomfilter.overflow = ignore;
select bloom_snapshot('small_filter') = (select bloom_agg(k, (select n from bloom_index_stats('small_filter'))) from small) as same;
reset bloomfilter.overflow;
alter index small_filter reset (n);
reindex index small_filter;
select n between 120000 and 130000 as sized, overflow_pages, fpr < p as rate from bloom_index_stats('small_filter');
-- it grows when the table was empty, too
truncate small;
insert into small select generate_series(1, 300000);
select count(*) filter (where not bloom_index_contains('small_filter', k)) as missing,
       count(*) filter (where bloom_index_contains('small_filter', -k)) < 12000 as few_others from small;
drop table small;

-- far beyond n it takes about three times the space that its keys need, at most
create table grown (k int) with (autovacuum_enabled = off);
create index grown_filter on grown using bloomfilter (k) with (n = 20000);
do $$
declare
  right_size bigint;
  share float8 := 0;
begin
  for step in 1 .. 20 loop
    insert into grown select generate_series((step - 1) * 25000 + 1, step * 25000);
    right_size := 8192 * (1 + ceil(step * 25000 * 9.6 / 8 / 8128));
    share := greatest(share, pg_relation_size('grown_filter')::float8 / right_size);
  end loop;
  raise warning 'at most % times', case when share <= 3.3 then '3.3' else share::text end;
end $$;
select count(*) filter (where not bloom_index_contains('grown_filter', k)) as missing,
       count(*) filter (where bloom_index_contains('grown_filter', -k)) < 35000 as few_others from grown;
select overflow_depth, bloom_index_verify('grown_filter') from bloom_index_stats('grown_filter', 1000);
drop table grown;
