-- The golden filters: read, described, asked, built and combined.
\set table filters
\i `echo $PG_ABS_SRCDIR`/sql/lib/vectors.sql
set timezone = 'UTC';
set client_min_messages = notice;
create function pg_temp.signed(number text) returns bigint language sql immutable as
  'select (case when number::numeric < 2::numeric ^ 63 then number::numeric else number::numeric - 2::numeric ^ 64 end)::bigint';

-- The SQL expression of a key of a type, from its bytes.
create function pg_temp.word(key bytea) returns bigint language sql immutable as $$
  select ('x' || string_agg(to_hex(get_byte(key, i) / 16) || to_hex(get_byte(key, i) % 16), '' order by i desc))::bit(64)::bigint
  from generate_series(0, 7) i
$$;
create function pg_temp.float(bits bigint) returns float8 language sql immutable as $$
  select case when bits = 0 then 0
    when bits >> 52 & 2047 = 2047 then case when bits & 4503599627370495 <> 0 then 'NaN' when bits < 0 then '-Infinity' else 'Infinity' end::float8
    when bits >> 52 & 2047 = 0 then sign(bits) * (bits & 4503599627370495) * 2::float8 ^ -1074
    else sign(bits) * (1 + (bits & 4503599627370495) / 2::float8 ^ 52) * 2::float8 ^ ((bits >> 52 & 2047) - 1023) end
$$;
-- In two steps, as an interval has no room for all microseconds.  The last years count from -2^63 on.
create function pg_temp.moment(type text, zone text, at numeric) returns text language sql immutable as $$
  select case at when 9223372036854775807 then format('%L::%s', 'infinity', type) when -9223372036854775808 then format('%L::%s', '-infinity', type)
    else (select format('(%L::%s + make_interval(days => %s) + %s * interval %L)', '1970-01-01 00:00:00' || zone, type,
                        div(micros, 86400000000), mod(micros, 86400000000), '1 microsecond')
          from (select case when at < -210866803200000000 then at + 2::numeric ^ 64 else at end) m(micros)) end
$$;
create function pg_temp.columns(key bytea) returns text language plpgsql immutable as $$
declare
  found text[];
  length int;
begin
  while octet_length(key) > 0 loop
    length := get_byte(key, 1) + get_byte(key, 2) * 256 + get_byte(key, 3) * 65536;
    found := found || pg_temp.expression(get_byte(key, 0), substr(key, 6, length));
    key := substr(key, 6 + length);
  end loop;
  return array_to_string(found, ', ');
end $$;
create function pg_temp.expression(type int, key bytea) returns text language sql immutable as $$
  select case
    when type in (0, 1) then format('%L::bigint', pg_temp.word(key))
    when type = 2 then format('%L::text', convert_from(key, 'UTF8'))
    when type = 3 then format('%L::bytea', key)
    when type = 4 then format('%L::uuid', encode(key, 'hex'))
    when type = 5 then format('%L::numeric', convert_from(key, 'UTF8'))
    when type = 6 then format('%L::float8', pg_temp.float(pg_temp.word(key)))
    when type = 7 then case pg_temp.word(key) when 9223372036854775807 then format('%L::date', 'infinity') when -9223372036854775808 then format('%L::date', '-infinity')
      else format('(%L::date + (%s))', '1970-01-01', pg_temp.word(key)) end
    when type = 8 then pg_temp.moment('timestamp', '', pg_temp.word(key))
    when type = 9 then pg_temp.moment('timestamptz', '+00', pg_temp.word(key))
    when type = 10 and get_byte(key, 0) = 4 then format('%L::inet', (select string_agg(get_byte(key, i)::text, '.' order by i) from generate_series(2, 5) i) || '/' || get_byte(key, 1))
    when type = 10 then format('%L::inet', trim(regexp_replace(encode(substr(key, 3), 'hex'), '(....)', '\1:', 'g'), ':') || '/' || get_byte(key, 1))
    when type = 11 then format('%L::%s', encode(key, 'hex'), case octet_length(key) when 6 then 'macaddr' else 'macaddr8' end)
    when type = 15 then format('row(%s)', pg_temp.columns(key)) end
$$;

