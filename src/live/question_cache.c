/*
 * question_cache.c
 *	  What a backend found in the catalogs for a question, kept from statement to statement.
 *
 * A backend keeps which index answers a question, the layout of its pages, and that this
 * user may ask it.  A cached answer is as right as a search in the catalogs:
 *
 * 1. All that it rests on are rows of catalogs: the relations' own, rights on them, their
 *	  row security, descendants, columns and files, and the roles.  PostgreSQL sends each
 *	  backend a relcache message for a change of the former and a syscache message for a
 *	  change of the latter; both increment bfpg_live_catalog_epoch, and an entry of another
 *	  epoch is not used.  specs/live_known.spec makes each of these changes between two
 *	  executions of a prepared statement.
 * 2. A backend has read all messages that were sent before it got its locks:
 *	  LockRelationOid reads them for a lock that is new to the transaction, and
 *	  bfpg_live_question_cache_find does for locks that it had already.  (live_known.spec:
 *	  own_drop, own_revoke.)
 * 3. A transaction that gives an index another file, or drops it, holds its exclusive lock
 *	  until its messages are sent.  REINDEX CONCURRENTLY and DROP INDEX CONCURRENTLY wait for
 *	  all who hold a lock of the table before insertions pass the index by.  Here both locks
 *	  are taken, and kept as a scan keeps them.  (t/078_live_members.pl, specs/live_ddl.spec.)
 *
 * What depends on more than the catalogs is not kept: whom row security exempts, and which
 * snapshots may see an index that PostgreSQL has marked for broken HOT chains.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "live/question_cache.h"

/* Questions that are kept at most, one in a slot chosen by a hash. */
#define SLOTS 64

uint64		bfpg_live_catalog_epoch = 0;
uint64		bfpg_live_rollbacks = 0;

static BfpgLiveCachedQuestion *slots = NULL;

static void
relation_changed(Datum arg, Oid relation)
{
	bfpg_live_catalog_epoch++;
}

static void
role_changed(Datum arg, int cache, uint32 hash)
{
	bfpg_live_catalog_epoch++;
}

static void
subtransaction_ended(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		bfpg_live_rollbacks++;
}

void
bfpg_live_question_cache_init(void)
{
	RegisterSubXactCallback(subtransaction_ended, NULL);
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, role_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, role_changed, (Datum) 0);
	/* The owner of the database is a member of pg_database_owner. */
	CacheRegisterSyscacheCallback(DATABASEOID, role_changed, (Datum) 0);
}

static BfpgLiveCachedQuestion *
slot_of(Oid relation, const NameData *column)
{
	uint64		hash = relation;

	if (column != NULL)
		hash = bf_hash(NameStr(*column), strlen(NameStr(*column)), hash);
	return &slots[hash % SLOTS];
}

const BfpgLiveCachedQuestion *
bfpg_live_question_cache_find(Oid relation, const NameData *column)
{
	const BfpgLiveCachedQuestion *entry;

	if (slots == NULL)
		return NULL;
	/* LockRelationOid reads no messages for a lock that the transaction already holds. */
	AcceptInvalidationMessages();
	entry = slot_of(relation, column);
	if (entry->epoch != bfpg_live_catalog_epoch ||
		entry->relation != relation ||
		entry->user != GetUserId() ||
		entry->by_column != (column != NULL) ||
		(column != NULL && strcmp(NameStr(entry->column), NameStr(*column)) != 0))
		return NULL;
	return entry;
}

bool
bfpg_live_question_cache_lock(const BfpgLiveCachedQuestion *entry)
{
	LockRelationOid(entry->target.table, AccessShareLock);
	LockRelationOid(entry->target.index, AccessShareLock);
	return entry->epoch == bfpg_live_catalog_epoch;
}

void
bfpg_live_question_cache_add(const BfpgLiveTargets *targets)
{
	const NameData *column = targets->by_column ? &targets->column : NULL;
	BfpgLiveCachedQuestion *entry;

	if (!targets->lasting || targets->count != 1 || !OidIsValid(targets->targets[0].index))
		return;
	if (slots == NULL)
		slots = MemoryContextAllocZero(TopMemoryContext, SLOTS * sizeof *slots);
	entry = slot_of(targets->relation, column);
	entry->relation = targets->relation;
	entry->by_column = targets->by_column;
	entry->column = targets->column;
	entry->user = GetUserId();
	entry->epoch = targets->epoch;
	entry->key_type = targets->key_type;
	entry->column_type = targets->column_type;
	entry->target = targets->targets[0];
}
