-- catalog.sql: everything that the catalogs say about the extension, as text.
--
--	psql -X -At -f catalog.sql DATABASE
--
-- One line for each attribute of each object: kind, identity, attribute, value.
-- No OID is among them: what refers to something names it. So two databases, one
-- with a fresh install of a version and one that was updated to it, give the same
-- lines, or the script that updates is wrong. To be used on databases where the same
-- role installed it into the same schema.
--
-- Attributes come from whole rows of the catalogs, so those that a later PostgreSQL
-- adds are compared without a change here. Kinds of objects that have no section below
-- (operator classes, ...) are compared by identity, comment and what they
-- depend on.

\set QUIET on
\pset format unaligned
\pset tuples_only on
-- Names come out with their schemas.
SET search_path = pg_catalog;

-- Columns that hold OIDs, or trees with OIDs and positions in the script.
CREATE TEMPORARY VIEW unportable AS
SELECT attrelid, array_agg(attname::text) AS columns
FROM pg_attribute
WHERE attnum > 0 AND atttypid IN ('oid'::regtype, 'oid[]'::regtype, 'oidvector'::regtype,
	'pg_node_tree'::regtype, 'aclitem[]'::regtype)
GROUP BY attrelid;

-- Members of the extension, and what belongs to members, such as an array type.
CREATE TEMPORARY VIEW member AS
WITH RECURSIVE m AS (
	SELECT d.classid, d.objid
	FROM pg_depend d
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	WHERE d.deptype = 'e' AND e.extname = 'bloomfilter'
	UNION
	SELECT d.classid, d.objid
	FROM pg_depend d
	JOIN m ON d.refclassid = m.classid AND d.refobjid = m.objid
	WHERE d.deptype = 'i' AND d.objsubid = 0
)
SELECT m.classid, m.objid, i.type AS kind, i.identity
FROM m, pg_identify_object(m.classid, m.objid, 0) i
-- Its name has an OID; what it has of its own is with its table.
WHERE i.type <> 'toast table';

-- Privileges in a fixed order. None written down means the default ones.
CREATE FUNCTION pg_temp.privileges(acl aclitem[], kind "char", owner oid) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT string_agg(concat_ws(' ', a.privilege_type, 'by', a.grantor::regrole, 'to',
		CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END,
		CASE WHEN a.is_grantable THEN 'with grant option' END), ', '
		ORDER BY a.privilege_type, a.grantor::regrole::text, a.grantee::regrole::text)
	FROM aclexplode(coalesce(acl, acldefault(kind, owner))) a
$$;

CREATE TEMPORARY VIEW attributes AS

-- The extension itself
SELECT 'extension' AS kind, e.extname::text AS identity,
	to_jsonb(e) - u.columns || jsonb_build_object(
		'schema', e.extnamespace::regnamespace,
		'tables', (SELECT array_agg(c::regclass::text) FROM unnest(e.extconfig) c),
		'comment', obj_description(e.oid, 'pg_extension')) AS attributes
FROM pg_extension e, unportable u
WHERE e.extname = 'bloomfilter' AND u.attrelid = 'pg_extension'::regclass

-- Every member
UNION ALL
SELECT m.kind, m.identity, jsonb_build_object(
	'comment', obj_description(m.objid, m.classid::regclass::name),
	'depends on', (
		SELECT string_agg(DISTINCT concat_ws(' ', d.deptype, r.type, r.identity), ', ')
		FROM pg_depend d, pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) r
		WHERE d.classid = m.classid AND d.objid = m.objid))
FROM member m

UNION ALL
SELECT m.kind, m.identity, to_jsonb(p) - u.columns || jsonb_build_object(
	'owner', p.proowner::regrole,
	'language', (SELECT lanname FROM pg_language l WHERE l.oid = p.prolang),
	-- aggregates have none of the next two
	'arguments', pg_get_function_arguments(p.oid),
	'result', pg_get_function_result(p.oid),
	'variadic', format_type(p.provariadic, NULL),
	'transforms', (SELECT array_agg(format_type(t, NULL)) FROM unnest(p.protrftypes) t),
	'support', p.prosupport::regprocedure,
	'privileges', pg_temp.privileges(p.proacl, 'f', p.proowner),
	'initial privileges', pg_temp.privileges(i.initprivs, 'f', p.proowner))
