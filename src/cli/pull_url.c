/*
 * pull_url.c
 *	  bloomfilter pull --url: follow a list's folder on a web server.
 */
#include "pull_url.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "options.h"
#include "output.h"
#include "pull.h"
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

#define DEFAULT_EVERY 10
#define FIRST_WAIT 1.0
#define LONGEST_WAIT 300.0
#define LONGEST_RETRY 3600.0

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

static void
add_key(url_plan *plan, const char *text)
{
	if (plan->key_count == URL_MOST_KEYS)
		fail("at most %d keys can be given", URL_MOST_KEYS);
	plan->keys[plan->key_count++] = feed_public_key(text);
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
				plan->every = option_count("--every", optarg, 1, 86400);
				break;
			case OPTION_KEY:
				add_key(plan, optarg);
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
				plan->http.rate = option_count("--limit-rate", optarg, 1000, INT64_MAX);
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
	size_t		length;

	if (optind < line->argc)
		usage_error(line, "unexpected argument; the file is given by --out");
	if (plan->url == NULL || plan->out == NULL)
		usage_error(line, "--url and --out are needed");
	if (plan->every != 0 && !plan->follow)
		usage_error(line, "--every needs --follow");
	if (plan->follow && plan->allow_older)
		usage_error(line, "--allow-older is for once, and excludes --follow");
	length = strlen(plan->out);
	if (length == 0 || plan->out[length - 1] == '/' || strcmp(plan->out, "-") == 0)
		usage_error(line, "--out must be a file's name");
	if (strncmp(plan->url, "https://", 8) != 0 && strncmp(plan->url, "http://", 7) != 0)
		usage_error(line, "--url must begin with https://");
	if (strncmp(plan->url, "http://", 7) == 0 && !plan->http.plain && plan->key_count == 0)
		usage_error(line, "http: lets others change what comes: use https:, --key or --allow-http");
	plan->http.plain |= plan->key_count > 0;
	if (plan->every == 0)
		plan->every = DEFAULT_EVERY;
}

static void
say_changed(const url_host *host)
{
	char		prefix[TIME_TEXT_BYTES + 1];

	if (host->plan->quiet)
		return;
	message_prefix(prefix);
	output_text("%s%s: serial %llu, %s\n", prefix, host->plan->out, (unsigned long long) host->serial, host->way);
	(void) output_try_flush();
}

/* The web server's log is so the list of hosts, with what each has. */
static void
name_agent(url_host *host)
{
	char	   *agent = text_of("bloomfilter-pull/%s (%s %llu)", bloomfilter_version(), host->mark.name,
								(unsigned long long) host->serial);

	http_agent(host->client, agent);
	free(agent);
}

static bool
look(url_host *host)
{
	uint64_t	serial = host->serial;
	uint64_t	epoch = host->mark.epochs[0];
	bool		well;

	if (!host->plan->no_agent)
		name_agent(host);
	well = list_look(host);
	if (stop_requested())
		return well;
	/* steps come each second: of these nothing is said */
	if (well && serial != host->serial && (epoch != host->mark.epochs[0] || !host->plan->follow))
		say_changed(host);
	place_looked(host, well);
	return well;
}

static double
random_share(void)
{
	return (double) random() / (double) 0x7fffffff;
}

/* When the next look is due, from now on: a fixed period while all goes well. */
static double
next_wait(const url_host *host, bool well, double begun, double *wait)
{
	double		period = fmax((double) host->plan->every, (double) host->poll);

	if (well)
	{
		*wait = FIRST_WAIT;
		return fmax(0, begun + period - monotonic_seconds());
	}
	if (host->retry > 0)
		return fmin((double) host->retry, LONGEST_RETRY);
	*wait = fmin(*wait * 2, LONGEST_WAIT);
	return *wait * (0.5 + 0.5 * random_share());
}

static void
follow(url_host *host)
{
	double		wait = FIRST_WAIT;
	double		pause = host->copy.parts == 0 ? 0 :
		random_share() * fmin((double) host->plan->every, 60);

	/* hosts that begin at the same moment don't look at the same moment */
	stop_wait(-1, pause);
	while (!stop_requested())
	{
		double		begun = monotonic_seconds();
		bool		well = look(host);

		if (!stop_requested())
			stop_wait(-1, next_wait(host, well, begun, &wait));
	}
}

exit_status
command_pull_url(int argc, char **argv)
{
	command_line line = {"pull", help, ":", names, argc, argv};
	url_plan	plan;
	url_host	host;
	exit_status status = STATUS_YES;

	memset(&plan, 0, sizeof plan);
	memset(&host, 0, sizeof host);
	feed_sign_begin();
	read_options(&line, &plan);
	check_plan(&line, &plan);
	stop_catch(plan.follow);
	srandom(randombytes_random());
	host.plan = &plan;
	if (!place_open(&host))
		return STATUS_TROUBLE;
	host.client = http_begin(&plan.http);
	if (plan.follow)
	{
		messages_have_time();
		follow(&host);
	}
	else if (!look(&host))
		status = host.refused[0] != '\0' ? STATUS_NO : STATUS_TROUBLE;
	http_end(host.client);
	place_close(&host);
	list_close(&host);
	if (!plan.follow && stop_requested())
		stop_die();
	return status;
}
