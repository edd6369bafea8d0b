/*
 * export.c
 *	  bloomfilter export: a live index or a list as a folder of files that any web server serves.
 */
#include "export.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "output.h"

static const char help[] =
"Usage: bloomfilter export --dsn DSN --index INDEX --to FOLDER [OPTION]...\n"
"       bloomfilter export --dsn DSN --list NAME --to FOLDER [OPTION]...\n"
"\n"
"Exports a live filter, an index of PostgreSQL, or a list of bloom_publish, as a\n"
"folder of files for hosts that follow it by \"bloomfilter pull --url\".  Serve\n"
"FOLDER by any web server.\n"
"\n"
"  --dsn DSN            connection string; \"\" takes all from the environment\n"
"  --index INDEX        the index; with its schema where that is not on the path\n"
"  --list NAME          the published list\n"
"  --to FOLDER          made if it isn't there; one list and one exporter each\n"
"  --name NAME          of the list (default: schema.index, or the list's)\n"
"  --identity UUID      the index's, where FOLDER was lost; a list has its own\n"
"  --new-source         go on in a folder that another server was exported to\n"
"  --follow             stay, and look again every so often; end on SIGTERM\n"
"  --every SECONDS      between two looks (default: 1; 0.25 is fine; of a list 10,\n"
"                       and at each NOTIFY)\n"
"  --poll SECONDS       between two looks of a host, at least (default: 10; of a\n"
"                       list 300)\n"
"  --spread SECONDS     hosts that have the list fetch whole files at a random time\n"
"                       within so long, and keep the old ones till then (default: 0)\n"
"  --heartbeat SECONDS  renew an unchanged manifest so often (default: 60)\n"
"  --expires SECONDS    hosts report an error so long after the last manifest\n"
"                       (default: 86400; 0: never)\n"
"  --keep BYTES         of FOLDER; old steps go after an hour instead of a day\n"
"  --sign KEY           sign with a secret key of minisign -G -W; may be repeated\n"
"  --after COMMAND      run for each new file, and last for the manifest, with the\n"
"                       file's path as $1: to copy it to an object store\n"
"  --quiet              say nothing but errors\n"
"  --help               print this\n"
"\n"
"Exit status: 0, or 2 if there was an error.\n";

#define LONGEST_EVERY 86400.0
#define FIRST_WAIT 1.0
#define LONGEST_WAIT 60.0

typedef enum export_option
{
	OPTION_DSN = OPTION_ANY,
	OPTION_INDEX,
	OPTION_LIST,
	OPTION_TO,
	OPTION_NAME,
	OPTION_IDENTITY,
	OPTION_NEW_SOURCE,
	OPTION_FOLLOW,
	OPTION_EVERY,
	OPTION_POLL,
	OPTION_SPREAD,
	OPTION_HEARTBEAT,
	OPTION_EXPIRES,
	OPTION_KEEP,
	OPTION_SIGN,
	OPTION_AFTER,
	OPTION_QUIET
} export_option;

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"dsn", required_argument, NULL, OPTION_DSN},
	{"index", required_argument, NULL, OPTION_INDEX},
	{"list", required_argument, NULL, OPTION_LIST},
	{"to", required_argument, NULL, OPTION_TO},
	{"name", required_argument, NULL, OPTION_NAME},
	{"identity", required_argument, NULL, OPTION_IDENTITY},
	{"new-source", no_argument, NULL, OPTION_NEW_SOURCE},
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	{"every", required_argument, NULL, OPTION_EVERY},
	{"poll", required_argument, NULL, OPTION_POLL},
	{"spread", required_argument, NULL, OPTION_SPREAD},
	{"heartbeat", required_argument, NULL, OPTION_HEARTBEAT},
	{"expires", required_argument, NULL, OPTION_EXPIRES},
	{"keep", required_argument, NULL, OPTION_KEEP},
	{"sign", required_argument, NULL, OPTION_SIGN},
	{"after", required_argument, NULL, OPTION_AFTER},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{NULL, 0, NULL, 0}
};

static void
add_key(export_plan *plan, const char *path)
{
	if (plan->key_count == EXPORT_MOST_KEYS)
		fail("at most %d keys can sign", EXPORT_MOST_KEYS);
	plan->keys[plan->key_count++] = feed_secret_key(path);
}

static void
read_options(const command_line *line, export_plan *plan)
{
	int			option;

	while ((option = next_option(line)) != -1)
		switch (option)
		{
			case OPTION_DSN:
				plan->dsn = optarg;
				break;
			case OPTION_INDEX:
				plan->index = optarg;
				break;
			case OPTION_LIST:
				plan->list = optarg;
				break;
			case OPTION_TO:
				plan->to = optarg;
				break;
			case OPTION_NAME:
				plan->name = optarg;
				break;
			case OPTION_IDENTITY:
				plan->identity = optarg;
				break;
			case OPTION_NEW_SOURCE:
				plan->new_source = true;
				break;
			case OPTION_FOLLOW:
				plan->follow = true;
				break;
			case OPTION_EVERY:
				plan->every = option_seconds("--every", optarg, 0.05, LONGEST_EVERY);
				break;
			case OPTION_POLL:
				plan->poll = option_count("--poll", optarg, 1, 86400);
				break;
			case OPTION_SPREAD:
				plan->spread = option_count("--spread", optarg, 0, 3600);
				break;
			case OPTION_HEARTBEAT:
				plan->heartbeat = option_count("--heartbeat", optarg, 1, 86400);
				break;
			case OPTION_EXPIRES:
				plan->expires = option_count("--expires", optarg, 0, 366 * 86400);
				break;
			case OPTION_KEEP:
				plan->keep = option_count("--keep", optarg, 1, INT64_MAX);
				break;
			case OPTION_SIGN:
				add_key(plan, optarg);
				break;
			case OPTION_AFTER:
				plan->after = optarg;
				break;
			case OPTION_QUIET:
				plan->quiet = true;
				break;
		}
}

