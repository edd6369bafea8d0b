--
-- Live indexes: an index that is the filter
--

CREATE FUNCTION bloomfilter_index_handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_index_handler(internal) IS 'handler of the access method bloomfilter';

CREATE ACCESS METHOD bloomfilter TYPE INDEX HANDLER bloomfilter_index_handler;
COMMENT ON ACCESS METHOD bloomfilter IS 'live index: an index that is a Bloom filter, which bloom_index_contains looks up';

--
-- Look-ups in live indexes.  A result may turn from false to true within a statement, never
-- back: STABLE.
--

-- Not strict: the first argument is a NULL of the table's row type.  It runs a query.
CREATE FUNCTION bloom_search("table" anyelement, column_name name, key anycompatible) RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'bloomfilter_search' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 10;
COMMENT ON FUNCTION bloom_search(anyelement, name, anycompatible) IS 'rows of the table that have the key in the column, from the partitions that may have it';

CREATE FUNCTION bloom_search("table" anyelement, column_name name, key bloom_key) RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'bloomfilter_search' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 10;
COMMENT ON FUNCTION bloom_search(anyelement, name, bloom_key) IS 'rows of the table that have the key in the column, from the partitions that may have it';

--
-- Knowing and shipping live indexes
--

CREATE FUNCTION bloom_snapshot(index regclass) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_snapshot' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bloom_snapshot(regclass) IS 'a live index as a value, as bloom_agg would have made it';

CREATE FUNCTION bloom_snapshot(index regclass, part integer) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_snapshot' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bloom_snapshot(regclass, integer) IS 'a part of a live index that is too large for one value, from 0';

-- The first row has the token in bytes; then come the headers of all parts, with a part, if
-- all is told; then pages, with their part and first block.
CREATE FUNCTION bloom_index_changes(
	index regclass,
	since bytea,
	OUT part integer,
	OUT block bigint,
	OUT bytes bytea,
	OUT build bigint,
	OUT true_at timestamptz
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bloomfilter_index_changes' LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION bloom_index_changes(regclass, bytea) IS 'what was set in a live index since a token of this session, or all of it';

CREATE FUNCTION bloom_index_stats(
	index regclass,
	sample integer DEFAULT 100,
	OUT n bigint,
	OUT p double precision,
	OUT bits bigint,
	OUT bytes bigint,
	OUT hashes integer,
	OUT block_bits integer,
	OUT blocks bigint,
	OUT seed bigint,
	OUT key_type text,
	OUT fill double precision,
	OUT cardinality bigint,
	OUT fpr double precision,
	OUT parts integer,
	OUT overflow_pages bigint,
	OUT overflow_depth integer,
	OUT sampled_pages integer
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomfilter_index_stats' LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION bloom_index_stats(regclass, integer) IS 'parameters and estimates of a live index, from a sample of its pages';

CREATE FUNCTION bloom_index_verify(index regclass) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_index_verify' LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bloom_index_verify(regclass) IS 'whether all pages of a live index are whole; an error says what is not';

-- An error is the status.  It runs a subtransaction, which a parallel query can't.
CREATE FUNCTION bloom_live_row(index regclass, OUT status text, OUT n bigint, OUT p double precision, OUT bits bigint,
	OUT bytes bigint, OUT hashes integer, OUT block_bits integer, OUT blocks bigint, OUT seed bigint, OUT key_type text, OUT fill double precision,
	OUT cardinality bigint, OUT fpr double precision, OUT parts integer, OUT overflow_pages bigint, OUT overflow_depth integer, OUT sampled_pages integer) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomfilter_live_row' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION bloom_live_row(regclass) IS 'support function of bloom_live: bloom_index_stats, with the reason where there are none';

-- By exact types, as bloom_published.
CREATE VIEW bloom_live AS
	SELECT s.nspname AS schemaname,
		t.relname AS tablename,
		c.relname AS indexname,
		t.oid AS relid,
		c.oid AS indexrelid,
		pg_catalog.pg_get_indexdef(c.oid, 1, true) AS key,
		pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS predicate,
		i.indisvalid AS valid,
		r.status,
		r.n, r.p, r.bytes, r.fill, r.cardinality, r.fpr, r.parts,
		r.overflow_pages, r.overflow_depth
	FROM pg_catalog.pg_am a
		JOIN pg_catalog.pg_class c ON c.relam = a.oid AND c.relkind = 'i'
		JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
		JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
		JOIN pg_catalog.pg_namespace s ON s.oid = t.relnamespace
		CROSS JOIN LATERAL bloom_live_row(c.oid::pg_catalog.regclass) r
	WHERE a.amname = 'bloomfilter';
COMMENT ON VIEW bloom_live IS 'all live indexes of the database, with their statistics';
COMMENT ON COLUMN bloom_live.schemaname IS 'schema of the table';
COMMENT ON COLUMN bloom_live.tablename IS 'name of the table';
COMMENT ON COLUMN bloom_live.indexname IS 'name of the index, which is the filter';
COMMENT ON COLUMN bloom_live.relid IS 'OID of the table';
COMMENT ON COLUMN bloom_live.indexrelid IS 'OID of the index';
COMMENT ON COLUMN bloom_live.key IS 'column or expression whose values are the keys';
COMMENT ON COLUMN bloom_live.predicate IS 'of a partial index, the condition of the rows that it has';
COMMENT ON COLUMN bloom_live.valid IS 'whether the index has all rows, so that look-ups can be false';
COMMENT ON COLUMN bloom_live.status IS 'ok, or why the columns below are null or the filter is of no use';
COMMENT ON COLUMN bloom_live.n IS 'number of keys that it was sized for';
COMMENT ON COLUMN bloom_live.p IS 'false-positive rate that it was sized for';
COMMENT ON COLUMN bloom_live.bytes IS 'size of its file';
COMMENT ON COLUMN bloom_live.fill IS 'share of bits that are set';
COMMENT ON COLUMN bloom_live.cardinality IS 'number of keys that it holds, estimated from the bits';
COMMENT ON COLUMN bloom_live.fpr IS 'false-positive rate that it has, estimated from the bits';
COMMENT ON COLUMN bloom_live.parts IS 'number of parts that a snapshot of it has';
COMMENT ON COLUMN bloom_live.overflow_pages IS 'pages that it needed beyond those that it was sized for';
COMMENT ON COLUMN bloom_live.overflow_depth IS 'pages that a look-up reads at most, beyond the first';
GRANT SELECT ON bloom_live TO PUBLIC;
