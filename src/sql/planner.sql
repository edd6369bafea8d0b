--
-- Support functions for the planner
--

CREATE FUNCTION bloom_add_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_add_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_add_support(internal) IS 'support function of the functions that add keys';

CREATE FUNCTION bloom_contains_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomfilter_contains_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_contains_support(internal) IS 'support function of the functions that ask for a key';

CREATE FUNCTION bloom_contains_sel(internal, oid, internal, integer) RETURNS double precision
	AS 'MODULE_PATHNAME', 'bloomfilter_contains_sel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_contains_sel(internal, oid, internal, integer) IS 'restriction selectivity of the operators that ask for a key';

CREATE FUNCTION bloom_contains_joinsel(internal, oid, internal, smallint, internal) RETURNS double precision
	AS 'MODULE_PATHNAME', 'bloomfilter_contains_joinsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_contains_joinsel(internal, oid, internal, smallint, internal) IS 'join selectivity of the operators that ask for a key';
