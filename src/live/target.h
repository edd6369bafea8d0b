/*
 * target.h
 *	  Which indexes a question is about, and whether they may be asked and trusted.
 *
 * A question names an index, or a table and a column.  Of a partitioned table or
 * index, and of a table that others inherit from, it is about all leaves.
 */
#ifndef BFPG_LIVE_TARGET_H
#define BFPG_LIVE_TARGET_H

#include "base/snapshot.h"
#include "live/compat.h"
#include "live/page.h"
#include "live/trust.h"

#pragma GCC visibility push(hidden)

/* One table and the index that answers for it. */
typedef struct BfpgLiveTarget
{
	Oid			table;
	Oid			index;			/* InvalidOid: there is none to be trusted; true for each key */
	bool		temporary;
	BfpgFileLocator locator;
	BfpgLive	live;
	BfpgLiveMakers makers;		/* the snapshot of each look-up must see them */
	bool		counted;		/* as a scan of the index */
} BfpgLiveTarget;

/*
 * What a call site remembers of a question: for as long as the locks that it took are
 * held, nothing in the catalogs has changed and the same user asks.
 */
typedef struct BfpgLiveTargets
{
	Oid			relation;		/* as asked: an index, or a table if column is not 0 */
	NameData	column;
	bool		by_column;
	int			count;
	BfpgLiveTarget *targets;
	uint32		key_type;		/* as in bf_header, BF_KEY_NONE if there is no target */
	Oid			column_type;	/* the SQL type that the indexes have, then */
	bool		lasting;		/* right for other transactions, too: see question_cache.h */
	bool		of_snapshot;	/* right for one snapshot only, that of mark */
	BfpgSnapshotMark mark;

	uint64		epoch;			/* bfpg_live_catalog_epoch when they were found */
	LocalTransactionId transaction;
	SubTransactionId subtransaction;
	uint64		rollbacks;		/* of subtransactions, which may have had the locks */
	Oid			user;
	MemoryContext context;		/* of this, and of what it points to */
} BfpgLiveTargets;

/*
 * Finds the targets of a question and returns true, or finds that those known are still
 * right and returns false.  Throws if the user may not ask, or there is nothing to ask.
 * All zeros is a question that was not asked yet.
 */
extern bool bfpg_live_find_targets(BfpgLiveTargets *targets, Oid relation, const NameData *column,
								   MemoryContext context);

/* Finds a live filter of all rows' values in a locked table's column; InvalidOid if there is none. */
extern Oid	bfpg_live_index_of_column(Relation table, const char *column);

/*
 * Opens an index for looking at it, as its statistics do: it is one of ours, has
 * storage, and the user may read the table.  The locks are kept, and where the transaction
 * is serializable that of the predicate, too.
 */
extern Relation bfpg_live_open_index(Oid index, bool for_statistics);

/* Throws for a partitioned index. */
extern void bfpg_live_refuse_partitioned(Oid index);

/*
 * Locks an index and its table as bfpg_live_open_index does, but doesn't wait; returns
 * whether that can be called without waiting, be it for an error.
 */
extern bool bfpg_live_lock_if_free(Oid index);

/*
 * Whether an index has its pages: CREATE and REINDEX INDEX CONCURRENTLY make them in a
 * later transaction than the index, and leave one without if they are cancelled.
 */
extern bool bfpg_live_is_built(Oid index);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_TARGET_H */
