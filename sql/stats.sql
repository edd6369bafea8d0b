-- Knowing: bloom_stats, bloom_cardinality, bloom_fpr.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- every column, for the example of doc/FORMAT.md
\x on
select n, p, bits, bytes, hashes, block_bits, blocks, seed, key_type, bits_set, round(fill::numeric, 6) as fill, cardinality,
       fpr between 0 and 0.0001 as fpr, part, parts, format_version
from bloom_stats('QkxNRgEHCQECAAAAAAABAAAAAAAAAAAAZAAAAAAAAAB7FK5H4XqEPwcAAAAAAAAAAQAAACKvaCz4JyNS6E2xpAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAABAAAAAAAAAAAAAQAAAQAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAQAAAAAAAAAA'::bloomfilter);
-- an empty filter
select n, p, bits, bytes, hashes, block_bits, blocks, seed, key_type, bits_set, fill, cardinality, fpr, part, parts, format_version
from bloom_stats(bloom_create(5000, 0.001, -7));
-- NULL
select * from bloom_stats(null);
\x off
select bloom_cardinality(null), bloom_fpr(null), bloom_cardinality(bloom_create(10)), bloom_fpr(bloom_create(10));

-- cardinality: within 5 % of the truth, empty to full to twice as full
set bloomfilter.overflow = ignore;
create temp table f as select n, p, keys, bloom_agg(k, n, p) as f
from (values (10000, 0.1::float8), (10000, 0.01), (10000, 1e-4), (10000, 1e-7)) v(n, p), unnest('{100,1000,5000,10000,20000}'::int[]) keys, generate_series(1, keys) k
group by n, p, keys;
select count(*), count(*) filter (where abs(bloom_cardinality(f) - keys) > 0.05 * keys) as far_off from f;
select count(*) filter (where (s.cardinality, s.fpr) is distinct from (bloom_cardinality(f), bloom_fpr(f))) as other_answers from f, bloom_stats(f) s;
-- a few keys: to the key
select keys, bloom_cardinality(bloom_agg(k, 10000)) as estimate from generate_series(1, 5) keys, generate_series(1, keys) k group by keys order by keys;
-- repeats are not counted
select bloom_cardinality(bloom_agg(k, 10000)) = bloom_cardinality(bloom_agg(distinct k, 10000)) from (select g % 500 k from generate_series(1, 20000) g) s;
-- fill is the share of bits that are set, and bits_set their number
select bool_and(abs(s.fill - s.bits_set::float8 / s.bits) < 1e-12), bool_and(s.bits = s.blocks * s.block_bits and s.bytes = s.bits / 8 + 64 and s.bytes = octet_length(f.f::bytea))
from f, bloom_stats(f) s;
select bool_and(bits_set = (select sum(length(replace(get_byte(b, i)::bit(8)::text, '0', ''))) from generate_series(64, length(b) - 1) i)) from
  (select (bloom_stats(f)).bits_set, f::bytea b from f where keys = 1000 and p = 0.01) s;
-- fpr: rises with the keys, meets p at n, and is what is measured, within four standard deviations and 2 %
select bool_and(fpr < next) from (select bloom_fpr(f) fpr, lead(bloom_fpr(f)) over (partition by p order by keys) as next from f) s where next is not null;
select p, bloom_fpr(f) / p between 0.5 and 1.05 as at_n from f where keys = n order by p;
select p, keys, abs(measured - expected * 100000) <= 4 * sqrt(expected * 100000) + 0.02 * expected * 100000 as as_measured from
  (select p, keys, bloom_fpr(f) expected, (select count(*) from generate_series(1000001, 1100000) k where f @> k) measured from f where p >= 1e-4 and keys >= 10000) s order by p, keys;
-- a filter with every bit set is certain of nothing and still has an estimate
select s.fill, s.cardinality > 100, s.fpr > 0.95 and s.fpr <= 1, f @> 123456 from (select bloom_agg(k, 10) f from generate_series(1, 5000) k) t, bloom_stats(f) s;
select bloom_hash(null::int), bloom_hash(1, null);
