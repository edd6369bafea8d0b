--
-- Aggregates
--

-- Support functions refuse to be called outside an aggregate.

-- COST from here on is measured: it is paid for each group in each process, and without it
-- groups of few keys were built in parallel, which took half as long again as one process.
CREATE FUNCTION bloom_agg_combine(state internal, other internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloom_agg_combine(internal, internal) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_serialize(state internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloom_agg_serialize(internal) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_deserialize(state bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 15;
COMMENT ON FUNCTION bloom_agg_deserialize(bytea, internal) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_finalfn(state internal) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_finalfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_finalfn(internal) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_union_agg_transfn(state bloomfilter, filter bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_union_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_union_agg_transfn(bloomfilter, bloomfilter) IS 'support function of bloom_union_agg';

CREATE FUNCTION bloom_union_agg_finalfn(state bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_union_agg_finalfn' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_union_agg_finalfn(bloomfilter) IS 'support function of bloom_union_agg';

CREATE FUNCTION bloom_intersection_agg_transfn(state bloomfilter, filter bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_intersection_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_intersection_agg_transfn(bloomfilter, bloomfilter) IS 'support function of bloom_intersection_agg';

CREATE AGGREGATE bloom_union_agg(filter bloomfilter) (
	SFUNC = bloom_union_agg_transfn,
	STYPE = bloomfilter,
	SSPACE = 1048576,
	FINALFUNC = bloom_union_agg_finalfn,
	COMBINEFUNC = bloom_union_agg_transfn,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_union_agg(bloomfilter) IS 'filter of the keys of any of the filters';

CREATE AGGREGATE bloom_intersection_agg(filter bloomfilter) (
	SFUNC = bloom_intersection_agg_transfn,
	STYPE = bloomfilter,
	SSPACE = 1048576,
	COMBINEFUNC = bloom_intersection_agg_transfn,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_intersection_agg(bloomfilter) IS 'filter that contains at least the keys of all of the filters';

