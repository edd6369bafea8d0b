-- Empty filters: what can be asked for, what it takes, and what is refused.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- n and p of bloom_create, edge by edge
select call, pg_temp.error_of('select bloom_create(' || call || ')') from (values
  ('1'), ('0'), ('-1'), ('-9223372036854775808'), ('9223372036854775807'), ('9223372036854775808'),
  ('1000, 0'), ('1000, ''-0'''), ('1000, -0.5'), ('1000, 1'), ('1000, 1.5'),
  ('1000, ''NaN'''), ('1000, ''Infinity'''), ('1000, ''-Infinity'''),
  ('1000, 0.5'), ('1, 0.9999999999999999'), ('1, 1e-9'), ('1, 1e-18'), ('1, 1e-20'), ('1, 1e-300'), ('1, 4.9e-324'),
  ('1000, 5'), ('0.01, 1000'), ('1000, 10, 0.01'),
  ('1000000000'), ('10000000000'), ('1000000000000, 1e-7'), ('400000000, 1e-12')
) v(call);
-- too large is not called unreachable
select left(e, 5), e ~ 'too large' from pg_temp.error_of('select bloom_create(1000000000000000)') e;
-- NULL gives NULL
select bloom_create(null) is null, bloom_create(10, null) is null, bloom_create(10, 0.01, null) is null;
-- defaults and named arguments
select bloom_create(1000) = bloom_create(n => 1000, p => 0.01, seed => 0), bloom_create(1000, seed => 1) <> bloom_create(1000);
-- each seed is kept
select s = (bloom_stats(bloom_create(10, 0.01, s))).seed
from unnest('{0,-1,9223372036854775807,-9223372036854775808}'::bigint[]) s;

-- bits and hashes, edge by edge
select call, pg_temp.error_of('select bloom_create_sized(' || call || ')') from (values
  ('1, 1'), ('1, 32'), ('1000000, 7'), ('0, 7'), ('-1, 7'), ('1000000, 0'), ('1000000, -1'), ('1000000, 33'), ('1000000, 2147483647'),
  ('-9223372036854775808, 7')
) v(call);
-- a size past the limit is refused, and the hint's parts are enough: more than one
select call, left(e, 6), substring(e from 'into (\d+) parts')::int is distinct from 1 as sensible
from (values ('4294967295, 7'), ('4294967295, 32'), ('9223372036854775807, 7')) v(call),
     lateral pg_temp.error_of('select bloom_create_sized(' || call || ')') e;
-- m is rounded up to whole blocks, and k is what was asked for
select m, k, s.hashes = k as k_kept, s.bits >= m as enough, s.bits - m < s.block_bits as no_block_too_many
from (values (1, 1), (512, 7), (513, 7), (100000, 3), (1000000, 32)) v(m, k), bloom_stats(bloom_create_sized(m, k)) s;

-- A filter takes at most 1.045 times the ideal bits plus a block, and its expected rate is at most p.
select n, p, bits > 1.045 * n * -ln(p) / ln(2) ^ 2 + block_bits as too_large, expected_fpr > p as rate_too_high
from (values (1), (2), (10), (100), (1000), (4000), (99999), (1000000), (123456789), (1000000000)) v(n),
     (values (0.5::float8), (0.1), (0.05), (0.01), (0.001), (1e-4), (1e-5), (1e-6), (1e-7), (1e-9)) w(p),
     bloom_sizing(n, p)
where bits > 1.045 * n * -ln(p) / ln(2) ^ 2 + block_bits or expected_fpr > p or bytes <> bits / 8 + 64
   or bits <> blocks * block_bits or abs(bits_per_key - bits::float8 / n) > 1e-9
   -- a set's rows need not fit one filter, else bloom_create makes what is promised
   or (bytes <= 10000000 and (bytes, hashes, block_bits, blocks) is distinct from
       (select (t.bytes, t.hashes, t.block_bits, t.blocks) from bloom_stats(bloom_create(n, p)) t))
   or (parts = 1) <> (bytes <= 536866816);
