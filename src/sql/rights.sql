--
-- Rights on published lists, and who else may create functions beside the extension's
--

-- The role that created the extension may publish and look up, and let others.  So may the
-- database's owner, by a role that is never dropped: REASSIGN OWNED and DROP OWNED take the
-- rights of a role that goes, and the objects belong to a superuser.

REVOKE EXECUTE ON FUNCTION bloom_lookup(text, anyelement), bloom_lookup(text, bloom_key),
	bloom_lookup_each(text, anyarray), bloom_lookup_each(text, bloom_key) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bloom_lookup(text, anyelement), bloom_lookup(text, bloom_key),
	bloom_lookup_each(text, anyarray), bloom_lookup_each(text, bloom_key) TO @extowner@, pg_database_owner WITH GRANT OPTION;
-- EXECUTE on these is the right to make lists.
REVOKE EXECUTE ON PROCEDURE bloom_publish(text, text, bigint, double precision, integer, bigint, boolean, boolean, boolean, boolean, boolean, boolean) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION bloom_publish_filter(text, bloomfilter, boolean, boolean),
	bloom_publish_filter(text, bloomfilter[], boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE bloom_publish(text, text, bigint, double precision, integer, bigint, boolean, boolean, boolean, boolean, boolean, boolean) TO @extowner@, pg_database_owner WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION bloom_publish_filter(text, bloomfilter, boolean, boolean),
	bloom_publish_filter(text, bloomfilter[], boolean, boolean) TO @extowner@, pg_database_owner WITH GRANT OPTION;
-- What is dumped is read for it, and inserted by a restore.  Nothing else is written by SQL.
GRANT SELECT ON bloom_generation, bloom_generation_part, bloom_definition, bloom_change, bloom_absorbed TO @extowner@, pg_database_owner WITH GRANT OPTION;
GRANT INSERT ON bloom_generation, bloom_generation_part, bloom_definition, bloom_change, bloom_absorbed TO @extowner@, pg_database_owner;
GRANT SELECT ON bloom_list, bloom_list_part, bloom_list_change, bloom_published TO @extowner@, pg_database_owner WITH GRANT OPTION;

-- A function of another role with argument types that fit better would be called in place of
-- one of the extension's, with the rights of whoever calls.  Such roles are told of; the function
-- that tells is here for this statement only.  The statement runs as a superuser, in a schema where
-- others may have planted operators: all types are just those that PostgreSQL's own are for.

CREATE FUNCTION bloom_warn_of_schema(schema text, roles text) RETURNS void
	AS 'MODULE_PATHNAME', 'bloomfilter_warn_of_schema' LANGUAGE C STRICT;
SELECT bloom_warn_of_schema(n.nspname::text, a.roles)
	FROM pg_catalog.pg_namespace n CROSS JOIN LATERAL (
		SELECT pg_catalog.string_agg(DISTINCT coalesce(pg_catalog.quote_ident(r.rolname), 'PUBLIC'), ', ')
		FROM pg_catalog.aclexplode(n.nspacl) e LEFT JOIN pg_catalog.pg_roles r ON r.oid = e.grantee
		WHERE e.privilege_type = 'CREATE' AND e.grantee <> n.nspowner AND r.rolsuper IS NOT TRUE
			AND r.oid IS DISTINCT FROM '@extowner@'::pg_catalog.regrole::pg_catalog.oid
	) a(roles)
	WHERE n.nspname = pg_catalog.current_schema() AND a.roles IS NOT NULL;
DROP FUNCTION bloom_warn_of_schema(text, text);
