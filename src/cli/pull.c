/*
 * pull.c
 *	  bloomfilter pull: fetch a filter from a PostgreSQL server, once or whenever
 *	  it changes.
 */
#include "pull.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "options.h"
#include "output.h"
#include "scale.h"
#include "stop.h"

static const char help[] =
"Usage: bloomfilter pull --dsn DSN --query QUERY --out FILE [OPTION]...\n"
"\n"
"Fetches a filter from a PostgreSQL server, checks it, and replaces FILE by it in\n"
"one step.  FILE is left alone if it has the same filter, or if anything fails.\n"
"\n"
"  --dsn DSN            connection string; \"\" takes all from the environment\n"
"  --query QUERY        SELECT of one row with one filter, as it is stored\n"
"  --out FILE           file to replace\n"
"  --parts              QUERY has a row for each part of a set; FILE will be\n"
"                       its manifest\n"
"  --delta-query QUERY  SELECT of one bytea, made by bloom_diff of the filter in\n"
"                       FILE and the new one; fetches all if that doesn't fit\n"
"  --delta              no more than what --delta-query says\n"
"  --listen CHANNEL     stay, and pull again at each NOTIFY; end on SIGTERM\n"
"  --once               pull once (without --listen the default)\n"
"  --quiet              say nothing but errors, and draw no progress bar\n"
"  --no-progress        draw no progress bar on a terminal\n"
"  --help               print this\n"
"\n"
"Exit status: 0, or 2 if there was an error; FILE is then as before.\n";

typedef enum pull_option
{
	OPTION_DSN = OPTION_ANY,
	OPTION_QUERY,
	OPTION_OUT,
	OPTION_PARTS,
	OPTION_DELTA,
	OPTION_DELTA_QUERY,
	OPTION_LISTEN,
	OPTION_ONCE,
	OPTION_QUIET,
	OPTION_NO_PROGRESS
} pull_option;

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"dsn", required_argument, NULL, OPTION_DSN},
	{"query", required_argument, NULL, OPTION_QUERY},
	{"out", required_argument, NULL, OPTION_OUT},
	{"parts", no_argument, NULL, OPTION_PARTS},
	{"delta", no_argument, NULL, OPTION_DELTA},
	{"delta-query", required_argument, NULL, OPTION_DELTA_QUERY},
	{"listen", required_argument, NULL, OPTION_LISTEN},
	{"once", no_argument, NULL, OPTION_ONCE},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
	{NULL, 0, NULL, 0}
};

/* What contradicts itself, or is not there. */
static void
check_plan(const command_line *line, const pull_plan *plan, bool delta, bool once)
{
	if (optind < line->argc)
		usage_error(line, "unexpected argument; the file is given by --out");
	if (plan->dsn == NULL || plan->query == NULL || plan->out == NULL)
		usage_error(line, "--dsn, --query and --out are needed");
	if (delta && plan->delta_query == NULL)
		usage_error(line, "--delta needs --delta-query");
	if (plan->set && plan->delta_query != NULL)
		usage_error(line, "there are no deltas of sets: --parts excludes --delta-query");
	if (once && plan->channel != NULL)
		usage_error(line, "--once excludes --listen");
	server_check_dsn(plan->dsn);
}

static pull_plan
read_plan(const command_line *line)
{
	pull_plan	plan = {NULL, NULL, NULL, NULL, NULL, false, false, true};
	bool		delta = false;
	bool		once = false;
	int			option;

	while ((option = next_option(line)) != -1)
		switch (option)
		{
			case OPTION_DSN:
				plan.dsn = optarg;
				break;
			case OPTION_QUERY:
				plan.query = subquery_of(optarg);
				break;
			case OPTION_OUT:
				plan.out = optarg;
				break;
			case OPTION_PARTS:
				plan.set = true;
				break;
			case OPTION_DELTA:
				delta = true;
				break;
			case OPTION_DELTA_QUERY:
				plan.delta_query = subquery_of(optarg);
				break;
			case OPTION_LISTEN:
				plan.channel = optarg;
				break;
			case OPTION_ONCE:
				once = true;
				break;
			case OPTION_QUIET:
				plan.quiet = true;
				plan.progress = false;
				break;
			case OPTION_NO_PROGRESS:
				plan.progress = false;
				break;
		}
	check_plan(line, &plan, delta, once);
	return plan;
}

void
report(const pull_plan *plan, const char *format,...)
{
	char		text[1024];
	va_list		arguments;

	if (plan->quiet)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	progress_clear();
	output_text("%s: %s\n", plan->out, text);
	output_flush();
}

/* What is in the file now, checked; NULL if nothing of use. */
static bloomfilter *
open_old(const pull_plan *plan)
{
	bloomfilter *filter;

	if (bloomfilter_open(plan->out, 0, &filter, NULL) < 0)
		return NULL;
	return filter;
}

static bool
fetch_all(const pull_plan *plan, PGconn *connection, const remote_set *set)
{
	double		begin = monotonic_seconds();
	uint64_t	checksum = set->filters[0].header.checksum;
	char		size[SCALE_TEXT_BYTES];

	if (!fetch_files(plan, connection, set))
		return false;
	scale(size, (double) remote_bytes(set), true);
	if (plan->set)
		report(plan, "pulled %" PRIu32 " parts, %s, in %.2f s", set->count, size,
			   monotonic_seconds() - begin);
	else
		report(plan, "pulled %s in %.2f s, checksum %016" PRIx64, size,
			   monotonic_seconds() - begin, checksum);
	return true;
}

/* Within a transaction: makes the file what the query gives. */
static bool
update(const pull_plan *plan, PGconn *connection, const bloomfilter *old,
	   const remote_set *set)
{
	if (old != NULL && is_remote(old, set))
	{
		report(plan, "unchanged");
		return true;
	}
	if (plan->delta_query != NULL &&
		fetch_delta(plan, connection, old, &set->filters[0]))
		return true;
	return fetch_all(plan, connection, set);
}

/*
 * Leaves its transaction open.  It only reads, so nothing depends on its end; and
 * when the answer to a COMMIT is lost, that is no failure of what has been pulled.
 */
bool
pull_once(const pull_plan *plan, PGconn *connection)
{
	remote_set	set = {0, NULL};
	bloomfilter *old = open_old(plan);
	bool		went_well;

	went_well =
		server_command(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") &&
		remote_read(plan, connection, &set) &&
		update(plan, connection, old, &set);
	remote_free(&set);
	bloomfilter_close(old);
	return went_well;
}

/* For the one pull without --listen. */
static exit_status
pull_now(const pull_plan *plan)
{
	PGconn	   *connection = server_connect(plan->dsn);
	bool		went_well = connection != NULL && pull_once(plan, connection);

	PQfinish(connection);
	if (stop_requested())
		stop_die();
	return went_well ? STATUS_YES : STATUS_TROUBLE;
}

exit_status
command_pull(int argc, char **argv)
{
	command_line line = {"pull", help, ":", names, argc, argv};
	pull_plan	plan = read_plan(&line);
	exit_status status = STATUS_YES;

	stop_catch(plan.channel != NULL);
	if (plan.channel != NULL)
		pull_forever(&plan);
	else
		status = pull_now(&plan);
	free(plan.query);
	free(plan.delta_query);
	return status;
}