-- The expected rate is the exact one; these were computed by summing over all fills of a block,
-- for keys per block that are Poisson distributed.
select n, p, abs(expected_fpr / exact - 1) < 0.002 as exact
from (values (1000000, 0.5::float8, 2819, 512, 1, 0.49984799::float8),
             (1000000, 0.1, 9448, 512, 3, 0.09992918), (1000000, 0.01, 19376, 512, 6, 0.0099894815),
             (1000000, 0.001, 14624, 1024, 10, 0.00099950839), (1000000, 1e-4, 9716, 2048, 13, 9.99235916e-5),
             (1000000, 1e-6, 7332, 4096, 19, 9.98370134e-7)) v(n, p, b, block, k, exact), bloom_sizing(n, p)
where (blocks, block_bits, hashes) = (b, block, k);
-- the textbook's numbers: 4000 keys at 1e-7 take 134191 bits and 23 hashes
select classic_bits, classic_hashes, bits, hashes, block_bits, blocks, parts from bloom_sizing(4000, 1e-7);
-- 9.6 bits per key at 1 %, 4.8 more for each factor of 10
select round((classic_bits / 1e6)::numeric, 2) from unnest('{0.1,0.01,0.001,0.0001}'::float8[]) p, bloom_sizing(1000000, p) order by p desc;
-- sets that take more than one filter say how many
select n, parts from unnest('{400000000,440000000,1000000000,10000000000,100000000000}'::bigint[]) n, bloom_sizing(n, 0.01);
-- what cannot be asked for is refused by the calculator too
select call, left(pg_temp.error_of('select bloom_sizing(' || call || ')'), 5) from (values
  ('0, 0.01'), ('-1, 0.01'), ('1000, 0'), ('1000, 1'), ('1000, ''NaN'''), ('1, 1e-300'), ('9223372036854775807, 0.01')) v(call);
select bloom_sizing(null, 0.01) is null, bloom_sizing(10, null) is null;

-- The rate asked for is the rate got: 30000 keys, 200000 others, at most four standard deviations more.
select p, bool_and(f @> k) filter (where k <= 30000) as no_false_negative,
       count(*) filter (where k > 30000 and f @> k) <= 200000 * p + 4 * sqrt(200000 * p) as rate_kept
from (select p, (select bloom_agg(k, 30000, p) from generate_series(1, 30000) k) f
      from unnest('{0.1,0.01,0.001,0.0001}'::float8[]) p offset 0) s, generate_series(1, 230000) k
group by p order by p desc;

-- an empty part is what bloom_part_agg makes of its keys, without them
select bool_and(bloom_create_part(part, 7, 5000, 0.001, 3) = bloom_reset(built)), count(*) from
  (select bloom_part(k, 7, 3) part, bloom_part_agg(k, 7, 5000, 0.001, 3) built from generate_series(1, 1000) k group by 1) s;
select s.part, s.parts, s.n, s.p, s.seed from bloom_stats(bloom_create_part(65534, 65535, 1000000)) s;
select bloom_create_part(0, 1, 1000) = bloom_create(1000), bloom_create_part(null, 1, 10) is null;
select call, pg_temp.error_of('select bloom_create_part(' || call || ')') from (values
  ('-1, 8, 100'), ('8, 8, 100'), ('0, 0, 100'), ('0, 65536, 100'), ('0, 8, 0'), ('0, 8, -1'), ('0, 8, 100, 0'), ('0, 1, 1000000000')
) v(call);
-- sizes are remembered, each for its own n and p
with once as materialized (select n, p, bloom_sizing(n, p)::text as size from generate_series(1, 6000, 40) n, unnest('{0.1,0.01,0.001}'::float8[]) p order by n, p),
     again as materialized (select n, p, bloom_sizing(n, p)::text as size from generate_series(1, 6000, 40) n, unnest('{0.1,0.01,0.001}'::float8[]) p order by p desc, n desc)
select count(*), count(distinct once.size), count(*) filter (where once.size <> again.size) as wrong from once join again using (n, p);
