-- A set of parts behaves as one filter: size, rate, answers, and what is refused.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
create table source as select g::bigint as id, 'key ' || g as word from generate_series(1, 100000) g;
create table one as select bloom_agg(id, 100000, 0.01) as filter from source;
create table part as select bloom_part(id, 8) as part, bloom_part_agg(id, 8, 100000, 0.01) as filter from source group by 1;

-- parts are alike, and have room for six standard deviations more; together little more than one filter
select count(*), count(distinct (n, bytes, seed, parts)) as kinds, bool_and(s.part = part.part) as numbered,
       bool_and(n >= 12500 + 6 * sqrt(100000 * 7.0 / 64)) as room, bool_and(fpr < p) as rate,
       bool_and(cardinality between 12500 - 6 * 105 and 12500 + 6 * 105) as keys,
       sum(bytes) < 1.07 * (select (bloom_stats(filter)).bytes from one) as bytes
from part, bloom_stats(filter) s;
select n * 8 < 40000000 * 1.01 as less_reserve_for_more_keys from bloom_stats((select bloom_part_agg(1::bigint, 8, 40000000, 0.01)));

-- no key is missing; of others 1000 may pass, with a standard deviation of 31, and room to spare lets fewer
select count(*) as missing from source join part on part = bloom_part(id, 8) where not bloom_contains(filter, id);
select count(*) filter (where bloom_contains(part.filter, g)) between 600 and 1155 as of_parts,
       count(*) filter (where bloom_contains(one.filter, g)) <= 1155 as of_one
from generate_series(-100000, -1) g join part on part = bloom_part(g, 8), one;

-- united from parts of some rows, or built one by one, they have the same bytes
select bool_and(part.filter = united) from part join (select part, bloom_union_agg(f) as united
  from (select bloom_part(id, 8) as part, bloom_part_agg(id, 8, 100000, 0.01) as f from source group by id % 3, 1) thirds group by 1) u using (part);
select bool_and(filter = (select bloom_part_agg(id, 8, 100000, 0.01) from source where bloom_part(id, 8) = part)) from part;
select bloom_part_agg(id, 1, 100000, 0.01) = (select filter from one) as one_part_is_a_filter from source;

-- with another seed, of text, in other numbers of parts
select count(*) as missing from source join (select bloom_part(id, 8, 7) as part, bloom_part_agg(id, 8, 100000, 0.01, 7) as filter
  from source group by 1) p on part = bloom_part(id, 8, 7) where not bloom_contains(filter, id);
create function pg_temp.found_in(parts int, out members bigint) language plpgsql as $$
begin
  select count(*) filter (where bloom_contains(filter, word)) into members from source join (
    select bloom_part(word, parts) as part, bloom_part_agg(word, parts, 100000, 0.01) as filter from source group by 1) p on part = bloom_part(word, parts);
end $$;
select parts, pg_temp.found_in(parts) from unnest(array[2, 3, 100, 1000]) parts;

-- a key of another part is an error everywhere, and so are keys of several parts in one group
select min(g) filter (where bloom_part(g, 8) = 3) as own, min(g) filter (where bloom_part(g, 8) <> 3) as other from generate_series(1, 100) g \gset
select count(*) filter (where answered), count(*) filter (where answered <> (bloom_part(g, 8) = 3)) as wrong
from (select g, pg_temp.error_of(format('select bloom_contains(filter, %s) from part where part = 3', g)) = 'no error' as answered from generate_series(1, 100) g) s;
select call, pg_temp.error_of(format('select %s from %s', replace(call, 'OTHER', :'other'), source)) from (values
  ('bloom_contains(filter, OTHER)', 'part where part = 3'), (format('bloom_contains_each(filter, array[%s, OTHER])', :own), 'part where part = 3'),
  ('bloom_add(filter, OTHER)', 'part where part = 3'), ('bloom_part_agg(id, 8, 100000, 0.01)', 'source'),
  ('bloom_union(part.filter, (select filter from part where part = 1))', 'part where part = 0'), ('bloom_union(part.filter, one.filter)', 'part, one where part = 0'),
  ('bloom_part(1, 0)', 'one'), ('bloom_part(1, 65536)', 'one')) v(call, source);
set enable_sort = off;
select bloom_part(id, 8), bloom_part_agg(id, 8, 100000, 0.01, 7) from source group by 1;
-- NULL has no part
select bloom_part(null::bigint, 8) is null;
drop table source, one, part;