static void
check_plan(const command_line *line, export_plan *plan)
{
	if (optind < line->argc)
		usage_error(line, "unexpected argument; the folder is given by --to");
	if (plan->dsn == NULL || (plan->index == NULL) == (plan->list == NULL) || plan->to == NULL)
		usage_error(line, "--dsn, --to and either --index or --list are needed");
	if (plan->list != NULL && plan->identity != NULL)
		usage_error(line, "--list excludes --identity: a list has its own, which bloom_set_identity sets");
	if (plan->every != 0 && !plan->follow)
		usage_error(line, "--every needs --follow");
	if (plan->expires != 0 && plan->expires < 3 * plan->heartbeat)
		usage_error(line, "--expires must be at least three times --heartbeat");
	server_check_dsn(plan->dsn);
	if (plan->every == 0)
		plan->every = plan->list != NULL ? 10 : 1;
	if (plan->poll == 0)
		plan->poll = plan->list != NULL ? 300 : 10;
}

static void
say(const exporter *e, bool epoch, size_t bits)
{
	const feed_manifest *m = &e->manifest;
	char		what[64];

	if (e->plan->quiet)
		return;
	if (epoch)
		snprintf(what, sizeof what, "whole");
	else
		snprintf(what, sizeof what, "%zu bits", bits);
	(void) output_news("%s: serial %llu, %s, rate %.3g", e->plan->to, (unsigned long long) m->serial, what, m->rate);
}

/* One look, and what comes of it. */
static bool
export_once(exporter *e, PGconn *connection)
{
	size_t		bits;
	uint64_t	epoch = e->manifest.epoch;
	bool		published;
	bool		went_well;

	if (!(e->plan->list != NULL ? export_list_look(e, connection) : export_look(e, connection)))
		return false;
	bits = e->copy.news_count;
	went_well = export_publish(e, &published);
	if (went_well)
		export_note_success(e, published);
	if (published)
		say(e, epoch != e->manifest.epoch, bits);
	return went_well;
}

/* Until the next look is due; false if there can't be one on this connection. */
static bool
wait_for_look(const exporter *e, PGconn *connection, double begun)
{
	if (e->plan->list != NULL)
		return export_list_wait(e, connection);
	stop_wait(-1, fmax(0, begun + e->plan->every - monotonic_seconds()));
	return true;
}

/* Until something fails; whether anything went well before. */
static bool
stay(exporter *e, PGconn *connection)
{
	bool		looked = false;

	if (!(e->plan->list != NULL ? export_list_begin(e, connection) : export_begin(e, connection)) ||
		!export_take_up(e))
		return false;
	while (!stop_requested())
	{
		double		begun = monotonic_seconds();

		if (!export_once(e, connection))
			return looked;
		looked = true;
		if (!e->plan->follow)
			return true;
		if (!wait_for_look(e, connection, begun))
			break;
	}
	return looked;
}

/* Each connection begins with a read of the whole index, so failures are waited out. */
static void
export_forever(exporter *e)
{
	double		next_wait = FIRST_WAIT;

	srandom((unsigned) getpid());
	while (!stop_requested())
	{
		PGconn	   *connection = server_connect(e->plan->dsn, e->plan->quiet, true);

		if (connection != NULL && stay(e, connection))
			next_wait = FIRST_WAIT;
		PQfinish(connection);
		if (stop_requested())
			break;
		export_note_failure(e);
		stop_wait(-1, next_wait * (0.5 + 0.5 * (double) random() / (double) 0x7fffffff));
		next_wait = fmin(next_wait * 2, LONGEST_WAIT);
	}
}

exit_status
command_export(int argc, char **argv)
{
	command_line line = {"export", help, ":", names, argc, argv};
	export_plan plan;
	exporter	e;
	PGconn	   *connection;
	bool		went_well = true;

	memset(&plan, 0, sizeof plan);
	memset(&e, 0, sizeof e);
	plan.heartbeat = 60;
	plan.expires = 86400;
	feed_sign_begin();
	read_options(&line, &plan);
	check_plan(&line, &plan);
	e.plan = &plan;
	stop_catch(plan.follow);
	export_open_folder(&e);
	if (plan.follow)
	{
		messages_have_time();
		export_forever(&e);
	}
	else
	{
		connection = server_connect(plan.dsn, plan.quiet, false);
		went_well = connection != NULL && stay(&e, connection);
		if (!went_well && !stop_requested())
			export_note_failure(&e);
		PQfinish(connection);
		if (stop_requested())
			stop_die();
	}
	feed_copy_free(&e.copy);
	feed_manifest_free(&e.manifest);
	free(e.function);
	free(e.index);
	free(e.index_name);
	free(e.source);
	free(e.server);
	free(e.token);
	close(e.folder);
	return went_well ? STATUS_YES : STATUS_TROUBLE;
}
