/*
 * epoch.c
 *	  By what a cache of this process notices that it may be stale: one counter, and whether two
 *	  snapshots see the same.
 *
 * A call site in a query has one snapshot for all rows.  An expression of PL/pgSQL
 * is a call site for a whole transaction, with a new snapshot for each statement at
 * READ COMMITTED, and after the transaction's own changes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/epoch.h"
#include "base/pg_compat.h"

uint64		bfpg_epoch = 1;

static void
relation_changed(Datum arg, Oid relation)
{
	bfpg_epoch++;
}

static void
role_changed(Datum arg, int cache, uint32 hash)
{
	bfpg_epoch++;
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
					void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		bfpg_epoch++;
}

void
bfpg_epoch_init(void)
{
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, role_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, role_changed, (Datum) 0);
	/* The owner of the database is a member of pg_database_owner. */
	CacheRegisterSyscacheCallback(DATABASEOID, role_changed, (Datum) 0);
	RegisterSubXactCallback(subtransaction_ends, NULL);
}

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
