--
-- Shipping
--

CREATE FUNCTION bloom_chunk(filter bloomfilter, "offset" bigint, length integer) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomfilter_chunk' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_chunk(bloomfilter, bigint, integer) IS 'bytes of the filter from an offset on; fewer at its end';

--
-- Checking and protecting
--

CREATE FUNCTION bloom_verify(filter bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_verify' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bloom_verify(bloomfilter) IS 'whether the stored bytes are whole: checksum and number of set bits';

CREATE FUNCTION bloom_random_seed() RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_random_seed' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_random_seed() IS 'seed from a strong random source, against crafted keys';
