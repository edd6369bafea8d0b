-- Equal in SQL means found, for every type that can be a key.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

create domain pg_temp.small as smallint check (value < 100);
create domain pg_temp.smaller as pg_temp.small check (value < 50);
create domain pg_temp.mail as varchar(40);
create domain pg_temp.ids as int[];

-- What is wrong if one key is stored and the other, equal in SQL, asked.
create function pg_temp.verdict(stored text, asked text) returns text language plpgsql as $$
declare
  equal boolean;
  same_hash boolean;
  found boolean;
begin
  execute format('select (%s) = (%s)', stored, asked) into equal;
  execute format('select bloom_hash(%s, 7) = bloom_hash(%s, 7) and bloom_hash(%1$s) <> bloom_hash(%1$s, 7)',
                 stored, asked) into same_hash;
  execute format('select f @> %s and %2$s <@ f and bloom_contains(f, %2$s)
                  from (select bloom_agg(%1$s, 10, 0.01, 7) f offset 0) s',
                 stored, asked) into found;
  return case when not equal then 'not equal in SQL, ' || case when same_hash then 'THE SAME KEY' else 'another key' end
              when not same_hash then 'another hash'
              when not found then 'FALSE NEGATIVE'
              else 'found' end;
end $$;

-- t/021_equal_pairs.pl has all pairs of types; these are spellings of one type, domains and what no text gives
select stored, asked, pg_temp.verdict(stored, asked), pg_temp.verdict(asked, stored) from (values
  ($$42::pg_temp.small$$, $$42::bigint$$),
  ($$42::pg_temp.smaller$$, $$42$$),
  ($$'abc'::pg_temp.mail$$, $$'abc'::name$$),
  ($$'abc'::text collate "C"$$, $$'abc'::text$$),
  ($$'\x616263'::bytea$$, $$'abc'::bytea$$),
  ($$-12.3400::numeric(10,4)$$, $$-12.34::numeric$$),
  ($$1e130000::numeric$$, $$10e129999::numeric$$),
  ($$0::double precision$$, $$'-0'::double precision$$),
  ($$'NaN'::double precision$$, $$-'NaN'::double precision$$),
  ($$'NaN'::double precision$$, $$'inf'::double precision - 'inf'::double precision$$),
  ($$0.1::real$$, $$0.1::real::double precision$$),
  ($$'2024-02-29 12:00:00+00'::timestamptz$$, $$'2024-02-29 14:00:00+02'::timestamptz$$),
  ($$'08:00:2b:01:02:03'::macaddr::macaddr8$$, $$'08:00:2b:ff:fe:01:02:03'::macaddr8$$)
) v(stored, asked);

-- macaddr and macaddr8, which SQL compares only after a cast
select pg_temp.verdict($$'08:00:2b:01:02:03'::macaddr::macaddr8$$, $$'08:00:2b:01:02:03'::macaddr8$$),
       bloom_agg(m) @> '08:00:2b:ff:fe:01:02:03'::macaddr8, bloom_agg(m::macaddr8) @> '08:00:2b:01:02:03'::macaddr
from unnest('{08:00:2b:01:02:03}'::macaddr[]) m;

-- Different in SQL means different keys.
select a, b, pg_temp.verdict(a, b) from (values
  ($$' a'::text$$, $$'a'::text$$),
  ($$E'a\t'::varchar$$, $$'a'::varchar$$),
  ($$'A'::text$$, $$'a'::text$$),
  ($$0.1::real$$, $$0.1::double precision$$),
  ($$'192.168.1.5/24'::inet$$, $$'192.168.1.5'::inet$$),
  ($$'08:00:2b:ff:ff:01:02:03'::macaddr8$$, $$'08:00:2b:01:02:03'::macaddr8$$)
) v(a, b);

-- Different in SQL and one key all the same: the blanks at the end of a text, see blanks.sql.
select pg_temp.verdict($$'pw '::text$$, $$'pw'::text$$);

