-- Asking: bloom_contains, its operators and bloom_contains_each.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

create temp table held as select bloom_agg(k, 1000, 1e-9) f from generate_series(1, 1000) k;

-- every key that was added is found, by each function and operator
select count(*) from held, generate_series(1, 1000) k
where f @> k and k <@ f and bloom_contains(f, k) and bloom_contained(k, f) and f @> any (array[k]) and f @> all (array[k]) and k <@ any (array[f]);
-- others are not (none of these at 1e-9)
select count(*) from held, generate_series(1001, 2000) k
where f @> k or k <@ f or bloom_contains(f, k) or f @> any (array[k, k + 1000]) or f @> all (array[k, 1]);
-- text: an untyped literal
select f @> 'a', 'a' <@ f, bloom_contains(f, 'a'), f @> 'b' from (select bloom_add(bloom_create(10), 'a') f offset 0) s;
-- a NULL filter or key gives NULL
select f @> null::int, null::int <@ f, bloom_contains(f, null::text), null::bloomfilter @> 1, 1 <@ null::bloomfilter, null::bloomfilter @> 'a' from held;
select bloom_contains_each(f, null::int[]), bloom_contains_each(null, '{1}'::int[]) from held;
-- an empty filter denies everything
select count(*) from generate_series(1, 10000) k where bloom_create(10000) @> k;

-- bloom_contains_each has the shape of the keys: dimensions, bounds, NULLs
select bloom_contains_each(f, keys) from held, (values (1, '{}'::int[]), (2, '{1}'), (3, '{1001}'), (4, '{1,1001,null,2}'), (5, '{null}'), (6, '{{1,1001},{null,1000}}'),
  (7, '[0:2]={1,1001,1}'), (8, '[-1:0][2:3]={{1,2},{1001,1002}}'), (9, '{{{1}},{{1001}}}')) v(o, keys) order by o;
-- many keys at once give the answers of one by one
select count(*), bool_and(each = (f @> k)) from
  (select f, unnest(bloom_contains_each(f, keys)) as each, unnest(keys) k from (select bloom_agg(i, 5000, 0.1) f from generate_series(1, 5000) i) s,
   (select array_agg(i) keys from generate_series(1, 20000) i) t) u;

-- one expression that is asked for two filters in turn, in one transaction
create function pg_temp.ask(f bloomfilter, k int) returns boolean language plpgsql as $$
begin
  return f @> k;
end $$;
create temp table two as select g, bloom_agg(k, 20000, 1e-9) f from generate_series(0, 39999) k, lateral (select k % 2 g) s group by g;
begin;
do $$
declare
  wrong int := 0;
  k int;
  even bloomfilter;
  odd bloomfilter;
begin
  for k in 1 .. 1000 loop
    select f into even from two where g = 0;
    select f into odd from two where g = 1;
    if pg_temp.ask(even, k) <> (k % 2 = 0) or pg_temp.ask(odd, k) <> (k % 2 = 1) then
      wrong := wrong + 1;
    end if;
    if (select f @> k from two where g = k % 2) is not true or (select f @> k from two where g = (k + 1) % 2) then
      wrong := wrong + 1;
    end if;
  end loop;
  raise warning 'wrong: %', wrong;
end $$;
commit;
select count(*), count(*) filter (where pg_temp.ask(f, k) <> (k % 2 = g)) from two, generate_series(1, 2000) k;
select count(*), count(*) filter (where (f @> k) <> (k % 2 = g)) from (select * from two, generate_series(1, 20000) k order by k, g) s;
-- a join with a table of filters, where the filter changes from row to row
select count(*), count(*) filter (where g = k % 2) from two join generate_series(0, 39999, 7) k on two.f @> k;
select count(*) from generate_series(0, 39999, 7) k where exists (select from two where f @> k and g = k % 2);
select count(*) from generate_series(0, 39999, 7) k where (select f from two where g = k % 2) @> k;

-- PL/pgSQL: variables, loops, arguments, an exception in between
create function pg_temp.loops() returns text language plpgsql as $$
declare
  f bloomfilter := bloom_create(100, 1e-9);
  copy bloomfilter;
  found int := 0;
  k int;
begin
  for k in 1 .. 100 loop
    f := bloom_add(f, k);
    if f @> k and not f @> (k + 1) then
      found := found + 1;
    end if;
    if k = 50 then
      copy := f;
    end if;
    begin
      perform f @> 'text'::text;
      found := -1000;
    exception when datatype_mismatch then null;
    end;
  end loop;
  return format('%s %s %s', found, copy @> 50, copy @> 51);
end $$;
select pg_temp.loops();
select pg_temp.loops();

-- after an UPDATE of the filter in the same transaction
begin;
select f @> 50001, f @> 1 from two where g = 1;
update two set f = bloom_add(f, 50001) where g = 1;
select f @> 50001, f @> 1 from two where g = 1;
savepoint s;
update two set f = bloom_reset(f);
select count(*) from two, generate_series(0, 1000) k where f @> k;
rollback to s;
select count(*) from two, generate_series(0, 1000) k where f @> k;
rollback;
select f @> 50001, f @> 1 from two where g = 1;
-- in PL/pgSQL too: one expression, many versions of a stored filter, savepoints in between
create function pg_temp.versions() returns text language plpgsql as $$
declare
  k int;
  wrong int := 0;
begin
  for k in 60001 .. 60040 loop
    if (select f @> k from two where g = 0) then wrong := wrong + 1; end if;
    update two set f = bloom_add(f, k) where g = 0;
    if not (select f @> k from two where g = 0) then wrong := wrong + 1; end if;
    begin
      update two set f = bloom_reset(f) where g = 0;
      if (select f @> k from two where g = 0) then wrong := wrong + 1; end if;
      raise exception 'back' using errcode = 'ZZ000';
    exception when sqlstate 'ZZ000' then null;
    end;
    if not (select f @> k from two where g = 0) then wrong := wrong + 1; end if;
  end loop;
  return 'wrong: ' || wrong;
end $$;
select pg_temp.versions();

-- cursors: forwards, backwards, held
begin;
declare c scroll cursor for select k, f @> k as found from two, generate_series(0, 5) k where g = 0 order by k;
fetch 2 from c;
update two set f = bloom_reset(f);
fetch all from c;
fetch backward 2 from c;
rollback;
begin;
declare h cursor with hold for select f from two order by g;
commit;
create temp table fetched (f bloomfilter);
do $$
declare
  h refcursor := 'h';
  f bloomfilter;
begin
  loop
    fetch h into f;
    exit when not found;
    insert into fetched values (f);
  end loop;
end $$;
close h;
select count(*), bool_and(f @> 0 or f @> 1) from fetched;

-- the answers don't depend on the memory for a copy
create temp table answers as select g, k, f @> k as found from two, generate_series(0, 9999) k;
set bloomfilter.cache_size = 0;
select count(*), count(*) filter (where (f @> k) <> found) from answers join two using (g);
select bool_and(bloom_contains_each(f, array(select k from answers a where a.g = two.g order by k)) = array(select found from answers a where a.g = two.g order by k)) from two;
set bloomfilter.cache_size = '10kB';
select count(*), count(*) filter (where (f @> k) <> found) from answers join two using (g);
reset bloomfilter.cache_size;
select count(*), count(*) filter (where (f @> k) <> found) from answers join two using (g);
-- a copy that is allowed or not in the middle of a query's life
prepare later as select count(*) from two, generate_series(0, 9999) k where f @> k and g = k % 2;
execute later;
set bloomfilter.cache_size = 0;
execute later;
reset bloomfilter.cache_size;
execute later;
