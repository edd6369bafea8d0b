/*
 * pull_look.c
 *	  A look at the server: whether it has something new, and taking it.
 *
 * Headers are compared first, so that a look which finds nothing new costs the
 * server next to nothing.  FILE.status is written at each look.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "filter.h"
#include "output.h"
#include "pull.h"
#include "status.h"

/* A line that can't be written is no failure of what was pulled. */
void
report(const pull_plan *plan, const char *format,...)
{
	static bool failed;
	char		text[1024];
	va_list		arguments;

	if (plan->quiet || plan->to_stdout)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (!output_news("%s: %s", plan->out, text) && !failed)
	{
		complain("cannot write to standard output: %s", strerror(errno));
		failed = true;
	}
}

/*
 * What is in the file now; NULL if nothing of use.  All of it is checked once, and
 * then only before something is made of it.
 */
static bloomfilter *
open_old(pull_plan *plan)
{
	bloomfilter *filter;

	if (plan->to_stdout ||
		bloomfilter_open(plan->out, BLOOMFILTER_BASE | (plan->checked ? BLOOMFILTER_SKIP_CHECK : 0),
						 &filter, NULL) < 0)
		return NULL;
	plan->checked = true;
	return filter;
}

/* Says it once: where it can't be written now, it mostly can't next time. */
static bool
write_status(const pull_plan *plan, const bloomfilter_status *status,
			 const bloomfilter_status *next)
{
	static bool failed;

	if (status_write(plan->out, status, next))
		return true;
	if (!failed)
		complain("cannot write \"%s.status\": %s", plan->out, strerror(errno));
	failed = true;
	return false;
}

void
note_failure(const pull_plan *plan, const char *refused)
{
	bloomfilter_status status;
	const char *problem;

	if (plan->to_stdout || (!status_read(plan->out, &status, &problem) && problem != NULL))
		return;
	status.failures++;
	status.failed = (int64_t) time(NULL);
	snprintf(status.error, sizeof status.error, "%s", last_complaint());
	snprintf(status.refused, sizeof status.refused, "%s", refused != NULL ? refused : "");
	(void) write_status(plan, &status, NULL);
}

/* What FILE.status is to tell of the server's filter. */
static bloomfilter_status
status_of(const pull_plan *plan, PGconn *connection, const remote_set *set)
{
	bloomfilter_status status;
	char	   *place = server_place(connection);

	memset(&status, 0, sizeof status);
	snprintf(status.list, sizeof status.list, "%s", plan->list != NULL ? plan->list : "");
	snprintf(status.identity, sizeof status.identity, "%s", set->identity);
	status.serial = strtoll(set->serial, NULL, 10);
	status.built = set->built_at;
	snprintf(status.server, sizeof status.server, "%s", place);
	free(place);
	if (set->count == 1)
		status.checksum = set->filters[0].info.checksum;
	return status;
}

/* When the file was replaced, as far as that is known. */
static int64_t
time_of_change(const pull_plan *plan, const bloomfilter_status *before, uint64_t checksum)
{
	struct stat st;

	if (before->checksum == checksum && before->changed != 0)
		return before->changed;
	return stat(plan->out, &st) == 0 ? (int64_t) st.st_mtime : 0;
}

/* Notes in FILE.status that the file is what the server has. */
static void
note_success(const pull_plan *plan, PGconn *connection, const remote_set *set,
			 const bloomfilter_status *before)
{
	bloomfilter_status status = status_of(plan, connection, set);
	bloomfilter *filter;

	if (plan->to_stdout ||
		bloomfilter_open(plan->out, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, NULL) < 0)
		return;
	status.looked = (int64_t) set->begun;
	status.checksum = filter_info(filter, -1).checksum;
	status.changed = time_of_change(plan, before, status.checksum);
	/* another program may have replaced it since */
	if (is_remote(filter, set))
		(void) write_status(plan, &status, NULL);
	bloomfilter_close(filter);
}

/*
 * Takes what the server has.  FILE.status tells of it before it takes the file's
 * name: else the next look could not see that a server has something older.
 */
static bool
take(const pull_plan *plan, PGconn *connection, bloomfilter *old,
	 const remote_set *set, const bloomfilter_status *before)
{
	bloomfilter_status next = status_of(plan, connection, set);

	if (old != NULL && bloomfilter_check(old, NULL) < 0)
		old = NULL;
	return (plan->to_stdout || write_status(plan, before, &next)) &&
		fetch(plan, connection, old, set);
}

/* Within a transaction: makes the file what the server has, if it may. */
static bool
update(pull_plan *plan, PGconn *connection, bloomfilter *old,
	   const remote_set *set, bool told)
{
	bloomfilter_status status;
	const char *problem;
	const char *word = NULL;
	bool		known = !plan->to_stdout && status_read(plan->out, &status, &problem);

	if (!known)
		memset(&status, 0, sizeof status);
	plan->refused = !plan->to_stdout &&
		!may_replace(plan, set, old, &status, known, &word);
	if (plan->refused)
	{
		note_failure(plan, word);
		return true;
	}
	if (old == NULL || !is_remote(old, set))
	{
		if (!take(plan, connection, old, set, &status))
			return false;
	}
	else if (told)
		report(plan, "unchanged");
	note_success(plan, connection, set, &status);
	plan->allow_older = plan->new_identity = plan->replace = false;
	return true;
}

bool
pull_once(pull_plan *plan, PGconn *connection, bool told)
{
	remote_set	set;
	bloomfilter *old = open_old(plan);
	bool		went_well;

	went_well = remote_read(plan, connection, &set) &&
		update(plan, connection, old, &set, told);
	if (!went_well && !stop_requested())
		note_failure(plan, NULL);
	remote_free(&set);
	bloomfilter_close(old);
	/* how it ends is no failure of what has been pulled */
	server_end(connection);
	return went_well;
}
