/*
 * pull.c
 *	  bloomfilter pull: follow a list, from a web server or from PostgreSQL.
 */
#include "pull.h"

#include <stdio.h>
#include <string.h>

#include "feed_sign.h"
#include "follow.h"
#include "options.h"
#include "server.h"
#include "settings.h"

static const char help[] =
"Usage: bloomfilter pull --url URL --out FILE [OPTION]...\n"
"       bloomfilter pull --dsn DSN --list NAME --out FILE [OPTION]...\n"
"       bloomfilter pull --dsn DSN --index INDEX --out FILE [OPTION]...\n"
"\n"
"Keeps FILE what a list is: of a folder that \"bloomfilter export\" keeps on a web\n"
"server, or of a PostgreSQL server.  Programs open FILE; with --follow new keys\n"
"are in it moments after their commit.  \"bloomfilter status FILE\" tells more.\n"
"\n"
"  --url URL            of the folder\n"
"  --config FILE        many lists: see \"pull --config --help\"\n"
"  --dsn DSN            connection string; \"\" takes all from the environment\n"
"  --list NAME          a list of bloom_publish\n"
"  --index INDEX        a live filter; with its schema if that is not on the path\n"
"  --out FILE           the file that programs open\n"
"  --follow             stay, and look again every so often; end on SIGTERM\n"
"  --every SECONDS      between two looks (default: 10, of --index 1), or as the\n"
"                       list's exporter wants it\n"
"  --name NAME          the list's, where it is to be none other\n"
"  --allow-older        go back to an older list, or another of this name, once\n"
"  --key KEY            public key of minisign, or its file: only signed by one\n"
"                       of these; may be repeated\n"
"  --allow-http         take http: too; by itself only with --key\n"
"  --header-file FILE   lines of headers to send, such as Authorization\n"
"  --limit-rate BYTES   a second, at most\n"
"  --no-agent           don't tell the web server the list and its serial\n"
"  --quiet              say nothing but errors\n"
"  --help               print this\n"
"\n"
"Exit status: 0, 1 if what the server has was refused, 2 if there was an error;\n"
"FILE is then as before.\n";

typedef enum pull_option
{
	OPTION_FOLLOW = OPTION_ANY,
	OPTION_ALLOW_OLDER,
	OPTION_QUIET,
	OPTION_SETTING				/* the first of settings.c's */
} pull_option;

#define MOST_OPTIONS 32

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	{"allow-older", no_argument, NULL, OPTION_ALLOW_OLDER},
	{"quiet", no_argument, NULL, OPTION_QUIET}
};

#define NAMES ((int) (sizeof names / sizeof names[0]))

/* Ends the program where there is a problem. */
static void
stop_at(const command_line *line, char *problem)
{
	if (problem != NULL)
		usage_error(line, problem);
}

static void
set_option(const command_line *line, pull_plan *plan, const char *name, const char *value)
{
	char	   *problem = settings_set(plan, name, value != NULL ? value : "on", false);
	char		text[512];

	if (problem == NULL)
		return;
	snprintf(text, sizeof text, "--%s", problem);
	usage_error(line, strncmp(problem, name, strlen(name)) == 0 ? text : problem);
}

static void
read_options(const command_line *line, pull_plan *plan)
{
	int			option;

	while ((option = next_option(line)) != -1)
		if (option == OPTION_FOLLOW)
			plan->follow = true;
		else if (option == OPTION_ALLOW_OLDER)
			plan->allow_older = true;
		else if (option == OPTION_QUIET)
			plan->quiet = true;
		else
			set_option(line, plan, line->names[NAMES + option - OPTION_SETTING].name, optarg);
	if (optind < line->argc)
		usage_error(line, "unexpected argument; the file is given by --out");
	if (plan->every > 0 && !plan->follow)
		usage_error(line, "--every needs --follow");
	if (plan->follow && plan->allow_older)
		usage_error(line, "--allow-older is for once, and excludes --follow");
	stop_at(line, settings_check(plan, "--"));
	if (plan->dsn != NULL)
		server_check_dsn(plan->dsn);
}

exit_status
pull_list(const pull_plan *plan)
{
	exit_status status;

	if (plan->follow)
		messages_have_time();
	status = plan->url != NULL ? follow_list(plan) : follow_server(plan);
	if (!plan->follow && stop_requested())
		stop_die();
	return status;
}

exit_status
command_pull(int argc, char **argv)
{
	struct option options[MOST_OPTIONS];
	command_line line = {"pull", help, ":", options, argc, argv};
	pull_plan	plan;
	exit_status status;
	int			i;

	for (i = 1; i < argc; i++)
		if (strncmp(argv[i], "--config", strlen("--config")) == 0)
			return command_pull_config(argc, argv);
	memset(&plan, 0, sizeof plan);
	memset(options, 0, sizeof options);
	memcpy(options, names, sizeof names);
	settings_options(options + NAMES, OPTION_SETTING);
	feed_sign_begin();
	read_options(&line, &plan);
	stop_catch(plan.follow);
	status = pull_list(&plan);
	settings_free(&plan);
	return status;
}
