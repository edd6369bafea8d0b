--
-- Comparison
--

CREATE FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) IS 'implementation of = operator';

CREATE FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) IS 'implementation of <> operator';

CREATE FUNCTION bloomfilter_hash_value(bloomfilter) RETURNS integer
	AS 'MODULE_PATHNAME', 'bloomfilter_hash_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloomfilter_hash_value(bloomfilter) IS 'hash of a filter: its checksum';

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
	JOIN = eqjoinsel,
	HASHES
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

CREATE OPERATOR FAMILY bloomfilter_ops USING hash;
COMMENT ON OPERATOR FAMILY bloomfilter_ops USING hash IS 'filters equal byte for byte';

CREATE OPERATOR CLASS bloomfilter_ops
	DEFAULT FOR TYPE bloomfilter USING hash FAMILY bloomfilter_ops AS
	OPERATOR 1 =,
	FUNCTION 1 bloomfilter_hash_value(bloomfilter);
COMMENT ON OPERATOR CLASS bloomfilter_ops USING hash IS 'filters equal byte for byte';

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
