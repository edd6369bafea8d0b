-- Live indexes: all the ways in which rows come, change and move.  After each, every key
-- of the table is asked for and the pages are looked at.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
create extension if not exists citext;
\set VERBOSITY terse

-- one line for each live index of a table and of its partitions: the rows, and how many
-- of them it denies, one by one, by array and by column
create function denied(of regclass, out filter name, out rows bigint, out one bigint, out each bigint, out whole boolean)
returns setof record language plpgsql as $$
declare
  f record;
begin
  for f in
    select i.indexrelid::regclass as index, i.indrelid::regclass as tab, pg_get_indexdef(i.indexrelid, 1, false) as key,
      coalesce(pg_get_expr(i.indpred, i.indrelid), 'true') as predicate
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    where a.amname = 'bloomfilter' and c.relkind = 'i' and i.indisvalid
      and (i.indrelid = of or i.indrelid in (select inhrelid from pg_inherits where inhparent = of))
    order by c.relname
  loop
    filter := f.index;
    execute format('select count(*), count(*) filter (where not bloom_index_contains(%L::regclass, (%s))) from %s where (%s) and (%s) is not null',
      f.index, f.key, f.tab, f.predicate, f.key) into rows, one;
    execute format('select count(*) from (select array_agg(%s) keys from %s where %s) s, unnest(bloom_index_contains_each(%L::regclass, keys)) may where not may',
      f.key, f.tab, f.predicate, f.index) into each;
    whole := bloom_index_verify(f.index);
    return next;
  end loop;
end $$;

create table item (id int primary key, code text, price numeric(10, 2), at timestamp, place inet default '10.0.0.1',
  doubled int generated always as (id * 2) stored) with (fillfactor = 70, autovacuum_enabled = off);
create index item_id_f on item using bloomfilter (id) with (n = 1);
create index item_code_f on item using bloomfilter (code);
create index item_lower_f on item using bloomfilter (lower(code)) with (p = 0.0001) where price > 10;
create index item_price_f on item using bloomfilter (price);
create index item_at_f on item using bloomfilter (at);
create index item_place_f on item using bloomfilter (place);
create index item_doubled_f on item using bloomfilter (doubled) with (seed = 5);

-- inserted, copied, upserted
insert into item select k, 'Code ' || k, k / 10.0, '2026-01-01'::timestamp + k * interval '1 s' from generate_series(1, 1000) k;
copy item (id, code, price) from stdin;
2001	Copied	1.50
2002	\N	11.00
\.
insert into item values (1, 'Upserted', 77) on conflict (id) do update set code = excluded.code, price = excluded.price;
insert into item values (2, 'Ignored') on conflict do nothing;
with moved as (delete from item where id between 900 and 905 returning id, code, price)
insert into item select id + 10000, code || ' moved', price + 100 from moved;
select * from denied('item');

-- merged, where there is MERGE
merge into item using (select k, 'Merged ' || k as code from generate_series(990, 1020) k) s on s.k = item.id
when matched and s.k % 3 = 0 then delete
when matched then update set code = s.code, id = -item.id
when not matched then insert (id, code, price) values (s.k, s.code, s.k);
select count(*) from denied('item') where one + each > 0 or not whole;

-- updated: the key, another column of the same page, into the predicate, to and from null
update item set price = price + 20 where id <= 100;
update item set code = null where id = 101;
update item set code = 'not null' where id = 2002;
update item set id = -id, place = place + 1 where id between 200 and 300;
update item set code = code where id > 500;
vacuum item;
update item set code = code || '!', at = at + interval '1 day' where id between 1 and 50;
select count(*) from denied('item') where one + each > 0 or not whole;

-- changed by triggers, before and after a row, and by a rule
create function upcase() returns trigger language plpgsql as $$ begin new.code := upper(new.code) || ' by trigger'; new.id := new.id + 100000; return new; end $$;
create trigger upcase before insert or update of price on item for each row execute function upcase();
create function follow() returns trigger language plpgsql as $$ begin update item set code = code || ' again' where id = new.id and code not like '% again'; return null; end $$;
create trigger follow after insert on item for each row execute function follow();
create view items as select id, code from item;
create rule items_insert as on insert to items do instead insert into item (id, code) values (new.id, new.code);
insert into item values (3001, 'triggered', 5);
update item set price = 50 where id = 400;
insert into items values (3002, 'by rule');
drop view items;
select array_agg(code order by id) from item where id > 100000;
select bool_and(bloom_index_contains('item', 'code', code)) and bool_and(bloom_index_contains('item', 'id', id)) from item where id > 100000;
drop function upcase, follow cascade;

