/*
 * snapshot.c
 *	  Whether two snapshots see the same, and whether one sees the rows of a query's tables.
 *
 * A call site in a query has one snapshot for all rows.  An expression of PL/pgSQL
 * is a call site for a whole transaction, with a new snapshot for each statement at
 * READ COMMITTED, and after the transaction's own changes.
 *
 * A snapshot that was taken before a table was locked finds the table empty where another
 * transaction has since done what only later snapshots see: TRUNCATE, REFRESH MATERIALIZED VIEW
 * and some kinds of ALTER TABLE put rows into another file, and TimescaleDB moves those of a chunk
 * between two tables.  PostgreSQL's manual calls it a caveat (MVCC).  Keys that are not found so
 * would be missing in a list, and rows in the result of bloom_search.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/elsewhere.h"
#include "base/epoch.h"
#include "base/pg_compat.h"
#include "base/snapshot.h"

void
bfpg_mark_snapshot(BfpgSnapshotMark *mark, MemoryContext context)
{
	Snapshot	snapshot = GetActiveSnapshot();
	uint32		count = snapshot->xcnt + snapshot->subxcnt;

	mark->xmin = snapshot->xmin;
	mark->xmax = snapshot->xmax;
	mark->running = snapshot->xcnt;
	mark->running_sub = snapshot->subxcnt;
	mark->command = snapshot->curcid;
	mark->epoch = bfpg_epoch;
	mark->transaction = bfpg_own_transaction();
	mark->xids = NULL;
	if (count == 0)
		return;
	mark->xids = MemoryContextAlloc(context, count * sizeof(TransactionId));
	if (snapshot->xcnt > 0)
		memcpy(mark->xids, snapshot->xip, snapshot->xcnt * sizeof(TransactionId));
	if (snapshot->subxcnt > 0)
		memcpy(mark->xids + snapshot->xcnt, snapshot->subxip, snapshot->subxcnt * sizeof(TransactionId));
}

static inline bool
same_xids(const TransactionId *a, const TransactionId *b, uint32 count)
{
	return count == 0 || memcmp(a, b, count * sizeof(TransactionId)) == 0;
}

bool
bfpg_same_snapshot(const BfpgSnapshotMark *mark)
{
	Snapshot	snapshot = GetActiveSnapshot();

	return mark->xmin == snapshot->xmin &&
		mark->xmax == snapshot->xmax &&
		mark->running == snapshot->xcnt &&
		mark->running_sub == snapshot->subxcnt &&
		mark->command == snapshot->curcid &&
		mark->epoch == bfpg_epoch &&
		mark->transaction == bfpg_own_transaction() &&
		same_xids(mark->xids, snapshot->xip, mark->running) &&
		same_xids(mark->xids + mark->running, snapshot->subxip, (uint32) mark->running_sub);
}

/* The file of a relation as a snapshot has it, NULL for one that sees all that is committed. */
static Oid
file_of(Oid relation, Snapshot snapshot)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;
	Oid			file;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	scan = systable_beginscan(catalog, ClassOidIndexId, true, snapshot, 1, &key);
	row = systable_getnext(scan);
	file = HeapTupleIsValid(row) ? ((Form_pg_class) GETSTRUCT(row))->relfilenode : InvalidOid;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return file;
}

static bool
is_seen(Oid table, Snapshot snapshot, bool made_since)
{
	Oid			before = file_of(table, snapshot);

	return (before == file_of(table, NULL) || (before == InvalidOid && !made_since)) && !bfpg_has_moved(table, snapshot);
}

void
bfpg_check_seen(const PlannedStmt *plan, Snapshot snapshot, bool made_since)
{
	ListCell   *cell;

	foreach(cell, plan->rtable)
	{
		const RangeTblEntry *table = lfirst_node(RangeTblEntry, cell);

		if (table->rtekind == RTE_RELATION && !is_seen(table->relid, snapshot, made_since))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("table \"%s\" got other rows while the statement waited", get_rel_name(table->relid)),
					 errdetail("Its snapshot is older, and finds the table empty."),
					 errhint("Repeat the statement, in a new transaction.")));
	}
}
