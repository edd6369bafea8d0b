/*
 * pull.c
 *	  bloomfilter pull: fetch a filter from a PostgreSQL server, once or whenever
 *	  it changes.
 *
 * An attempt compares headers first, so that one which finds nothing new costs the
 * server next to nothing, and leaves a note of when it looked.
 */
#include "pull.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter.h"
#include "options.h"
#include "output.h"
#include "status.h"

static const char help[] =
"Usage: bloomfilter pull --dsn DSN (--list NAME | --query QUERY) --out FILE\n"
"                        [OPTION]...\n"
"\n"
"Fetches a filter from a PostgreSQL server, checks it, and replaces FILE by it in\n"
"one step.  FILE is left alone if it has the same filter, or if anything fails.\n"
"\n"
"  --dsn DSN            connection string; \"\" takes all from the environment\n"
"  --list NAME          a list of bloom_publish, with its parts and deltas\n"
"  --query QUERY        or: SELECT of one row with one filter, as it is stored\n"
"  --parts              QUERY has a row for each part; FILE is the manifest\n"
"  --delta-query QUERY  SELECT of the bytea of bloom_diff from FILE to that\n"
"  --out FILE           file to replace; - is standard output\n"
"  --follow             stay, and look again every so often; end on SIGTERM\n"
"  --every SECONDS      between two looks (default: 300)\n"
"  --listen CHANNEL     --follow, and look at each NOTIFY; --list does by itself\n"
"  --quiet              say nothing but errors, and draw no progress bar\n"
"  --no-progress        draw no progress bar on a terminal\n"
"  --help               print this\n"
"\n"
"FILE.status says when the server was last looked at: \"bloomfilter status FILE\".\n"
"\n"
"Exit status: 0, or 2 if there was an error; FILE is then as before.\n";

/* What bloom_publish notifies, with the list's name. */
#define LIST_CHANNEL "bloom_published"

#define DEFAULT_EVERY	300
#define LONGEST_EVERY	86400

typedef enum pull_option
{
	OPTION_DSN = OPTION_ANY,
	OPTION_LIST,
	OPTION_QUERY,
	OPTION_OUT,
	OPTION_PARTS,
	OPTION_DELTA_QUERY,
	OPTION_FOLLOW,
	OPTION_EVERY,
	OPTION_LISTEN,
	OPTION_QUIET,
	OPTION_NO_PROGRESS
} pull_option;

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"dsn", required_argument, NULL, OPTION_DSN},
	{"list", required_argument, NULL, OPTION_LIST},
	{"query", required_argument, NULL, OPTION_QUERY},
	{"out", required_argument, NULL, OPTION_OUT},
	{"parts", no_argument, NULL, OPTION_PARTS},
	{"delta-query", required_argument, NULL, OPTION_DELTA_QUERY},
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	{"every", required_argument, NULL, OPTION_EVERY},
	{"listen", required_argument, NULL, OPTION_LISTEN},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
	{NULL, 0, NULL, 0}
};

/* What contradicts itself, or is not there. */
static void
check_plan(const command_line *line, const pull_plan *plan)
{
	if (optind < line->argc)
		usage_error(line, "unexpected argument; the file is given by --out");
	if (plan->dsn == NULL || plan->out == NULL)
		usage_error(line, "--dsn and --out are needed");
	if ((plan->list == NULL) == (plan->query == NULL))
		usage_error(line, "one of --list and --query is needed");
	if (plan->list != NULL &&
		(plan->set || plan->delta_query != NULL || plan->channel != NULL))
		usage_error(line, "--list knows by itself what --parts, --delta-query and --listen say");
	if (plan->set && plan->delta_query != NULL)
		usage_error(line, "there are no deltas of sets: --parts excludes --delta-query");
	if (plan->every != 0 && !plan->follow)
		usage_error(line, "--every needs --follow");
	if (plan->to_stdout && plan->follow)
		usage_error(line, "standard output is written once: --out - excludes --follow");
	server_check_dsn(plan->dsn);
}

static pull_plan
read_options(const command_line *line)
{
	pull_plan	plan;
	int			option;

	memset(&plan, 0, sizeof plan);
	plan.progress = true;
	while ((option = next_option(line)) != -1)
		switch (option)
		{
			case OPTION_DSN:
				plan.dsn = optarg;
				break;
			case OPTION_LIST:
				plan.list = optarg;
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
			case OPTION_DELTA_QUERY:
				plan.delta_query = subquery_of(optarg);
				break;
			case OPTION_FOLLOW:
				plan.follow = true;
				break;
			case OPTION_EVERY:
				plan.every = (int) option_count("--every", optarg, 1, LONGEST_EVERY);
				break;
			case OPTION_LISTEN:
				plan.channel = optarg;
				plan.follow = true;
				break;
			case OPTION_QUIET:
				plan.quiet = true;
				plan.progress = false;
				break;
			case OPTION_NO_PROGRESS:
				plan.progress = false;
				break;
		}
	return plan;
}

