/*
 * seen.c
 *	  Whether the rows of a table are in its own heap, and whether a snapshot sees them.
 *
 * A snapshot that was taken before a table was locked finds the table empty where another
 * transaction has since done what only later snapshots see: TRUNCATE, REFRESH MATERIALIZED VIEW
 * and some kinds of ALTER TABLE put rows into another file, and other engines move those of a chunk
 * to another table.  PostgreSQL's manual calls it a caveat (MVCC).  Partitions that are split,
 * merged or detached take rows away with them.  Keys that are not found so would be missing in a
 * list, and rows in the result of bloom_search.
 *
 * All of these give a table another row in pg_class, or take its row in pg_inherits away.  What else
 * changes the row in pg_class, as GRANT does, is an error, too, and seldom.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "engines/engines.h"
#include "engines/catalog.h"

static void
refuse_changed(Oid table)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("table \"%s\" has changed since the snapshot of the statement", get_rel_name(table)),
			 errdetail("Its snapshot is older, and may see the table's rows neither there nor where they are now."),
			 errhint("Repeat the statement, in a new transaction.")));
}

static bool
is_unseen(TransactionId maker, Snapshot snapshot)
{
	return TransactionIdIsValid(maker) && !TransactionIdIsCurrentTransactionId(maker) &&
		XidInMVCCSnapshot(maker, snapshot);
}

/* Whether a table, or what an engine knows of it, is not what the snapshot sees. */
static bool
has_changed(Oid table, Snapshot snapshot)
{
	HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	bool		changed = !HeapTupleIsValid(row) || is_unseen(HeapTupleHeaderGetXmin(row->t_data), snapshot);

	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	return changed || is_unseen(bfpg_chunk_maker(table), snapshot);
}

/* The tables below another, to a snapshot. */
static List *
children_of(Oid parent, Snapshot snapshot)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	List	   *children = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(parent));
	scan = systable_beginscan(catalog, InheritsParentIndexId, true, snapshot, 1, &key);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
		children = lappend_oid(children, ((Form_pg_inherits) GETSTRUCT(row))->inhrelid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(children, list_oid_cmp);
	return children;
}

/* Tables that came since are not among those of the snapshot. */
void
bfpg_check_seen_below(Oid table, Snapshot snapshot)
{
	List	   *now = find_inheritance_children_extended(table, false, NoLock, NULL, NULL);
	List	   *children = children_of(table, snapshot);
	ListCell   *cell;

	check_stack_depth();
	if (!equal(children, now) && list_difference_oid(children, now) != NIL)
		refuse_changed(table);
	foreach(cell, children)
	{
		if (has_changed(lfirst_oid(cell), snapshot))
			refuse_changed(lfirst_oid(cell));
		if (has_subclass(lfirst_oid(cell)))
			bfpg_check_seen_below(lfirst_oid(cell), snapshot);
	}
}

/* The name of a table that was made since may have been another table's before. */
void
bfpg_check_seen(const PlannedStmt *plan, Snapshot snapshot)
{
	ListCell   *cell;

	foreach(cell, plan->rtable)
	{
		const RangeTblEntry *table = lfirst_node(RangeTblEntry, cell);

		if (table->rtekind != RTE_RELATION)
			continue;
		if (has_changed(table->relid, snapshot))
			refuse_changed(table->relid);
		if (table->inh)
			bfpg_check_seen_below(table->relid, snapshot);
	}
}

void
bfpg_check_seen_chunk(Oid table)
{
	if (TransactionIdIsValid(bfpg_chunk_maker(table)) && has_changed(table, GetActiveSnapshot()))
		refuse_changed(table);
}

void
bfpg_refuse_kept(const char *table, const char *reason, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("rows of table \"%s\" are not kept in the table: %s", table, reason),
			 errdetail("Neither the table's file nor its indexes know all of its rows."),
			 errhint("%s", hint)));
}

void
bfpg_check_heap(Relation table)
{
	if (table->rd_tableam != NULL && table->rd_tableam != GetHeapamTableAmRoutine())
		bfpg_refuse_kept(RelationGetRelationName(table), "the table's access method is not heap",
						 "Build a filter of a query with bloom_agg or bloom_publish.");
}

bool
bfpg_check_kept_here(Oid table)
{
	/* It may have been dropped before it was locked, which is an error here. */
	Relation	relation = relation_open(table, NoLock);
	bool		lasting = bfpg_check_shard(table) && bfpg_check_chunk(table);

	bfpg_check_heap(relation);
	relation_close(relation, NoLock);
	return lasting;
}
