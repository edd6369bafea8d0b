/*
 * as_owner.c
 *	  Running the query of a list as the role that the list belongs to.
 *
 * As REFRESH MATERIALIZED VIEW runs its query: whoever calls, the query has the rights of the list's
 * owner and no others.  t/023_as_owner.pl tries the ways out:
 *
 * 1. The operation is restricted, also where caller and owner are one role.  Without that the query
 *	  becomes the session's role again by SET ROLE, or has a deferred trigger run at the commit.
 * 2. Analysis (of domains), planning (of constants), build, check and the text of errors run code
 *	  of others: all are inside.  Locks, the ends of transactions and what is written are outside.
 * 3. No transaction begins or ends inside: an error in one that began there would leave the session
 *	  as the owner.  An error inside is followed by a rollback to before, which takes user, context
 *	  and settings back.
 * 4. What the query's functions set is taken back at the end.
 * 5. Inside, the session holds the list's lock, which stops nothing that a function of the query
 *	  does.  So this list is not to be changed by this session, nor are its keys, whose changes the
 *	  query's snapshot doesn't see and the publish would absorb.
 *
 * The result must not depend on who refreshes.  So the settings that turn a value into another value,
 * or into text, are kept with the query, as search_path is, and read before it runs.  Temporary tables stand behind
 * those that the query means.  Row security would leave rows out without a word: as in pg_dump it
 * is off, so that a policy that would filter is an error.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include "base/settings.h"
#include "list/list.h"
#include "publish/build.h"

/* What PostgreSQL says of a policy that would filter, whose message has the table's name. */
#define WOULD_BE_FILTERED "query would be affected by row-level security policy for table \"%s\""

/* Settings by which equal statements return other values, or other texts of them. */
static const char *const kept_settings[] = {
	"search_path", "TimeZone", "timezone_abbreviations", "DateStyle", "IntervalStyle", "extra_float_digits",
	"bytea_output", "lc_monetary", "lc_numeric", "lc_time", "xmlbinary", "xmloption", "array_nulls",
	"transform_null_equals", "standard_conforming_strings", "quote_all_identifiers", "default_text_search_config",
	"gin_fuzzy_search_limit"
};

ArrayType *
bfpg_session_settings(void)
{
	Datum		settings[lengthof(kept_settings)];
	int			count = 0;
	int			i;

	for (i = 0; i < lengthof(kept_settings); i++)
	{
		const char *value = GetConfigOption(kept_settings[i], true, false);

		if (value != NULL)
			settings[count++] = CStringGetTextDatum(psprintf("%s=%s", kept_settings[i], value));
	}
	return construct_array(settings, count, TEXTOID, -1, false, TYPALIGN_INT);
}

const char *
bfpg_settings_path(ArrayType *settings)
{
	const int	first = 1;
	bool		is_null;
	Datum		path = array_get_element(PointerGetDatum(settings), 1, unconstify(int *, &first), -1, -1, false, TYPALIGN_INT, &is_null);

	return is_null ? "" : TextDatumGetCString(path);
}

/* A search_path in which temporary tables stand last, unless it says where they stand. */
static const char *
temporary_behind(const char *path)
{
	List	   *schemas;
	ListCell   *cell;

	if (!SplitIdentifierString(pstrdup(path), ',', &schemas))
		elog(ERROR, "search_path is no list of names");
	foreach(cell, schemas)
		if (strcmp(lfirst(cell), "pg_temp") == 0)
			return path;
	return schemas == NIL ? "pg_temp" : psprintf("%s, pg_temp", path);
}

/* To be undone by AtEOXact_GUC. */
static int
apply_settings(ArrayType *settings)
{
	int			nest = NewGUCNestLevel();

	ProcessGUCArray(settings, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE);
	bfpg_set("search_path", temporary_behind(namespace_search_path));
	bfpg_set("row_security", "off");
	return nest;
}

/* PostgreSQL has a hint for the owner of such a table alone. */
static void
rethrow(const char *list, MemoryContext context)
{
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	if (error->hint == NULL && error->message_id != NULL && strcmp(error->message_id, WOULD_BE_FILTERED) == 0)
		error->hint = psprintf("List \"%s\" would lack rows without a word. Let a role own it that sees all rows of the table, such as the table's owner, and say in the query which of them are meant.", list);
	ReThrowError(error);
}

void
bfpg_publish_build_as_owner(BfpgPublication *list, const BfpgLastList *last)
{
	MemoryContext memory = CurrentMemoryContext;
	BfpgListQuery query = {list->place.schema, list->name, bfpg_list_queries};
	Oid			user;
	int			context;
	int			nest;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(list->owner.role, context | SECURITY_RESTRICTED_OPERATION);
	nest = apply_settings(list->asked.settings);
	bfpg_list_queries = &query;
	PG_TRY();
	{
		bfpg_publish_build(list, last);
	}
	PG_CATCH();
	{
		bfpg_list_queries = query.outer;
		rethrow(list->name, memory);
	}
	PG_END_TRY();
	bfpg_list_queries = query.outer;
	AtEOXact_GUC(false, nest);
	SetUserIdAndSecContext(user, context);
}
