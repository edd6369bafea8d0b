-- What the hints of type errors propose in the place of a key, followed: it says what SQL says.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
SET timezone = 'Asia/Tokyo';
CREATE EXTENSION IF NOT EXISTS citext;
CREATE TYPE mood AS ENUM ('sad', 'ok');

-- The hint of an error, and what the query says with the key that it proposes.
CREATE FUNCTION follow(query text, key text, OUT hint text, OUT answer boolean) LANGUAGE plpgsql AS $$
DECLARE
	proposed text;
BEGIN
	EXECUTE format(query, key) INTO answer;
EXCEPTION WHEN datatype_mismatch OR feature_not_supported THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	proposed := substring(hint FROM '(?:lower|encode|decode|host)\(key[^)]*\)|key::(?:double precision|[a-z0-9]+)');
	IF proposed IS NOT NULL THEN
		EXECUTE format(query, replace(proposed, 'key', '(' || key || ')')) INTO answer;
	END IF;
END $$;

-- Keys as they are held, and as somebody asks for them who has the same value in another type.
CREATE TABLE asked (held text, key text);
INSERT INTO asked VALUES
	('decode(md5(''x''), ''hex'')', 'md5(''x'')'), ('encode(sha256(''x''), ''hex'')', 'sha256(''x'')'), ('host(inet ''10.0.0.1'')', 'inet ''10.0.0.1'''),
	('42', 'text ''042'''), ('1.50', 'text ''1.5'''), ('1.0', '1'), ('float8 ''1.5''', '1.5'), ('float4 ''2''', '2'), ('float8 ''0.1''', 'text ''0.1'''),
	('uuid ''00112233-4455-6677-8899-aabbccddeeff''', 'text ''{00112233445566778899AABBCCDDEEFF}'''),
	('date ''2024-02-29''', 'text ''2024-02-29'''), ('timestamp ''2024-02-29''', 'date ''2024-02-29'''), ('timestamp ''2024-02-29''', 'text ''2024-02-29'''),
	('timestamptz ''2024-02-29 00:00+09''', 'date ''2024-02-29'''), ('timestamptz ''2024-02-29 00:00+09''', 'timestamp ''2024-02-29'''),
	('timestamptz ''2024-02-29 00:00+09''', 'text ''2024-02-28 15:00Z'''),
	('inet ''10.0.0.1''', 'text ''10.0.0.1/32'''), ('macaddr ''08:00:2b:01:02:03''', 'text ''0800.2b01.0203''');
SELECT held, key, f.* FROM asked, follow(format('SELECT bloom_contains((SELECT bloom_agg(k, 10, 1e-9) FROM (SELECT %s) v (k)), %%s)', held), key) f;

-- What a cast would make another key of, or another text: no hint proposes one.
CREATE TABLE unlike (held text, key text);
INSERT INTO unlike VALUES
	('1', '1.5'), ('1', 'float8 ''1.5'''), ('0.1', 'float8 ''0.1'''), ('date ''2024-02-29''', 'timestamp ''2024-02-29 12:00'''),
	('timestamp ''2024-02-29''', 'timestamptz ''2024-02-29'''), ('1', 'ROW(1)'), ('text ''1.0''', '1.00'), ('text ''x''', 'uuid ''00112233-4455-6677-8899-aabbccddeeff''');
SELECT held, key, f.hint, answer FROM unlike, follow(format('SELECT bloom_contains((SELECT bloom_agg(k, 10, 1e-9) FROM (SELECT %s) v (k)), %%s)', held), key) f;

-- Types that can't be keys: on both sides.
CREATE TABLE other (held text, key text);
INSERT INTO other VALUES
	('citext ''Ab''', 'citext ''aB'''), ('oid ''42''', 'oid ''42'''), ('true', '''t''::boolean'), ('''ok''::mood', '''ok''::mood'), ('bit ''101''', 'bit ''101'''),
	('time ''24:00''', 'time ''24:00:00'''), ('''a''::"char"', '''a''::"char"'), ('jsonb ''1.0''', 'jsonb ''1.00'''), ('interval ''1 day''', 'interval ''24:00''');
SELECT held, a.hint, a.answer FROM other,
	follow('SELECT bloom_agg(k, 10, 1e-9) IS NOT NULL FROM (SELECT %s) v (k)', held) b,
	follow(format('SELECT bloom_contains((SELECT bloom_agg(k, 10, 1e-9) FROM (SELECT %s) v (k)), %%s)',
		coalesce(replace(substring(b.hint FROM 'lower\(key::text\)|key::[a-z]+'), 'key', '(' || held || ')'), 'NULL::int')), key) a;

-- Live indexes.
CREATE TABLE live (b bytea, n bigint);
CREATE INDEX ON live USING bloomfilter (b);
CREATE INDEX ON live USING bloomfilter (n);
INSERT INTO live VALUES ('\xab', 42);
SELECT f.* FROM (VALUES ('b', 'text ''ab'''), ('n', 'text ''42'''), ('n', '42.5')) v (c, key),
	follow(format('SELECT bloom_index_contains(''live'', %L, %%s)', c), key) f;
DROP TABLE asked, unlike, other, live;
DROP FUNCTION follow;
DROP TYPE mood;
DROP EXTENSION citext CASCADE;