-- Keys of another type are an error, in both directions, and never "no".
create temp table keys as select k, e from (values
  ('integer', '1'), ('text', $$'1'::text$$), ('bytea', $$'1'::bytea$$),
  ('uuid', $$'00000000-0000-0000-0000-000000000001'::uuid$$), ('numeric', '1.0'), ('float', '1.0::float8'),
  ('date', $$'2024-01-01'::date$$), ('timestamp', $$'2024-01-01'::timestamp$$),
  ('timestamptz', $$'2024-01-01'::timestamptz$$), ('inet', $$'1.1.1.1'::inet$$),
  ('macaddr', $$'08:00:2b:01:02:03'::macaddr$$)) v(k, e);
create function pg_temp.filter_of(key text) returns bloomfilter language plpgsql as $$
declare
  f bloomfilter;
begin
  execute format('select bloom_add(bloom_create(10), %s)', key) into f;
  return f;
end $$;
create temp table filters as select k, pg_temp.filter_of(e) as f from keys;
-- all pairs of types, all functions that take a key
select distinct f.k = e.k as same_type, regexp_replace(pg_temp.error_of(format(s, e.e, f.k)), 'holds \w+ keys, not \w+( / .*)?$', 'holds X keys, not Y')
from filters f, keys e, (values
  ('select f @> %s from filters where k = %L'), ('select %s <@ f from filters where k = %L'),
  ('select bloom_contains(f, %s) from filters where k = %L'),
  ('select bloom_contains_each(f, array[%s]) from filters where k = %L'),
  ('select bloom_add(f, %s) from filters where k = %L'),
  ('select bloom_add_all(f, array[%s]) from filters where k = %L')) v(s) order by 1;
-- the message names both types, the hint a cast that gives a key of the filter's type
select pg_temp.error_of(format('select f @> %L::%s from filters where k = %L', case k when 'text' then '\x31' else '1' end, case k when 'text' then 'bytea' else 'text' end, k)) from filters order by k;
select h.k, (bloom_stats(h.f)).key_type = h.k from filters h order by 1;
-- a filter without keys denies keys of every type
select e.k, pg_temp.error_of(format('select 1 / (not bloom_create(10) @> %s)::int', e.e)) from keys e order by 1;
-- no key: NULL is added without giving the filter a type
select (bloom_stats(bloom_add_all(bloom_create(10), array[null::int]))).key_type;

-- Arrays: of every key type, of domains, and a domain over an array.
select bloom_contains_each(bloom_add_all(bloom_create(10), '{a,b}'::text[]), '{a,b}'::varchar[]),
       bloom_contains_each(bloom_add_all(bloom_create(10), '{a,b}'::char(5)[]), '{a,b}'::text[]),
       bloom_contains_each(bloom_add_all(bloom_create(10), '{1,2}'::int[]), '{1,2}'::bigint[]),
       bloom_contains_each(bloom_add_all(bloom_create(10), '{1,2}'::pg_temp.smaller[]), '{1,2}'::pg_temp.ids),
       bloom_contains_each(bloom_add_all(bloom_create(10), '{1.50}'::numeric[]), '{1.5}'::numeric[]);
select bloom_contains_each(bloom_add_all(bloom_create(10), '{1,2}'::pg_temp.ids), '{2,3,1}'::pg_temp.ids);
-- keys longer than a page, stored compressed and out of line
create temp table long_keys as select repeat('abc', 50000) as k union all select string_agg(md5(i::text), '') from generate_series(1, 5000) i;
select bool_and(f @> k), bool_or(f @> (k || 'x')) from long_keys, (select bloom_agg(k) f from long_keys offset 0) s;
-- a domain over bloomfilter is a filter like another
create domain pg_temp.whitelist as bloomfilter;
create temp table of_domain as select bloom_agg(k::text)::pg_temp.whitelist as texts, bloom_agg(k) as numbers from generate_series(1, 10) k;
select texts @> '7', '7'::text <@ texts, bloom_contains(texts, '7'::varchar), texts @> '7x' from of_domain;
select bloom_contains_each(texts, '{7}'::text[]) = '{t}', numbers::pg_temp.whitelist @> 7 from of_domain;
