/*
 * snapshot.h
 *	  Whether two snapshots see the same.
 */
#ifndef BFPG_SNAPSHOT_H
#define BFPG_SNAPSHOT_H

#include "access/transam.h"
#include "utils/snapshot.h"

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

#endif							/* BFPG_SNAPSHOT_H */
