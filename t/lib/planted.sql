-- What a role that may create in a schema plants there, to run as whoever meets it: operators for
-- all pairs of 25 types, and functions that differ from ours and PostgreSQL's in one argument, or
-- of two arguments in both.  Each of them warns when it runs.  To be read as that role, which owns
-- schema planter; run by a client whose search_path has pg_catalog alone.

CREATE FUNCTION planter.types() RETURNS oid[] LANGUAGE sql AS $$
	SELECT array_agg(t.oid) FROM pg_type t WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typname = ANY
		('{bool,char,name,int2,int4,int8,float4,float8,numeric,text,varchar,bpchar,bytea,oid,regclass,regrole,regproc,regtype,
		timestamptz,timestamp,interval,uuid,xid8,inet,jsonb}')
$$;

-- A function of these types, if there is none yet and PostgreSQL lets a role have it.
CREATE FUNCTION planter.plant(target text, function text, arguments oid[], result text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	signature text := format('%I.%I(%s)', target, function,
		(SELECT string_agg(format_type(t, NULL), ', ' ORDER BY i) FROM unnest(arguments) WITH ORDINALITY AS a (t, i)));
BEGIN
	EXECUTE format('CREATE FUNCTION %s RETURNS %s LANGUAGE plpgsql AS %L', signature, result,
		format('BEGIN RAISE WARNING %L; RETURN NULL; END', 'planted: ' || signature));
	RETURN true;
EXCEPTION WHEN duplicate_function OR invalid_function_definition OR feature_not_supported OR invalid_name OR datatype_mismatch THEN
	RETURN false;
END
$$;

CREATE FUNCTION planter.plant_operators(target text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	l oid;
	r oid;
	operator text;
	operators bigint := 0;
BEGIN
	FOREACH l IN ARRAY planter.types() LOOP
		FOREACH r IN ARRAY planter.types() LOOP
			PERFORM planter.plant(target, 'compares', ARRAY[l, r], 'bool'), planter.plant(target, 'computes', ARRAY[l, r], format_type(l, NULL));
			FOREACH operator IN ARRAY '{=,<>,<,<=,>,>=,+,-,*,/,%,||}'::text[] LOOP
				EXECUTE format('CREATE OPERATOR %I.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %I.%s)', target, operator,
					format_type(l, NULL), format_type(r, NULL), target, CASE WHEN operator ~ '[=<>]' THEN 'compares' ELSE 'computes' END);
				operators := operators + 1;
			END LOOP;
		END LOOP;
	END LOOP;
	RETURN operators;
END
$$;

-- What is to be planted in other forms, and whether it is the extension's, to which that form is left.
CREATE TABLE planter.signature (name text, arguments oid[], result oid, ours boolean);
GRANT ALL ON planter.signature TO PUBLIC;

CREATE FUNCTION planter.plant_functions(target text) RETURNS bigint LANGUAGE sql AS $$
	WITH variant AS (
		SELECT name, result, arguments[:i - 1] || t || arguments[i + 1:] AS arguments
		FROM planter.signature, generate_subscripts(arguments, 1) i, unnest(planter.types()) t
		UNION
		SELECT name, result, ARRAY[a, b]
		FROM planter.signature, unnest(planter.types()) a, unnest(planter.types()) b
		WHERE cardinality(arguments) = 2
	), planted AS MATERIALIZED (
		SELECT planter.plant(target, name, arguments, CASE WHEN r.typtype = 'p' THEN 'text' ELSE format_type(r.oid, NULL) END) AS new
		FROM (SELECT name, arguments, min(result) AS result FROM variant GROUP BY 1, 2) v JOIN pg_type r ON r.oid = v.result
		WHERE NOT EXISTS (SELECT FROM planter.signature s WHERE s.ours AND s.name = v.name AND s.arguments = v.arguments)
	)
	SELECT count(*) FILTER (WHERE new) FROM planted
$$;
