-- store.sql: filters of every kind and shape, and whatever a database may build on
-- them.
--
--	psql -f store.sql DATABASE
--
-- Nothing here depends on the PostgreSQL that makes it, so two databases made by two
-- majors hold the same bytes. What came after version :least is left out.

\set ON_ERROR_STOP on
\set QUIET on
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS bloomfilter;

-- Keys of each SQL type, made of a number.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'größer');
CREATE DOMAIN account_number AS bigint CHECK (value > -1000000000);
CREATE TABLE kind (kind text PRIMARY KEY, key text NOT NULL, most integer NOT NULL DEFAULT 20000);
INSERT INTO kind (kind, key) VALUES
	('smallint', '(i - 10000)::smallint'),
	('integer', '(i * 7919 - 400000)::integer'),
	('bigint', 'i * 1234567890123'),
	('domain', '(i * 7919)::account_number'),
	('text', '''Schlüssel '' || i'),
	('varchar', '(''key '' || i)::varchar(20)'),
	('char', '(''key '' || i)::char(20)'),
	('name', '(''key '' || i)::name'),
	('enum', '(enum_range(null::mood))[1 + i % 4]::text'),
	('bytea', 'decode(md5(i::text), ''hex'')'),
	('uuid', 'md5(i::text)::uuid'),
	('numeric', '(i - 500) * 1.10::numeric / 8'),
	('date', 'date ''1850-03-01'' + i::integer'),
	('timestamp', 'timestamp ''1969-12-31 12:00'' + i * interval ''1.000777 seconds'''),
	('timestamptz', 'timestamptz ''2024-03-30 12:00+00'' + i * interval ''7.123456 seconds'''),
	('real', '(i / 4.0)::real'),
	('double', '(i - 500) / 7.0::double precision'),
	('inet', 'CASE i % 2 WHEN 0 THEN inet ''10.0.0.0/8'' + i ELSE inet ''2001:db8::/64'' + i END'),
	('cidr', 'set_masklen((inet ''10.0.0.0'' + i * 256)::cidr, 24)'),
	('macaddr', 'left(md5(i::text), 12)::macaddr'),
	('macaddr8', 'left(md5(i::text), 16)::macaddr8');
UPDATE kind SET most = 4 WHERE kind = 'enum';

-- How a filter of keys is made; k is a key.
CREATE TABLE shape (shape text PRIMARY KEY, expression text NOT NULL, keys integer NOT NULL, only_kind text);
INSERT INTO shape VALUES
	('smallest', 'bloom_add_all(bloom_create_sized(512, 1), array_agg(k))', 4, NULL),
	('sized', 'bloom_agg(k, 1000, 0.001, 7)', 1000, NULL),
	('unsized', 'bloom_agg(k)', 500, NULL),
	('toasted', 'bloom_agg(k, 20000, 0.01)', 20000, NULL),
	('empty', 'bloom_create(1000, 0.01, 9223372036854775807)', 0, 'text'),
	('reset', 'bloom_reset(bloom_agg(k))', 0, 'text'),
	('full', 'bloom_add_all(bloom_create_sized(512, 32, -9223372036854775808), array_agg(k))', 20000, 'text'),
	('1e-7', 'bloom_agg(k, 5000, 1e-7)', 5000, 'uuid'),
	('sparse', 'bloom_add_all(bloom_create_sized(1000000, 3), array_agg(k))', 20, 'integer'),
	('2 MB', 'bloom_agg(k, 1700000, 0.01)', 20000, 'text'),
	('12 MB', 'bloom_add_all(bloom_create_sized(100000000, 7, 42), array_agg(k))', 20000, 'bigint'),
	('shrunk', 'bloom_shrink(bloom_agg(k, 1000000, 0.01))', 3000, 'text'),
	('union', 'bloom_agg(k, 9000, 0.01) FILTER (WHERE i % 2 = 0) | bloom_agg(k, 9000, 0.01) FILTER (WHERE i % 2 = 1)',
		9000, 'numeric');

CREATE TABLE recipe (
	id serial PRIMARY KEY,
	kind text NOT NULL REFERENCES kind,
	shape text NOT NULL REFERENCES shape,
	keys integer NOT NULL,
	UNIQUE (kind, shape));
INSERT INTO recipe (kind, shape, keys)
SELECT kind, shape, least(keys, most)
FROM kind, shape
WHERE only_kind IS NULL OR only_kind = kind
ORDER BY kind COLLATE "C", shape COLLATE "C";

