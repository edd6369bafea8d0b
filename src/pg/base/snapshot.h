/*
 * snapshot.h
 *	  Whether what was read under one snapshot holds under another.
 */
#ifndef BFPG_SNAPSHOT_H
#define BFPG_SNAPSHOT_H

#include "access/transam.h"

#pragma GCC visibility push(hidden)

/*
 * What two snapshots that see the same have in common.  For the same xmax the top
 * transactions in progress only get fewer, so it is enough to count them (their
 * subtransactions may get more, and then rows are read once more for nothing); what the
 * own transaction did is told by its command and by the epoch, which its rollbacks of
 * subtransactions move.
 */
typedef struct BfpgSnapshotMark
{
	TransactionId xmin;
	TransactionId xmax;
	uint32		running;
	int32		running_sub;
	CommandId	command;
	uint64		epoch;			/* moves when a subtransaction is rolled back */
	LocalTransactionId transaction;
} BfpgSnapshotMark;

/* The mark of the snapshot that the query at hand has. */
extern void bfpg_snapshot_mark(BfpgSnapshotMark *mark);

#pragma GCC visibility pop

#endif							/* BFPG_SNAPSHOT_H */
