--
-- Constructors
--

CREATE FUNCTION bloom_create(n bigint, p double precision DEFAULT 0.01, seed bigint DEFAULT 0) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomfilter_create' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_create(bigint, double precision, bigint) IS 'empty filter for n keys at a false-positive rate of at most p';

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
	OUT format_version integer,
	OUT levels integer,
	OUT others bigint
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomfilter_stats' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_stats(bloomfilter) IS 'parameters and estimates of a filter, from its header alone';

CREATE FUNCTION bloom_cardinality(filter bloomfilter) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_cardinality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloom_cardinality(bloomfilter) IS 'estimated number of different keys in the filter';

CREATE FUNCTION bloom_fpr(filter bloomfilter) RETURNS double precision
	AS 'MODULE_PATHNAME', 'bloomfilter_fpr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloom_fpr(bloomfilter) IS 'expected false-positive rate for the keys in the filter now';

