/*
 * parallel.c
 *	  Building a live index by several processes.
 *
 * They share nothing but the number of the table's next page and the index's own pages
 * in shared buffers, each of which a process locks while it sets the bits of a batch.
 * The bits are the same, whichever process sets them and in whatever order.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"

#include "live/build.h"

#define KEY_SHARED UINT64CONST(0xB700000000000001)
#define KEY_USAGE UINT64CONST(0xB700000000000002)

typedef struct Shared
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	Size		memory;			/* of each process */
	BfpgLivePages pages;
	slock_t		mutex;			/* for what follows */
	BfpgLiveCounts counts;		/* of those that have ended */
	char		query[FLEXIBLE_ARRAY_MEMBER];	/* for pg_stat_activity */
} Shared;

/* What a worker has read and logged, for the leader's own counts. */
typedef struct Usage
{
	BufferUsage buffers;
	WalUsage	wal;
} Usage;

PGDLLEXPORT void bloomfilter_parallel_build(dsm_segment *segment, shm_toc *toc);

/* What a process does: until all pages are taken. */
static void
take_pages(Shared *shared, Relation heap, Relation index, IndexInfo *info, bool progress)
{
	BfpgLiveCounts counts = {0};

	bfpg_live_scan_pages(heap, index, info, &shared->pages, shared->memory, progress, &counts);
	SpinLockAcquire(&shared->mutex);
	shared->counts.rows += counts.rows;
	shared->counts.keys += counts.keys;
	SpinLockRelease(&shared->mutex);
}

/* What a worker begins with; the server finds it by its name. */
void
bloomfilter_parallel_build(dsm_segment *segment, shm_toc *toc)
{
	Shared	   *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	Usage	   *usage = (Usage *) shm_toc_lookup(toc, KEY_USAGE, false) + ParallelWorkerNumber;
	/* Those that the leader holds. */
	LOCKMODE	heap_lock = shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	Relation	heap;
	Relation	index;
	IndexInfo  *info;

	debug_query_string = shared->query;
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	heap = table_open(shared->heap, heap_lock);
	index = index_open(shared->index, index_lock);
	info = BuildIndexInfo(index);
	info->ii_Concurrent = shared->concurrent;
	InstrStartParallelQuery();
	take_pages(shared, heap, index, info, false);
	InstrEndParallelQuery(&usage->buffers, &usage->wal);
	index_close(index, index_lock);
	table_close(heap, heap_lock);
}

static Size
shared_bytes(void)
{
	return offsetof(Shared, query) + (debug_query_string == NULL ? 0 : strlen(debug_query_string)) + 1;
}

static Shared *
make_shared(ParallelContext *context, Relation heap, Relation index, IndexInfo *info,
			int processes)
{
	Shared	   *shared = shm_toc_allocate(context->toc, shared_bytes());

	memset(shared, 0, shared_bytes());
	if (debug_query_string != NULL)
		strcpy(shared->query, debug_query_string);
	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(index);
	shared->concurrent = info->ii_Concurrent;
	shared->memory = (Size) maintenance_work_mem * 1024 / processes;
	SpinLockInit(&shared->mutex);
	shm_toc_insert(context->toc, KEY_SHARED, shared);
	return shared;
}

bool
bfpg_live_parallel_scan(Relation heap, Relation index, IndexInfo *info, int workers,
						BlockNumber first, BlockNumber end, BfpgLiveCounts *counts)
{
	ParallelContext *context;
	bool		done = false;

	EnterParallelMode();
	context = CreateParallelContext("bloomfilter", "bloomfilter_parallel_build", workers);
	shm_toc_estimate_chunk(&context->estimator, shared_bytes());
	shm_toc_estimate_chunk(&context->estimator, context->nworkers * sizeof(Usage));
	shm_toc_estimate_keys(&context->estimator, 2);
	InitializeParallelDSM(context);
	/* Without shared memory, or without a worker, the caller does all. */
	if (context->seg != NULL)
	{
		Shared	   *shared = make_shared(context, heap, index, info, workers + 1);
		Usage	   *usage = shm_toc_allocate(context->toc, context->nworkers * sizeof(Usage));
		int			i;

		shm_toc_insert(context->toc, KEY_USAGE, usage);
		pg_atomic_init_u64(&shared->pages.next, first);
		shared->pages.end = end;
		shared->counts = *counts;
		LaunchParallelWorkers(context);
		if (context->nworkers_launched > 0)
		{
			take_pages(shared, heap, index, info, true);
			WaitForParallelWorkersToFinish(context);
			for (i = 0; i < context->nworkers_launched; i++)
				InstrAccumParallelQuery(&usage[i].buffers, &usage[i].wal);
			*counts = shared->counts;
			done = true;
		}
	}
	DestroyParallelContext(context);
	ExitParallelMode();
	return done;
}
