/*
 * snapshot.h
 *	  Whether two snapshots see the same, and whether one sees the rows of a query's tables.
 */
#ifndef BFPG_SNAPSHOT_H
#define BFPG_SNAPSHOT_H

#include "access/transam.h"
#include "nodes/plannodes.h"
#include "utils/snapshot.h"

#pragma GCC visibility push(hidden)

/*
 * What two snapshots that see the same have in common.  To count the transactions in
 * progress is not enough: one that is being prepared is listed twice for a while, in which
 * another may have committed.  What the own transaction did is told by its command and by
 * the epoch.
 */
typedef struct BfpgSnapshotMark
{
	TransactionId xmin;
	TransactionId xmax;
	uint32		running;
	int32		running_sub;
	TransactionId *xids;		/* of both, NULL where there is none */
	CommandId	command;
	uint64		epoch;			/* moves when a subtransaction is rolled back */
	LocalTransactionId transaction;
} BfpgSnapshotMark;

/* Marks the snapshot that the query at hand has.  The identifiers are allocated in that context. */
extern void bfpg_mark_snapshot(BfpgSnapshotMark *mark, MemoryContext context);

/* Whether the query at hand sees what the marked snapshot sees. */
extern bool bfpg_same_snapshot(const BfpgSnapshotMark *mark);

/*
 * Throws where a table of a plan got other rows after the snapshot was taken, and the snapshot
 * sees neither these nor those of before.  The tables are locked since they were planned, so
 * nothing changes from here on.  made_since: a table that was made after the snapshot is an error,
 * too, as the name may have been another table's then.
 */
extern void bfpg_check_seen(const PlannedStmt *plan, Snapshot snapshot, bool made_since);

#pragma GCC visibility pop

#endif							/* BFPG_SNAPSHOT_H */
