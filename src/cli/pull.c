/*
 * pull.c
 *	  bloomfilter pull: fetch a filter from a PostgreSQL server, once or whenever
 *	  it changes.
 *
 * Here are its options; pull.h says what the other files do.
 */
#include "pull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "options.h"
#include "output.h"

static const char help[] =
"Usage: bloomfilter pull --dsn DSN (--list NAME | --query QUERY) --out FILE\n"
"\n"
"Fetches a filter from a PostgreSQL server, checks it, and replaces FILE by it in\n"
"one step.  FILE is left alone if it has the same filter, or if anything fails.\n"
"\n"
"  --url URL            from a web server instead; see \"pull --url URL --help\"\n"
"  --config FILE        many lists of web servers: \"pull --config FILE --help\"\n"
"  --dsn DSN            connection string; \"\" takes all from the environment\n"
"  --list NAME          a list of bloom_publish, with its parts\n"
"  --query QUERY        or: SELECT of one row with one filter, as it is stored\n"
"  --parts              QUERY has a row for each part; FILE is the manifest\n"
"  --delta-query QUERY  SELECT of the bytea of bloom_diff from FILE to that\n"
"  --out FILE           file to replace; - is standard output\n"
"  --allow-older        take an older serial of the list than FILE's\n"
"  --new-identity       take a list that was made anew, or is another database's\n"
"  --replace            replace FILE whatever it is, of another list or no filter\n"
"  --follow             stay, and look again every so often; end on SIGTERM\n"
"  --every SECONDS      between two looks (default: 300)\n"
"  --listen CHANNEL     --follow, and look at each NOTIFY; --list does by itself\n"
"  --quiet              say nothing but errors, and draw no progress bar\n"
"  --no-progress        draw no progress bar on a terminal\n"
"  --help               print this\n"
"\n"
"Exit status: 0; 1 if what the server has was refused, 2 at an error: FILE stays.\n";

/* What bloom_publish notifies, with the list's name. */

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
	OPTION_ALLOW_OLDER,
	OPTION_NEW_IDENTITY,
	OPTION_REPLACE,
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
	{"allow-older", no_argument, NULL, OPTION_ALLOW_OLDER},
	{"new-identity", no_argument, NULL, OPTION_NEW_IDENTITY},
	{"replace", no_argument, NULL, OPTION_REPLACE},
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

/* Of two values one would be ignored. */
static void
once(const command_line *line, const char *name, const char *before)
{
	char		problem[64];

	if (before == NULL)
		return;
	snprintf(problem, sizeof problem, "%s is given twice", name);
	usage_error(line, problem);
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
				once(line, "--dsn", plan.dsn);
				plan.dsn = optarg;
				break;
			case OPTION_LIST:
				once(line, "--list", plan.list);
				plan.list = optarg;
				break;
			case OPTION_QUERY:
				once(line, "--query", plan.query);
				plan.query = subquery_of(optarg);
				break;
			case OPTION_OUT:
				once(line, "--out", plan.out);
				plan.out = optarg;
				break;
			case OPTION_PARTS:
				plan.set = true;
				break;
			case OPTION_DELTA_QUERY:
				once(line, "--delta-query", plan.delta_query);
				plan.delta_query = subquery_of(optarg);
				break;
			case OPTION_FOLLOW:
				plan.follow = true;
				break;
			case OPTION_EVERY:
				plan.every = (int) option_count("--every", optarg, 1, LONGEST_EVERY);
				break;
			case OPTION_LISTEN:
				once(line, "--listen", plan.channel);
				plan.channel = optarg;
				plan.follow = true;
				break;
			case OPTION_ALLOW_OLDER:
				plan.allow_older = true;
				break;
			case OPTION_NEW_IDENTITY:
				plan.new_identity = true;
				break;
			case OPTION_REPLACE:
				plan.replace = true;
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

/* For the one pull without --follow. */
static exit_status
pull_now(pull_plan *plan)
{
	PGconn	   *connection = server_connect(plan->dsn, plan->quiet, false);
	bool		went_well = connection != NULL && pull_once(plan, connection, true);

	if (connection == NULL && !stop_requested())
		note_failure(plan, NULL);
	PQfinish(connection);
	if (stop_requested())
		stop_die();
	if (!went_well)
		return STATUS_TROUBLE;
	return plan->refused ? STATUS_NO : STATUS_YES;
}

exit_status
command_pull(int argc, char **argv)
{
	command_line line = {"pull", help, ":", names, argc, argv};
	pull_plan	plan;
	exit_status status = STATUS_YES;
	int			i;

	/* another kind of source, with options of its own */
	for (i = 1; i < argc; i++)
		if (strncmp(argv[i], "--url", strlen("--url")) == 0)
			return command_pull_url(argc, argv);
		else if (strncmp(argv[i], "--config", strlen("--config")) == 0)
			return command_pull_config(argc, argv);
	plan = read_plan(&line);
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
