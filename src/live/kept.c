/*
 * kept.c
 *	  Pages of a filter that stay pinned while a query asks for row after row.
 *
 * A page that is pinned can't leave its buffer, so nobody may drop, truncate or move its
 * file meanwhile: others would wait for the pin without an end, and this process fail.
 *
 * - Pages are kept while a query runs.  When a function of the query begins a command, all
 *   are let go, and none is kept while that runs, but by queries that it begins itself.
 * - Other processes wait for the index's lock, which who asks has taken before.  He has it
 *   for as long as the query runs, but for what a subtransaction loses that is rolled back:
 *   then all are let go, too.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "live/kept.h"

/* No target was kept before the first. */
uint64		bfpg_live_times_let_go = 1;

static BfpgLiveKept *all_kept = NULL;

/* Whether a query runs, and no command that it began. */
static bool query_runs = false;

static ExecutorRun_hook_type next_run = NULL;
static ProcessUtility_hook_type next_command = NULL;

/*
 * Half of this process's share of the buffers: if all processes have pinned as many, each
 * still finds a buffer for a page.
 */
static uint32
pages_allowed(void)
{
	return (uint32) NBuffers / (2 * (MaxBackends + NUM_AUXILIARY_PROCS));
}

BfpgLiveKept *
bfpg_live_kept(const BfpgLiveTarget *target)
{
	uint64		pages = bfpg_live_fixed_pages(&target->live);
	uint64		reserved = pages;
	BfpgLiveKept *kept;

	/* Whoever is serializable locks what he asks for, page by page. */
	if (!query_runs || target->temporary || IsolationIsSerializable())
		return NULL;
	for (kept = all_kept; kept != NULL; kept = kept->next)
	{
		if (BFPG_SAME_LOCATOR(kept->locator, target->locator) && kept->pages == pages)
			return kept;
		reserved += kept->pages;
	}
	if (reserved > pages_allowed())
		return NULL;
	kept = MemoryContextAllocZero(TopMemoryContext,
								  offsetof(BfpgLiveKept, buffers) + pages * sizeof kept->buffers[0]);
	kept->locator = target->locator;
	kept->pages = (uint32) pages;
	kept->next = all_kept;
	all_kept = kept;
	return kept;
}

void
bfpg_live_keep(BfpgLiveKept *kept, BlockNumber page, Buffer buffer)
{
	ResourceOwner owner = CurrentResourceOwner;

	Assert(page < kept->pages && kept->buffers[page] == InvalidBuffer);
	/* Those of statements and subtransactions may end before the query. */
	CurrentResourceOwner = TopTransactionResourceOwner;
	IncrBufferRefCount(buffer);
	CurrentResourceOwner = owner;
	kept->buffers[page] = buffer;
}

static void
let_go(void)
{
	ResourceOwner owner = CurrentResourceOwner;
	uint32		page;

	bfpg_live_times_let_go++;
	CurrentResourceOwner = TopTransactionResourceOwner;
	while (all_kept != NULL)
	{
		BfpgLiveKept *kept = all_kept;

		for (page = 0; page < kept->pages; page++)
		{
			if (kept->buffers[page] != InvalidBuffer)
				ReleaseBuffer(kept->buffers[page]);
		}
		all_kept = kept->next;
		pfree(kept);
	}
	CurrentResourceOwner = owner;
}

static void
run_query(QueryDesc *query, ScanDirection direction, uint64 count BFPG_RUN_ONCE_PARAMETER)
{
	bool		inner = query_runs;

	query_runs = true;
	PG_TRY();
	{
		(next_run != NULL ? next_run : standard_ExecutorRun) (query, direction, count BFPG_RUN_ONCE);
	}
	PG_FINALLY();
	{
		query_runs = inner;
	}
	PG_END_TRY();
	if (!inner)
		let_go();
}

static void
run_command(BFPG_COMMAND_PARAMETERS)
{
	bool		inner = query_runs;

	let_go();
	query_runs = false;
	PG_TRY();
	{
		(next_command != NULL ? next_command : standard_ProcessUtility) (BFPG_COMMAND);
	}
	PG_FINALLY();
	{
		query_runs = inner;
	}
	PG_END_TRY();
}

/*
 * A query that has failed lets go in these two, when the lock of the page that it looked at
 * is free again.  What is rolled back may also be the portal that has taken the locks.
 */
static void
end_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		let_go();
}

static void
end_transaction(XactEvent event, void *arg)
{
	let_go();
}

void
bfpg_live_kept_init(void)
{
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = run_query;
	next_command = ProcessUtility_hook;
	ProcessUtility_hook = run_command;
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}
