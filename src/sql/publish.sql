--
-- Published lists
--

-- The tables: each list's current generation (back = 0) and the one before it (back = 1).
-- Identity and serial are the list's own, in its row, so that dumps, replication and
-- pg_upgrade carry them.  Names have the collation "C", by which look-ups read the index.

CREATE TABLE bloom_generation (
	name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 1000),
	back smallint NOT NULL CHECK (back BETWEEN 0 AND 1),
	identity uuid NOT NULL,
	serial bigint NOT NULL CHECK (serial > 0),
	built_at timestamp with time zone NOT NULL,
	built_xmin xid8,
	n bigint NOT NULL,
	p double precision NOT NULL,
	seed bigint NOT NULL,
	parts integer NOT NULL,
	keys bigint,
	build_seconds double precision,
	check_seconds double precision,
	measured_rate double precision,
	PRIMARY KEY (name, back)
);
COMMENT ON TABLE bloom_generation IS 'published lists: the current generation and the one before it';

CREATE TABLE bloom_generation_part (
	name text COLLATE "C" NOT NULL,
	back smallint NOT NULL,
	part integer NOT NULL,
	filter bloomfilter NOT NULL,
	PRIMARY KEY (name, back, part)
) WITH (
	toast.autovacuum_vacuum_scale_factor = 0.01,
	toast.autovacuum_vacuum_cost_delay = 0,
	toast.vacuum_truncate = false
);
-- As its type is: to be read by slices.
ALTER TABLE bloom_generation_part ALTER filter SET STORAGE external;
COMMENT ON TABLE bloom_generation_part IS 'the filters of published lists';

CREATE TABLE bloom_list_delta (
	name text COLLATE "C" NOT NULL,
	part integer NOT NULL,
	serial bigint NOT NULL,
	delta bytea NOT NULL,
	PRIMARY KEY (name, part)
) WITH (
	toast.autovacuum_vacuum_scale_factor = 0.01,
	toast.autovacuum_vacuum_cost_delay = 0,
	toast.vacuum_truncate = false
);
-- Compressed already.
ALTER TABLE bloom_list_delta ALTER delta SET STORAGE external;
COMMENT ON TABLE bloom_list_delta IS 'what leads from a part of the generation before to the current part';

-- They are data of the database, to be dumped with it.
SELECT pg_catalog.pg_extension_config_dump('bloom_generation', '');
SELECT pg_catalog.pg_extension_config_dump('bloom_generation_part', '');
SELECT pg_catalog.pg_extension_config_dump('bloom_list_delta', '');

CREATE VIEW bloom_list AS
	SELECT name, identity, serial, built_at, built_xmin, n, p, seed, parts, keys,
		build_seconds, check_seconds, measured_rate
	FROM bloom_generation
	WHERE back = 0;
COMMENT ON VIEW bloom_list IS 'published lists, as they are asked now';

CREATE VIEW bloom_list_part AS
	SELECT name, part, filter
	FROM bloom_generation_part
	WHERE back = 0;
COMMENT ON VIEW bloom_list_part IS 'the filters of published lists, as they are asked now';

CREATE VIEW bloom_published AS
	SELECT l.name, l.identity, l.serial, l.built_at, now() - l.built_at AS age,
		l.build_seconds, l.check_seconds, l.keys, l.n, l.p,
		f.rate, l.measured_rate, f.fullest_part, f.bytes, l.parts, f.key_type,
		EXISTS (SELECT FROM bloom_generation b WHERE b.name = l.name AND b.back = 1) AS has_before
	FROM bloom_list l
	CROSS JOIN LATERAL (
		SELECT max(s.fpr) AS rate,
			max(s.cardinality / s.n::double precision) AS fullest_part,
			sum(s.bytes)::bigint AS bytes,
			max(s.key_type) FILTER (WHERE s.key_type <> 'none') AS key_type
		FROM bloom_list_part t
		CROSS JOIN LATERAL bloom_stats(t.filter) s
		WHERE t.name = l.name
	) f;
COMMENT ON VIEW bloom_published IS 'published lists: how old, how large, how full, and what their build and check took';

-- Nobody runs with another's rights: who publishes needs rights on the tables.

CREATE PROCEDURE bloom_publish(
	name text,
	query text,
	p double precision DEFAULT 0.01,
	n bigint DEFAULT NULL,
	parts integer DEFAULT NULL,
	seed bigint DEFAULT NULL,
	"check" boolean DEFAULT true,
	allow_empty boolean DEFAULT false
)
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_query' LANGUAGE C;
COMMENT ON PROCEDURE bloom_publish(text, text, double precision, bigint, integer, bigint, boolean, boolean) IS 'builds a filter of a query''s keys, checks it and publishes it as a list';

CREATE FUNCTION bloom_publish(name text, filter bloomfilter) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_filter' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_publish(text, bloomfilter) IS 'publishes a filter as a list and returns its serial';

CREATE FUNCTION bloom_publish(name text, filters bloomfilter[]) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_filters' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_publish(text, bloomfilter[]) IS 'publishes a set of filters, all its parts, as a list and returns its serial';

CREATE FUNCTION bloom_rollback(name text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_rollback' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_rollback(text) IS 'brings the generation before back, once, and returns its new serial';

CREATE FUNCTION bloom_drop(name text) RETURNS void
	AS 'MODULE_PATHNAME', 'bloomfilter_drop' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_drop(text) IS 'removes a list';

CREATE FUNCTION bloom_set_identity(name text, identity uuid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_set_identity' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_set_identity(text, uuid) IS 'gives a list the identity by which its followers know it, and returns its new serial';

-- Asking: they read the tables for whoever may execute them, and give away no more
-- than an answer.

CREATE FUNCTION bloom_lookup(list text, key anyelement) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_lookup' LANGUAGE C STABLE PARALLEL SAFE COST 100 SUPPORT bloom_lookup_support;
COMMENT ON FUNCTION bloom_lookup(text, anyelement) IS 'whether the published list may contain the key; false is certain';

CREATE FUNCTION bloom_lookup(list text, key bloom_key) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_lookup' LANGUAGE C STABLE PARALLEL SAFE COST 100 SUPPORT bloom_lookup_support;
COMMENT ON FUNCTION bloom_lookup(text, bloom_key) IS 'whether the published list may contain the key; false is certain';

CREATE FUNCTION bloom_lookup_each(list text, keys anyarray) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bloomfilter_lookup_each' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_lookup_each(text, anyarray) IS 'whether the published list may contain each key; the array has the same shape';

CREATE FUNCTION bloom_lookup_each(list text, keys bloom_key) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bloomfilter_lookup_each' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_lookup_each(text, bloom_key) IS 'the same for an array that is written as text';

-- Whoever created the extension may do all of this, and let others.

REVOKE EXECUTE ON FUNCTION bloom_lookup(text, anyelement), bloom_lookup(text, bloom_key),
	bloom_lookup_each(text, anyarray), bloom_lookup_each(text, bloom_key) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bloom_lookup(text, anyelement), bloom_lookup(text, bloom_key),
	bloom_lookup_each(text, anyarray), bloom_lookup_each(text, bloom_key) TO @extowner@ WITH GRANT OPTION;
GRANT SELECT, INSERT, UPDATE, DELETE ON bloom_generation, bloom_generation_part, bloom_list_delta
	TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON bloom_list, bloom_list_part, bloom_published TO @extowner@ WITH GRANT OPTION;
