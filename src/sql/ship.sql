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
