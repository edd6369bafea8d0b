/*
 * activity.c
 *	  How far a publication is, for other sessions to see in pg_stat_activity.
 *
 * PostgreSQL's progress views are for its own commands.  What a backend runs is text that
 * the backend reports itself, so there it stands: a comment in front of the statement.
 * How long each phase took is a message of level DEBUG1.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "pgstat.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/timestamp.h"

#include "base/activity.h"

/* Bytes of a list's name that are shown. */
#define NAME_BYTES 64

/* Between two reports of rows. */
#define REPORT_MILLISECONDS 1000

/* What this process publishes: its name is empty where there is nothing. */
static char published[NAME_BYTES];
static const char *phase;
static int64 total;
static TimestampTz began;
static TimestampTz reported;

static void
report(const char *text)
{
	/* A new text would take the identifier of the query away. */
	uint64		query_id = pgstat_get_my_query_id();

	pgstat_report_activity(STATE_RUNNING, text);
	pgstat_report_query_id(query_id, true);
}

static void
report_rows(uint64 rows)
{
	char	   *text;

	if (total < 0)
		text = psprintf("/* bloom_publish %s: %s, " UINT64_FORMAT " rows */ %s", published, phase,
						rows, debug_query_string == NULL ? "" : debug_query_string);
	else
		text = psprintf("/* bloom_publish %s: %s, " UINT64_FORMAT " of " INT64_FORMAT " rows */ %s", published, phase,
						rows, total, debug_query_string == NULL ? "" : debug_query_string);
	report(text);
	pfree(text);
	reported = GetCurrentTimestamp();
}

/* How long a phase took is for who looks where the time goes. */
static void
end_phase(void)
{
	if (published[0] != '\0' && phase != NULL)
		ereport(DEBUG1,
				(errmsg_internal("bloom_publish %s: %s took %.4f s", published, phase,
								 (double) (GetCurrentTimestamp() - began) / USECS_PER_SEC)));
	phase = NULL;
}

void
bfpg_activity_begin(const char *list)
{
	phase = NULL;
	memset(published, 0, sizeof(published));
	memcpy(published, list, pg_mbcliplen(list, (int) strlen(list), NAME_BYTES - 1));
}

void
bfpg_activity_end(void)
{
	end_phase();
	published[0] = '\0';
	if (debug_query_string != NULL)
		report(debug_query_string);
}

void
bfpg_activity_phase(const char *name, int64 rows)
{
	end_phase();
	phase = name;
	total = rows;
	began = GetCurrentTimestamp();
	if (published[0] != '\0')
		report_rows(0);
}

void
bfpg_activity_rows(uint64 rows)
{
	if (published[0] != '\0' &&
		TimestampDifferenceExceeds(reported, GetCurrentTimestamp(), REPORT_MILLISECONDS))
		report_rows(rows);
}
