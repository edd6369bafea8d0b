/*
 * progress.c
 *	  What a publish tells with verbose => true, as VACUUM (VERBOSE) does: INFO lines for each phase when
 *	  it begins, for how far it is, and for what came out.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "publish/build.h"

/* How often a phase says how far it is; each time that it could where debug messages are shown. */
#define TELL_SECONDS 10

/* The phase that goes on in this process, of a list that tells; NULL: none does. */
static const char *current;
static double expected_rows;
static TimestampTz told_at;

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