-- in savepoints, rolled back and not; with a table that is emptied and filled
begin;
savepoint a;
update item set id = id + 1000000;
rollback to a;
savepoint b;
insert into item values (4001, 'kept');
savepoint c;
delete from item where id = 4001;
truncate item;
insert into item values (4002, 'gone with it');
select bloom_index_contains('item', 'id', 4002) as own, bloom_index_contains('item', 'id', 4001) as emptied;
rollback to b;
insert into item values (4003, 'kept, too');
commit;
select count(*) from denied('item') where one + each > 0 or not whole;
begin;
truncate item;
insert into item (id) values (1);
reindex table item;
select count(*) from denied('item') where one + each > 0 or not whole;
rollback;
select filter, one, each, whole from denied('item');

-- rewritten: the whole table, by the order of another index, a column's type
vacuum full item;
cluster item using item_pkey;
cluster item using item_id_f;
select count(*) from denied('item') where one + each > 0 or not whole;
alter table item drop column doubled, alter id type bigint;
drop index item_lower_f;
alter table item alter price type text, alter at type timestamptz, alter code type varchar(100);
select indexname, key, (bloom_index_stats(indexrelid)).key_type from bloom_live where tablename = 'item' order by key;
select count(*) from denied('item') where one + each > 0 or not whole;
-- without being rewritten: from timestamp to timestamptz in UTC the index is, text and inet stay
set timezone = 'UTC';
alter table item alter at type timestamp, alter code type text, alter place type cidr using network(place);
alter table item alter at type timestamptz, alter code type varchar, alter place type inet;
select indexname, key, (bloom_index_stats(indexrelid)).key_type from bloom_live where tablename = 'item' order by key;
select count(*) from denied('item') where one + each > 0 or not whole;
-- to a type whose equality is not that of bytes and back, of which citext.sql has all questions
create table caseless (t text);
create index caseless_f on caseless using bloomfilter (t);
insert into caseless values ('ABC');
alter table caseless alter t type citext;
alter table caseless alter t type text collate "C";
insert into caseless values ('x');
select * from denied('caseless');
drop table caseless;

-- a column that the rows have not got
alter table item add column kind int default 42, add column label text default 'all';
create index item_kind_f on item using bloomfilter (kind);
create index concurrently item_label_f on item using bloomfilter (label);
insert into item (id, kind) values (5001, 43);
alter table item alter kind type bigint;
select one, each, bloom_index_contains('item', 'kind', 42) as a, bloom_index_contains('item', 'label', 'all') as b, bloom_index_contains('item', 'kind', 41) as c
from denied('item') where filter in ('item_kind_f', 'item_label_f');

-- options that change count from the next build on
alter index item_id_f set (n = 5000, p = 0.0001, seed = 99);
insert into item (id) values (6001);
select one, each, whole, (bloom_index_stats('item_id_f')).seed from denied('item') where filter = 'item_id_f';
reindex index concurrently item_id_f;
alter index item_id_f reset (n, p, seed);
insert into item (id) values (6002);
select one, each, whole, (bloom_index_stats('item_id_f')).seed, (bloom_index_stats('item_id_f')).p from denied('item') where filter = 'item_id_f';
drop table item;

-- keys that are stored apart, with versions of rows whose keys are gone
create table big (id int, k text) with (autovacuum_enabled = off);
alter table big alter k set storage external;
insert into big select i, repeat(md5(i::text), 200) from generate_series(1, 50) i;
create index big_k on big using bloomfilter (k);
update big set k = k || 'x' where id <= 20;
update big set id = -id where id between 10 and 30;
delete from big where id > 40;
select reltoastrelid::regclass as toast from pg_class where oid = 'big'::regclass \gset
vacuum :toast;
reindex index big_k;
create index big_k2 on big using bloomfilter (k);
create index concurrently big_k3 on big using bloomfilter (left(k, 3000));
select * from denied('big');
drop table big;
-- and rows of old that an expression would refuse, which PostgreSQL's own builds read as well
-- while some snapshot may see them
create table share (of int) with (autovacuum_enabled = off);
insert into share values (0), (1), (2);
delete from share where of = 0;
do $$
declare
  after_delete xid := pg_current_xact_id()::xid;
begin
  while exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and age(backend_xmin) >= age(after_delete))
  loop
    perform pg_sleep(0.01), pg_stat_clear_snapshot();
  end loop;
end $$;
create index share_f on share using bloomfilter ((10 / of));
reindex index concurrently share_f;
reindex index share_f;
select * from denied('share');
drop table share;

-- partitions: moved rows, attached, detached, of another order of columns
create table log (id int, day int, note text) partition by range (day);
create index log_id on log using bloomfilter (id);
create index log_note on log using bloomfilter (lower(note)) where note <> '';
create table log_1 partition of log for values from (1) to (2);
create table log_2 (note text, dropped int, day int, id int);
alter table log_2 drop column dropped;
insert into log_2 values ('Attached', 2, 9222);
create index log_2_own on log_2 using bloomfilter (id) with (seed = 3);
alter table log attach partition log_2 for values from (2) to (3);
create table log_d partition of log default;
insert into log select i, 1 + i % 4, 'Note ' || i from generate_series(1, 400) i;
update log set day = day % 4 + 1, id = id + 1000 where id % 5 = 0;
select filter, one, each, whole from denied('log');
select count(*) filter (where not bloom_index_contains('log', 'id', id)) as by_column,
  count(*) filter (where not bloom_index_contains('log_id', id)) as by_index,
  count(*) filter (where not bloom_index_contains('log_note', lower(note))) as by_expression,
  count(*) filter (where not exists (select from bloom_index_partitions('log', 'id', id) p where p.partition = log.tableoid)) as by_partition
