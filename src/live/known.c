/*
 * known.c
 *	  The indexes that a question is about, as the call site or the backend knows them.
 *
 * A backend keeps which indexes answer a question, the layout of their pages, and that this
 * user may ask them.  A cached answer is as right as a search in the catalogs:
 *
 * 1. It rests on rows of catalogs alone.  When a relation changes, its indexes, its rights or
 *	  what is below it, or a role, a membership or a database's owner, PostgreSQL sends each
 *	  backend a message.  Each of them moves bfpg_epoch, and an entry of another epoch is not
 *	  used.  (specs/live_known.spec makes each of these changes between two executions.)
 * 2. A backend has read all messages that were sent before it got its locks.
 *	  LockRelationOid reads them for a lock that is new to the transaction; for locks that it
 *	  already had, bfpg_live_find_targets does.  (The same spec: begin, index, revoke,
 *	  index; specs/live_replaced.spec.)  A subtransaction that is rolled back gives its locks back,
 *	  and moves the epoch, too.  (The first spec: twice.)
 * 3. Who gives an index another file, or drops it, holds its exclusive lock until its messages
 *	  are sent.  REINDEX CONCURRENTLY and DROP INDEX CONCURRENTLY wait for all who hold a lock of
 *	  the table before insertions pass the index by.  So the locks of each table and its index
 *	  are taken, and kept as a scan keeps them.  (specs/live_replaced.spec.)
 * 4. All sessions share the room for locks, so of a partition or a child only the table's lock is
 *	  kept, and its index is locked while it is asked.  Between two look-ups REINDEX and ALTER
 *	  INDEX may then give it another file, and nothing else: all else needs a lock of the table
 *	  that conflicts with ours.  Taking the lock reads their message, so a look-up that finds the
 *	  epoch moved compares the file, and reads the layout of another one anew.  The new file has
 *	  all keys: it is built as any other.  (specs/live_leaves.spec, t/076_live_load.pl.)
 *
 * What depends on more than the catalogs is not kept: whom row security exempts.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "live/target.h"

/*
 * Questions that are kept at most, one in a slot chosen by a hash.  Without them a look-up in a
 * statement of its own takes 1.8 ms over 200 partitions, with them 0.5 ms; over one table 94 and 70 us.
 */
#define SLOTS 64

/* Targets of a question that is kept, at most. */
#define MOST_TARGETS 1024

static BfpgLiveTargets slots[SLOTS];

static BfpgLiveTargets *
slot_of(const BfpgLiveTargets *targets)
{
	uint64		hash = targets->relation;

	if (targets->by_column)
		hash = bf_hash(NameStr(targets->column), strlen(NameStr(targets->column)), hash);
	return &slots[hash % SLOTS];
}

/* Whether targets were found for this question and this user, and nothing has changed since. */
static inline bool
are_targets_of(const BfpgLiveTargets *targets, Oid relation, const NameData *column)
{
	return targets->epoch == bfpg_epoch &&
		targets->relation == relation &&
		targets->user == GetUserId() &&
		targets->by_column == (column != NULL) &&
		(column == NULL || strcmp(NameStr(targets->column), NameStr(*column)) == 0);
}

/* The table that was named comes first, and each table before its index. */
static void
lock_all(const BfpgLiveTargets *entry)
{
	int			i;

	LockRelationOid(entry->table, AccessShareLock);
	for (i = 0; i < entry->count; i++)
	{
		LockRelationOid(entry->targets[i].table, AccessShareLock);
		if (OidIsValid(entry->targets[i].index) && !entry->of_leaves)
			LockRelationOid(entry->targets[i].index, AccessShareLock);
	}
}

static BfpgLiveTarget *
copy_targets(const BfpgLiveTargets *from, MemoryContext context)
{
	Size		bytes = from->count * sizeof(BfpgLiveTarget);

	return from->count == 0 ? NULL : memcpy(MemoryContextAlloc(context, bytes), from->targets, bytes);
}

/* Takes the targets of a question that the backend has asked before, and locks them. */
static bool
find_in_cache(BfpgLiveTargets *targets)
{
	const BfpgLiveTargets *entry = slot_of(targets);
	BfpgLiveTargets found;

	if (!are_targets_of(entry, targets->relation, targets->by_column ? &targets->column : NULL))
		return false;
	lock_all(entry);
	/* Locking reads messages, after which the entry may be wrong. */
	if (entry->epoch != bfpg_epoch)
		return false;
	found = *entry;
	found.context = targets->context;
	found.targets = copy_targets(entry, targets->context);
	*targets = found;
	return true;
}

/* Keeps the targets of a question that were found just now, if they may be kept. */
static void
add_to_cache(const BfpgLiveTargets *targets)
{
	BfpgLiveTarget *copy;
	BfpgLiveTargets *entry;

	if (!targets->lasting || targets->count > MOST_TARGETS)
		return;
	copy = copy_targets(targets, TopMemoryContext);
	entry = slot_of(targets);
	if (entry->targets != NULL)
		pfree(entry->targets);
	*entry = *targets;
	entry->targets = copy;
	/* What belongs to the call site's memory. */
	entry->mark.xids = NULL;
	entry->context = NULL;
}

/* Frees what was found before, and begins to look for the targets of a question. */
static void
begin_question(BfpgLiveTargets *targets, Oid relation, const NameData *column, MemoryContext context)
{
	if (targets->targets != NULL)
		pfree(targets->targets);
	if (targets->mark.xids != NULL)
		pfree(targets->mark.xids);
	memset(targets, 0, sizeof *targets);
	targets->context = context;
	targets->relation = relation;
	targets->user = GetUserId();
	targets->by_column = column != NULL;
	if (column != NULL)
		targets->column = *column;
}

bool
bfpg_live_find_targets(BfpgLiveTargets *targets, Oid relation, const NameData *column,
					   MemoryContext context)
{
	/* Nobody waits for the locks of a standby: see trust.c, 3. */
	if (unlikely(RecoveryInProgress()))
		AcceptInvalidationMessages();
	if (likely(targets->transaction == bfpg_own_transaction() &&
			   are_targets_of(targets, relation, column) &&
			   (!targets->of_snapshot || bfpg_same_snapshot(&targets->mark))))
		return false;
	begin_question(targets, relation, column, context);
	AcceptInvalidationMessages();
	if (!find_in_cache(targets))
	{
		targets->epoch = bfpg_epoch;
		bfpg_mark_snapshot(&targets->mark, targets->context);
		bfpg_live_search_targets(targets);
		add_to_cache(targets);
	}
	/* Not right before all is found: an error on the way leaves it wrong. */
	targets->transaction = bfpg_own_transaction();
	return true;
}
