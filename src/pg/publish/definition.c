/*
 * definition.c
 *	  By which query a list was published, so that bloom_refresh can run it again.
 *
 * Whoever could write a query here under another role's OID would have it run with that role's
 * rights.  A row is written only here, past SQL: without an executor there is no trigger, rule or
 * policy that somebody with rights on the table could have added.  And (sql/refresh.sql plants
 * queries, and fails without each of these):
 *
 * 1. A row has the role that is current when the query is run for the first time, and that had
 *	  the rights to run it.
 * 2. SQL can't write the table, whatever rights somebody has: the guard throws, also for members
 *	  of pg_write_all_data, after GRANT ALL, and under session_replication_role.  Logical
 *	  replication is not stopped by it, but its rows are skipped.
 * 3. Only the table's owner could take the guard away.  That is the superuser who created the
 *	  extension, or the bootstrap superuser where another role did; a table that has been given
 *	  to somebody else is not believed.
 * 4. Only the role of the row runs its query, as itself.  No superuser does, so that a row that
 *	  got in by any other way can't have a query run with more rights than its writer has.  The
 *	  role's name is compared as well: a dropped role's OID can come round.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "list/list.h"
#include "base/pg_compat.h"
#include "publish/publish.h"

PG_FUNCTION_INFO_V1(bloomfilter_definition_guard);

/* Columns of bloom_definition. */
enum
{
	DEFINITION_NAME,
	DEFINITION_ROLE,
	DEFINITION_ROLE_NAME,
	DEFINITION_QUERY,
	DEFINITION_SEARCH_PATH,
	DEFINITION_CHECK,
	DEFINITION_ALLOW_EMPTY,
	DEFINITION_ON_CONFLICT,
	DEFINITION_COLUMNS
};

static void
check_owner(Relation table)
{
	if (!superuser_arg(table->rd_rel->relowner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table \"%s\" must belong to a superuser", RelationGetRelationName(table)),
				 errdetail("Its owner could have written queries for others to run.")));
}

static void
check_role(const char *name, const Datum *values)
{
	Oid			role = DatumGetObjectId(values[DEFINITION_ROLE]);
	const char *role_name = NameStr(*DatumGetName(values[DEFINITION_ROLE_NAME]));

	if (role == GetUserId() && strcmp(role_name, GetUserNameFromId(role, false)) == 0)
		return;
	/* Another role may have the name now. */
	if (get_role_oid(role_name, true) != role)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("list \"%s\" was published by role \"%s\", which does not exist any more", name, role_name),
				 errhint("Publish it as yourself with CALL bloom_publish.")));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("list \"%s\" was published by role \"%s\", which alone may refresh it", name, role_name),
			 errdetail("The query runs with the rights of the role that gave it, and with no other's, not even a superuser's."),
			 errhint("SET ROLE %s, or publish it as yourself with CALL bloom_publish.", quote_identifier(role_name))));
}

const char *
bfpg_definition_read(BfpgPublication *list)
{
	Relation	table = table_open(bfpg_list_relation(list->place.schema, "bloom_definition"), AccessShareLock);
	Datum		values[DEFINITION_COLUMNS];
	bool		nulls[DEFINITION_COLUMNS];
	const char *search_path;
	SysScanDesc scan;
	HeapTuple	tuple;

	check_owner(table);
	tuple = bfpg_list_newest_row(table, CStringGetTextDatum(list->name), &scan);
	if (tuple == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("list \"%s\" has no query to be refreshed by", list->name),
				 errhint("CALL bloom_publish keeps one. A list that was published as a value has none, nor has one that was restored from a dump.")));
	heap_deform_tuple(tuple, RelationGetDescr(table), values, nulls);
	check_role(list->name, values);
	search_path = TextDatumGetCString(values[DEFINITION_SEARCH_PATH]);
	list->query = TextDatumGetCString(values[DEFINITION_QUERY]);
	list->check = DatumGetBool(values[DEFINITION_CHECK]);
	list->allow_empty = DatumGetBool(values[DEFINITION_ALLOW_EMPTY]);
	list->on_conflict = (BfpgOnConflict) DatumGetInt16(values[DEFINITION_ON_CONFLICT]);
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return search_path;
}

void
bfpg_definition_write(const BfpgPublication *list)
{
	Relation	table = table_open(bfpg_list_relation(list->place.schema, "bloom_definition"), RowExclusiveLock);
	SysScanDesc scan;
	HeapTuple	tuple = bfpg_list_newest_row(table, CStringGetTextDatum(list->name), &scan);

	if (tuple != NULL)
		CatalogTupleDelete(table, &tuple->t_self);
	systable_endscan(scan);
	if (list->query != NULL)
	{
		Datum		values[DEFINITION_COLUMNS];
		bool		nulls[DEFINITION_COLUMNS] = {false};
		NameData	role_name;

		namestrcpy(&role_name, GetUserNameFromId(GetUserId(), false));
		values[DEFINITION_NAME] = CStringGetTextDatum(list->name);
		values[DEFINITION_ROLE] = ObjectIdGetDatum(GetUserId());
		values[DEFINITION_ROLE_NAME] = NameGetDatum(&role_name);
		values[DEFINITION_QUERY] = CStringGetTextDatum(list->query);
		values[DEFINITION_SEARCH_PATH] = CStringGetTextDatum(namespace_search_path);
		values[DEFINITION_CHECK] = BoolGetDatum(list->check);
		values[DEFINITION_ALLOW_EMPTY] = BoolGetDatum(list->allow_empty);
		values[DEFINITION_ON_CONFLICT] = Int16GetDatum((int16) list->on_conflict);
		CatalogTupleInsert(table, heap_form_tuple(RelationGetDescr(table), values, nulls));
	}
	table_close(table, NoLock);
	CommandCounterIncrement();
}

/* Throws for a statement; skips the rows of logical replication, which has no statements. */
Datum
bloomfilter_definition_guard(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_definition_guard was called outside of a trigger")));
	if (!IsLogicalWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table \"%s\" can't be changed by SQL",
						RelationGetRelationName(((TriggerData *) fcinfo->context)->tg_relation)),
				 errhint("CALL bloom_publish keeps the query of a list, and CALL bloom_drop removes it.")));
	return PointerGetDatum(NULL);
}
