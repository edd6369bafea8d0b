/* bloomfilter--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bloomfilter" to load this file. \quit

--
-- Type
--

CREATE TYPE bloomfilter;

CREATE FUNCTION bloomfilter_in(cstring) RETURNS bloomfilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_in(cstring) IS 'I/O: base64 of the bytes that doc/FORMAT.md describes';

CREATE FUNCTION bloomfilter_out(bloomfilter) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_out(bloomfilter) IS 'I/O';

CREATE FUNCTION bloomfilter_recv(internal) RETURNS bloomfilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_recv(internal) IS 'I/O: the bytes that doc/FORMAT.md describes';

CREATE FUNCTION bloomfilter_send(bloomfilter) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_send(bloomfilter) IS 'I/O';

-- A bit array does not compress, and is read by slices: EXTERNAL, not EXTENDED.
CREATE TYPE bloomfilter (
	INPUT = bloomfilter_in,
	OUTPUT = bloomfilter_out,
	RECEIVE = bloomfilter_recv,
	SEND = bloomfilter_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE bloomfilter IS 'Bloom filter: a set of keys that may contain more, never fewer';

--
-- Support functions for the planner
--

CREATE FUNCTION bloom_key_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_key_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key_support(internal) IS 'support function of the functions that take a text key';

CREATE FUNCTION bloom_add_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_add_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_add_support(internal) IS 'support function of the functions that add keys';

--
-- Constructors
--

CREATE FUNCTION bloom_create(n bigint, p double precision DEFAULT 0.01, seed bigint DEFAULT 0) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_create' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_create(bigint, double precision, bigint) IS 'empty filter for n keys at a false-positive rate of at most p';

CREATE FUNCTION bloom_create_bits_per_key(n bigint, bits_per_key double precision, seed bigint DEFAULT 0) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_create_bits_per_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_create_bits_per_key(bigint, double precision, bigint) IS 'empty filter for n keys with so many bits each and the best number of hashes';

CREATE FUNCTION bloom_create_sized(m bigint, k integer, seed bigint DEFAULT 0) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_create_sized' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_create_sized(bigint, integer, bigint) IS 'empty filter of at least m bits with k hashes per key';

CREATE FUNCTION bloom_create_part(part integer, parts integer, n bigint, p double precision DEFAULT 0.01, seed bigint DEFAULT 0) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_create_part' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_create_part(integer, integer, bigint, double precision, bigint) IS 'empty part, from 0, of a set of so many parts for n keys at a false-positive rate of at most p';

CREATE FUNCTION bloom_reset(filter bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_reset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_reset(bloomfilter) IS 'filter with the same parameters and no keys';

--
-- Adding and combining
--

CREATE FUNCTION bloom_add(filter bloomfilter, key anyelement) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 SUPPORT bloom_add_support;
COMMENT ON FUNCTION bloom_add(bloomfilter, anyelement) IS 'filter with one more key';

CREATE FUNCTION bloom_add(filter bloomfilter, key text) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 SUPPORT bloom_add_support;
COMMENT ON FUNCTION bloom_add(bloomfilter, text) IS 'filter with one more key';

CREATE FUNCTION bloom_add_all(filter bloomfilter, keys anyarray) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_add_all' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT bloom_add_support;
COMMENT ON FUNCTION bloom_add_all(bloomfilter, anyarray) IS 'filter with the keys of an array; null keys are skipped';

CREATE FUNCTION bloom_union(a bloomfilter, b bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_union(bloomfilter, bloomfilter) IS 'filter of the keys of either';

CREATE FUNCTION bloom_intersection(a bloomfilter, b bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_intersection' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_intersection(bloomfilter, bloomfilter) IS 'filter that contains at least the keys of both';

CREATE FUNCTION bloom_shrink(filter bloomfilter, p double precision DEFAULT NULL) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_shrink' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_shrink(bloomfilter, double precision) IS 'filter folded to the smallest size that keeps rate p for the keys that it holds';

--
-- Asking
--

CREATE FUNCTION bloom_contains(filter bloomfilter, key anyelement) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloom_contains(bloomfilter, anyelement) IS 'whether the filter may contain the key; false is certain';

CREATE FUNCTION bloom_contains(filter bloomfilter, key text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT bloom_key_support;
COMMENT ON FUNCTION bloom_contains(bloomfilter, text) IS 'whether the filter may contain the key; false is certain';

CREATE FUNCTION bloom_contained(key anyelement, filter bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloom_contained(anyelement, bloomfilter) IS 'implementation of <@ operator';

CREATE FUNCTION bloom_contained(key text, filter bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50 SUPPORT bloom_key_support;
COMMENT ON FUNCTION bloom_contained(text, bloomfilter) IS 'implementation of <@ operator';

CREATE FUNCTION bloom_contains_each(filter bloomfilter, keys anyarray) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bloomfilter_contains_each' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_contains_each(bloomfilter, anyarray) IS 'whether the filter may contain each key; the array has the same shape';

CREATE FUNCTION bloom_matches(filter bloomfilter, keys anyarray) RETURNS anyarray
	AS 'MODULE_PATHNAME', 'bloomfilter_matches' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_matches(bloomfilter, anyarray) IS 'the keys of an array that the filter may contain';

--
-- Knowing
--

CREATE FUNCTION bloom_sizing(
	n bigint,
	p double precision,
	OUT bits bigint,
	OUT bytes bigint,
	OUT hashes integer,
	OUT block_bits integer,
	OUT blocks bigint,
	OUT bits_per_key double precision,
	OUT expected_fpr double precision,
	OUT classic_bits bigint,
	OUT classic_hashes integer,
	OUT parts integer
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomfilter_sizing' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_sizing(bigint, double precision) IS 'what a filter for n keys at rate p takes, and what the textbook says';

CREATE FUNCTION bloom_stats(
	filter bloomfilter,
	OUT n bigint,
	OUT p double precision,
	OUT bits bigint,
	OUT bytes bigint,
	OUT hashes integer,
	OUT block_bits integer,
	OUT blocks bigint,
	OUT seed bigint,
	OUT key_type text,
	OUT bits_set bigint,
	OUT fill double precision,
	OUT cardinality bigint,
	OUT fpr double precision,
	OUT part integer,
	OUT parts integer,
	OUT format_version integer
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomfilter_stats' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_stats(bloomfilter) IS 'parameters and estimates of a filter, from its header alone';

CREATE FUNCTION bloom_cardinality(filter bloomfilter) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_cardinality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloom_cardinality(bloomfilter) IS 'estimated number of different keys in the filter';

CREATE FUNCTION bloom_fpr(filter bloomfilter) RETURNS double precision
	AS 'MODULE_PATHNAME', 'bloomfilter_fpr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloom_fpr(bloomfilter) IS 'expected false-positive rate for the keys in the filter now';

CREATE FUNCTION bloom_hash(key anyelement, seed bigint DEFAULT 0) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION bloom_hash(anyelement, bigint) IS 'hash of the key: XXH64 of the bytes that doc/FORMAT.md describes';

CREATE FUNCTION bloom_hash(key text, seed bigint DEFAULT 0) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT bloom_key_support;
COMMENT ON FUNCTION bloom_hash(text, bigint) IS 'hash of the key: XXH64 of the bytes that doc/FORMAT.md describes';

--
-- Sets of filters
--

CREATE FUNCTION bloom_part(key anyelement, parts integer, seed bigint DEFAULT 0) RETURNS integer
	AS 'MODULE_PATHNAME', 'bloomfilter_part' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION bloom_part(anyelement, integer, bigint) IS 'the part, from 0, that the key belongs to in a set of so many';

CREATE FUNCTION bloom_part(key text, parts integer, seed bigint DEFAULT 0) RETURNS integer
	AS 'MODULE_PATHNAME', 'bloomfilter_part' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 SUPPORT bloom_key_support;
COMMENT ON FUNCTION bloom_part(text, integer, bigint) IS 'the part, from 0, that the key belongs to in a set of so many';

--
-- Shipping
--

CREATE FUNCTION bloom_chunk(filter bloomfilter, "offset" bigint, length integer) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_chunk' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_chunk(bloomfilter, bigint, integer) IS 'bytes of the filter from an offset on; fewer at its end';

CREATE FUNCTION bloom_diff(old bloomfilter, new bloomfilter) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_diff' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bloom_diff(bloomfilter, bloomfilter) IS 'delta that bloom_apply turns the old filter into the new one with';

CREATE FUNCTION bloom_apply(old bloomfilter, diff bytea) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_apply' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bloom_apply(bloomfilter, bytea) IS 'the new filter of a delta, if it was made from this old one';

--
-- Checking and protecting
--

CREATE FUNCTION bloom_verify(filter bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_verify' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bloom_verify(bloomfilter) IS 'whether the stored bytes are whole: checksum and number of set bits';

CREATE FUNCTION bloom_random_seed() RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_random_seed' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_random_seed() IS 'seed from a strong random source, against crafted keys';

--
-- Watching
--

CREATE FUNCTION bloom_progress(
	OUT pid integer,
	OUT leader_pid integer,
	OUT started timestamp with time zone,
	OUT rows bigint,
	OUT rows_per_second double precision
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bloomfilter_progress' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_progress() IS 'processes that build filters now, with the rows that they have read';

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

CREATE FUNCTION bloom_agg_transfn(state internal, key text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, text) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key text, n bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, text, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key text, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, text, bigint, double precision) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_transfn(state internal, key text, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_transfn(internal, text, bigint, double precision, bigint) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key anyelement, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, anyelement, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key anyelement, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, anyelement, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key text, parts integer, n bigint, p double precision) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, text, integer, bigint, double precision) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_part_agg_transfn(state internal, key text, parts integer, n bigint, p double precision, seed bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_part_agg_transfn' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_part_agg_transfn(internal, text, integer, bigint, double precision, bigint) IS 'support function of bloom_part_agg';

CREATE FUNCTION bloom_agg_combine(state internal, other internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_combine(internal, internal) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_serialize(state internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_agg_serialize(internal) IS 'support function of bloom_agg';

CREATE FUNCTION bloom_agg_deserialize(state bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
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
COMMENT ON AGGREGATE bloom_agg(anyelement) IS 'filter of a column, sized for the keys that come';

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

CREATE AGGREGATE bloom_agg(key text) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(text) IS 'filter of a column, sized for the keys that come';

CREATE AGGREGATE bloom_agg(key text, n bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(text, bigint) IS 'filter of a column for n keys at a rate of 0.01';

CREATE AGGREGATE bloom_agg(key text, n bigint, p double precision) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(text, bigint, double precision) IS 'filter of a column for n keys at rate p';

CREATE AGGREGATE bloom_agg(key text, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(text, bigint, double precision, bigint) IS 'filter of a column for n keys at rate p, with a seed';

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

CREATE AGGREGATE bloom_part_agg(key text, parts integer, n bigint, p double precision) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(text, integer, bigint, double precision) IS 'one part of a set of filters for n keys at rate p; group by bloom_part';

CREATE AGGREGATE bloom_part_agg(key text, parts integer, n bigint, p double precision, seed bigint) (
	SFUNC = bloom_part_agg_transfn,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = bloom_agg_finalfn,
	COMBINEFUNC = bloom_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_part_agg(text, integer, bigint, double precision, bigint) IS 'one part of a set of filters for n keys at rate p, with a seed; group by bloom_part';

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

--
-- Comparison
--

CREATE FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) IS 'implementation of = operator';

CREATE FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) IS 'implementation of <> operator';

--
-- Operators
--

CREATE OPERATOR = (
	LEFTARG = bloomfilter,
	RIGHTARG = bloomfilter,
	FUNCTION = bloomfilter_eq,
	COMMUTATOR = =,
	NEGATOR = <>,
	RESTRICT = eqsel,
	JOIN = eqjoinsel
);
COMMENT ON OPERATOR = (bloomfilter, bloomfilter) IS 'equal byte for byte';

CREATE OPERATOR <> (
	LEFTARG = bloomfilter,
	RIGHTARG = bloomfilter,
	FUNCTION = bloomfilter_ne,
	COMMUTATOR = <>,
	NEGATOR = =,
	RESTRICT = neqsel,
	JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (bloomfilter, bloomfilter) IS 'not equal byte for byte';

CREATE OPERATOR | (
	LEFTARG = bloomfilter,
	RIGHTARG = bloomfilter,
	FUNCTION = bloom_union,
	COMMUTATOR = |
);
COMMENT ON OPERATOR | (bloomfilter, bloomfilter) IS 'union';

CREATE OPERATOR & (
	LEFTARG = bloomfilter,
	RIGHTARG = bloomfilter,
	FUNCTION = bloom_intersection,
	COMMUTATOR = &
);
COMMENT ON OPERATOR & (bloomfilter, bloomfilter) IS 'intersection';

CREATE OPERATOR @> (
	LEFTARG = bloomfilter,
	RIGHTARG = anyelement,
	FUNCTION = bloom_contains,
	COMMUTATOR = <@
);
COMMENT ON OPERATOR @> (bloomfilter, anyelement) IS 'may contain';

CREATE OPERATOR <@ (
	LEFTARG = anyelement,
	RIGHTARG = bloomfilter,
	FUNCTION = bloom_contained,
	COMMUTATOR = @>
);
COMMENT ON OPERATOR <@ (anyelement, bloomfilter) IS 'may be contained in';

CREATE OPERATOR @> (
	LEFTARG = bloomfilter,
	RIGHTARG = text,
	FUNCTION = bloom_contains,
	COMMUTATOR = <@
);
COMMENT ON OPERATOR @> (bloomfilter, text) IS 'may contain';

CREATE OPERATOR <@ (
	LEFTARG = text,
	RIGHTARG = bloomfilter,
	FUNCTION = bloom_contained,
	COMMUTATOR = @>
);
COMMENT ON OPERATOR <@ (text, bloomfilter) IS 'may be contained in';

--
-- Casts, explicit, through the validator
--

CREATE FUNCTION bloomfilter(bytea) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter(bytea) IS 'filter of these bytes, if they are one';

CREATE FUNCTION bytea(bloomfilter) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bytea(bloomfilter) IS 'the bytes of a filter';

CREATE CAST (bytea AS bloomfilter) WITH FUNCTION bloomfilter(bytea);
COMMENT ON CAST (bytea AS bloomfilter) IS 'checks the bytes';

CREATE CAST (bloomfilter AS bytea) WITH FUNCTION bytea(bloomfilter);
COMMENT ON CAST (bloomfilter AS bytea) IS 'the bytes as they are';
