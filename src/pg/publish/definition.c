/*
 * definition.c
 *	  How a list was published: by which query, and with which settings, so that bloom_refresh can
 *	  do it again; and the same of the generation before, for bloom_rollback.
 *
 * Whoever could write a query here would have it run as the list's owner.  A row is written only
 * here, past SQL, and runs only if the list has an owner here: src/pg/list/owner.c.  A table that has
 * been given to somebody else than a superuser is not believed.  One row has both generations: two
 * rows would have to be accepted, each by itself.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "base/pg_compat.h"
#include "list/list.h"
#include "list/tables.h"
#include "publish/publish.h"

/* Columns of bloom_definition, of which one generation has five. */
enum
{
	DEFINITION_NAME,
	DEFINITION_OWNER,
	DEFINITION_QUERY,
	DEFINITION_SETTINGS,
	DEFINITION_CHECK,
	DEFINITION_ALLOW_EMPTY,
	DEFINITION_ON_CONFLICT,
	DEFINITION_BEFORE,			/* the query of the generation before, and so on */
	DEFINITION_COLUMNS = 2 * DEFINITION_BEFORE - DEFINITION_QUERY
};

#define GENERATION (DEFINITION_BEFORE - DEFINITION_QUERY)

/* The row of a list. */
typedef struct Definition
{
	Relation	table;
	HeapTuple	tuple;			/* NULL: there is none; the columns are null then */
	Datum		values[DEFINITION_COLUMNS];
	bool		nulls[DEFINITION_COLUMNS];
} Definition;

static void
open_definition(const BfpgPlace *place, const char *name, Definition *definition)
{
	SysScanDesc scan;

	definition->table = table_open(bfpg_list_relation(place->schema, "bloom_definition"), RowExclusiveLock);
	bfpg_check_table_owner(definition->table);
	memset(definition->nulls, true, sizeof(definition->nulls));
	definition->tuple = bfpg_list_newest_row(definition->table, CStringGetTextDatum(name), &scan);
	if (definition->tuple != NULL)
	{
		definition->tuple = heap_copytuple(definition->tuple);
		heap_deform_tuple(definition->tuple, RelationGetDescr(definition->table), definition->values, definition->nulls);
	}
	systable_endscan(scan);
}

static void
set_column(Definition *definition, int column, Datum value)
{
	definition->values[column] = value;
	definition->nulls[column] = false;
}

static void
move(Definition *definition, int to, int from)
{
	memmove(&definition->values[to], &definition->values[from], GENERATION * sizeof(Datum));
	memmove(&definition->nulls[to], &definition->nulls[from], GENERATION * sizeof(bool));
}

static void
clear(Definition *definition, int generation)
{
	memset(&definition->nulls[generation], true, GENERATION * sizeof(bool));
}

/* Writes the row and closes the table. */
static void
write_definition(Definition *definition)
{
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(definition->table), definition->values, definition->nulls);

	if (definition->tuple == NULL)
		CatalogTupleInsert(definition->table, tuple);
	else
		CatalogTupleUpdate(definition->table, &definition->tuple->t_self, tuple);
	table_close(definition->table, NoLock);
	CommandCounterIncrement();
}

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
	Definition	definition;
	NameData	owner;

	namestrcpy(&owner, list->owner.name);
	open_definition(&list->place, list->name, &definition);
	if (definition.tuple == NULL)
		bfpg_owner_write(list->place.schema, list->name, list->owner.role);
	move(&definition, DEFINITION_BEFORE, DEFINITION_QUERY);
	clear(&definition, DEFINITION_QUERY);
	set_column(&definition, DEFINITION_NAME, CStringGetTextDatum(list->name));
	set_column(&definition, DEFINITION_OWNER, NameGetDatum(&owner));
	if (list->asked.query != NULL && !list->made.temporary)
	{
		set_column(&definition, DEFINITION_QUERY, CStringGetTextDatum(list->asked.query));
		set_column(&definition, DEFINITION_SETTINGS, PointerGetDatum(list->asked.settings));
		set_column(&definition, DEFINITION_CHECK, BoolGetDatum(list->asked.check));
		set_column(&definition, DEFINITION_ALLOW_EMPTY, BoolGetDatum(list->asked.allow_empty));
		set_column(&definition, DEFINITION_ON_CONFLICT, Int16GetDatum((int16) list->asked.on_conflict));
	}
	write_definition(&definition);
}

void
bfpg_definition_roll_back(const BfpgPlace *place, const char *name)
{
	Definition	definition;
	bool		had_query;

	open_definition(place, name, &definition);
	had_query = !definition.nulls[DEFINITION_QUERY];
	move(&definition, DEFINITION_QUERY, DEFINITION_BEFORE);
	clear(&definition, DEFINITION_BEFORE);
	if (had_query && definition.nulls[DEFINITION_QUERY])
		ereport(NOTICE,
				(errmsg("list \"%s\" has no query to be refreshed by any more", name),
				 errdetail("None was kept with the version that it has now."),
				 errhint("CALL bloom_publish keeps one.")));
	write_definition(&definition);
}

void
bfpg_definition_give(const BfpgPlace *place, const char *name, Oid role)
{
	Definition	definition;
	NameData	owner;

	namestrcpy(&owner, GetUserNameFromId(role, false));
	open_definition(place, name, &definition);
	clear(&definition, DEFINITION_BEFORE);
	set_column(&definition, DEFINITION_NAME, CStringGetTextDatum(name));
	set_column(&definition, DEFINITION_OWNER, NameGetDatum(&owner));
	write_definition(&definition);
	bfpg_owner_write(place->schema, name, role);
}

void
bfpg_definition_drop(const BfpgPlace *place, const char *name)
{
	Definition	definition;

	open_definition(place, name, &definition);
	if (definition.tuple != NULL)
		CatalogTupleDelete(definition.table, &definition.tuple->t_self);
	table_close(definition.table, NoLock);
	bfpg_owner_write(place->schema, name, InvalidOid);
}
