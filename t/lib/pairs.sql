-- Tables of equal values in every type that can be a key, and in some that can't, and of what
-- SQL and every way of looking up say about each pair of them.  :seed chooses the values.
SET client_min_messages = warning;
SELECT setseed(:seed);
CREATE DOMAIN word AS varchar(12);
CREATE DOMAIN padded AS char(6);
CREATE DOMAIN small AS smallint CHECK (value < 100);

CREATE TABLE types (id serial, name text, can_be_key boolean);
INSERT INTO types (name, can_be_key) SELECT t, true FROM unnest('{smallint,integer,bigint,small,numeric,"numeric(20,3)",real,
	double precision,text,varchar,varchar(40),char(8),char(3),bpchar,name,word,padded,bytea,uuid,date,timestamp,timestamptz,
	inet,cidr,macaddr,macaddr8}'::text[]) t;
INSERT INTO types (name, can_be_key) SELECT t, false FROM unnest('{oid,citext,"\"char\"",interval,boolean}'::text[]) t;

-- Texts that one type or another reads; what a type takes of them are its values.
CREATE TABLE pool AS
	SELECT t FROM unnest(ARRAY['', ' ', 'ab', 'ab ', 'ab      ', ' ab', E'ab\t', U&'ab\00a0', 'AB', 'x', U&'\00e9', U&'\00e9  ', repeat('n', 63),
		repeat('n', 70), '0', '-0', '1', '1.0', '1.50', '1.5', '42', '42.000', '-42', '99', '32767', '16777217', '9007199254740993', '0.1', '1e3', '1000',
		'NaN', 'Infinity', '-Infinity', 't', '\x6162', '\x616220', '\x', '2024-02-29', '2024-02-29 00:00:00', '2024-02-29 00:00:00+00',
		'2024-03-31 02:30:00', '2024-02-29 12:34:56.789012', 'infinity', '-infinity', '1970-01-01', '10.0.0.1', '10.0.0.1/32', '10.0.0.0/8',
		'::1', '::1/128', '::ffff:10.0.0.1', '08:00:2b:01:02:03', '08:00:2b:ff:fe:01:02:03', '08:00:2b:01:02:03:04:05', '1 day', '-32768', '9223372036854775807',
		'1e20', '1e-1000', '10e129999', '5e-324', 'Feb 29, 2024', '5874897-12-31', '4713-01-01 00:00:00 BC', '294276-12-31 23:59:59.999999', '10/8',
		'0800.2b01.0203', '00112233-4455-6677-8899-aabbccddeeff', '{00112233445566778899aabbccddeeff}']) t
	UNION SELECT x::text FROM generate_series(1, 6), lateral (SELECT (random() * 200 - 100)::int) r(x)
	UNION SELECT (x / 8.0)::text FROM generate_series(1, 4), lateral (SELECT (random() * 20000)::int) r(x)
	UNION SELECT chr(97 + (random() * 25)::int) || repeat(' ', (random() * 4)::int) || chr(97 + (random() * 25)::int) || repeat(' ', (random() * 5)::int)
		FROM generate_series(1, 8)
	UNION SELECT (timestamp '2024-01-01' + x * interval '43200 seconds')::text FROM generate_series(1, 6), lateral (SELECT (random() * 800)::int) r(x)
	UNION SELECT (date '2024-01-01' + (random() * 400)::int)::text FROM generate_series(1, 4)
	UNION SELECT (inet '10.0.0.0' + (random() * 300)::int)::text FROM generate_series(1, 3);

-- Equal in SQL to another type's value: each value cast from type to type as well.
CREATE PROCEDURE fill(id int, type text) LANGUAGE plpgsql AS $$
DECLARE
	t text;
BEGIN
	EXECUTE format('CREATE TABLE k%s (k %s)', id, type);
	FOR t IN SELECT pool.t FROM pool LOOP
		BEGIN
			EXECUTE format('INSERT INTO k%s SELECT %L::%s', id, t, type);
		EXCEPTION WHEN data_exception OR check_violation OR feature_not_supported THEN NULL;
		END;
	END LOOP;
END $$;
CREATE TABLE held (id int, f bloomfilter, r bloomfilter);
DO $$
DECLARE
	t types;
BEGIN
	FOR t IN SELECT * FROM types LOOP
		CALL fill(t.id, t.name);
		IF t.can_be_key THEN
			EXECUTE format('INSERT INTO held SELECT %1$s, bloom_agg(k, 1000, 1e-9), bloom_agg(row(k, 1), 1000, 1e-9) FROM k%1$s', t.id);
			EXECUTE format('SELECT bloom_publish_filter(%L, f) FROM held WHERE id = %s', 'l' || t.id, t.id);
			EXECUTE format('CREATE INDEX i%1$s ON k%1$s USING bloomfilter (k) WITH (n = 1000, p = 1e-9)', t.id);
		END IF;
	END LOOP;
