/*
 * live_kept.c
 *	  Pages of a filter that stay pinned while row after row is asked for.
 *
 * A page that is pinned can't leave its buffer, so nobody may drop or truncate the file
 * meanwhile.  Others can't: they wait for the index's lock, which who asks holds to the
 * end of the transaction.  So pins are kept by transactions alone whose locks nothing takes
 * from them before that, not in subtransactions, and let go when one is rolled back, as
 * the portal that took the lock may be among what failed.  And this transaction itself
 * doesn't: files go when it ends, after what is kept was let go; but those that are new in
 * it are truncated in place, so they aren't kept, and a file that becomes new is told of as
 * a change of its relation.
 *
 * The pins are the transaction's: they outlive the statement that asked, which may be one
 * of a function's loop.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "live_kept.h"

/* This transaction's. */
static BfpgLiveKept *all_kept = NULL;

/*
 * Half of this process's share of the buffers: pages of that many are pinned by each
 * process at the worst, and all still find a buffer for a page.
 */
static uint32
pages_allowed(void)
{
	return (uint32) NBuffers / (2 * (MaxBackends + NUM_AUXILIARY_PROCS));
}

void
bfpg_live_keep(BfpgLiveKept *kept, BlockNumber page, Buffer buffer)
{
	ResourceOwner owner = CurrentResourceOwner;

	Assert(page < kept->pages && kept->buffers[page] == InvalidBuffer);
	CurrentResourceOwner = TopTransactionResourceOwner;
	IncrBufferRefCount(buffer);
	CurrentResourceOwner = owner;
	kept->buffers[page] = buffer;
}

void
bfpg_live_let_go(void)
{
	ResourceOwner owner = CurrentResourceOwner;
	BfpgLiveKept *kept;
	uint32		page;

	CurrentResourceOwner = TopTransactionResourceOwner;
	for (kept = all_kept; kept != NULL; kept = kept->next)
	{
		for (page = 0; page < kept->pages; page++)
		{
			if (kept->buffers[page] != InvalidBuffer)
				ReleaseBuffer(kept->buffers[page]);
			kept->buffers[page] = InvalidBuffer;
		}
	}
	CurrentResourceOwner = owner;
}

/* Before the transaction's resources are released, which would find pins left behind. */
static void
end_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_PARALLEL_COMMIT ||
		event == XACT_EVENT_PREPARE)
		return;
	bfpg_live_let_go();
	/* They are in the transaction's memory. */
	all_kept = NULL;
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		bfpg_live_let_go();
}

static void
watch_transactions(void)
{
	static bool watching = false;

	if (watching)
		return;
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
	watching = true;
}

/* Whether this transaction has made the index's file. */
static bool
is_new(Oid oid)
{
	Relation	index = RelationIdGetRelation(oid);
	bool		result;

	if (index == NULL)
		return true;
	result = bfpg_file_is_new(index);
	RelationClose(index);
	return result;
}

BfpgLiveKept *
bfpg_live_kept(const BfpgLiveTarget *target)
{
	uint64		pages = bfpg_live_fixed_pages(&target->live);
	uint64		reserved = pages;
	BfpgLiveKept *kept;

	/* Whoever is serializable locks what he asks for, page by page. */
	if (target->temporary || GetCurrentTransactionNestLevel() > 1 || IsolationIsSerializable() ||
		is_new(target->index))
		return NULL;
	for (kept = all_kept; kept != NULL; kept = kept->next)
	{
		if (BFPG_SAME_LOCATOR(kept->locator, target->locator))
			return kept;
		reserved += kept->pages;
	}
	if (reserved > pages_allowed())
		return NULL;
	watch_transactions();
	kept = MemoryContextAllocZero(TopTransactionContext,
								  offsetof(BfpgLiveKept, buffers) + pages * sizeof kept->buffers[0]);
	kept->locator = target->locator;
	kept->pages = (uint32) pages;
	kept->next = all_kept;
	all_kept = kept;
	return kept;
}
