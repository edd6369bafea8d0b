/*
 * snapshot.c
 *	  Whether what was read under one snapshot holds under another.
 *
 * A call site in a query has one snapshot for all rows.  An expression of PL/pgSQL
 * is a call site for a whole transaction, with a new snapshot for each statement at
 * READ COMMITTED, and after the transaction's own changes.
 */
#include "postgres.h"

#include "utils/snapmgr.h"

#include "base/epoch.h"
#include "base/pg_compat.h"
#include "base/snapshot.h"

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
	mark->epoch = bfpg_epoch;
	mark->transaction = bfpg_own_transaction();
}
