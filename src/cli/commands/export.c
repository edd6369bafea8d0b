/*
 * export.c
 *	  bloomfilter export: a live index or a list as a folder of files that any web server serves.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export_status.h"
#include "feed_sign.h"
#include "folder.h"
#include "messages.h"
#include "options.h"
#include "output.h"
#include "server.h"
#include "source.h"
#include "system.h"

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
"  --heartbeat SECONDS  with --follow: renew an unchanged manifest so often; hosts\n"
"                       say \"old\" when three are missing (default: 20)\n"
"  --expires SECONDS    hosts report an error so long after the last manifest\n"
"                       (default: 86400 with --follow; 0: never)\n"
"  --keep BYTES         of FOLDER; old patches go after an hour instead of a day\n"
"  --keep-days DAYS     for which an object store keeps files at least: they are\n"
"                       renewed in half the time (default: 7)\n"
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
	OPTION_KEEP_DAYS,
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
	{"keep-days", required_argument, NULL, OPTION_KEEP_DAYS},
	{"sign", required_argument, NULL, OPTION_SIGN},
	{"after", required_argument, NULL, OPTION_AFTER},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{NULL, 0, NULL, 0}
};

/* What one export works with. */
typedef struct exporter
{
	folder_plan plan;
	list_folder folder;
	source		source;
	export_health health;
} exporter;

static void
add_key(folder_plan *plan, const char *path)
{
	if (plan->key_count == FOLDER_MOST_KEYS)
		fail("at most %d keys can sign", FOLDER_MOST_KEYS);
	plan->keys[plan->key_count++] = feed_secret_key(path);
}

/* What is said of the server and of looks; false: it is another option. */
static bool
read_source_option(source_plan *plan, int option)
{
	switch (option)
	{
		case OPTION_DSN:
			plan->dsn = optarg;
			return true;
		case OPTION_INDEX:
			plan->index = optarg;
			return true;
		case OPTION_LIST:
			plan->list = optarg;
			return true;
		case OPTION_EVERY:
			plan->every = option_seconds("--every", optarg, 0.05, LONGEST_EVERY);
			return true;
		case OPTION_QUIET:
			plan->quiet = true;
			return true;
		case OPTION_FOLLOW:
			plan->follow = true;
			return true;
		default:
			return false;
	}
}

/* The manifest's times have the bounds that hosts hold it to. */
static void
read_folder_option(folder_plan *plan, int option)
{
	switch (option)
	{
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
		case OPTION_POLL:
			plan->poll = option_count("--poll", optarg, 1, FEED_MOST_SECONDS);
			break;
		case OPTION_SPREAD:
			plan->spread = option_count("--spread", optarg, 0, FEED_MOST_SECONDS);
			break;
		case OPTION_HEARTBEAT:
			plan->heartbeat = option_count("--heartbeat", optarg, 1, FEED_MOST_SECONDS);
			break;
		case OPTION_EXPIRES:
			plan->expires = option_count("--expires", optarg, 0, 366 * 86400);
			break;
		case OPTION_KEEP:
			plan->keep = option_count("--keep", optarg, 1, INT64_MAX);
			break;
		case OPTION_KEEP_DAYS:
			plan->keep_days = option_count("--keep-days", optarg, 1, 3660);
			break;
		case OPTION_SIGN:
			add_key(plan, optarg);
			break;
		case OPTION_AFTER:
			plan->after = optarg;
			break;
	}
}

/* Not said by --expires. */
#define NOT_SAID UINT64_MAX

static void
check_plan(const command_line *line, folder_plan *plan, source_plan *looks)
{
	if (optind < line->argc)
		usage_error(line, "unexpected argument; the folder is given by --to");
	if (looks->dsn == NULL || (looks->index == NULL) == (looks->list == NULL) || plan->to == NULL)
		usage_error(line, "--dsn, --to and either --index or --list are needed");
	if (looks->list != NULL && plan->identity != NULL)
		usage_error(line, "--list excludes --identity: a list has its own, which bloom_set_identity sets");
	if (looks->every != 0 && !looks->follow)
		usage_error(line, "--every needs --follow");
	if (plan->heartbeat != 0 && !looks->follow)
		usage_error(line, "--heartbeat needs --follow");
	plan->follow = looks->follow;
	if (plan->follow && plan->heartbeat == 0)
		plan->heartbeat = 20;
	if (plan->expires == NOT_SAID)
		plan->expires = plan->follow ? 86400 : 0;
	if (plan->expires != 0 && plan->expires < 3 * plan->heartbeat)
		usage_error(line, "--expires must be at least three times --heartbeat");
	server_check_dsn(looks->dsn);
	if (looks->every == 0)
		looks->every = looks->list != NULL ? 10 : 1;
	if (plan->poll == 0)
		plan->poll = looks->list != NULL ? 300 : 10;
	/* the manifest is renewed in time, too */
	if (plan->heartbeat != 0)
		looks->every = fmin(looks->every, (double) plan->heartbeat);
}

static void
read_options(const command_line *line, folder_plan *plan, source_plan *looks)
{
	int			option;

	plan->expires = NOT_SAID;
	plan->keep_days = 7;
	while ((option = next_option(line)) != -1)
		if (!read_source_option(looks, option))
			read_folder_option(plan, option);
	check_plan(line, plan, looks);
}

/* ------------------------------------------------------------------------
 * From the look to the folder
 * ------------------------------------------------------------------------ */

