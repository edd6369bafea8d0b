/*
 * run.c
 *	  The last run of each list, for others to see in bloom_published: that it has started, that
 *	  it has ended, or by which error.  And what a publish tells with verbose => true, as VACUUM (VERBOSE)
 *	  does: INFO lines for each phase when it begins, for how far it is, and for what came out.
 *
 * A session's lock is held from before the first transaction until the last one, so that no run of
 * another session comes between.  The first transaction commits that the run has started.  The
 * second one publishes, in a subtransaction, so that after an error the list's statements and what
 * they had open are gone; it has the transaction's lock too, which others wait for until the commit.
 * After an error a third one commits the error, which is then thrown again.
 *
 * A process that ends gives its locks back and writes nothing: a start without an end and
 * without a lock is a run that died.  t/066_runs.pl has each case.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "list/list.h"
#include "publish/build.h"

PG_FUNCTION_INFO_V1(bloomfilter_run_died);

/* How often a phase says how far it is; each time that it could where debug messages are shown. */
#define TELL_SECONDS 10

/* The phase that goes on in this process, of a list that tells; NULL: none does. */
static const char *current;
static double expected_rows;
static TimestampTz told_at;

void
bfpg_publish_write_run(const BfpgPublication *list, bool ended, const char *error)
{
	const ParamExternData row[] = {
		bfpg_parameter(TEXTOID, CStringGetTextDatum(list->name)),
		bfpg_parameter(TIMESTAMPTZOID, TimestampTzGetDatum(list->started)),
		{.value = TimestampTzGetDatum(GetCurrentTimestamp()), .isnull = !ended, .ptype = TIMESTAMPTZOID},
		{.value = error == NULL ? 0 : CStringGetTextDatum(error), .isnull = error == NULL, .ptype = TEXTOID},
		bfpg_parameter(TEXTOID, CStringGetTextDatum(GetUserNameFromId(list->caller, false))),
	};

	bfpg_run_statement(list->place.schema, psprintf("INSERT INTO %sbloom_run (name, started_at, ended_at, error, started_by) "
								"VALUES ($1, $2, $3, left($4, 1000), $5) ON CONFLICT (name) DO UPDATE SET "
								"started_at = excluded.started_at, ended_at = excluded.ended_at, "
								"error = excluded.error, started_by = excluded.started_by",
								list->place.prefix),
					   lengthof(row), row, SPI_OK_INSERT);
}

/* One snapshot for all that follows, behind the lock: it sees what the publisher before left.  At SERIALIZABLE changers would make it fail. */
static void
begin_publishing(const BfpgPublication *list)
{
	SPI_commit();
	if (XactIsoLevel != XACT_REPEATABLE_READ)
		(void) SPI_execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", false, 0);
	bfpg_publish_lock(&list->place, list->name, true);
	EnsurePortalSnapshotExists();
}

/* Whatever hinders that the error is written, it is the error that the caller gets. */
static void
keep_error(const BfpgPublication *list, const ErrorData *error)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		SPI_rollback();
		bfpg_publish_lock(&list->place, list->name, true);
		EnsurePortalSnapshotExists();
		bfpg_publish_write_run(list, true, error->message);
		SPI_commit();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
}

/* In a subtransaction; returns the error that rolled it back, or NULL. */
static ErrorData *
try_publish(BfpgPublication *list)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		bfpg_publish_query(list);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

void
bfpg_publish_run(BfpgPublication *list)
{
	ErrorData  *volatile error = NULL;

	bfpg_publish_hold(list);
	PG_TRY();
	{
		list->started = GetCurrentTimestamp();
		/* Of a session at REPEATABLE READ the snapshot is of before the lock, and nothing is pruned by it. */
		if (IsolationUsesXactSnapshot())
		{
			SPI_commit();
			(void) SPI_execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", false, 0);
		}
		EnsurePortalSnapshotExists();
		bfpg_publish_check_owner(list);
		bfpg_publish_write_run(list, false, NULL);
		bfpg_absorb_prune(&list->place, list->name);
		begin_publishing(list);
		error = try_publish(list);
		if (error != NULL)
			keep_error(list, error);
	}
	PG_FINALLY();
	{
		bfpg_publish_unlock_session(&list->place, list->name);
	}
	PG_END_TRY();
	if (error != NULL)
		ReThrowError(error);
}

/*
 * Whether a run that nobody holds the lock of has not ended.  A statement's snapshot may show a
 * run that has ended since, or in whose place there is another: so the newest row is read.  A run
 * gives its lock back after its end can be seen.
 */
Datum
bloomfilter_run_died(PG_FUNCTION_ARGS)
{
	static const char *const columns[] = {"started_at", "ended_at"};
	NullableDatum values[lengthof(columns)];

	PG_RETURN_BOOL(bfpg_list_read(bfpg_extension_schema(fcinfo->flinfo->fn_oid), "bloom_run", PG_GETARG_DATUM(0), lengthof(columns), columns, values) &&
				   DatumGetTimestampTz(values[0].value) == PG_GETARG_TIMESTAMPTZ(1) && values[1].isnull);
}

void
bfpg_progress_begin(const BfpgPublication *list, const char *phase)
{
	current = list->asked.verbose ? phase : NULL;
	if (current == NULL)
		return;
	expected_rows = list->made.build->rows;
	told_at = GetCurrentTimestamp();
	ereport(INFO,
			(errmsg("list \"%s\": %s", list->name, phase)));
}

/* Workers tell nothing: what they have read is counted in shared memory. */
void
bfpg_progress_rows(uint64 rows)
{
	TimestampTz now;

	if (current == NULL)
		return;
	now = GetCurrentTimestamp();
	if (now - told_at < TELL_SECONDS * USECS_PER_SEC && !message_level_is_interesting(DEBUG1))
		return;
	told_at = now;
	ereport(INFO,
			(errmsg("%s: " UINT64_FORMAT " rows so far, of about %.0f", current, rows, expected_rows)));
}

void
bfpg_progress_end(const BfpgPublication *list, TimestampTz writing)
{
	double		keys = bfpg_estimate_list_keys(list);

	current = NULL;
	if (!list->asked.verbose)
		return;
	ereport(INFO,
			(errmsg("list \"%s\" has about %.0f keys in %.1f MB, for n = " INT64_FORMAT " and p = %g",
					list->name, keys, bfpg_publish_bytes(list) / (1024 * 1024), list->n, list->p),
			 errdetail("%s" INT64_FORMAT " rows with a key, about %.0f of them repeats, " INT64_FORMAT " NULLs. Building took %.1f s, checking %.1f s, writing %.1f s.",
					   list->exact ? psprintf(INT64_FORMAT " others, ", list->others.count) : "",
					   list->made.keys, Max(0, (double) list->made.keys - keys), list->made.nulls,
					   list->made.build_seconds, Max(list->made.check_seconds, 0), bfpg_seconds_since(writing))));
}
