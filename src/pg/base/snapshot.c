/*
 * snapshot.c
 *	  Whether what was read under one snapshot holds under another.
 *
 * A call site in a query has one snapshot for all rows.  An expression of PL/pgSQL
 * is a call site for a whole transaction, with a new snapshot for each statement at
 * READ COMMITTED, and after the transaction's own changes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/snapmgr.h"

#include "base/pg_compat.h"
#include "base/snapshot.h"

static uint32 rollbacks = 0;	/* of subtransactions, in this process */

static void
count_rollback(SubXactEvent event, SubTransactionId sub, SubTransactionId parent, void *unused)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		rollbacks++;
}

void
bfpg_snapshot_init(void)
{
	RegisterSubXactCallback(count_rollback, NULL);
}

void
bfpg_snapshot_mark(BfpgSnapshotMark *mark)
{
	Snapshot	snapshot = GetActiveSnapshot();

	memset(mark, 0, sizeof(*mark));
	mark->xmin = snapshot->xmin;
	mark->xmax = snapshot->xmax;
	mark->running = snapshot->xcnt;
	mark->running_sub = snapshot->subxcnt;
	mark->command = snapshot->curcid;
	mark->rollbacks = rollbacks;
	mark->transaction = bfpg_own_transaction();
}