static pull_plan
read_plan(const command_line *line)
{
	pull_plan	plan = read_options(line);

	plan.to_stdout = plan.out != NULL && is_standard(plan.out);
	check_plan(line, &plan);
	if (plan.every == 0)
		plan.every = DEFAULT_EVERY;
	if (plan.list != NULL)
		plan.channel = LIST_CHANNEL;
	return plan;
}

/* A line that can't be written is no failure of what was pulled. */
void
report(const pull_plan *plan, const char *format,...)
{
	static bool failed;
	char		prefix[TIME_TEXT_BYTES + 1];
	char		text[1024];
	va_list		arguments;

	if (plan->quiet || plan->to_stdout)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	message_prefix(prefix);
	progress_clear();
	output_text("%s%s: %s\n", prefix, plan->out, text);
	if (!output_try_flush() && !failed)
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

/* When the file was replaced, as far as that is known. */
static time_t
time_of_change(const pull_plan *plan, const pull_status *status)
{
	struct stat st;
	pull_status before;

	if (status_read(plan->out, &before) && before.checksum == status->checksum)
		return before.changed;
	return stat(plan->out, &st) == 0 ? st.st_mtime : status->looked;
}

/* Notes in FILE.status that the file is what the server has. */
static void
write_status(const pull_plan *plan, PGconn *connection, const remote_set *set)
{
	static bool failed;
	pull_status status;
	bloomfilter *filter;

	if (plan->to_stdout ||
		bloomfilter_open(plan->out, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, NULL) < 0)
		return;
	memset(&status, 0, sizeof status);
	status.looked = set->begun;
	status.checksum = filter_info(filter, -1).checksum;
	status.changed = time_of_change(plan, &status);
	snprintf(status.list, sizeof status.list, "%s", plan->list != NULL ? plan->list : "");
	snprintf(status.generation, sizeof status.generation, "%s", set->generation);
	snprintf(status.built, sizeof status.built, "%s", set->built);
	snprintf(status.server, sizeof status.server, "host=%s port=%s dbname=%s",
			 PQhost(connection), PQport(connection), PQdb(connection));
	/* another program may have replaced it since */
	if (is_remote(filter, set) && !status_write(plan->out, &status) && !failed)
	{
		complain("cannot write \"%s.status\": %s", plan->out, strerror(errno));
		failed = true;
	}
	bloomfilter_close(filter);
}

/*
 * Whether a standby has a list as it was before the one in the file: members that
 * came since would be denied.  Of a primary the older generation is the truth, as
 * after a failover that lost the newer one.
 */
static bool
is_behind(const pull_plan *plan, const bloomfilter *old, const remote_set *set)
{
	pull_status status;

	return old != NULL && plan->list != NULL && set->standby &&
		status_read(plan->out, &status) && strcmp(status.list, plan->list) == 0 &&
		status.checksum == filter_info(old, -1).checksum &&
		strtoll(status.generation, NULL, 10) > strtoll(set->generation, NULL, 10);
}

/* Within a transaction: makes the file what the server has. */
static bool
update(const pull_plan *plan, PGconn *connection, bloomfilter *old,
	   const remote_set *set, bool told)
{
	if (is_behind(plan, old, set))
	{
		report(plan, "kept, since the standby is behind, at generation %s", set->generation);
		return true;
	}
	if (old != NULL && is_remote(old, set))
	{
		if (told)
			report(plan, "unchanged");
		return true;
	}
	if (old != NULL && bloomfilter_check(old, NULL) < 0)
		old = NULL;
	return fetch(plan, connection, old, set);
}

bool
pull_once(pull_plan *plan, PGconn *connection, bool told)
{
	remote_set	set;
	bloomfilter *old = open_old(plan);
	bool		went_well;

	went_well = remote_read(plan, connection, &set) &&
		update(plan, connection, old, &set, told);
	if (went_well)
		write_status(plan, connection, &set);
	remote_free(&set);
	bloomfilter_close(old);
	/* how it ends is no failure of what has been pulled */
	server_end(connection);
	return went_well;
}

/* For the one pull without --follow. */
static exit_status
pull_now(pull_plan *plan)
{
	PGconn	   *connection = server_connect(plan->dsn, plan->quiet, false);
	bool		went_well = connection != NULL && pull_once(plan, connection, true);

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

	check_target(plan.out);
	stop_catch(plan.follow);
	if (plan.follow)
	{
		messages_have_time();
		pull_forever(&plan);
	}
	else
		status = pull_now(&plan);
	free(plan.query);
	free(plan.delta_query);
	return status;
}
