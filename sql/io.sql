-- Text and bytes: what goes out comes in again, and nothing else does.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- FORMAT.md's example: the text form is base64 of its bytes
-- the example of doc/FORMAT.md: one key, 42
create temp table example as select decode('424c4d46010709010200000000000100000000000000000064000000000000007b14ae47e17a843f07000000000000000100000022af682cf8272352e84db1a4'
  || '00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
  || '00000400000000000000001000000000000000000010000010000000080000000000000000000000000000000000000000080000000000010000000000000000', 'hex') as bytes;
select f @> 42, f @> 1000000, octet_length(f::bytea), f::bytea = bytes, (bloom_stats(f)).n, (bloom_stats(f)).key_type
from (select bytes::bloomfilter f, bytes from example) s;
-- its text form is base64 of the same bytes, in one line
select f::text = translate(encode(bytes, 'base64'), E'\n', ''), f::text::bloomfilter = f, length(f::text), left(f::text, 5) from (select bytes::bloomfilter f, bytes from example) s;
-- the text form of a large filter has no line breaks and comes in again
create temp table large as select bloom_agg(k, 500000) f from generate_series(1, 200000) k;
select length(f::text) = (octet_length(f::bytea) + 2) / 3 * 4, f::text ~ '^[A-Za-z0-9+/]*=*$', f::text::bloomfilter = f, f::bytea::bloomfilter = f from large;
-- each length of padding
select octet_length(f::bytea) % 3 as rest, length(f::text) - length(rtrim(f::text, '=')) as padding, bool_and(f::text::bloomfilter = f) from
  (select bloom_create_sized(512 * m, 3) f from generate_series(1, 6) m) s group by 1, 2 order by 1;
-- bytea_output does not matter
set bytea_output = escape;
select f::bytea = bytes and f::text::bloomfilter = f from (select bytes::bloomfilter f, bytes from example) s;
reset bytea_output;

-- text that is no filter is refused, with one SQLSTATE
create temp table texts as select o, what, t from example, lateral (select translate(encode(bytes, 'base64'), E'\n', '') b) s, lateral (values
  (1, 'empty', ''), (2, 'one character', 'Q'), (3, 'four characters', 'QkxN'), (4, 'magic alone', 'QkxNRg=='), (5, 'not base64', 'not a filter'),
  (6, 'hex', bytes::text), (7, 'leading space', ' ' || b), (8, 'trailing space', b || ' '), (9, 'four trailing spaces', b || '    '), (10, 'trailing newline', b || E'\n'),
  (11, 'embedded newline', left(b, 76) || E'\n' || substring(b from 77)), (12, 'four embedded newlines', left(b, 76) || E'\n\n\n\n' || substring(b from 77)),
  (13, 'embedded spaces', left(b, 8) || '    ' || substring(b from 9)), (14, 'trailing garbage', b || 'QUJD'), (15, 'trailing padding', b || '===='), (16, 'one byte less', left(b, -4) || 'AAA='),
  (17, 'cut', left(b, -4)), (18, 'cut to a fragment', left(b, -3)), (19, 'doubled', b || b), (20, 'without padding', rtrim(translate(encode(bytes || '\x00'::bytea, 'base64'), E'\n', ''), '=')),
  (21, 'characters outside of base64', '****' || substring(b from 5)), (22, 'url-safe base64', replace('-_-_' || substring(b from 5), '+', '-')), (23, 'lower case', lower(b)),
  (24, 'json', '{}'), (25, 'padding in the middle', left(b, 2) || '==' || substring(b from 5)), (26, 'a letter that is not ASCII', 'é' || b), (27, 'only padding', '===='), (28, 'one padding', '=')) v(o, what, t);
select what, pg_temp.error_of(format('select %L::bloomfilter', t)) from texts order by o;
-- softly, where the server has that (16 and newer)
select pg_temp.answer_of(statement) in ('42883', 'answer: ' || wanted) as softly from (values
  ('select count(*) from texts where pg_input_is_valid(t, ''bloomfilter'')', '0'),
  ('select bool_and(pg_input_is_valid(bloom_create(m)::text, ''bloomfilter'')) from generate_series(1, 1000, 100) m', 'true'),
  ('select message from pg_input_error_info(''Q'', ''bloomfilter'')', 'invalid input syntax for type bloomfilter')) v(statement, wanted);
