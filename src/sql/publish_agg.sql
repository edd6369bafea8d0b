--
-- What bloom_publish reads the keys of its query by; of no use to anybody else
--

CREATE FUNCTION bloom_publish_transfn(state internal, what bytea, key anyelement) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_transfn' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_transfn(internal, bytea, anyelement) IS 'support function of bloom_publish_agg';

CREATE FUNCTION bloom_publish_transfn(state internal, what bytea, key bloom_key) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_transfn' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_transfn(internal, bytea, bloom_key) IS 'support function of bloom_publish_agg';

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

CREATE AGGREGATE bloom_publish_agg(what bytea, key anyelement) (
	SFUNC = bloom_publish_transfn,
	STYPE = internal,
	FINALFUNC = bloom_publish_finalfn,
	COMBINEFUNC = bloom_publish_combine,
	SERIALFUNC = bloom_publish_serialize,
	DESERIALFUNC = bloom_publish_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_publish_agg(bytea, anyelement) IS 'support aggregate of bloom_publish';

CREATE AGGREGATE bloom_publish_agg(what bytea, key bloom_key) (
	SFUNC = bloom_publish_transfn,
	STYPE = internal,
	FINALFUNC = bloom_publish_finalfn,
	COMBINEFUNC = bloom_publish_combine,
	SERIALFUNC = bloom_publish_serialize,
	DESERIALFUNC = bloom_publish_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_publish_agg(bytea, bloom_key) IS 'support aggregate of bloom_publish';

CREATE FUNCTION bloom_publish_transfn(state internal, what bytea, key anyelement, member boolean) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_transfn' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_transfn(internal, bytea, anyelement, boolean) IS 'support function of bloom_publish_agg';

CREATE AGGREGATE bloom_publish_agg(what bytea, key anyelement, member boolean) (
	SFUNC = bloom_publish_transfn,
	STYPE = internal,
	FINALFUNC = bloom_publish_finalfn,
	COMBINEFUNC = bloom_publish_combine,
	SERIALFUNC = bloom_publish_serialize,
	DESERIALFUNC = bloom_publish_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_publish_agg(bytea, anyelement, boolean) IS 'support aggregate of bloom_publish';

CREATE FUNCTION bloom_publish_transfn(state internal, what bytea, key bloom_key, member boolean) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_transfn' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_publish_transfn(internal, bytea, bloom_key, boolean) IS 'support function of bloom_publish_agg';

CREATE AGGREGATE bloom_publish_agg(what bytea, key bloom_key, member boolean) (
	SFUNC = bloom_publish_transfn,
	STYPE = internal,
	FINALFUNC = bloom_publish_finalfn,
	COMBINEFUNC = bloom_publish_combine,
	SERIALFUNC = bloom_publish_serialize,
	DESERIALFUNC = bloom_publish_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_publish_agg(bytea, bloom_key, boolean) IS 'support aggregate of bloom_publish';

-- The same where another engine has the rows: it splits an aggregate whose state and arguments are of
-- types that it knows.

CREATE FUNCTION bloom_publish_key(key anyelement, shape bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION bloom_publish_key(anyelement, bytea) IS 'support function of bloom_publish';

CREATE FUNCTION bloom_publish_key(key bloom_key, shape bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION bloom_publish_key(bloom_key, bytea) IS 'support function of bloom_publish';

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
