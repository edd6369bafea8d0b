/*
 * module.c
 *	  Loading of the extension: its magic block, and what is set up once.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "ask/copies.h"
#include "base/epoch.h"
#include "live/am.h"
#include "base/pg_compat.h"
#include "base/settings.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomfilter", .version = BLOOMFILTER_VERSION);
#else
PG_MODULE_MAGIC;
#endif

void		_PG_init(void);

PG_FUNCTION_INFO_V1(bloomfilter_warn_of_schema);

void
_PG_init(void)
{
	bfpg_settings_init();
	bfpg_epoch_init();
	bfpg_copies_init();
	bfpg_live_options_init();
}

/* A warning of CREATE EXTENSION, with the schema and the roles that may create functions in it. */
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
