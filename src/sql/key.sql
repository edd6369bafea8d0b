--
-- Keys without a type: literals and parameters, read as the filter's kind of keys
--

CREATE TYPE bloom_key;

CREATE FUNCTION bloom_key_in(cstring) RETURNS bloom_key
	AS 'MODULE_PATHNAME', 'bloomfilter_key_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key_in(cstring) IS 'I/O';

CREATE FUNCTION bloom_key_out(bloom_key) RETURNS cstring
	AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key_out(bloom_key) IS 'I/O';

CREATE FUNCTION bloom_key_recv(internal) RETURNS bloom_key
	AS 'textrecv' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key_recv(internal) IS 'I/O';

CREATE FUNCTION bloom_key_send(bloom_key) RETURNS bytea
	AS 'textsend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key_send(bloom_key) IS 'I/O';

-- A string, so that PostgreSQL takes a literal of no type for it; not the preferred one,
-- and without implicit casts, so that it takes nothing else for it.  Casts of other types
-- by their text, which PostgreSQL allows for strings, are refused by bloom_key_in.
CREATE TYPE bloom_key (
	INPUT = bloom_key_in,
	OUTPUT = bloom_key_out,
	RECEIVE = bloom_key_recv,
	SEND = bloom_key_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = extended,
	CATEGORY = 'S',
	COLLATABLE = true
);
COMMENT ON TYPE bloom_key IS 'key as it is written, read as the kind of keys that the filter holds';

CREATE FUNCTION bloom_key(text) RETURNS bloom_key
	AS 'MODULE_PATHNAME', 'bloomfilter_key_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key(text) IS 'text as a key that has no type';

CREATE FUNCTION bloom_key(varchar) RETURNS bloom_key
	AS 'MODULE_PATHNAME', 'bloomfilter_key_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key(varchar) IS 'text as a key that has no type';

CREATE FUNCTION bloom_key(char) RETURNS bloom_key
	AS 'MODULE_PATHNAME', 'bloomfilter_key_from_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_key(char) IS 'text as a key that has no type';

CREATE CAST (text AS bloom_key) WITH FUNCTION bloom_key(text);
COMMENT ON CAST (text AS bloom_key) IS 'takes the type away';

CREATE CAST (varchar AS bloom_key) WITH FUNCTION bloom_key(varchar);
COMMENT ON CAST (varchar AS bloom_key) IS 'takes the type away';

CREATE CAST (char AS bloom_key) WITH FUNCTION bloom_key(char);
COMMENT ON CAST (char AS bloom_key) IS 'takes the type and the padding away';