-- The keys that recipe gives, first to last, and the filter of them.
CREATE FUNCTION keys_of(kind text, first bigint, last bigint) RETURNS text LANGUAGE sql STABLE
SET search_path FROM CURRENT AS $$
	SELECT format('SELECT i, %s AS k FROM generate_series(%s::bigint, %s) AS i', k.key, $2, $3)
	FROM kind AS k WHERE k.kind = $1
$$;
CREATE FUNCTION build(recipe) RETURNS bloomfilter LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT AS $$
DECLARE
	f bloomfilter;
BEGIN
	-- An aggregate of nothing is NULL.
	EXECUTE format('SELECT %s FROM (%s) AS s', (SELECT expression FROM shape WHERE shape = $1.shape),
		keys_of($1.kind, 1, greatest($1.keys, 1))) INTO f;
	RETURN f;
END
$$;

CREATE TABLE stored (id integer PRIMARY KEY REFERENCES recipe, filter bloomfilter NOT NULL);
INSERT INTO stored SELECT id, build(r) FROM recipe AS r ORDER BY id;

-- Every form in which a row can hold one.
CREATE TABLE form_plain (keys integer, filter bloomfilter);
CREATE TABLE form_main (LIKE form_plain);
CREATE TABLE form_extended (LIKE form_plain);
CREATE TABLE form_external (LIKE form_plain);
CREATE TABLE form_lz4 (LIKE form_plain);
ALTER TABLE form_plain ALTER filter SET STORAGE plain;
ALTER TABLE form_main ALTER filter SET STORAGE main;
ALTER TABLE form_extended ALTER filter SET STORAGE extended;
ALTER TABLE form_external ALTER filter SET STORAGE external;
ALTER TABLE form_lz4 ALTER filter SET STORAGE extended;
ALTER TABLE form_extended ALTER filter SET COMPRESSION pglz;
ALTER TABLE form_lz4 ALTER filter SET COMPRESSION lz4;
INSERT INTO form_plain
SELECT keys, bloom_add_all(bloom_create_sized(m, 5), array(SELECT generate_series(1, keys)))
FROM (VALUES (512, 10), (16384, 100), (50000, 1000)) AS v (m, keys);
-- Computed, since a value that is only moved keeps its form.
INSERT INTO form_main SELECT keys, bloom_union(filter, filter) FROM form_plain;
INSERT INTO form_extended SELECT keys, bloom_union(filter, filter) FROM form_plain;
-- Compresses well, and is still too large for a row.
INSERT INTO form_extended
SELECT keys, bloom_add_all(bloom_create_sized(m, 5), array(SELECT generate_series(1, keys)))
FROM (VALUES (1000000, 20), (20000000, 2000)) AS v (m, keys);
INSERT INTO form_external SELECT keys, bloom_union(filter, filter) FROM form_extended;
INSERT INTO form_lz4 SELECT keys, bloom_union(filter, filter) FROM form_extended;
CREATE VIEW form AS
SELECT 'plain' AS form, * FROM form_plain UNION ALL SELECT 'main', * FROM form_main
UNION ALL SELECT 'extended', * FROM form_extended UNION ALL SELECT 'external', * FROM form_external
UNION ALL SELECT 'lz4', * FROM form_lz4;

-- A set of parts, as one table and with a partition for each.
CREATE TABLE part (part integer PRIMARY KEY, filter bloomfilter NOT NULL);
INSERT INTO part SELECT bloom_part(k, 4, 9), bloom_part_agg(k, 4, 40000, 0.01, 9) FROM generate_series(1, 40000) AS k GROUP BY 1;
CREATE TABLE parted (part integer, filter bloomfilter) PARTITION BY LIST (part);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0, 1);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT * FROM part;
CREATE TABLE account (id bigint NOT NULL) PARTITION BY LIST (bloom_part(id, 3));
CREATE TABLE account_0 PARTITION OF account FOR VALUES IN (0);
CREATE TABLE account_1 PARTITION OF account FOR VALUES IN (1, 2);
INSERT INTO account SELECT generate_series(1, 3000);

