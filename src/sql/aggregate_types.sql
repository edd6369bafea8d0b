--
-- The aggregates again for the types by which people distribute tables
--

-- Engines that split aggregates between machines compare declared types of arguments with
-- those of the columns, and call the transition function without an expression to tell its
-- types.  All are the same functions in C as those for anyelement; keys of text go there as
-- bloom_key.  A form for text would take citext's keys for text's.

CREATE FUNCTION bloom_agg_transfn(state internal, key smallint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, smallint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key smallint, n bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, smallint, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key smallint, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, smallint, bigint, double precision) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key smallint, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, smallint, bigint, double precision, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key smallint, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, smallint, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key smallint, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, smallint, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

CREATE AGGREGATE bloom_agg(key smallint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(smallint) IS 'filter of a column, sized for the keys that come';

CREATE AGGREGATE bloom_agg(key smallint, n bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(smallint, bigint) IS 'filter of a column for n keys at a rate of 0.01';

CREATE AGGREGATE bloom_agg(key smallint, n bigint, p double precision) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(smallint, bigint, double precision) IS 'filter of a column for n keys at rate p';

CREATE AGGREGATE bloom_agg(key smallint, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(smallint, bigint, double precision, bigint) IS 'filter of a column for n keys at rate p, with a seed';

CREATE AGGREGATE bloom_part_agg(key smallint, parts integer, n bigint, p double precision) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(smallint, integer, bigint, double precision) IS 'one part of a set of filters for n keys at rate p; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key smallint, parts integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(smallint, integer, bigint, double precision, bigint) IS 'one part of a set of filters for n keys at rate p, with a seed; group by bloom_part';

CREATE FUNCTION bloom_agg_transfn(state internal, key integer) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, integer) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key integer, n bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, integer, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, integer, bigint, double precision) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, integer, bigint, double precision, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key integer, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, integer, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key integer, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, integer, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

CREATE AGGREGATE bloom_agg(key integer) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(integer) IS 'filter of a column, sized for the keys that come';

CREATE AGGREGATE bloom_agg(key integer, n bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(integer, bigint) IS 'filter of a column for n keys at a rate of 0.01';

CREATE AGGREGATE bloom_agg(key integer, n bigint, p double precision) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(integer, bigint, double precision) IS 'filter of a column for n keys at rate p';

CREATE AGGREGATE bloom_agg(key integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(integer, bigint, double precision, bigint) IS 'filter of a column for n keys at rate p, with a seed';

CREATE AGGREGATE bloom_part_agg(key integer, parts integer, n bigint, p double precision) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(integer, integer, bigint, double precision) IS 'one part of a set of filters for n keys at rate p; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key integer, parts integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(integer, integer, bigint, double precision, bigint) IS 'one part of a set of filters for n keys at rate p, with a seed; group by bloom_part';

CREATE FUNCTION bloom_agg_transfn(state internal, key bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key bigint, n bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bigint, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key bigint, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bigint, bigint, double precision) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key bigint, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, bigint, bigint, double precision, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key bigint, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, bigint, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key bigint, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, bigint, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

CREATE AGGREGATE bloom_agg(key bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bigint) IS 'filter of a column, sized for the keys that come';

CREATE AGGREGATE bloom_agg(key bigint, n bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bigint, bigint) IS 'filter of a column for n keys at a rate of 0.01';

CREATE AGGREGATE bloom_agg(key bigint, n bigint, p double precision) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bigint, bigint, double precision) IS 'filter of a column for n keys at rate p';

CREATE AGGREGATE bloom_agg(key bigint, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(bigint, bigint, double precision, bigint) IS 'filter of a column for n keys at rate p, with a seed';

CREATE AGGREGATE bloom_part_agg(key bigint, parts integer, n bigint, p double precision) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(bigint, integer, bigint, double precision) IS 'one part of a set of filters for n keys at rate p; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key bigint, parts integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(bigint, integer, bigint, double precision, bigint) IS 'one part of a set of filters for n keys at rate p, with a seed; group by bloom_part';

CREATE FUNCTION bloom_agg_transfn(state internal, key uuid) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, uuid) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key uuid, n bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, uuid, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key uuid, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, uuid, bigint, double precision) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key uuid, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, uuid, bigint, double precision, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key uuid, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, uuid, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key uuid, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, uuid, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

CREATE AGGREGATE bloom_agg(key uuid) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(uuid) IS 'filter of a column, sized for the keys that come';

CREATE AGGREGATE bloom_agg(key uuid, n bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(uuid, bigint) IS 'filter of a column for n keys at a rate of 0.01';

CREATE AGGREGATE bloom_agg(key uuid, n bigint, p double precision) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(uuid, bigint, double precision) IS 'filter of a column for n keys at rate p';

CREATE AGGREGATE bloom_agg(key uuid, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(uuid, bigint, double precision, bigint) IS 'filter of a column for n keys at rate p, with a seed';

CREATE AGGREGATE bloom_part_agg(key uuid, parts integer, n bigint, p double precision) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(uuid, integer, bigint, double precision) IS 'one part of a set of filters for n keys at rate p; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key uuid, parts integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(uuid, integer, bigint, double precision, bigint) IS 'one part of a set of filters for n keys at rate p, with a seed; group by bloom_part';
