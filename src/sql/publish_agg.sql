--
-- What bloom_publish reads the keys of its query by; of no use to anybody else
--

CREATE FUNCTION bloom_publish_combine(state internal, other internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_combine' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_combine(internal, internal) IS 'support function of bloom_publish_agg';

CREATE FUNCTION bloom_publish_serialize(state internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_serialize' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_serialize(internal) IS 'support function of bloom_publish_agg';

CREATE FUNCTION bloom_publish_deserialize(state bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_deserialize' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_deserialize(bytea, internal) IS 'support function of bloom_publish_agg';

CREATE FUNCTION bloom_publish_finalfn(state internal) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_finalfn' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_finalfn(internal) IS 'support function of bloom_publish_agg';

-- The same where another engine has the rows: it splits an aggregate whose state and arguments are of
-- types that it knows.

CREATE FUNCTION bloom_publish_part(key bytea) RETURNS integer
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_part' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION bloom_publish_part(bytea) IS 'support function of bloom_publish';

CREATE FUNCTION bloom_publish_apart_transfn(state bloomfilter, key bytea) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_apart_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_apart_transfn(bloomfilter, bytea) IS 'support function of bloom_publish_apart';

CREATE AGGREGATE bloom_publish_apart(key bytea) (
	SFUNC = bloom_publish_apart_transfn,
	STYPE = bloomfilter,
	SSPACE = 16384,
	COMBINEFUNC = bloom_union_agg_transfn,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_publish_apart(bytea) IS 'support aggregate of bloom_publish';
