-- Live indexes: an index whose pages are the filter.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- keys that were there, keys that come, and none that never was
create table account (id bigint, email text, active boolean default true);
insert into account select k, 'user' || k from generate_series(1, 1000) k;
create index account_filter on account using bloomfilter (id) with (p = 0.001);
insert into account select k, 'user' || k from generate_series(1001, 2000) k;
insert into account values (null, null);
select count(*) filter (where bloom_index_contains('account_filter', id)) as found,
       count(*) filter (where bloom_index_contains('account', 'id', id)) as by_column,
       count(*) filter (where bloom_index_contains('account_filter', -id)) < 10 as few_others
from account;
select bloom_index_contains('account_filter', null::bigint);

-- what was asked about stays "perhaps": updated, deleted and rolled back keys
update account set id = 5001 where id = 1;
begin;
insert into account values (6001);
select bloom_index_contains('account_filter', 6001);
rollback;
delete from account where id = 2;
select array_agg(bloom_index_contains('account_filter', k)) from unnest(array[1, 5001, 2]) k;
-- until it is rebuilt
reindex index account_filter;
select array_agg(bloom_index_contains('account_filter', k)) from unnest(array[1, 5001, 2, 6001]) k;

-- arrays
select bloom_index_contains_each('account_filter', array[[3, null], [-3, 5001]]);
select bloom_index_contains_each('account', 'id', array[3, -3]), bloom_index_contains_each('account_filter', array[]::int[]);

-- an untyped key is read as the column's type does
select bloom_index_contains('account_filter', '42'), bloom_index_contains('account', 'id', ' 042 ');
prepare ask as select bloom_index_contains('account_filter', $1);
execute ask ('43');
deallocate ask;
select bloom_index_contains('account_filter', 'forty-two');
select bloom_index_contains('account_filter', 42.0);
select bloom_index_contains_each('account_filter', array['42']);
select bloom_index_contains_each('account_filter', '{42,-42}'), bloom_index_contains_each('account', 'id', '{42,-42}');
select bloom_index_contains('account_filter', 'forty-two'::text);

-- the same bytes as bloom_agg's, also after the filter has grown and of any page
select bloom_snapshot('account_filter') = (select bloom_agg(id, (select n from bloom_index_stats('account_filter')), 0.001) from account) as same,
       bloom_verify(bloom_snapshot('account_filter'));
select n >= 100000 as room, p, hashes, block_bits, key_type, cardinality between 1990 and 2010 as keys,
       fpr < p as rate, parts, overflow_pages, overflow_depth, bytes = pg_relation_size('account_filter') as bytes
from bloom_index_stats('account_filter');
select bloom_index_verify('account_filter');

-- the planner does not consider it
set enable_seqscan = off;
select count(*) as considered from pg_temp.plan_of('select * from account where id = 5') line where line ~ 'account_filter';
reset enable_seqscan;

-- partial, of an expression, of a domain, with options
create index account_email on account using bloomfilter (lower(email)) with (n = 5000, p = 0.01, seed = -7) where active;
select bloom_index_contains('account_email', 'user77'), bloom_index_contains('account_email', 'USER77');
select seed, key_type from bloom_index_stats('account_email');
select bloom_snapshot('account_email') = (select bloom_agg(lower(email), (select n from bloom_index_stats('account_email')), 0.01, -7) from account where active) as same;
select pg_get_indexdef('account_email'::regclass);
create domain label as varchar(20);
create table labelled (l label);
insert into labelled values ('a');
create index on labelled using bloomfilter (l);
select bloom_index_contains('labelled', 'l', 'a'), bloom_index_contains('labelled', 'l', 'a'::label), bloom_index_contains('labelled', 'l', 'b'::varchar);

-- refused: types without an equality of bytes, options out of range, more than one column
select made, pg_temp.error_of(format('create %s', made)) from (values
  ('index on account using bloomfilter (active)'), ('index on account using bloomfilter (id, email)'), ('unique index on account using bloomfilter (id)')) v(made);
select options, pg_temp.error_of(format('create index on account using bloomfilter (id) with (%s)', options)) from (values
  ('p = 0'), ('p = 1'), ('p = ''low'''), ('n = 0'), ('n = ''many'''), ('n = 1.5'), ('n = 9223372036854775807, p = 1e-9'), ('p = 1e-15'),
  ('seed = 99999999999999999999'), ('fillfactor = 50')) v(options);