-- bytes that are no filter are refused by the cast
select pg_temp.error_of('select ''''::bytea::bloomfilter'), pg_temp.error_of('select ''BLMF''::bytea::bloomfilter');
select pg_temp.error_of('select substring(bytes for 191)::bloomfilter from example');
select pg_temp.error_of('select (bytes || ''\x00'')::bloomfilter from example');
-- a change of any single bit is noticed
select count(*) as bits, count(*) filter (where pg_temp.error_of(format('select %L::bytea::bloomfilter', set_bit(bytes, i, 1 - get_bit(bytes, i)))) !~ '^(22023|0A000)') as unnoticed
from example, generate_series(0, 192 * 8 - 1) i;
-- a header that lies about its size allocates nothing, its own checksum being right or not
create function pg_temp.header_sealed(bytes bytea) returns bytea language sql as $$
  select overlay(bytes placing string_agg(decode(lpad(to_hex(h >> 8 * i & 255), 2, '0'), 'hex'), '' order by i) from 53 for 4)
  from bloom_hash(substring(bytes for 52)) h, generate_series(0, 3) i
$$;
select pg_temp.header_sealed(bytes) = bytes, pg_temp.error_of(format('select %L::bytea::bloomfilter', lying)), pg_temp.error_of(format('select %L::bytea::bloomfilter', pg_temp.header_sealed(lying)))
from example, lateral (select overlay(bytes placing '\xffffffff'::bytea from 9 for 4) lying) s;

-- the casts are explicit only
create temp table target (f bloomfilter, b bytea);
select pg_temp.error_of('insert into target (f) select bytes from example') ~ '^42804', pg_temp.error_of('insert into target (b) select bloom_create(1)') ~ '^42804',
       pg_temp.error_of('select length(bloom_create(1))') ~ '^42883', pg_temp.error_of('select bloom_cardinality(bytes) from example') ~ '^42883';
insert into target select bytes::bloomfilter, bytes from example;
select f = b::bloomfilter, f::bytea = b, cast(f as bytea) = b from target;
-- NULL stays NULL
select null::text::bloomfilter is null, null::bytea::bloomfilter is null, null::bloomfilter::bytea is null, null::bloomfilter::text is null;

-- = and <> compare bytes
select a = a, a <> a, a = b, a <> b, a = c, a = null is null from
  (select bloom_agg(k, 100) a, bloom_agg(k + 1, 100) b, bloom_agg(k, 1000) c from generate_series(1, 50) k) s;
select bloom_create(10) = bloom_create(10), bloom_create(10) = bloom_create(10, 0.01, 1), bloom_create(10) <> bloom_create(11), bloom_create(10) = bloom_reset(bloom_add(bloom_create(10), 1)),
       bloom_create(10) is distinct from bloom_create(10), bloom_create(10) in (bloom_create(9), bloom_create(10));
select count(*) from large a join large b on a.f = b.f;
-- without an order: no sorting, an error and no guess
select pg_temp.error_of('select f from large order by f') ~ '^42883', pg_temp.error_of('select bloom_create(1) < bloom_create(1)') ~ '^42883';

-- COPY as text, and dumped as INSERT
copy (select f from target) to stdout;
copy target (f) from stdin;
QkxNRgEHCQECAAAAAAABAAAAAAAAAAAAZAAAAAAAAAB7FK5H4XqEPwcAAAAAAAAAAQAAACKvaCz4JyNS6E2xpAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAABAAAAAAAAAAAAAQAAAQAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAQAAAAAAAAAA
\N
\.
select count(*), count(f), count(*) filter (where f @> 42) from target;
-- binary: the same bytes (what comes in is tested with a whole server)
select bloomfilter_send(f) = f::bytea, octet_length(bloomfilter_send(f)) from target where f is not null limit 1;
