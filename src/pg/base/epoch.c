/*
 * epoch.c
 *	  The one counter by which caches of this process notice that they may be stale.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"

#include "base/epoch.h"

uint64		bfpg_epoch = 1;

static void
relation_changed(Datum arg, Oid relation)
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
	RegisterSubXactCallback(subtransaction_ends, NULL);
}
