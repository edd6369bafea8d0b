/*
 * pull_url.c
 *	  bloomfilter pull --url: follow a list's folder on a web server.
 */
#include "pull_url.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "options.h"
#include "pull_settings.h"
#include "pull_turns.h"
#include "server.h"

static const char help[] =
"Usage: bloomfilter pull --url URL --out FILE [OPTION]...\n"
"\n"
"Fetches a list from a folder that \"bloomfilter export\" keeps on a web server, checks\n"
"it, and keeps FILE what the server has.  With --follow the newest state is in memory\n"
"besides, where programs that open FILE find it by FILE.working and see new keys at once.\n"
"\n"
"  --url URL            of the folder\n"
"  --out FILE           the file that programs open\n"
"  --follow             stay, and look again every so often; end on SIGTERM\n"
"  --every SECONDS      between two looks (default: 10), or as the server wants it\n"
"  --key KEY            public key of minisign, or its file: only signed by one of\n"
"                       these; may be repeated\n"
"  --name NAME          the list's, where it is to be none other\n"
"  --allow-older        go back to an older list, or to another of this name, once\n"
"  --allow-http         take http: too; by itself only with --key\n"
"  --header-file FILE   lines of headers to send, such as Authorization\n"
"  --limit-rate BYTES   a second, at most\n"
"  --working FOLDER     where working copies lie, which is in memory; no: there is none\n"
"                       (default: beside FILE, $RUNTIME_DIRECTORY, /run/bloomfilter or\n"
"                       /dev/shm, whichever is in memory first)\n"
"  --no-agent           don't tell the server the list and its serial\n"
"  --quiet              say nothing but errors\n"
"  --help               print this\n"
"\n"
"Exit status: 0, 1 if what the server has was refused, 2 if there was an error;\n"
"FILE is then as before.\n";

typedef enum url_option
{
	OPTION_URL = OPTION_ANY,
	OPTION_OUT,
	OPTION_FOLLOW,
	OPTION_EVERY,
	OPTION_KEY,
	OPTION_NAME,
	OPTION_ALLOW_OLDER,
	OPTION_ALLOW_HTTP,
	OPTION_HEADER_FILE,
	OPTION_LIMIT_RATE,
	OPTION_WORKING,
	OPTION_NO_AGENT,
	OPTION_QUIET
} url_option;

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"url", required_argument, NULL, OPTION_URL},
	{"out", required_argument, NULL, OPTION_OUT},
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	{"every", required_argument, NULL, OPTION_EVERY},
	{"key", required_argument, NULL, OPTION_KEY},
	{"name", required_argument, NULL, OPTION_NAME},
	{"allow-older", no_argument, NULL, OPTION_ALLOW_OLDER},
	{"allow-http", no_argument, NULL, OPTION_ALLOW_HTTP},
	{"header-file", required_argument, NULL, OPTION_HEADER_FILE},
	{"limit-rate", required_argument, NULL, OPTION_LIMIT_RATE},
	{"working", required_argument, NULL, OPTION_WORKING},
	{"no-agent", no_argument, NULL, OPTION_NO_AGENT},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{NULL, 0, NULL, 0}
};

/* Ends the program where there is a problem. */
static void
stop_at(const command_line *line, char *problem)
{
	if (problem != NULL)
		usage_error(line, problem);
}

static void
read_options(const command_line *line, url_plan *plan)
{
	int			option;

	while ((option = next_option(line)) != -1)
		switch (option)
		{
			case OPTION_URL:
				plan->url = optarg;
				break;
			case OPTION_OUT:
				plan->out = optarg;
				break;
			case OPTION_FOLLOW:
				plan->follow = true;
				break;
			case OPTION_EVERY:
				plan->every = option_count("--every", optarg, 1, LONGEST_EVERY);
				break;
			case OPTION_KEY:
				stop_at(line, settings_add_key(plan, optarg));
				break;
			case OPTION_NAME:
				plan->name = optarg;
				break;
			case OPTION_ALLOW_OLDER:
				plan->allow_older = true;
				break;
			case OPTION_ALLOW_HTTP:
				plan->http.plain = true;
				break;
			case OPTION_HEADER_FILE:
				plan->http.header_file = optarg;
				break;
			case OPTION_LIMIT_RATE:
				plan->http.rate = option_count("--limit-rate", optarg, LEAST_RATE, INT64_MAX);
				break;
			case OPTION_WORKING:
				plan->working = optarg;
				break;
			case OPTION_NO_AGENT:
				plan->no_agent = true;
				break;
			case OPTION_QUIET:
				plan->quiet = true;
				break;
		}
}

static void
check_plan(const command_line *line, url_plan *plan)
{
	if (optind < line->argc)
		usage_error(line, "unexpected argument; the file is given by --out");
	if (plan->every != 0 && !plan->follow)
		usage_error(line, "--every needs --follow");
	if (plan->follow && plan->allow_older)
		usage_error(line, "--allow-older is for once, and excludes --follow");
	stop_at(line, settings_check(plan, "--"));
}

/* What is wrong from the start is not waited for. */
static exit_status
take_turns(pull_turns *turns, const url_plan *plan)
{
	turn_list  *list = turns_add(turns, plan, NULL);
	exit_status status = STATUS_TROUBLE;

	if (http_use(turns->client, &plan->http, NULL) && turns_open(turns, list))
	{
		if (plan->follow)
			messages_have_time();
		turns_take(turns);
		status = plan->follow ? STATUS_YES : list->status;
		place_close(&list->host);
	}
	list_close(&list->host);
	turns_drop(turns, list);
	return status;
}

exit_status
command_pull_url(int argc, char **argv)
{
	command_line line = {"pull", help, ":", names, argc, argv};
	url_plan	plan;
	pull_turns	turns;
	exit_status status;

	memset(&plan, 0, sizeof plan);
	memset(&turns, 0, sizeof turns);
	feed_sign_begin();
	read_options(&line, &plan);
	check_plan(&line, &plan);
	stop_catch(plan.follow);
	srandom(randombytes_random());
	turns.once = !plan.follow;
	turns.client = http_begin();
	status = take_turns(&turns, &plan);
	http_end(turns.client);
	free(turns.lists);
	if (!plan.follow && stop_requested())
		stop_die();
	return status;
}
