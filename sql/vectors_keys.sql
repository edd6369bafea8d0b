-- Each key of the golden vectors by the SQL expression that it has there.
\set table keys
\i `echo $PG_ABS_SRCDIR`/sql/lib/vectors.sql
-- No setting changes a key.
set extra_float_digits = -15;
set datestyle = 'German';
set intervalstyle = 'iso_8601';
set timezone = 'Asia/Tokyo';
set bytea_output = 'escape';
create function pg_temp.signed(number text) returns bigint language sql immutable as
  'select (case when number::numeric < 2::numeric ^ 63 then number::numeric else number::numeric - 2::numeric ^ 64 end)::bigint';
create temp table keys as
  select f[2] as key, pg_temp.signed(f[4]) as seed, ('x' || f[5])::bit(64)::bigint as hash, f[1]::int as key_type,
         f[11]::int as parts, f[12]::int as part
  from lines where f[2] <> '-';
create temp table answers (key text, seed bigint, hash bigint, parts int, part int, key_type text, found boolean);
do $$
declare
  k record;
begin
  for k in select * from keys loop
    execute format('insert into answers select %L, %L, bloom_hash(%s, %L), %L, bloom_part(%s, %L, %L), '
                   '(bloom_stats(f)).key_type, f @> %s '
                   'from (select bloom_add(bloom_create(1, 0.01, %L), %s) offset 0) s(f)',
                   k.key, k.seed, k.key, k.seed, k.parts, k.key, k.parts, k.seed, k.key, k.seed, k.key);
  end loop;
end $$;
-- every key of the vectors was asked
select count(*) = (select count(*) from keys) and count(*) > 500 as asked from answers;
-- bloom_hash is the hash of the vectors
select k.key, k.seed, k.hash, a.hash from keys k join answers a using (key, seed) where k.hash <> a.hash;
-- bloom_part is the part of the vectors
select k.key, k.part, a.part from keys k join answers a using (key, seed)
where k.part <> a.part and k.parts = a.parts;
-- each key is found in a filter of it
select key from answers where found is not true;
-- each key type has one name, and a row those of its columns
select k.key_type, a.key_type as name from keys k join answers a using (key, seed) group by 1, 2 order by 1, a.key_type collate "C";
