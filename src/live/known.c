/*
 * known.c
 *	  What this process found of questions, kept from statement to statement.
 *
 * Kept is a question about one index, by whom it was asked.  The locks are taken
 * again each time, the table's before the index's: that is when PostgreSQL tells of
 * changes, and what they are for is for each transaction.  Changes of tables, indexes,
 * rights on them and descendants all are changes of relations; what a role may do
 * depends on roles, too.
 *
 * What depends on more than that is not kept: whom row security exempts, and which
 * snapshots may trust an index whose table had broken HOT chains, or any on a standby.
 *
 * A single question, the first of a statement that is a transaction by itself, locks the
 * index alone and until it is answered, if it names the index: most of what a look-up
 * costs is locks.  It is enough:
 *
 * - Who gives the index another file, or drops it, in a transaction that may also insert
 *   rows (TRUNCATE, REINDEX, a rewrite, DROP INDEX) holds its exclusive lock until
 *   everybody has been told.  So we hear of it when we have ours.
 * - Who lets insertions pass an index by without that lock (REINDEX CONCURRENTLY, DROP
 *   INDEX CONCURRENTLY) does so in a transaction of its own, after everybody was told, in
 *   one before, that the index isn't valid.  A row that our snapshot sees was inserted
 *   before that was taken; so if the index lacks it, we were told before.
 * - Rows that are inserted after the snapshot was taken aren't asked for, and nobody drops
 *   a file without the index's exclusive lock.
 *
 * What a column's name means changes without a lock of the index (RENAME COLUMN), so a
 * question by table and column takes both locks, and keeps them.  The lock of the index
 * alone isn't kept: who waits for the table's then could be waited for by who truncates it.
 * So the index may be gone when the statement asks again: that is "perhaps".  Rights that
 * are taken away count from that commit on: nobody waits for it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "live/known.h"
#include "live/rights.h"

/* Questions that are kept: a place for each, by a hash. */
#define PLACES 64

uint64		bfpg_live_generation = 0;
uint64		bfpg_live_rollbacks = 0;

static BfpgLiveKnown *places = NULL;

/* The last transaction that has asked a single question, and about what. */
static LocalTransactionId single_in = InvalidLocalTransactionId;
static Oid	single_about = InvalidOid;

static void
relation_changed(Datum arg, Oid relation)
{
	bfpg_live_generation++;
}

static void
role_changed(Datum arg, int cache, uint32 hash)
{
	bfpg_live_generation++;
}

static void
subtransaction_ended(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		bfpg_live_rollbacks++;
}

void
bfpg_live_known_init(void)
{
	RegisterSubXactCallback(subtransaction_ended, NULL);
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, role_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, role_changed, (Datum) 0);
	/* Who owns the database is a member of pg_database_owner. */
	CacheRegisterSyscacheCallback(DATABASEOID, role_changed, (Datum) 0);
}

static BfpgLiveKnown *
place_of(Oid relation, const NameData *column)
{
	uint64		hash = relation;

	if (column != NULL)
		hash = bf_hash(NameStr(*column), strlen(NameStr(*column)), hash);
	return &places[hash % PLACES];
}

const BfpgLiveKnown *
bfpg_live_known(Oid relation, const NameData *column)
{
	const BfpgLiveKnown *known;

	if (places == NULL || bfpg_live_snapshots_of_standby())
		return NULL;
	/* Had this transaction the locks already, nothing would be read when they are taken. */
	AcceptInvalidationMessages();
	known = place_of(relation, column);
	if (known->generation != bfpg_live_generation ||
		known->relation != relation ||
		known->user != GetUserId() ||
		known->by_column != (column != NULL) ||
		(column != NULL && strcmp(NameStr(known->column), NameStr(*column)) != 0))
		return NULL;
	return known;
}

bool
bfpg_live_lock_known(const BfpgLiveKnown *known)
{
	LockRelationOid(known->target.table, AccessShareLock);
	LockRelationOid(known->target.index, AccessShareLock);
	return known->generation == bfpg_live_generation;
}

bool
bfpg_live_begin_single(const BfpgLiveKnown *known)
{
	if (known->by_column)
		LockRelationOid(known->target.table, AccessShareLock);
	LockRelationOid(known->target.index, AccessShareLock);
	if (known->generation != bfpg_live_generation)
	{
		bfpg_live_end_single(known);
		return false;
	}
	single_in = bfpg_own_transaction();
	single_about = known->relation;
	return true;
}

void
bfpg_live_end_single(const BfpgLiveKnown *known)
{
	if (!known->by_column)
		UnlockRelationOid(known->target.index, AccessShareLock);
}

Oid
bfpg_live_single(void)
{
	return single_in == bfpg_own_transaction() ? single_about : InvalidOid;
}

void
bfpg_live_remember(const BfpgLiveTargets *targets)
{
	const NameData *column = targets->by_column ? &targets->column : NULL;
	BfpgLiveKnown *known;

	if (!targets->lasting || targets->count != 1 || !OidIsValid(targets->targets[0].index))
		return;
	if (places == NULL)
		places = MemoryContextAllocZero(TopMemoryContext, PLACES * sizeof *places);
	known = place_of(targets->relation, column);
	known->relation = targets->relation;
	known->by_column = targets->by_column;
	known->column = targets->column;
	known->user = GetUserId();
	known->generation = targets->generation;
	known->key_type = targets->key_type;
	known->target = targets->targets[0];
}
