--
-- Aggregates
--

-- Support functions refuse to be called outside an aggregate.

CREATE FUNCTION bloom_agg_transfn(state internal, key anyelement) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, anyelement) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key anyelement, n bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, anyelement, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key anyelement, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, anyelement, bigint, double precision) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key anyelement, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, anyelement, bigint, double precision, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key bloom_key) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bloom_key) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key bloom_key, n bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bloom_key, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key bloom_key, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bloom_key, bigint, double precision) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key bloom_key, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bloom_key, bigint, double precision, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key anyelement, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, anyelement, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key anyelement, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, anyelement, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key bloom_key, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, bloom_key, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key bloom_key, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, bloom_key, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

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

CREATE AGGREGATE bloom_agg(key anyelement) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anyelement) IS 'filter of a column, sized for the keys that come; texts are taken without the blanks at their end';

CREATE AGGREGATE bloom_agg(key anyelement, n bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anyelement, bigint) IS 'filter of a column for n keys at a rate of 0.01';

CREATE AGGREGATE bloom_agg(key anyelement, n bigint, p double precision) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anyelement, bigint, double precision) IS 'filter of a column for n keys at rate p';

CREATE AGGREGATE bloom_agg(key anyelement, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anyelement, bigint, double precision, bigint) IS 'filter of a column for n keys at rate p, with a seed';

CREATE AGGREGATE bloom_agg(key bloom_key) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bloom_key) IS 'filter of a column, sized for the keys that come';

CREATE AGGREGATE bloom_agg(key bloom_key, n bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bloom_key, bigint) IS 'filter of a column for n keys at a rate of 0.01';

CREATE AGGREGATE bloom_agg(key bloom_key, n bigint, p double precision) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bloom_key, bigint, double precision) IS 'filter of a column for n keys at rate p';

CREATE AGGREGATE bloom_agg(key bloom_key, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bloom_key, bigint, double precision, bigint) IS 'filter of a column for n keys at rate p, with a seed';

CREATE AGGREGATE bloom_part_agg(key anyelement, parts integer, n bigint, p double precision) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(anyelement, integer, bigint, double precision) IS 'one part of a set of filters for n keys at rate p; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key anyelement, parts integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(anyelement, integer, bigint, double precision, bigint) IS 'one part of a set of filters for n keys at rate p, with a seed; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key bloom_key, parts integer, n bigint, p double precision) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(bloom_key, integer, bigint, double precision) IS 'one part of a set of filters for n keys at rate p; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key bloom_key, parts integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(bloom_key, integer, bigint, double precision, bigint) IS 'one part of a set of filters for n keys at rate p, with a seed; group by bloom_part';

CREATE FUNCTION bloom_union_agg_transfn(state bloomfilter, filter bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_union_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_union_agg_transfn(bloomfilter, bloomfilter) IS 'support function of bloom_union_agg';

CREATE FUNCTION bloom_union_agg_finalfn(state bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_union_agg_finalfn' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_union_agg_finalfn(bloomfilter) IS 'support function of bloom_union_agg';

CREATE FUNCTION bloom_intersection_agg_finalfn(state bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_intersection_agg_finalfn' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_intersection_agg_finalfn(bloomfilter) IS 'support function of bloom_intersection_agg';

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
	FINALFUNC = bloom_intersection_agg_finalfn,
	COMBINEFUNC = bloom_intersection_agg_transfn,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_intersection_agg(bloomfilter) IS 'filter that contains at least the keys of all of the filters';

