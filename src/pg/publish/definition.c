/*
 * definition.c
 *	  How a list was published: by which query, and with which settings, so that bloom_refresh can
 *	  do it again; and the same of the generation before, for bloom_rollback.
 *
 * Whoever could write a query here would have it run as the list's owner.  A row is written only by these
 * statements (list/tables.c), and runs only if the list has an owner here (list/owner.c).  A table that has
 * been given to somebody else than a superuser is not believed.  One row has both generations: two
 * rows would have to be accepted, each by itself.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/pg_compat.h"
#include "list/list.h"
#include "list/tables.h"
#include "publish/publish.h"

bool
bfpg_definition_find(BfpgPublication *list)
{
	static const char *const columns[] = {"query", "settings", "check", "allow_empty", "on_conflict"};
	NullableDatum values[lengthof(columns)];

	if (!bfpg_list_read(list->place.schema, "bloom_definition", CStringGetTextDatum(list->name), lengthof(columns), columns, values) ||
		values[0].isnull)
		return false;
	list->asked.query = TextDatumGetCString(values[0].value);
	list->asked.settings = DatumGetArrayTypePCopy(values[1].value);
	list->asked.check = DatumGetBool(values[2].value);
	list->asked.allow_empty = DatumGetBool(values[3].value);
	list->asked.on_conflict = (BfpgOnConflict) DatumGetInt16(values[4].value);
	return true;
}

void
bfpg_definition_read(BfpgPublication *list)
{
	if (!bfpg_definition_find(list))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("list \"%s\" has no query to be refreshed by", list->name),
				 errhint("CALL bloom_publish keeps one, unless the query reads a temporary table. A list that was published as a value has none.")));
}

void
bfpg_definition_write(const BfpgPublication *list)
{
	bool		none = list->asked.query == NULL || list->made.temporary;
	const ParamExternData row[] = {
		bfpg_parameter(TEXTOID, CStringGetTextDatum(list->name)),
		bfpg_parameter(TEXTOID, CStringGetTextDatum(list->owner.name)),
		{.value = none ? 0 : CStringGetTextDatum(list->asked.query), .isnull = none, .ptype = TEXTOID},
		{.value = PointerGetDatum(list->asked.settings), .isnull = none, .ptype = TEXTARRAYOID},
		{.value = BoolGetDatum(list->asked.check), .isnull = none, .ptype = BOOLOID},
		{.value = BoolGetDatum(list->asked.allow_empty), .isnull = none, .ptype = BOOLOID},
		{.value = Int16GetDatum((int16) list->asked.on_conflict), .isnull = none, .ptype = INT2OID},
	};

	bfpg_run_statement(list->place.schema, psprintf("INSERT INTO %sbloom_definition AS d (name, owner, query, settings, \"check\", allow_empty, on_conflict) "
													"VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO UPDATE SET "
													"before_query = d.query, before_settings = d.settings, before_check = d.\"check\", "
													"before_allow_empty = d.allow_empty, before_on_conflict = d.on_conflict, "
													"query = excluded.query, settings = excluded.settings, \"check\" = excluded.\"check\", "
													"allow_empty = excluded.allow_empty, on_conflict = excluded.on_conflict", list->place.prefix),
					   lengthof(row), row, SPI_OK_INSERT);
	if (!list->owner.exists)
		bfpg_owner_write(list->place.schema, list->name, list->owner.role);
}

/* None of the generation before. */
#define NONE_BEFORE "before_query = NULL, before_settings = NULL, before_check = NULL, before_allow_empty = NULL, before_on_conflict = NULL"

void
bfpg_definition_roll_back(const BfpgPlace *place, const char *name)
{
	static const char *const columns[] = {"query", "before_query"};
	NullableDatum queries[lengthof(columns)];

	if (bfpg_list_read(place->schema, "bloom_definition", CStringGetTextDatum(name), lengthof(columns), columns, queries) &&
		!queries[0].isnull && queries[1].isnull)
		ereport(NOTICE,
				(errmsg("list \"%s\" has no query to be refreshed by any more", name),
				 errdetail("None was kept with the version that it has now."),
				 errhint("CALL bloom_publish keeps one.")));
	bfpg_run_for_list(place, name,
					  "UPDATE %1$sbloom_definition SET query = before_query, settings = before_settings, \"check\" = before_check, "
					  "allow_empty = before_allow_empty, on_conflict = before_on_conflict, " NONE_BEFORE " WHERE name = $1",
					  SPI_OK_UPDATE);
}

void
bfpg_definition_give(const BfpgPlace *place, const char *name, Oid role)
{
	const ParamExternData row[] = {
		bfpg_parameter(TEXTOID, CStringGetTextDatum(name)),
		bfpg_parameter(TEXTOID, CStringGetTextDatum(GetUserNameFromId(role, false))),
	};

	bfpg_run_statement(place->schema, psprintf("INSERT INTO %sbloom_definition (name, owner) VALUES ($1, $2) "
											   "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, " NONE_BEFORE, place->prefix),
					   lengthof(row), row, SPI_OK_INSERT);
	bfpg_owner_write(place->schema, name, role);
}