END $$;

-- Ways of looking up; %1$s is the key, %2$s the number of the type that is held, %3$s an array of the key.
CREATE TABLE ways (way text, expression text);
INSERT INTO ways VALUES
	('@>', 'f @> %1$s'), ('<@', '%1$s <@ f'), ('contains', 'bloom_contains(f, %1$s)'), ('row', 'r @> row(%1$s, 1)'),
	('each', '(bloom_contains_each(f, %3$s))[1]'),
	('lookup', 'bloom_lookup(''l%2$s'', %1$s)'), ('lookup_each', '(bloom_lookup_each(''l%2$s'', %3$s))[1]'),
	('index', 'bloom_index_contains(''i%2$s'', %1$s)'), ('column', 'bloom_index_contains(''k%2$s'', ''k'', %1$s)'),
	('index each', '(bloom_index_contains_each(''i%2$s'', %3$s))[1]'), ('column each', '(bloom_index_contains_each(''k%2$s'', ''k'', %3$s))[1]');

-- Runs a query of one row (members, wrong); an error is its SQLSTATE.
CREATE FUNCTION run(query text, OUT members bigint, OUT wrong bigint, OUT state text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query INTO members, wrong;
EXCEPTION WHEN OTHERS THEN
	state := sqlstate;
END $$;

-- Every value of type b that SQL finds by = or IN among those of type a.
CREATE TABLE typed AS
	SELECT a.name AS a, b.name AS b, w.way, r.*
	FROM types a JOIN types b ON a.can_be_key,
		lateral run(format('SELECT count(*), 0 FROM k%s a JOIN k%s b ON a.k = b.k', a.id, b.id)) sql, ways w,
		lateral run(format('SELECT count(*), count(*) FILTER (WHERE (%s) IS NOT TRUE) FROM (SELECT b.k FROM k%s b WHERE EXISTS (SELECT FROM k%s a WHERE a.k = b.k)
			OR b.k IN (SELECT a.k FROM k%s a) OFFSET 0) s, held WHERE id = %s',
			format(w.expression, 's.k', a.id, 'ARRAY[s.k]'), b.id, a.id, a.id, a.id)) r
	WHERE sql.members > 0;

-- What the error's hint proposes in the place of the key, followed, for members and others.
CREATE FUNCTION proposed(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE query;
	RETURN NULL;
EXCEPTION WHEN datatype_mismatch THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN substring(hint FROM 'Ask for key::(.*)\.$');
END $$;
CREATE TABLE followed AS
	SELECT a.name AS a, b.name AS b, type, r.*
	FROM types a JOIN types b ON a.can_be_key AND b.can_be_key,
		lateral run(format('SELECT count(*), 0 FROM k%s a JOIN k%s b ON a.k = b.k', a.id, b.id)) sql,
		lateral proposed(format('SELECT bloom_contains(f, k) FROM held, k%s WHERE id = %s', b.id, a.id)) type,
		lateral run(format('SELECT count(*), count(*) FILTER (WHERE bloom_contains(f, s.k::%s) IS DISTINCT FROM EXISTS (SELECT FROM k%s a WHERE a.k = s.k))
			FROM k%s s, held WHERE id = %s', type, a.id, b.id, a.id)) r
	WHERE type IS NOT NULL AND sql.state IS NULL;

-- Every literal without a type that SQL finds, in the forms that values are printed in.
CREATE TABLE printed (id int, t text);
DO $$
DECLARE
	t types;
BEGIN
	FOR t IN SELECT * FROM types WHERE can_be_key LOOP
		EXECUTE format('INSERT INTO printed SELECT %s, x.t FROM (SELECT t FROM pool UNION SELECT k::text FROM k%1$s UNION SELECT format(%L, k) FROM k%1$s) x',
			t.id, '%s');
	END LOOP;
END $$;
CREATE TABLE literals AS
	SELECT a.name AS a, p.t, w.way, r.*
	FROM types a JOIN printed p USING (id),
		lateral run(format('SELECT count(*), 0 FROM (SELECT FROM k%s WHERE k = %L) s', a.id, p.t)) sql, ways w,
		lateral run(format('SELECT 1, count(*) FILTER (WHERE (%s) IS NOT TRUE) FROM held WHERE id = %s',
			format(w.expression, quote_literal(p.t), a.id, quote_literal(ARRAY[p.t]::text)), a.id)) r
	WHERE a.can_be_key AND sql.members > 0;
