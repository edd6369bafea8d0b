/*
 * epoch.h
 *	  By what a cache of this process notices that it may be stale: one counter, and whether two
 *	  snapshots see the same.
 *
 * A cache notes bfpg_epoch when it is filled, and looks again when that has moved.
 * The counter moves with every invalidation of a relation, of a role, its memberships or the
 * database's owner, with every rollback of a subtransaction, and when some module frees what
 * others may point to.
 */
#ifndef BFPG_EPOCH_H
#define BFPG_EPOCH_H

#include "access/transam.h"
#include "utils/snapshot.h"

/* Never 0, which a cache can take for "not filled". */
extern uint64 bfpg_epoch;

/* Registers the callbacks, when the module is loaded. */
extern void bfpg_epoch_init(void);

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

#endif							/* BFPG_EPOCH_H */