alter table account add exclude using bloomfilter (id with =);
create collation blind (provider = icu, locale = 'und', deterministic = false);
create index on account using bloomfilter (email collate blind);
drop collation blind;

-- refused: what is not such an index
create index account_btree on account (id);
create view account_view as select * from account;
select call, pg_temp.error_of('select ' || call) from (values
  ('bloom_index_contains(''account_btree'', 42)'), ('bloom_index_contains(''account'', 42)'), ('bloom_index_contains(0, 42)'),
  ('bloom_index_contains(''account'', ''email'', ''user77'')'), ('bloom_index_contains(''account'', ''missing'', 42)'), ('bloom_index_contains(''account_view'', ''id'', 42)'),
  ('bloom_index_contains(''account_filter'', ''id'', 42)'), ('bloom_snapshot(''account_btree'')'), ('bloom_index_stats(''account_filter'', 0)'),
  ('bloom_snapshot(''account_filter'', 1)')) v(call);

-- an index that is not valid says "perhaps"
update pg_index set indisvalid = false where indexrelid = 'account_filter'::regclass;
select bloom_index_contains('account_filter', -1), bloom_index_contains('account', 'id', -1);
select bloom_snapshot('account_filter');
update pg_index set indisvalid = true where indexrelid = 'account_filter'::regclass;
select bloom_index_contains('account_filter', -1), bloom_index_contains('account', 'id', -1);

-- unlogged and temporary tables, another tablespace, another schema, a materialized view
create unlogged table fleeting (k int);
create index on fleeting using bloomfilter (k);
insert into fleeting values (1);
select bloom_index_contains('fleeting', 'k', 1), bloom_index_contains('fleeting', 'k', 2);
create temp table own (k int);
create index own_filter on own using bloomfilter (k);
insert into own values (1);
-- from the table: else all plans made parallel would ask a worker, which says "perhaps"
select bloom_index_contains('own_filter', 1), bloom_index_contains('own', 'k', 2) from own;
alter index account_filter set tablespace pg_default;
create materialized view account_ids as select id from account;
create index on account_ids using bloomfilter (id);
insert into account values (7001);
refresh materialized view account_ids;
select bloom_index_contains('account_ids', 'id', 7001), bloom_index_contains('account_ids', 'id', 7002);

-- rewritten tables
truncate fleeting;
select bloom_index_contains('fleeting', 'k', 1);
insert into fleeting values (3);
alter table fleeting alter k type bigint;
select bloom_index_contains('fleeting', 'k', 3), key_type from bloom_index_stats('fleeting_k_idx');
alter table fleeting alter k type text;
select bloom_index_contains('fleeting', 'k', '3'), key_type from bloom_index_stats('fleeting_k_idx');
vacuum full fleeting;
alter table fleeting set logged;
select bloom_index_contains('fleeting', 'k', '3'), bloom_index_contains('fleeting', 'k', '1');

-- upserts, merges of rows, savepoints, triggers that change the key
create table stock (sku int primary key, amount int);
create index stock_amount on stock using bloomfilter (amount);
insert into stock values (1, 10) on conflict (sku) do update set amount = 11;
insert into stock values (1, 10) on conflict (sku) do update set amount = 12;
begin;
savepoint a;
insert into stock values (2, 20);
rollback to a;
insert into stock values (2, 21);
savepoint b;
insert into stock values (3, 30);
release b;
commit;
create function double_amount() returns trigger language plpgsql as 'begin new.amount := new.amount * 2; return new; end';
create trigger stock_double before insert or update on stock for each row execute function double_amount();
update stock set amount = 50 where sku = 3;
copy stock from stdin;
9	4000
\.
select bool_and(bloom_index_contains('stock_amount', amount)) from stock;

-- another index takes its place within one statement
create function asks_and_rebuilds(k bigint) returns boolean language plpgsql as $$
declare before boolean := bloom_index_contains('account_filter', k);
begin
  insert into account values (k);
  reindex index account_filter;
  return not before and bloom_index_contains('account_filter', k);
end $$;
select asks_and_rebuilds(-500);

