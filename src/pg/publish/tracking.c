/*
 * tracking.c
 *	  The tables by whose triggers a list is tracked, those that its query reads, and what a publish
 *	  says where they are not the same.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "engines/engines.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "change/change.h"
#include "publish/build.h"

/* The tables that a plan reads, also by views and as partitions. */
static List *
tables_read(const PlannedStmt *plan)
{
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, plan->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW)
			tables = list_append_unique_oid(tables, entry->relid);
	}
	return tables;
}

/* A materialized view has a removed key until it is refreshed, a foreign table until its server says so. */
void
bfpg_track_check_plan(const BfpgPublication *list, const PlannedStmt *plan)
{
	ListCell   *cell;
	bool		stale = list->made.remote;

	foreach(cell, tables_read(plan))
	{
		char		kind = get_rel_relkind(lfirst_oid(cell));

		stale |= kind == RELKIND_MATVIEW || kind == RELKIND_FOREIGN_TABLE || bfpg_is_distributed(lfirst_oid(cell));
	}
	if (stale)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("list \"%s\" can't be tracked, since its query reads rows that may be old", list->name),
				 errdetail("A materialized view, a foreign table or another engine may return a key that the table has no more."),
				 errhint("Publish the list by a query of tables in this database, or %s.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

/* Of a row that find_triggers selects. */
enum
{
	TRIGGER_DROP = 1,			/* the statement that drops the trigger */
	TRIGGER_RELATION,
	TRIGGER_OF_ROWS
};

/* Selects each trigger for a list; a partition's copy goes with its original. */
static const SPITupleTable *
find_triggers(const BfpgPlace *place, const char *name)
{
	/* The function by its number: a schema's name may have quotes, and this runs as a superuser. */
	bfpg_run_for_list(place, name,
					  psprintf("SELECT format('DROP TRIGGER %%%%I ON %%%%s', tgname, tgrelid::regclass), tgrelid, tgtype & 1 = 1 FROM pg_trigger "
							   "WHERE tgfoid = '%u' AND tgparentid = 0 "
							   "AND position(convert_to($1, getdatabaseencoding()) || decode('00', 'hex') IN tgargs) = 1", bfpg_change_trigger_function(place->schema)),
					  SPI_OK_SELECT);
	return SPI_tuptable;
}

void
bfpg_track_tell_triggers(const BfpgPlace *place, const char *name)
{
	const SPITupleTable *triggers = find_triggers(place, name);
	uint64		i;

	for (i = 0; i < triggers->numvals; i++)
		ereport(NOTICE,
				(errmsg("a table still has a trigger for list \"%s\"", name),
				 errhint("It does nothing without the list: %s.", SPI_getvalue(triggers->vals[i], triggers->tupdesc, TRIGGER_DROP))));
}

List *
bfpg_track_tables(const BfpgPublication *list)
{
	const SPITupleTable *triggers = find_triggers(&list->place, list->name);
	List	   *tables = NIL;
	uint64		i;

	for (i = 0; i < triggers->numvals; i++)
		if (DatumGetBool(bfpg_result(triggers, i, TRIGGER_OF_ROWS)))
			tables = lappend_oid(tables, DatumGetObjectId(bfpg_result(triggers, i, TRIGGER_RELATION)));
	return tables;
}

void
bfpg_track_check_query(const BfpgPublication *list)
{
	BfpgPublication kept = *list;
	bool		same = false;

	if (list->asked.query != NULL)
	{
		if (!bfpg_definition_find(&kept) || bfpg_track_tables(list) == NIL)
			return;
		same = strcmp(kept.asked.query, list->asked.query) == 0;
		if (same && strcmp(bfpg_settings_path(kept.asked.settings), bfpg_settings_path(list->asked.settings)) == 0)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("list \"%s\" is tracked, and this is not its query", list->name),
			 list->asked.query == NULL ? errdetail("A filter doesn't say which changes of the list are in it.")
			 : same ? errdetail("Its query runs with another search_path: that of bloom_published.settings, or the session's default.")
			 : errdetail("Its triggers record the changes of another query's table."),
			 errhint("%s, or %s first. Where that query can't be run any more, drop the table's triggers for the list instead, and call bloom_track afterwards.",
					 bfpg_call_text(list->place.schema, "bloom_refresh", list->name), bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

/* Whether one is a partition of the other, or both are one table. */
static bool
same_rows(Oid a, Oid b)
{
	return list_member_oid(find_all_inheritors(a, NoLock, NULL), b) || list_member_oid(find_all_inheritors(b, NoLock, NULL), a);
}

/* A table was renamed, and another one got its name: the query reads that one, and the triggers stayed with the first. */
static void
tell_unread(const BfpgPublication *list, Oid table)
{
	ereport(WARNING,
			(errmsg("list \"%s\" is tracked by table \"%s\", which its query does not read", list->name, get_rel_name(table)),
			 errdetail("Its trigger records no changes of the tables that the query reads."),
			 errhint("If another table has taken its name, %s, then bloom_track with that one.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

/* A partition that the query reads isn't told of beside its root, unless the tracked table is another partition. */
static bool
is_told_of(Oid other, Oid tracked)
{
	if (same_rows(tracked, other))
		return false;
	return !get_rel_relispartition(other) || same_rows(tracked, llast_oid(get_partition_ancestors(other)));
}

/* Somebody has disabled the trigger, or the table has got a child by inheritance, which has none. */
static void
tell_unrecorded(const BfpgPublication *list, Oid tracked)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(tracked, AccessShareLock, NULL))
		if (!bfpg_change_fires(lfirst_oid(cell), list->place.schema, list->name, false))
			ereport(WARNING,
					(errmsg("changes of table \"%s\" are not recorded for list \"%s\"", get_rel_name(lfirst_oid(cell)), list->name),
					 errdetail("The trigger by which it would track the list is disabled or not there."),
					 errhint("Enable the trigger, or end the inheritance by ALTER TABLE ... NO INHERIT, then %s.", bfpg_call_text(list->place.schema, "bloom_refresh", list->name))));
}

/* The table was dropped, or its triggers were. */
static void
tell_gone(const BfpgPublication *list)
{
	ereport(WARNING,
			(errmsg("list \"%s\" is tracked, and no table has its triggers any more", list->name),
			 errdetail("Nothing records changes of the tables that its query reads."),
			 errhint("CALL bloom_track with that table, or %s where all are recorded by bloom_change.",
					 bfpg_call_text(list->place.schema, "bloom_track", list->name))));
}

/* A key that the table loses may be in by another one. */
static void
tell_others(const BfpgPublication *list, Oid table, List *tables)
{
	ListCell   *cell;

	foreach(cell, tables)
		if (is_told_of(lfirst_oid(cell), table))
			ereport(WARNING,
					(errmsg("the query of list \"%s\" reads table \"%s\" beside the one that tracks it", list->name, get_rel_name(lfirst_oid(cell))),
					 errdetail("Changes of that table are not recorded, and a key that table \"%s\" loses is out whatever the other one says.", get_rel_name(table)),
					 errhint("Where both say which keys are in, %s, then bloom_track without a table, and bloom_change for each key.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

void
bfpg_track_tell_tables(const BfpgPublication *list)
{
	List	   *tables = tables_read(list->made.build->plan);
	List	   *tracking = bfpg_track_tables(list);
	ListCell   *cell;

	if (list->by_table && tracking == NIL)
		tell_gone(list);
	if (tables == NIL)
		return;
	foreach(cell, tracking)
	{
		if (list_member_oid(tables, lfirst_oid(cell)))
			tell_unrecorded(list, lfirst_oid(cell));
		else
			tell_unread(list, lfirst_oid(cell));
		if (list->asked.tracking == BFPG_TRACK)
			tell_others(list, lfirst_oid(cell), tables);
	}
}

void
bfpg_track_check_only_table(const BfpgPublication *list, Oid table)
{
	ListCell   *cell;

	foreach(cell, bfpg_track_tables(list))
		if (!same_rows(table, lfirst_oid(cell)))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("list \"%s\" is tracked by table \"%s\" already", list->name, get_rel_name(lfirst_oid(cell))),
					 errdetail("A key that one of two tables loses may be in by the other."),
					 errhint("%s drops its triggers. Where both tables say which keys are in, then CALL bloom_track without a table, and bloom_change for each key.",
							 bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

void
bfpg_track_check_may_drop(const BfpgPublication *list)
{
	const SPITupleTable *triggers = find_triggers(&list->place, list->name);
	uint64		i;

	for (i = 0; i < triggers->numvals; i++)
	{
		Relation	table = table_open(DatumGetObjectId(bfpg_result(triggers, i, TRIGGER_RELATION)), AccessShareLock);

		if (!has_privs_of_role(GetUserId(), table->rd_rel->relowner))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("must be owner of table \"%s\"", RelationGetRelationName(table)),
					 errdetail("Its triggers for list \"%s\" would be dropped.", list->name),
					 errhint("The table's owner \"%s\" has the rights of the list's owner, and can %s.",
							 GetUserNameFromId(table->rd_rel->relowner, false), bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
		table_close(table, NoLock);
	}
}

void
bfpg_track_drop_triggers(const BfpgPublication *list)
{
	const SPITupleTable *triggers = find_triggers(&list->place, list->name);
	uint64		i;

	for (i = 0; i < triggers->numvals; i++)
		(void) SPI_execute(SPI_getvalue(triggers->vals[i], triggers->tupdesc, TRIGGER_DROP), false, 0);
}