/* What the folder has, which the next look goes on from. */
static void
tell_source(exporter *e)
{
	const feed_manifest *m = &e->folder.manifest;
	source	   *s = &e->source;

	s->known = m->serial != 0;
	memcpy(s->known_identity, m->identity, sizeof s->known_identity);
	s->known_serial = s->plan.list != NULL ? m->content : 0;
	s->known_true_at = m->true_at;
}

static folder_news
news_of(exporter *e)
{
	static const whole_reason reasons[] = {
		[SOURCE_FIRST] = WHOLE_FOLDER,[SOURCE_REBUILT] = WHOLE_REBUILD,[SOURCE_RESIZED] = WHOLE_GEOMETRY,
		[SOURCE_REMOVED] = WHOLE_REMOVED
	};
	source	   *s = &e->source;
	folder_news news = {&s->copy, s->name, s->system, s->serial != 0 ? s->identity : NULL, s->serial, s->build, s->built,
	s->true_at, s->new_epoch, s->too_many, reasons[s->reason]};

	if (e->folder.manifest.serial == 0)
		news.reason = WHOLE_FIRST;
	return news;
}

static bool
take_up(exporter *e)
{
	folder_news news = news_of(e);
	bool		taken = folder_take_up(&e->folder, &news);

	e->source.build = news.build;
	tell_source(e);
	if (taken && e->source.known_system[0] == '\0')
		snprintf(e->source.known_system, sizeof e->source.known_system, "%s", e->source.system);
	return taken;
}

static void
say(const exporter *e, bool epoch, size_t bits)
{
	const feed_manifest *m = &e->folder.manifest;
	char		what[64];

	if (e->source.plan.quiet)
		return;
	if (epoch)
		snprintf(what, sizeof what, "whole");
	else
		snprintf(what, sizeof what, "%zu bits", bits);
	(void) output_news("%s: serial %llu, %s, rate %.3g", e->plan.to, (unsigned long long) m->serial, what, m->rate);
}

/* Publishes what is new; what could not be passed on is tried again, and stays new till then. */
static bool
publish(exporter *e)
{
	folder_news news = news_of(e);
	size_t		bits = e->source.copy.news_count;
	uint64_t	epoch = e->folder.manifest.epoch;
	bool		published;
	bool		well = folder_publish(&e->folder, &news, &published);

	if (published)
	{
		source_settle(&e->source);
		tell_source(e);
		say(e, epoch != e->folder.manifest.epoch, bits);
	}
	if (well)
		export_note_success(&e->health, &e->folder, &e->source);
	else
		export_note_failure(&e->health, &e->folder, &e->source);
	return well;
}

static void
wait_after_failure(double *wait)
{
	stop_wait(-1, *wait * (0.5 + 0.5 * random_share()));
	*wait = fmin(*wait * 2, LONGEST_WAIT);
}

/* Without --follow: also what a child makes. */
static bool
publish_once(exporter *e)
{
	bool		well = publish(e);

	while (well && e->folder.renewal.child != 0)
		well = publish(e);
	return well;
}

/* Until a look fails, with the connection; whether any went well before. */
static bool
stay(exporter *e, PGconn *connection)
{
	double		wait = FIRST_WAIT;
	bool		looked = false;

	if (!source_begin(&e->source, connection) || !take_up(e))
		return false;
	while (!stop_requested())
	{
		double		begun = monotonic_seconds();

		if (!source_look(&e->source, connection))
			return looked;
		looked = true;
		if (!e->plan.follow)
			return publish_once(e);
		if (!publish(e))
		{
			wait_after_failure(&wait);
			continue;
		}
		wait = FIRST_WAIT;
		if (!source_wait(&e->source, connection, begun))
			break;
	}
	return looked;
}

/* Each connection begins with a read of the whole index, so failures are waited out. */
static void
export_forever(exporter *e)
{
	double		wait = FIRST_WAIT;

	srandom((unsigned) getpid());
	while (!stop_requested())
	{
		PGconn	   *connection = server_connect(e->source.plan.dsn, e->source.plan.quiet, true);

		if (connection != NULL && stay(e, connection))
			wait = FIRST_WAIT;
		PQfinish(connection);
		if (stop_requested())
			break;
		export_note_failure(&e->health, &e->folder, &e->source);
		wait_after_failure(&wait);
	}
}

static bool
export_once(exporter *e)
{
	PGconn	   *connection = server_connect(e->source.plan.dsn, e->source.plan.quiet, false);
	bool		well = connection != NULL && stay(e, connection);

	if (!well && !stop_requested() && e->health.failures == 0)
		export_note_failure(&e->health, &e->folder, &e->source);
	PQfinish(connection);
	return well;
}

exit_status
command_export(int argc, char **argv)
{
	command_line line = {"export", help, ":", names, argc, argv};
	exporter	e;
	bool		well = true;
	char	   *system;

	memset(&e, 0, sizeof e);
	feed_sign_begin();
	read_options(&line, &e.plan, &e.source.plan);
	stop_catch(e.plan.follow);
	/* before hosts say that the exporter is silent, if that can be */
	server_expect("bloomfilter export", e.plan.heartbeat == 0 ? SOURCE_SILENCE :
				 fmax(SOURCE_LEAST_SILENCE, 3 * (double) e.plan.heartbeat));
	folder_open(&e.folder, &e.plan);
	system = folder_system(&e.folder);
	snprintf(e.source.known_system, sizeof e.source.known_system, "%s", system != NULL ? system : "");
	free(system);
	if (e.plan.follow)
	{
		messages_have_time();
		export_forever(&e);
	}
	else
		well = export_once(&e);
	source_free(&e.source);
	folder_close(&e.folder);
	if (!e.plan.follow && stop_requested())
		stop_die();
	return well ? STATUS_YES : STATUS_TROUBLE;
}
