-- A live index knows its column: a key without a type is read as SQL reads it beside the
-- column, by the session's settings and without the column's length.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
create table typed (
  small smallint, plain int, big bigint, number numeric(6, 2), short real, double float8,
  day date, moment timestamp, instant timestamptz,
  code char(6), word varchar(5), prose text, label name, bytes bytea, guid uuid, place inet, net cidr, mac macaddr, mac8 macaddr8);
insert into typed values (7, 7, 7, 1.5, 0.1, 0.1, '2026-02-03', '2026-02-03 04:05:06', '2026-02-03 04:05:06+00',
  'ab', 'abcde', 'ab', repeat('n', 70), '\x6162', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '10.0.0.1', '10.0.0.0/8', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05');
do $$
declare
  c text;
begin
  for c in select attname from pg_attribute where attrelid = 'typed'::regclass and attnum > 0 loop
    execute format('create index on typed using bloomfilter (%I)', c);
  end loop;
end $$;
-- a key of another type that SQL compares with the column's
insert into typed (short, double, mac8) values ('nan', '-0', '08:00:2b:ff:fe:01:02:03');
select col, key from (values
  ('small', '7'), ('plain', '7::int8'), ('big', '7::int2'), ('number', '1.500'), ('short', '''nan''::float8'), ('double', '0::real'),
  ('day', 'date ''2026-02-03'''), ('moment', 'timestamp ''2026-02-03 04:05:06'''), ('instant', 'timestamptz ''2026-02-03 05:05:06+01'''),
  ('code', '''ab''::char(20)'), ('word', '''abcde''::name'), ('prose', '''ab''::varchar'), ('label', 'repeat(''n'', 63)'), ('bytes', '''\x6162''::bytea'),
  ('guid', '''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11''::uuid'), ('place', '''10.0.0.1''::inet'), ('net', '''10.0.0.0/8''::inet'),
  ('mac', '''08:00:2b:01:02:03''::macaddr8'), ('mac8', '''08:00:2b:01:02:03''::macaddr')) v(col, key)
where pg_temp.answer_of(format('select bloom_index_contains(''typed'', %L, %s)', col, key)) <> 'answer: true';
-- each spelling: whether SQL finds the row, and whether the filter does, alone and in an array
create function pg_temp.both(col text, key text) returns text language plpgsql as $$
declare
  found text;
  held text;
begin
  begin
    execute format('select exists (select from typed where %I = %L)', col, key) into found;
  exception when others then
    found := sqlstate;
  end;
  begin
    execute format('select bloom_index_contains(''typed'', %1$L, %2$L) and (bloom_index_contains_each(''typed'', %1$L, %3$L))[1]
      and bloom_index_contains(%4$L, %2$L) and (bloom_index_contains_each(%4$L, %3$L))[1]', col, key, array[key], 'typed_' || col || '_idx') into held;
  exception when others then
    held := sqlstate;
  end;
  return format('%s %s: %s %s', col, left(key, 30), found, case when held = found then 'both' else held || ' of the filter' end);
end $$;
set timezone = 'UTC';
select pg_temp.both(col, key) from (values
  ('small', '7'), ('small', ' 7 '), ('small', '8'), ('small', '70000'), ('plain', '7'), ('plain', '3000000000'), ('plain', 'seven'), ('big', '7'),
  ('number', '1.50'), ('number', '1.5001'), ('number', '1e0'),
  ('short', '0.1'), ('short', '0.10000000149'), ('double', '0.1'), ('double', '0.10000000149'),
  ('day', '2026-02-03'), ('day', 'Feb 3 2026'), ('day', '03/02/2026'), ('moment', '2026-02-03 04:05:06.0'), ('moment', '2026-02-03 04:05:06+01'),
  ('instant', '2026-02-03 05:05:06+01'), ('instant', '2026-02-03 04:05:06'),
  ('code', 'ab'), ('code', 'ab          '), ('code', 'ab' || chr(9)), ('code', 'ac'),
  ('word', 'abcde'), ('word', 'abcdef'), ('prose', 'ab'),
  ('label', repeat('n', 63)), ('label', repeat('n', 70)), ('label', repeat('n', 62)),
  ('bytes', '\x6162'), ('bytes', 'ab'), ('guid', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'), ('place', '10.0.0.1/32'), ('place', '10.0.0.2'), ('net', '10/8'), ('net', '10.0.0.1/8'),
  ('mac', '08002b:010203'), ('mac', '08-00-2b-01-02-03'), ('mac', '08:00:2b:01:02:03:04:05'), ('mac8', '08002b:0102030405')) v(col, key);
-- bytes need a type, as drivers write them in two ways; where row security leaves the filters unasked, too
select bloom_index_contains_each('typed', 'bytes', '{}'), bloom_index_contains('typed', 'bytes', 'ab'::bytea);
select bloom_search(null::typed, 'bytes', 'ab');
create role live_column_reader;
grant select on typed to live_column_reader;
alter table typed enable row level security;
create policy typed_all on typed using (true);
set role live_column_reader;
select count(*) from bloom_search(null::typed, 'bytes', 'ab'::bytea);
select count(*) from bloom_search(null::typed, 'bytes', 'ab');
reset role;
alter table typed disable row level security;
drop policy typed_all on typed;
drop owned by live_column_reader;
drop role live_column_reader;
set datestyle = 'ISO, DMY';
select pg_temp.both('day', '03/02/2026'), pg_temp.both('day', '02/03/2026');
set datestyle = 'ISO, MDY';
select pg_temp.both('day', '03/02/2026'), pg_temp.both('day', '02/03/2026');
set timezone = 'Asia/Tokyo';
select pg_temp.both('instant', '2026-02-03 13:05:06'), pg_temp.both('instant', '2026-02-03 04:05:06');
reset timezone;
reset datestyle;
-- a parameter without a type, and the column's type changed below a prepared statement
prepare ask as select bloom_index_contains('typed', 'code', $1);
execute ask('ab    ');
alter table typed alter code type text;
execute ask('ab');
-- of partitions
create table typed_parts (day date, n int) partition by list (n);
create table typed_parts_1 partition of typed_parts for values in (1);
create table typed_parts_2 partition of typed_parts for values in (2);
create index on typed_parts using bloomfilter (day);
insert into typed_parts values ('2026-02-03', 2);
select bloom_index_contains('typed_parts', 'day', 'Feb 3, 2026'), bloom_index_contains('typed_parts_day_idx', '2026-02-03'), bloom_index_contains('typed_parts', 'day', 'Feb 4, 2026');
select partition from bloom_index_partitions('typed_parts', 'day', 'Feb 3, 2026');

-- look-ups of one call site are a scan of the index to PostgreSQL: reports of unused indexes don't name it
create table counted (id int);
create index counted_f on counted using bloomfilter (id);
select pg_stat_force_next_flush();
select idx_scan from pg_stat_user_indexes where indexrelname = 'counted_f';
select bloom_index_contains('counted_f', 1), bloom_index_contains('counted', 'id', 1);
select count(*) from generate_series(1, 10) g where bloom_index_contains('counted_f', g);
select bloom_index_contains_each('counted_f', array[1, 2, 3]);
select pg_stat_force_next_flush();
select idx_scan from pg_stat_user_indexes where indexrelname = 'counted_f';
drop table typed, typed_parts, counted;