-- a column whose equality is not that of bytes is not asked by an index of another collation
create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table caseless (t text collate blind);
create index caseless_filter on caseless using bloomfilter (t collate "C");
insert into caseless values ('Ada');
select bloom_index_contains('caseless', 't', 'ada');
select bloom_index_contains('caseless_filter', 'Ada');
select bloom_snapshot('caseless_filter');
-- nor by its name, also where the column got that equality later; an expression's collation is somebody's word
alter table caseless alter t type text collate "default";
select bloom_index_contains('caseless_filter', 'ada'), bloom_index_contains('caseless', 't', 'Ada');
create index caseless_lower on caseless using bloomfilter ((lower(t) collate "C"));
alter table caseless alter t type text collate blind;
insert into caseless values ('Eve');
select bloom_index_contains('caseless_filter', 'ada');
select bloom_index_contains('caseless_lower', 'eve');
select indexname, status from bloom_live where tablename = 'caseless' order by 1;
drop table caseless;
drop collation blind;

-- rights
create role regress_live_reader;
create role regress_live_other;
grant select (id) on account to regress_live_reader;
set role regress_live_reader;
select bloom_index_contains('account_filter', 42), bloom_index_contains('account', 'id', 42);
select bloom_index_contains('account_email', 'user77');
select indexname, status from bloom_live where key = 'id' order by 1;
set role regress_live_other;
select bloom_index_contains('account_filter', 42);
select bloom_index_contains_each('account', 'id', array[42]);
select bloom_snapshot('account_filter');
select bloom_index_stats('account_filter');
select bloom_index_verify('account_filter');
reset role;
grant pg_stat_scan_tables to regress_live_other;
set role regress_live_other;
select p from bloom_index_stats('account_filter');
select bloom_index_contains('account_filter', 42);
reset role;
-- row security hides rows, but not from the owner
grant select on account to regress_live_reader;
alter table account enable row level security;
create policy few on account using (id < 10);
set role regress_live_reader;
select bloom_index_contains('account_filter', 42);
select bloom_snapshot('account_filter');
reset role;
select bloom_index_contains('account_filter', 42);
-- whom it exempts for a moment, as the owner in what a foreign key does, is not remembered
create function asks_to_drop() returns trigger language plpgsql as $$
begin
  raise warning 'asked: %', bloom_index_contains('owned', 'k', 42);
  return old;
end $$;
create table owned (k int primary key);
create table owns (k int references owned on delete cascade);
create trigger asks before delete on owns for each row execute function asks_to_drop();
insert into owned values (42);
insert into owns values (42);
create index on owned using bloomfilter (k);
alter table owned enable row level security, force row level security;
create policy owned_all on owned using (true);
alter table owned owner to regress_live_other;
alter table owns owner to regress_live_other;
set role regress_live_other;
delete from owned;
select bloom_index_contains('owned', 'k', 42);
reset role;
drop table owned, owns;
drop function asks_to_drop;
-- what was found out for one role is not used for another in the same statement
create function as_reader() returns boolean language plpgsql as $$
begin
  set local role regress_live_other;
  return bloom_index_contains('account_filter', 42);
end $$;
select as_reader();
reset role;
drop owned by regress_live_reader;
drop owned by regress_live_other;
-- a partial index tells of its condition's columns, too: the grant of the key's isn't enough
create table hides (k int, secret int);
create index hides_partial on hides using bloomfilter (k) where secret > 0;
create index hides_all on hides using bloomfilter (k);
grant select (k) on hides to regress_live_reader;
set role regress_live_reader;
select bloom_index_contains('hides_all', 1);
select bloom_index_contains('hides_partial', 1);
reset role;
drop table hides;
drop role regress_live_reader;
drop role regress_live_other;

-- comments, names, dependences
comment on index account_filter is 'who has an account';
alter index account_filter rename to account_live;
select bloom_index_contains('account_live', 42);
drop access method bloomfilter;
drop table account, labelled, fleeting, own, stock cascade;
drop domain label;
drop function double_amount, asks_and_rebuilds, as_reader;
-- whoever only inserts needs no memory for look-ups
\c -
create table writes (k int);
create index on writes using bloomfilter (k);
select total_bytes as before from pg_backend_memory_contexts where name = 'TopMemoryContext' \gset
insert into writes values (1);
select total_bytes - :before < 60000 as few from pg_backend_memory_contexts where name = 'TopMemoryContext';
drop table writes;
