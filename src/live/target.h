/*
 * target.h
 *	  Which indexes a question is about, and whether they may be asked and trusted.
 *
 * A question names an index, or a table and a column.  Of a partitioned table or
 * index, and of a table that others inherit from, it is about all leaves.
 */
#ifndef BFPG_LIVE_TARGET_H
#define BFPG_LIVE_TARGET_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "base/epoch.h"
#include "live/compat.h"
#include "live/page.h"

/*
 * The transactions that made an index what it is: one made its row in pg_index, at the latest
 * when it became valid, the other its row in pg_class, at the latest with its present file.
 */
typedef struct BfpgLiveMakers
{
	bool		matter;			/* there are snapshots of a standby */
	TransactionId index;
	TransactionId file;
} BfpgLiveMakers;

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
	Oid			relation;		/* as asked: an index, or a table if by_column */
	NameData	column;
	bool		by_column;
	Oid			user;
	uint64		epoch;			/* bfpg_epoch when they were found */
	LocalTransactionId transaction;
	Oid			table;			/* that was named, or whose index was */
	uint32		key_type;		/* as in bf_header, BF_KEY_NONE if there is no target */
	Oid			column_type;	/* the SQL type that the indexes have, then */
	bool		lasting;		/* right for other transactions, too: see known.c */
	bool		of_snapshot;	/* right for one snapshot only, that of mark */
	bool		compressed;		/* some are compressed chunks, which have no index to ask */
	bool		of_leaves;		/* their indexes are locked only while they are asked */
	BfpgSnapshotMark mark;
	int			count;
	BfpgLiveTarget *targets;
	MemoryContext context;		/* of this, and of what it points to */
} BfpgLiveTargets;

/* known.c */

/*
 * Finds the targets of a question and returns true, or finds that those known are still
 * right and returns false.  Throws if the user may not ask, or there is nothing to ask.
 * All zeros is a question that was not asked yet.
 */
extern bool bfpg_live_find_targets(BfpgLiveTargets *targets, Oid relation, const NameData *column,
								   MemoryContext context);

/* find.c */

/* The same by the catalogs, and locks what it finds. */
extern void bfpg_live_search_targets(BfpgLiveTargets *targets);

/*
 * Locks a target's index for as long as it is asked, unless that is locked already, and reads its
 * layout again if it has another file.
 */
extern void bfpg_live_begin_ask(const BfpgLiveTargets *targets, BfpgLiveTarget *target);
extern void bfpg_live_end_ask(const BfpgLiveTargets *targets, const BfpgLiveTarget *target);

/* open.c */

/* Locks an index and its table, and returns the table.  Throws if the index is gone. */
extern Oid	bfpg_live_lock_index(Oid index);

/* Opens an index that is locked.  Throws if it isn't one of ours. */
extern Relation bfpg_live_open_locked(Oid index);

/* Throws if an index is that of a table which others inherit from: it has not their rows. */
extern void bfpg_live_refuse_children(Relation index, Oid table);

/* Throws unless the column's type is one that keys can have: it may have changed. */
extern void bfpg_live_check_type(Relation index);

/* Throws unless equal values of the index' column have equal bytes. */
extern void bfpg_live_check_column(Relation index);

extern void bfpg_live_refuse_partitioned(Oid index);

/*
 * Opens an index to read all of it: one of ours, which has storage, for a user who may read the
 * table.  The locks are kept.  A serializable transaction gets a predicate lock of the whole index.
 */
extern Relation bfpg_live_open_index(Oid index, bool for_statistics);

/* Opens an index that knows all keys of its table, for a user who may read them; or throws. */
extern Relation bfpg_live_open_whole(Oid index);

/*
 * Tries to lock an index and its table without waiting.  Returns true, too, for an OID that is no
 * index: bfpg_live_open_index then throws at once.
 */
extern bool bfpg_live_lock_if_free(Oid index);

/*
 * Whether an index has its pages: CREATE and REINDEX INDEX CONCURRENTLY make them in a
 * later transaction than the index, and leave one without if they are cancelled.
 */
extern bool bfpg_live_is_built(Oid index);

/*
 * Throws unless the user may.  Returns whether nothing but a change of the table or of
 * roles can alter that.
 */
extern bool bfpg_live_check_rights(Relation index);

/* trust.c */

/* Whether an open index may answer for its table at all: it is valid, and can be read here. */
extern bool bfpg_live_usable(Relation index);

extern BfpgLiveMakers bfpg_live_makers(Relation index);

/*
 * Returns one of the makers that not every snapshot sees by which this backend reads rows:
 * then look-ups must return true.  InvalidTransactionId if all snapshots see both.
 */
extern TransactionId bfpg_live_unseen_maker(const BfpgLiveMakers *makers);

/* read.c */

/* Whether a target may have a key with this hash. */
extern bool bfpg_live_contains(BfpgLiveTarget *target, uint64 hash);

/* The same for many hashes: sets found[i] where hash i may be there. */
extern void bfpg_live_contains_hashes(const BfpgLiveTarget *target, const uint64 *hashes,
									  int count, uint8 *found);

/*
 * Appends what a look-up of a hash sees of a target that has an index, page by page.  The
 * caller has looked it up before, which locks the predicate.
 */
extern void bfpg_live_explain(const BfpgLiveTarget *target, uint64 hash, StringInfo lines);

/* ask.c */

/*
 * The tables, locked, whose rows may have the key of a call in a column of a table: the table
 * itself, or those below it.  The key is the call's argument 2, the column's name argument 1.
 */
extern List *bfpg_live_tables_of(FunctionCallInfo fcinfo, Oid table);

#endif							/* BFPG_LIVE_TARGET_H */