from log;
alter table log detach partition log_2;
insert into log values (7777, 2, 'In the default');
insert into log_2 values ('Detached', 2, 8888);
select bloom_index_contains('log', 'id', 7777), bloom_index_contains('log', 'id', 9222), bloom_index_contains('log_2', 'id', 8888);
delete from log where day = 2;
alter table log attach partition log_2 for values from (2) to (3);
select count(*) filter (where not bloom_index_contains('log', 'id', id)) as by_column,
  count(*) filter (where not bloom_index_contains('log_note', lower(note))) as by_expression from log;
-- in the transaction in which it becomes a partition
begin;
select bloom_index_contains('log', 'id', 9999);
create table log_3 (like log including indexes);
insert into log_3 values (9999, 9, '');
alter table log attach partition log_3 for values from (9) to (10);
select bloom_index_contains('log', 'id', 9999), bloom_index_contains('log_id', 9999);
rollback;
select bloom_index_contains('log', 'id', 9999);
truncate log_1;
select filter, one, each, whole from denied('log');
drop table log;

-- asked in functions that say they don't change, in cursors, and by workers
create table asked (id int) with (parallel_workers = 2);
insert into asked select generate_series(1, 20000);
create index asked_id on asked using bloomfilter (id);
create function stable_ask(k int) returns boolean language plpgsql stable parallel safe as $$ begin return bloom_index_contains('asked', 'id', k); end $$;
create function inlined_ask(k int) returns boolean language sql stable parallel safe as $$ select bloom_index_contains('asked_id', k) $$;
create function immutable_ask(k int) returns boolean language plpgsql immutable parallel safe as $$ begin return bloom_index_contains('asked', 'id', k); end $$;
begin;
declare held cursor with hold for select count(*) filter (where not stable_ask(id)) from asked;
declare scrolled cursor for select id from asked where not inlined_ask(id) or not stable_ask(id) or not immutable_ask(id);
insert into asked select generate_series(20001, 40000);
fetch all from scrolled;
select count(*) from asked where not inlined_ask(id) or not stable_ask(id) or not immutable_ask(id);
commit;
fetch held;
close held;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select count(*) as parallel from pg_temp.plan_of('select count(*) from asked where not bloom_index_contains(''asked'', ''id'', id) or not stable_ask(id)') line where line ~ 'Gather';
begin isolation level serializable read only deferrable;
select count(*) from asked where not bloom_index_contains('asked', 'id', id) or not stable_ask(id);
commit;
begin isolation level repeatable read;
select count(*) from asked where not bloom_index_contains('asked', 'id', id) or not stable_ask(id);
select bool_and(may) from (select array_agg(id) ids from asked) s, unnest(bloom_index_contains_each('asked_id', ids)) may;
commit;
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
-- a procedure that commits has other locks after it
create procedure asks_and_commits(inout lost int default 0) language plpgsql as $$
begin
  for k in 50001 .. 50020 loop
    insert into asked values (k);
    if k % 3 = 0 then rollback; else
      if not bloom_index_contains('asked', 'id', k) then lost := lost + 1; end if;
      commit;
      if not bloom_index_contains('asked', 'id', k) or not stable_ask(k) then lost := lost + 1; end if;
    end if;
  end loop;
end $$;
call asks_and_commits();
select * from denied('asked');
drop table asked;
drop function stable_ask, inlined_ask, immutable_ask;
drop procedure asks_and_commits;

-- rows as keys: a column of a row type, or several columns, have no operator class
create type pair as (tenant int, email text);
create table of_rows (p pair, tenant int, email text);
create index on of_rows using bloomfilter (p);
create index on of_rows using bloomfilter ((row(tenant, email)));
create index on of_rows using bloomfilter ((row(tenant, email)::pair));
create index on of_rows using bloomfilter (tenant, email);
-- a text of both does instead
create function pair_key(tenant int, email text) returns text language sql immutable strict parallel safe
  as $$ select tenant::text || ' ' || email $$;
create index of_rows_pair on of_rows using bloomfilter (pair_key(tenant, email));
insert into of_rows values (null, 7, 'ada@example.com');
select * from denied('of_rows');
select bloom_index_contains('of_rows_pair', pair_key(7, 'ada@example.com')) as ada, bloom_index_contains('of_rows_pair', pair_key(8, 'ada@example.com')) as other;
drop table of_rows;
drop function pair_key, denied;
drop type pair;
drop extension citext cascade;
