/*
 * progress.c
 *	  How far builds are, for other sessions to see: bloom_progress().
 *
 * Each process writes only the slot of its own in shared memory, once for many
 * rows and without a lock; so a row costs nothing.  The memory is there when the
 * library is in shared_preload_libraries; without it builds run the same and
 * bloom_progress() says what is missing.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "pg_compat.h"
#include "progress.h"

PG_FUNCTION_INFO_V1(bloomfilter_progress);

/* Builds that can be shown at once; one more is just not shown. */
#define SLOTS 128

#define PROGRESS_COLUMNS 5

/* One process that builds.  It alone writes the slot while its pid stands there. */
typedef struct BfpgProgress
{
	pg_atomic_uint32 pid;		/* 0: free */
	int32		leader_pid;		/* of a parallel query, else pid */
	TimestampTz started;
	pg_atomic_uint64 rows;
} BfpgProgress;

static BfpgProgress *slots = NULL;	/* NULL: not preloaded */
static BfpgProgress *mine = NULL;
static int	builds = 0;			/* states that live in this process */

static shmem_startup_hook_type prev_startup_hook = NULL;

static void
startup_progress(void)
{
	bool		found;
	int			i;

	if (prev_startup_hook != NULL)
		prev_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	slots = ShmemInitStruct("bloomfilter progress", SLOTS * sizeof(BfpgProgress), &found);
	for (i = 0; i < SLOTS && !found; i++)
	{
		pg_atomic_init_u32(&slots[i].pid, 0);
		pg_atomic_init_u64(&slots[i].rows, 0);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
bfpg_progress_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	bfpg_request_shmem(SLOTS * sizeof(BfpgProgress));
	prev_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_progress;
}

static void
claim_slot(void)
{
	int			i;

	for (i = 0; i < SLOTS && mine == NULL; i++)
	{
		uint32		nobody = 0;

		if (pg_atomic_compare_exchange_u32(&slots[i].pid, &nobody, (uint32) MyProcPid))
			mine = &slots[i];
	}
	if (mine == NULL)
		return;
	mine->leader_pid = MyProcPid;
	if (MyProc->lockGroupLeader != NULL)
		mine->leader_pid = MyProc->lockGroupLeader->pid;
	mine->started = GetCurrentTimestamp();
	pg_atomic_write_u64(&mine->rows, 0);
}

/* The last build's end frees the slot; also called when a query is aborted. */
static void
end_build(void *unused)
{
	if (--builds == 0 && mine != NULL)
	{
		pg_atomic_write_u32(&mine->pid, 0);
		mine = NULL;
	}
}

void
bfpg_progress_start(MemoryContext context)
{
	MemoryContextCallback *callback;

	if (slots == NULL)
		return;
	callback = MemoryContextAllocZero(context, sizeof(MemoryContextCallback));
	callback->func = end_build;
	MemoryContextRegisterResetCallback(context, callback);
	if (builds++ == 0)
		claim_slot();
}

void
bfpg_progress_add(uint64 rows)
{
	if (mine != NULL)
		pg_atomic_write_u64(&mine->rows, pg_atomic_read_u64(&mine->rows) + rows);
}

/* A row for each slot in use: pid, leader_pid, started, rows, rows_per_second. */
static void
show_slot(ReturnSetInfo *result, BfpgProgress *slot, TimestampTz now)
{
	uint32		pid = pg_atomic_read_u32(&slot->pid);
	uint64		rows = pg_atomic_read_u64(&slot->rows);
	double		seconds = (double) (now - slot->started) / USECS_PER_SEC;
	Datum		values[PROGRESS_COLUMNS];
	bool		nulls[PROGRESS_COLUMNS] = {false};

	if (pid == 0)
		return;
	values[0] = Int32GetDatum((int32) pid);
	values[1] = Int32GetDatum(slot->leader_pid);
	values[2] = TimestampTzGetDatum(slot->started);
	values[3] = Int64GetDatum((int64) rows);
	values[4] = Float8GetDatum((double) rows / Max(seconds, 0.001));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

Datum
bloomfilter_progress(PG_FUNCTION_ARGS)
{
	TimestampTz now = GetCurrentTimestamp();
	int			i;

	if (slots == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("progress of bloomfilter builds is not recorded"),
				 errhint("Add bloomfilter to shared_preload_libraries and restart the server.")));
	bfpg_init_materialized_srf(fcinfo);
	for (i = 0; i < SLOTS; i++)
		show_slot((ReturnSetInfo *) fcinfo->resultinfo, &slots[i], now);
	return (Datum) 0;
}
