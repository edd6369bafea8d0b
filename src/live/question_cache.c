/*
 * question_cache.c
 *	  What a backend found in the catalogs for a question, kept from statement to statement.
 *
 * A backend keeps which indexes answer a question, the layout of their pages, and that this
 * user may ask them.  A cached answer is as right as a search in the catalogs:
 *
 * 1. It rests on rows of catalogs alone.  PostgreSQL sends each backend a relcache message
 *	  when a relation changes: its columns, its file, its indexes, its row security, the rights
 *	  on it, or what is below it.  It sends a syscache message when a role, a membership or a
 *	  database's owner changes.  Each of these messages moves bfpg_epoch, and an entry of
 *	  another epoch is not used.  (specs/live_known.spec makes each of these changes between
 *	  two executions of a prepared statement.)
 * 2. A backend has read all messages that were sent before it got its locks.
 *	  LockRelationOid reads them for a lock that is new to the transaction; for locks that the
 *	  transaction already had, bfpg_live_find_targets does.  (live_known.spec: own_ask, then
 *	  another session's revoke.)
 * 3. A transaction that gives an index another file, or drops it, holds its exclusive lock
 *	  until its messages are sent.  REINDEX CONCURRENTLY and DROP INDEX CONCURRENTLY wait for
 *	  all who hold a lock of the table before insertions pass the index by.  Here the locks of
 *	  each table and its index are taken, and kept as a scan keeps them.
 *	  (t/078_live_members.pl, specs/live_ddl.spec.)
 *
 * What depends on more than the catalogs is not kept: whom row security exempts.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

#include "base/epoch.h"
#include "live/target.h"

/* Questions that are kept at most, one in a slot chosen by a hash. */
#define SLOTS 64

/* Targets of a question that is kept, at most. */
#define MOST_TARGETS 1024

static BfpgLiveTargets *slots = NULL;

static BfpgLiveTargets *
slot_of(const BfpgLiveTargets *targets)
{
	uint64		hash = targets->relation;

	if (targets->by_column)
		hash = bf_hash(NameStr(targets->column), strlen(NameStr(targets->column)), hash);
	return &slots[hash % SLOTS];
}

/* Whether an entry is of the same question, asked by the same user, and still right. */
static bool
is_right(const BfpgLiveTargets *entry, const BfpgLiveTargets *targets)
{
	return entry->epoch == bfpg_epoch &&
		entry->relation == targets->relation &&
		entry->user == targets->user &&
		entry->by_column == targets->by_column &&
		(!entry->by_column || strcmp(NameStr(entry->column), NameStr(targets->column)) == 0);
}

/* The table that was named comes first, then each table before its index. */
static void
lock_all(const BfpgLiveTargets *entry)
{
	int			i;

	LockRelationOid(entry->table, AccessShareLock);
	for (i = 0; i < entry->count; i++)
	{
		LockRelationOid(entry->targets[i].table, AccessShareLock);
		if (OidIsValid(entry->targets[i].index))
			LockRelationOid(entry->targets[i].index, AccessShareLock);
	}
}

static BfpgLiveTarget *
copy_targets(const BfpgLiveTargets *from, MemoryContext context)
{
	Size		bytes = from->count * sizeof(BfpgLiveTarget);

	return from->count == 0 ? NULL : memcpy(MemoryContextAlloc(context, bytes), from->targets, bytes);
}

bool
bfpg_live_question_cache_find(BfpgLiveTargets *targets)
{
	const BfpgLiveTargets *entry;

	if (slots == NULL)
		return false;
	entry = slot_of(targets);
	if (!is_right(entry, targets))
		return false;
	lock_all(entry);
	/* Locking reads messages, after which the entry may be wrong. */
	if (entry->epoch != bfpg_epoch)
		return false;
	targets->epoch = entry->epoch;
	targets->key_type = entry->key_type;
	targets->column_type = entry->column_type;
	targets->targets = copy_targets(entry, targets->context);
	targets->count = entry->count;
	return true;
}

void
bfpg_live_question_cache_add(const BfpgLiveTargets *targets)
{
	BfpgLiveTarget *copy;
	BfpgLiveTargets *entry;

	if (!targets->lasting || targets->count > MOST_TARGETS)
		return;
	if (slots == NULL)
		slots = MemoryContextAllocZero(TopMemoryContext, SLOTS * sizeof *slots);
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