FROM member m
JOIN pg_proc p ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
JOIN unportable u ON u.attrelid = m.classid
LEFT JOIN pg_init_privs i ON i.classoid = m.classid AND i.objoid = m.objid AND i.objsubid = 0

UNION ALL
SELECT m.kind, m.identity, to_jsonb(a) - u.columns - 'aggfnoid' || jsonb_build_object(
	'state', format_type(a.aggtranstype, NULL),
	'moving state', format_type(a.aggmtranstype, NULL),
	'sort operator', a.aggsortop::regoperator)
FROM member m
JOIN pg_aggregate a ON m.classid = 'pg_proc'::regclass AND m.objid = a.aggfnoid
JOIN unportable u ON u.attrelid = 'pg_aggregate'::regclass

UNION ALL
SELECT m.kind, m.identity, to_jsonb(t) - u.columns || jsonb_build_object(
	'owner', t.typowner::regrole,
	'element', format_type(t.typelem, NULL),
	'array', format_type(t.typarray, NULL),
	'base', format_type(t.typbasetype, NULL),
	'collation', (SELECT collname FROM pg_collation c WHERE c.oid = t.typcollation),
	'privileges', pg_temp.privileges(t.typacl, 'T', t.typowner),
	'initial privileges', pg_temp.privileges(i.initprivs, 'T', t.typowner))
FROM member m
JOIN pg_type t ON m.classid = 'pg_type'::regclass AND m.objid = t.oid
JOIN unportable u ON u.attrelid = m.classid
LEFT JOIN pg_init_privs i ON i.classoid = m.classid AND i.objoid = m.objid AND i.objsubid = 0

UNION ALL
SELECT m.kind, m.identity, to_jsonb(o) - u.columns || jsonb_build_object(
	'owner', o.oprowner::regrole,
	'result', format_type(o.oprresult, NULL),
	'function', o.oprcode::regprocedure,
	'commutator', o.oprcom::regoperator,
	'negator', o.oprnegate::regoperator)
FROM member m
JOIN pg_operator o ON m.classid = 'pg_operator'::regclass AND m.objid = o.oid
JOIN unportable u ON u.attrelid = m.classid

UNION ALL
SELECT m.kind, m.identity, to_jsonb(c) - u.columns || jsonb_build_object(
	'function', c.castfunc::regprocedure)
FROM member m
JOIN pg_cast c ON m.classid = 'pg_cast'::regclass AND m.objid = c.oid
JOIN unportable u ON u.attrelid = m.classid

-- Tables and views
UNION ALL
SELECT m.kind, m.identity, jsonb_build_object(
	'owner', c.relowner::regrole,
	'persistence', c.relpersistence,
	'options', c.reloptions,
	'options of its toast table', (SELECT t.reloptions FROM pg_class t WHERE t.oid = c.reltoastrelid),
	'columns', (
		SELECT jsonb_agg(jsonb_build_object(
			'name', attname, 'type', format_type(atttypid, atttypmod), 'storage', CASE WHEN c.relkind = 'r' THEN attstorage END,
			'not null', attnotnull, 'collation', (SELECT collname FROM pg_collation k WHERE k.oid = attcollation),
			'default', (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef d WHERE d.adrelid = attrelid AND d.adnum = attnum)
			) ORDER BY attnum)
		FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0),
	'constraints', (
		SELECT jsonb_agg(conname || ' ' || pg_get_constraintdef(k.oid) ORDER BY conname)
		FROM pg_constraint k WHERE k.conrelid = c.oid),
	'indexes', (
		SELECT jsonb_agg(pg_get_indexdef(x.indexrelid) ORDER BY x.indexrelid::regclass::text)
		FROM pg_index x WHERE x.indrelid = c.oid),
	'query', CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END,
	'privileges', pg_temp.privileges(c.relacl, 'r', c.relowner),
	'initial privileges', pg_temp.privileges(i.initprivs, 'r', c.relowner))
FROM member m
JOIN pg_class c ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
LEFT JOIN pg_init_privs i ON i.classoid = m.classid AND i.objoid = m.objid AND i.objsubid = 0;

SELECT a.kind, a.identity, v.key, v.value
FROM attributes a, jsonb_each_text(a.attributes) v
ORDER BY a.kind COLLATE "C", a.identity COLLATE "C", v.key COLLATE "C", v.value COLLATE "C";

DROP VIEW attributes;
DROP FUNCTION pg_temp.privileges(aclitem[], "char", oid);
DROP VIEW member, unportable;
RESET search_path;