create temp table filters as
  select f[1] as name, f[2]::bigint as n, f[3]::float8 as p, pg_temp.signed(f[5]) as seed, f[6]::int as hashes,
         1 << f[7]::int as block_bits, f[8]::bigint as blocks, f[9]::int as part, f[10]::int as parts,
         f[13]::bigint as bits_set, f[17] as made_of, f[16] as hex
  from lines;
create temp table asked as
  select f[1] as name, role, pg_temp.expression(f[11]::int, decode(key, 'hex')) as key
  from lines, (values ('key', 15), ('absent', 18), ('false positive', 19)) r(role, at),
       string_to_table(f[at], ',') key
  where f[at] <> '-'
  -- an empty list is -, an empty element the key of no bytes, which string_to_table leaves out of a list of nothing else
  union all
  select f[1], role, pg_temp.expression(f[11]::int, '')
  from lines, (values ('key', 15), ('absent', 18), ('false positive', 19)) r(role, at)
  where f[at] = '';

set bloomfilter.overflow = ignore;
create temp table stored as select *, decode(hex, 'hex')::bloomfilter as f from filters;
create temp table answers (name text, role text, key text, found boolean, contained boolean);
create temp table built (name text, f bloomfilter);
do $$
declare
  a record;
  s record;
  b bloomfilter;
begin
  for a in select * from asked loop
    execute format('insert into answers select %L, %L, %L, f @> %s, %s <@ f from stored where name = %L',
                   a.name, a.role, a.key, a.key, a.key, a.name);
  end loop;
  for s in select * from stored loop
    b := bloom_reset(s.f);
    for a in select * from asked where name = s.name and role = 'key' loop
      execute format('select bloom_add($1, %s)', a.key) into b using b;
    end loop;
    insert into built values (s.name, b);
  end loop;
end $$;
-- a valid filter comes out as it came in
select name from stored where f::bytea <> decode(hex, 'hex') or octet_length(f::bytea) * 2 <> length(hex);
-- its text form is base64 of the same bytes
select name from stored where f::text <> translate(encode(decode(hex, 'hex'), 'base64'), E'\n', '')
  or f::text::bloomfilter <> f;
-- its statistics are what the header says
select name from stored, bloom_stats(f) s
where (s.n, s.p, s.seed, s.hashes, s.block_bits, s.blocks, s.part, s.parts, s.bits_set)
  is distinct from (stored.n, stored.p, stored.seed, stored.hashes, stored.block_bits, stored.blocks,
                    stored.part, stored.parts, stored.bits_set);
-- every listed key was asked; its keys and false positives are found, absent keys are not
select role, count(*) > 0 as asked,
       count(*) filter (where (role <> 'absent') is distinct from found or found is distinct from contained) as wrong
from answers group by role order by role;
-- look-ups of the first key and of the first absent one are explained in the golden lines
create temp table explained (name text, said text, wanted text);
do $$
declare
  l record;
begin
  for l in select f[1] as name, f[11]::int as type, decode(split_part(f[at], ',', 1), 'hex') as key, f[explained] as wanted
           from lines, (values (15, 20), (18, 21)) r(at, explained) where f[explained] <> '-' loop
    execute format('insert into explained select name, replace(bloom_explain(f, %s), E''\n'', ''|''), %L from stored where name = %L',
                   pg_temp.expression(l.type, l.key), l.wanted, l.name);
  end loop;
end $$;
select count(*) > 50 as several, count(*) filter (where said is distinct from wanted) as wrong from explained;
-- a filter built from the keys has the same bytes; an intersection holds more bits
select name from stored join built b using (name)
where stored.f <> b.f and made_of not like 'and %';
-- unions and intersections of the vectors
select s.name from stored s
  join stored a on a.name = split_part(s.made_of, ' ', 2)
  join stored b on b.name = split_part(s.made_of, ' ', 3)
where (s.made_of like 'or %' and (a.f | b.f <> s.f or b.f | a.f <> s.f))
   or (s.made_of like 'and %' and (a.f & b.f <> s.f or b.f & a.f <> s.f));
select split_part(made_of, ' ', 1) as operation, count(*) > 0 as seen from stored
where made_of ~ '^(or|and) ' group by 1 order by 1;
