/*
 * epoch.c
 *	  The one counter by which caches of this process notice that they may be stale.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "base/epoch.h"

uint64		bfpg_epoch = 1;

static void
relation_changed(Datum arg, Oid relation)
{
	bfpg_epoch++;
}

static void
role_changed(Datum arg, int cache, uint32 hash)
{
	bfpg_epoch++;
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
					void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		bfpg_epoch++;
}

void
bfpg_epoch_init(void)
{
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, role_changed, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, role_changed, (Datum) 0);
	/* The owner of the database is a member of pg_database_owner. */
	CacheRegisterSyscacheCallback(DATABASEOID, role_changed, (Datum) 0);
	RegisterSubXactCallback(subtransaction_ends, NULL);
}
