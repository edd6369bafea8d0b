/*
 * live_known.c
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
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "live_known.h"
#include "live_rights.h"

/* Questions that are kept: a place for each, by a hash. */
#define PLACES 64

typedef struct BfpgLiveKnown
{
	Oid			relation;		/* InvalidOid: the place is free */
	bool		by_column;
	NameData	column;
	Oid			user;
	uint64		generation;
	uint32		key_type;
	BfpgLiveTarget target;
} BfpgLiveKnown;

uint64		bfpg_live_generation = 0;

static BfpgLiveKnown *places = NULL;

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

void
bfpg_live_known_init(void)
{
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, role_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, role_changed, (Datum) 0);
	/* Who owns the database is a member of pg_database_owner. */
	CacheRegisterSyscacheCallback(DATABASEOID, role_changed, (Datum) 0);
}

static BfpgLiveKnown *
place_of(const BfpgLiveTargets *targets)
{
	uint64		hash = targets->relation;

	if (targets->by_column)
		hash = bf_hash(NameStr(targets->column), strlen(NameStr(targets->column)), hash);
	return &places[hash % PLACES];
}

static bool
is_about(const BfpgLiveKnown *known, const BfpgLiveTargets *targets)
{
	return known->generation == bfpg_live_generation &&
		known->relation == targets->relation &&
		known->user == GetUserId() &&
		known->by_column == targets->by_column &&
		(!known->by_column || strcmp(NameStr(known->column), NameStr(targets->column)) == 0);
}

bool
bfpg_live_recall(BfpgLiveTargets *targets)
{
	BfpgLiveKnown *known;

	if (places == NULL || bfpg_live_snapshots_of_standby())
		return false;
	known = place_of(targets);
	if (!is_about(known, targets))
		return false;
	LockRelationOid(known->target.table, AccessShareLock);
	LockRelationOid(known->target.index, AccessShareLock);
	if (known->generation != bfpg_live_generation)
		return false;
	targets->generation = known->generation;
	targets->key_type = known->key_type;
	targets->count = 1;
	targets->targets = MemoryContextAlloc(targets->context, sizeof *targets->targets);
	targets->targets[0] = known->target;
	return true;
}

void
bfpg_live_remember(const BfpgLiveTargets *targets)
{
	BfpgLiveKnown *known;

	if (!targets->lasting || targets->count != 1 || !OidIsValid(targets->targets[0].index))
		return;
	if (places == NULL)
		places = MemoryContextAllocZero(TopMemoryContext, PLACES * sizeof *places);
	known = place_of(targets);
	known->relation = targets->relation;
	known->by_column = targets->by_column;
	known->column = targets->column;
	known->user = GetUserId();
	known->generation = targets->generation;
	known->key_type = targets->key_type;
	known->target = targets->targets[0];
}
