--
-- Changes of published lists by day
--

SELECT pg_catalog.pg_extension_config_dump('bloom_change', '');
SELECT pg_catalog.pg_extension_config_dump('bloom_absorbed', '');

CREATE FUNCTION bloom_change_kind(key bytea) RETURNS text
	AS 'MODULE_PATHNAME', 'bloomfilter_change_kind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_change_kind(bytea) IS 'support function of bloom_list_change: the type of a key, as bloom_stats shows it';

-- bloom_hash would be looked for among forms that others have made of it.
CREATE FUNCTION bloom_change_hash(key bytea, seed bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_change_hash(bytea, bigint) IS 'support function of bloom_list_change: the hash of a key''s bytes';

-- For hosts: no key's bytes leave the server.
CREATE VIEW bloom_list_change AS
	SELECT c.name, bloom_change_hash(pg_catalog.substr(c.key, 5), g.seed) AS hash,
		pg_catalog.substr(pg_catalog.sha256(pg_catalog.substr(c.key, 5)), 1, 16) AS tag,
		c.value, c.version, c.xmin AS changed_xmin
	FROM bloom_change c
	JOIN bloom_generation g ON g.name OPERATOR(pg_catalog.=) c.name AND g.back OPERATOR(pg_catalog.=) 0::smallint
	JOIN bloom_generation_part p ON p.name OPERATOR(pg_catalog.=) c.name AND p.back OPERATOR(pg_catalog.=) 0::smallint
		AND p.part OPERATOR(pg_catalog.=) 0 AND p.tracked
	WHERE coalesce(g.key_type OPERATOR(pg_catalog.=) bloom_change_kind(c.key), true)
		AND NOT EXISTS (
			SELECT FROM bloom_absorbed a
			WHERE a.name OPERATOR(pg_catalog.=) c.name AND a.back OPERATOR(pg_catalog.=) 0::smallint
				AND a.key OPERATOR(pg_catalog.=) c.key AND a.version OPERATOR(pg_catalog.=) c.version
		);
COMMENT ON VIEW bloom_list_change IS 'changes of published lists that are in force, for their followers';
COMMENT ON COLUMN bloom_list_change.name IS 'of the list';
COMMENT ON COLUMN bloom_list_change.hash IS 'of the key, by the seed of the list';
COMMENT ON COLUMN bloom_list_change.tag IS 'first 16 bytes of the SHA-256 of the key''s bytes';
COMMENT ON COLUMN bloom_list_change.value IS 'what look-ups of the key answer';
COMMENT ON COLUMN bloom_list_change.version IS 'grows with each change of the key';
COMMENT ON COLUMN bloom_list_change.changed_xmin IS 'transaction that wrote the change on this server';

-- They make a list tracked, and end it, by a publish of it.
CREATE PROCEDURE bloom_track(name text, relation regclass DEFAULT NULL, key_column name DEFAULT NULL, boolean_column name DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'bloomfilter_track' LANGUAGE C;
COMMENT ON PROCEDURE bloom_track(text, regclass, name, name) IS 'makes each change of a table a change of a published list, from now on';

CREATE PROCEDURE bloom_untrack(name text)
	AS 'MODULE_PATHNAME', 'bloomfilter_untrack' LANGUAGE C;
COMMENT ON PROCEDURE bloom_untrack(text) IS 'ends bloom_track of a published list, and drops its triggers';

-- AFTER ... FOR EACH ROW, with list, key column and boolean column; BEFORE TRUNCATE, with the list.
CREATE FUNCTION bloom_change_trigger() RETURNS trigger
	AS 'MODULE_PATHNAME', 'bloomfilter_change_trigger' LANGUAGE C;
COMMENT ON FUNCTION bloom_change_trigger() IS 'trigger function that makes each change of a table a change of a published list';
