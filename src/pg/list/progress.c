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

#include "catalog/pg_authid.h"
#include "commands/dbcommands.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"		/* from 19 on, get_database_name */
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "base/pg_compat.h"
#include "list/progress.h"

PG_FUNCTION_INFO_V1(bloomfilter_progress);

/* Builds that can be shown at once; one more is just not shown. */
#define SLOTS 128

#define PROGRESS_COLUMNS 9

/* Bytes of a list's name that are shown. */
#define NAME_BYTES 64

/*
 * One process that builds.  It alone writes the slot while its pid stands there; what
 * is more than a number is read and written under the lock, some times in a build.
 */
typedef struct BfpgProgress
{
	pg_atomic_uint32 pid;		/* 0: free */
	pg_atomic_uint64 rows;
	slock_t		lock;			/* of all below */
	int32		leader_pid;		/* of a parallel query, else pid */
	Oid			role;
	Oid			database;
	BfpgPhase	phase;
	TimestampTz started;		/* the phase */
	int64		total;			/* rows that it will have, or -1 */
	char		list[NAME_BYTES];	/* that is published, or empty */
} BfpgProgress;

static BfpgProgress *slots = NULL;	/* NULL: not preloaded */
static BfpgProgress *mine = NULL;
static int	builds = 0;			/* states that live in this process */
static bool publishing = false; /* one of them is a whole publication */

static const char *const phase_names[] = {
	[BFPG_PHASE_BUILD] = "build",
	[BFPG_PHASE_WRITE] = "write",
	[BFPG_PHASE_CHECK] = "check"
};

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
		SpinLockInit(&slots[i].lock);
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
set_phase(BfpgPhase phase, int64 total)
{
	TimestampTz now = GetCurrentTimestamp();

	SpinLockAcquire(&mine->lock);
	mine->phase = phase;
	mine->total = total;
	mine->started = now;
	pg_atomic_write_u64(&mine->rows, 0);
	SpinLockRelease(&mine->lock);
}

static void
claim_slot(BfpgPhase phase, const char *list)
{
	Oid			role = GetUserId();
	int			i;

	for (i = 0; i < SLOTS && mine == NULL; i++)
	{
		uint32		nobody = 0;

		if (pg_atomic_compare_exchange_u32(&slots[i].pid, &nobody, (uint32) MyProcPid))
			mine = &slots[i];
	}
	if (mine == NULL)
		return;
	SpinLockAcquire(&mine->lock);
	mine->leader_pid = MyProcPid;
	if (MyProc->lockGroupLeader != NULL)
		mine->leader_pid = MyProc->lockGroupLeader->pid;
	mine->role = role;
	mine->database = MyDatabaseId;
	strlcpy(mine->list, list, NAME_BYTES);
	SpinLockRelease(&mine->lock);
	set_phase(phase, -1);
}

/* The last build's end frees the slot; also called when a query is aborted. */
static void
end_build(void *unused)
{
	if (--builds > 0)
		return;
	publishing = false;
	if (mine != NULL)
	{
		pg_atomic_write_u32(&mine->pid, 0);
		mine = NULL;
	}
}

/* Something begins that ends with a memory context. */
static void
begin_build(MemoryContext context, BfpgPhase phase, const char *list)
{
	MemoryContextCallback *callback;

	callback = MemoryContextAllocZero(context, sizeof(MemoryContextCallback));
	callback->func = end_build;
	MemoryContextRegisterResetCallback(context, callback);
	if (builds++ == 0)
		claim_slot(phase, list);
}

void
bfpg_progress_start(MemoryContext context, BfpgPhase phase)
{
	if (slots != NULL)
		begin_build(context, phase, "");
}

void
bfpg_progress_publish(MemoryContext context, const char *list)
{
	char		name[NAME_BYTES];

	if (slots == NULL)
		return;
	memset(name, 0, sizeof(name));
	memcpy(name, list, pg_mbcliplen(list, (int) strlen(list), NAME_BYTES - 1));
	begin_build(context, BFPG_PHASE_BUILD, name);
	publishing = true;
}

void
bfpg_progress_phase(BfpgPhase phase, int64 total)
{
	if (mine != NULL && publishing)
		set_phase(phase, total);
}

void
bfpg_progress_add(uint64 rows)
{
	if (mine != NULL)
		pg_atomic_write_u64(&mine->rows, pg_atomic_read_u64(&mine->rows) + rows);
}

/* What others' sessions do is for those to see who may see it elsewhere too. */
static bool
may_see(Oid role)
{
	return has_privs_of_role(GetUserId(), role) ||
		has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

static Datum
name_or_null(const char *name, bool *is_null)
{
	*is_null = name == NULL || name[0] == '\0';
	return *is_null ? (Datum) 0 : CStringGetTextDatum(name);
}

/* A row for each slot in use. */
static void
show_slot(ReturnSetInfo *result, BfpgProgress *slot, TimestampTz now)
{
	uint32		pid = pg_atomic_read_u32(&slot->pid);
	uint64		rows;
	BfpgProgress seen;
	double		seconds;
	Datum		values[PROGRESS_COLUMNS];
	bool		nulls[PROGRESS_COLUMNS] = {false};

	if (pid == 0)
		return;
	SpinLockAcquire(&slot->lock);
	memcpy(&seen, slot, sizeof(seen));
	rows = pg_atomic_read_u64(&slot->rows);
	SpinLockRelease(&slot->lock);
	if (!may_see(seen.role))
		return;
	seconds = (double) (now - seen.started) / USECS_PER_SEC;
	values[0] = Int32GetDatum((int32) pid);
	values[1] = Int32GetDatum(seen.leader_pid);
	values[2] = name_or_null(get_database_name(seen.database), &nulls[2]);
	/* Names are in their own database's encoding. */
	values[3] = name_or_null(seen.database == MyDatabaseId ? seen.list : NULL, &nulls[3]);
	values[4] = CStringGetTextDatum(phase_names[seen.phase]);
	values[5] = TimestampTzGetDatum(seen.started);
	values[6] = Int64GetDatum((int64) rows);
	values[7] = Int64GetDatum(seen.total);
	nulls[7] = seen.total < 0;
	values[8] = Float8GetDatum((double) rows / Max(seconds, 0.001));
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
	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; i < SLOTS; i++)
		show_slot((ReturnSetInfo *) fcinfo->resultinfo, &slots[i], now);
	return (Datum) 0;
}