-- Inside other types.
CREATE TYPE labelled AS (label text, filter bloomfilter);
-- Not by a cast: pg_upgrade makes the casts of an extension after the domains.
CREATE DOMAIN small_filter AS bloomfilter CHECK (octet_length(bytea(value)) <= 4096);
CREATE TABLE nested (id integer, list bloomfilter[], labelled labelled, many labelled[], small small_filter);
INSERT INTO nested
SELECT 1, ARRAY[filter, NULL, bloom_reset(filter)], ROW ('a"b,c', filter)::labelled, ARRAY[ROW ('d', filter)::labelled], filter
FROM stored JOIN recipe USING (id) WHERE kind = 'text' AND shape = 'sized';

-- Whatever may call a function.
CREATE TABLE built (
	id bigint PRIMARY KEY CHECK (bloom_hash(id) IS NOT NULL),
	filter bloomfilter NOT NULL DEFAULT bloom_add(bloom_create(100), 42::bigint),
	asked boolean GENERATED ALWAYS AS (bloom_contains(filter, id)) STORED,
	fpr double precision GENERATED ALWAYS AS (bloom_fpr(filter)) STORED,
	part integer GENERATED ALWAYS AS (bloom_part(id, 8)) STORED,
	CONSTRAINT holds_42 CHECK (filter @> 42::bigint));
CREATE INDEX built_hash ON built (bloom_hash(id, 7));
CREATE INDEX built_cardinality ON built (bloom_cardinality(filter)) WHERE bloom_contains(filter, 42::bigint);
CREATE UNIQUE INDEX built_bytes ON built (md5(filter::bytea), id);
INSERT INTO built (id) SELECT generate_series(41, 43);
INSERT INTO built SELECT k, bloom_add_all(bloom_create(100), ARRAY[k, 42::bigint]) FROM generate_series(101, 200) AS k;
CREATE STATISTICS account_part ON (bloom_part(id, 8)) FROM account;
ANALYZE;

CREATE VIEW asked AS SELECT id, 42::bigint <@ filter AS holds, bloom_contains(filter, id) AS own FROM built;
CREATE VIEW looked_up AS
SELECT k, (SELECT filter FROM part WHERE part = bloom_part(k, 4, 9)) @> k AS found FROM generate_series(1, 41000) AS k;
CREATE MATERIALIZED VIEW whitelist AS SELECT bloom_agg(id, 3000, 0.01) AS filter FROM account;
CREATE FUNCTION ask(bigint) RETURNS boolean LANGUAGE sql STABLE SET search_path FROM CURRENT
	AS $$ SELECT bloom_contains(filter, $1) FROM whitelist $$;
CREATE FUNCTION ask_or(bigint, bloomfilter DEFAULT bloom_create(10)) RETURNS boolean LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT AS $$
BEGIN
	RETURN $2 @> $1 OR ask($1);
END
$$;
CREATE FUNCTION size_of(bloomfilter) RETURNS integer LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT octet_length($1::bytea); END;
CREATE AGGREGATE joined(bloomfilter) (SFUNC = bloom_union, STYPE = bloomfilter, COMBINEFUNC = bloom_union);
CREATE TABLE journal (id bigint);
CREATE FUNCTION note_id() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
	AS $$ BEGIN INSERT INTO journal VALUES (NEW.id); RETURN NEW; END $$;
CREATE TRIGGER known_id AFTER INSERT ON built FOR EACH ROW WHEN (bloom_contains(NEW.filter, NEW.id)) EXECUTE FUNCTION note_id();
CREATE RULE known_part AS ON UPDATE TO part WHERE OLD.filter <> NEW.filter DO ALSO INSERT INTO journal VALUES (OLD.part);
ALTER TABLE account_0 ENABLE ROW LEVEL SECURITY;
CREATE POLICY known ON account_0 USING (bloom_part(id, 3) = 0);

-- A published list, with the filter before it, and live indexes, which are indexes.
CALL bloom_publish('account', 'SELECT id FROM account WHERE id <= 2000');
CALL bloom_publish('account', 'SELECT id FROM account', parts => 3);
CREATE INDEX account_live ON account USING bloomfilter (id) WITH (n = 10000, seed = 5);
CREATE INDEX built_live ON built USING bloomfilter (id) WITH (n = 10000, p = 0.001);

-- A file that somebody keeps in the database.
CREATE TABLE file (id oid);
INSERT INTO file SELECT lo_from_bytea(0, filter::bytea) FROM stored JOIN recipe USING (id) WHERE shape = 'toasted';
