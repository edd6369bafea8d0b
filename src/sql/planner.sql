--
-- Support functions for the planner
--

CREATE FUNCTION bloom_add_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_add_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_add_support(internal) IS 'support function of the functions that add keys';

