-- A look-up that needs no row is asked once, before the scan or join below it: a
-- One-Time Filter.  When it is false nothing below is executed.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
create table account (id int primary key, name text);
insert into account select g, 'name ' || g from generate_series(1, 1000) g;
create table payment (id int, account int);
insert into payment select g, g % 1000 from generate_series(1, 1000) g;
analyze account, payment;
select bloom_publish_filter('account', bloom_agg(id)) is null from account;
create index account_f on account using bloomfilter (id);

-- nodes that can be executed, and which of them were
create function pg_temp.executed(query text) returns setof text language plpgsql as $$
declare
  line text;
begin
  for line in execute 'explain (analyze, costs off, timing off, summary off, buffers off) ' || query loop
    line := regexp_replace(line, 'actual rows=(\d+)(\.\d+)? loops=\d+', 'rows \1');
    if line ~ 'One-Time|rows \d|never' then return next line; end if;
  end loop;
end $$;
select pg_temp.executed('select * from account where id = 5 and bloom_lookup(''account'', 5)');
select pg_temp.executed('select * from account where id = -5 and bloom_lookup(''account'', -5)');
select pg_temp.executed('select * from account where id = -5 and bloom_index_contains(''account'', ''id'', -5)');
select pg_temp.executed('select name from payment join account on account.id = payment.account where payment.account = -5 and bloom_lookup(''account'', -5)');
-- prepared, and by a generic plan
prepare by_list(int) as select * from account where id = $1 and bloom_lookup('account', $1);
prepare by_live(int) as select * from account where id = $1 and bloom_index_contains('account_f', $1);
set plan_cache_mode = force_generic_plan;
select pg_temp.executed('execute by_list(5)');
select pg_temp.executed('execute by_list(-5)');
select pg_temp.executed('execute by_live(5)');
select pg_temp.executed('execute by_live(-5)');
reset plan_cache_mode;
-- for each partition in a branch of its own
create table event (id int, day int) partition by range (day);
create table event_1 partition of event for values from (1) to (2);
create table event_2 partition of event for values from (2) to (3);
insert into event select g, 1 + (g > 500)::int from generate_series(1, 1000) g;
create index on event using bloomfilter (id);
select pg_temp.executed('select * from event_1 where id = 700 and bloom_index_contains(''event_1_id_idx'', 700) union all select * from event_2 where id = 700 and bloom_index_contains(''event_2_id_idx'', 700)');
-- bloom_index_partitions in WHERE prunes nothing: all partitions are scanned
select * from pg_temp.executed('select * from event where id = 700 and tableoid in (select partition from bloom_index_partitions(''event'', ''id'', 700))') line where line ~ 'Seq Scan';
call bloom_drop('account');
drop table account, payment, event;
