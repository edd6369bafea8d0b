/*
 * schema.c
 *	  A warning of CREATE EXTENSION.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_warn_of_schema);

/* schema text, roles text */
Datum
bloomfilter_warn_of_schema(PG_FUNCTION_ARGS)
{
	const char *schema = quote_identifier(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	const char *roles = text_to_cstring(PG_GETARG_TEXT_PP(1));

	ereport(WARNING,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("others may create functions in schema %s of extension bloomfilter: %s", schema, roles),
			 errdetail("A function of theirs whose argument types fit better is called in place of the extension's, with the caller's rights."),
			 errhint("DROP EXTENSION bloomfilter, REVOKE CREATE ON SCHEMA %s FROM %s, drop the functions and operators that they made there, and create the extension again, best in a schema of its own. SECURITY.md has the query on pg_depend that finds what of theirs was kept.", schema, roles)));
	PG_RETURN_VOID();
}
