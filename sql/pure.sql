-- The bytes of a filter depend on the keys and the parameters and on nothing else.
set client_min_messages = warning;
set bloomfilter.overflow = ignore;

\pset format unaligned
\pset tuples_only on

-- serial, reversed, shuffled, repeated, in halves, one by one, all at once: equal byte for byte
create function pg_temp.one_by_one(keys anyarray, n bigint, p float8, seed bigint) returns bloomfilter language plpgsql as $$
declare
  f bloomfilter := bloom_create(n, p, seed);
  i int;
begin
  for i in 1 .. array_length(keys, 1) loop
    f := bloom_add(f, keys[i]);
  end loop;
  return f;
end $$;
create function pg_temp.differences(keys anyarray, n bigint, p float8, seed bigint) returns text language plpgsql as $$
declare
  half int := array_length(keys, 1) / 2;
  f bloomfilter;
  g bloomfilter;
  wrong text := '';
begin
  select bloom_agg(k, n, p, seed) into f from unnest(keys) k;
  select bloom_agg(k, n, p, seed order by o desc) into g from unnest(keys) with ordinality u(k, o);
  if g <> f then wrong := wrong || 'reversed '; end if;
  select bloom_agg(k, n, p, seed order by bloom_hash(k, 99)) into g from unnest(keys) k;
  if g <> f then wrong := wrong || 'shuffled '; end if;
  select bloom_agg(k, n, p, seed) into g from unnest(keys || keys) k;
  if g <> f then wrong := wrong || 'repeated '; end if;
  select bloom_union_agg(h) into g from (select bloom_agg(k, n, p, seed) h from unnest(keys) with ordinality u(k, o) group by o % 3) s;
  if g <> f then wrong := wrong || 'merged '; end if;
  if pg_temp.one_by_one(keys, n, p, seed) <> f then wrong := wrong || 'one_by_one '; end if;
  if bloom_add_all(bloom_create(n, p, seed), keys) <> f then wrong := wrong || 'all_at_once '; end if;
  g := bloom_add_all(bloom_create(n, p, seed), keys[:half]) | bloom_add_all(bloom_create(n, p, seed), keys[half + 1:]);
  if g <> f then wrong := wrong || 'halves '; end if;
  select bloom_add_all(bloom_agg(k, n, p, seed), keys[half + 1:]) into g from unnest(keys[:half]) k;
  if g <> f then wrong := wrong || 'continued '; end if;
  if bloom_add_all(f, keys) <> f or bloom_union(f, f) <> f or bloom_intersection(f, f) <> f then wrong := wrong || 'again '; end if;
  if bloom_add_all(bloom_reset(f), keys) <> f then wrong := wrong || 'reset '; end if;
  if f::text::bloomfilter <> f or f::bytea::bloomfilter <> f then wrong := wrong || 'in_out '; end if;
  return coalesce(nullif(wrong, ''), 'none');
end $$;
select m, n, p, pg_temp.differences(array(select k from generate_series(1, m) k), n, p, seed) as integer,
       pg_temp.differences(array(select 'key ' || k from generate_series(1, m) k), n, p, seed) as text
from (values (1, 1, 0.01, 0), (10, 1, 0.5, 1), (100, 100, 0.01, -1), (1000, 1000, 1e-6, 42), (2000, 100, 0.1, 7), (3000, 100000, 0.001, 0)) v(m, n, p, seed);

-- The bytes are pinned: the md5 of filters of the keys 1 .. n.
select v.n, v.p, v.seed, md5(f::bytea), s.bits_set
from (values (100, 0.01::float8, 0), (1000, 1e-4, 1), (100000, 0.01, -1)) v(n, p, seed),
     lateral (select bloom_agg(k, v.n, v.p, v.seed) f from generate_series(1, v.n) k) t, bloom_stats(f) s;
-- No setting changes them.
set extra_float_digits = -15;
set datestyle = 'German';
set intervalstyle = 'iso_8601';
set timezone = 'Asia/Tokyo';
set bytea_output = 'escape';
set bloomfilter.cache_size = 0;
select md5(f::bytea) from (select bloom_agg(k, 100, 0.01, 0) f from generate_series(1, 100) k) s;
select bloom_hash('2024-02-29 12:00+00'::timestamptz) = bloom_hash('2024-02-29 14:00+02'::timestamptz),
       bloom_hash('2024-02-29'::date) = 7589229152762285626, bloom_hash(0.1::float8) = bloom_hash(0.10::float8);
reset all;
set client_min_messages = warning;
-- (the key of 2024-02-29 is day 19782)
select bloom_hash('2024-02-29'::date) = bloom_hash(19782);
