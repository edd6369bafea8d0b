/*
 * export.c
 *	  bloomfilter export: a live index or a list as a folder of files that any web server serves.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "looks.h"
#include "options.h"

static const char help[] =
"Usage: bloomfilter export --dsn DSN --index INDEX --to FOLDER [OPTION]...\n"
"       bloomfilter export --dsn DSN --list NAME --to FOLDER [OPTION]...\n"
"\n"
"Exports a live index, or a list of bloom_publish, as a\n"
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
"  --every SECONDS      between two looks (default: 1; 0.25 is fine)\n"
"  --poll SECONDS       between two looks of a host, at least (default: 10, of a\n"
"                       tracked list 1)\n"
"  --spread SECONDS     hosts that have the list fetch full files at a random time\n"
"                       within so long, and keep the old ones till then (default: 0)\n"
"  --heartbeat SECONDS  with --follow: renew an unchanged manifest so often; hosts\n"
"                       say \"old\" when three are missing (default: 20)\n"
"  --expires SECONDS    hosts report an error so long after the last manifest\n"
"                       (default: 86400 with --follow; 0: never)\n"
"  --keep-days DAYS     for which an object store keeps files at least: they are\n"
"                       renewed in half the time (default: 7)\n"
"  --sign KEY           sign with a secret key of minisign -G -W; may be repeated\n"
"  --after COMMAND      run for each new file, and last for the manifest, with the\n"
"                       file's path as $1: to copy it to an object store\n"
"  --quiet              say nothing but errors\n"
"  --help               print this\n"
"\n"
"Exit status: 0, or 2 if there was an error.\n";

/* What one export works with. */
typedef struct exporter
{
	folder_plan plan;
	const char *dsn;
	double		every;			/* seconds between two looks */
	bool		quiet;
	list_folder folder;
	source		source;
	PGconn	   *connection;		/* NULL: none that is of use */
	export_health health;
} exporter;

static void
take_key(const command_option *option, const char *argument)
{
	folder_plan *plan = option->value;

	if (plan->key_count == FEED_MOST_KEYS)
		fail("at most %d keys can sign", FEED_MOST_KEYS);
	plan->keys[plan->key_count++] = feed_secret_key(argument);
}

/* Not said by --expires. */
#define NOT_SAID UINT64_MAX

static void
check_plan(const command_line *line, exporter *e)
{
	folder_plan *plan = &e->plan;
	const source_plan *looks = &e->source.plan;

	if (optind < line->argc)
		usage_error(line, "unexpected argument; the folder is given by --to");
	if (e->dsn == NULL || (looks->index == NULL) == (looks->list == NULL) || plan->to == NULL)
		usage_error(line, "--dsn, --to and either --index or --list are needed");
	if (looks->list != NULL && plan->identity != NULL)
		usage_error(line, "--list excludes --identity: a list has its own, which bloom_set_identity sets");
	if (e->every != 0 && !plan->follow)
		usage_error(line, "--every needs --follow");
	if (plan->heartbeat != 0 && !plan->follow)
		usage_error(line, "--heartbeat needs --follow");
	if (plan->follow && plan->heartbeat == 0)
		plan->heartbeat = 20;
	if (plan->expires == NOT_SAID)
		plan->expires = plan->follow ? 86400 : 0;
	if (plan->expires != 0 && plan->expires < 3 * plan->heartbeat)
		usage_error(line, "--expires must be at least three times --heartbeat");
	server_check_dsn(e->dsn);
	if (e->every == 0)
		e->every = 1;
	/* the manifest is renewed in time, too */
	if (plan->heartbeat != 0)
		e->every = fmin(e->every, (double) plan->heartbeat);
}

/* The manifest's times have the bounds that hosts hold it to. */
static void
read_plan(const command_line *line, exporter *e)
{
	folder_plan *plan = &e->plan;
	source_plan *looks = &e->source.plan;
	const command_option options[] = {
		{"dsn", 0, option_dsn, &e->dsn, 0, 0},
		{"index", 0, option_text, &looks->index, 0, 0},
		{"list", 0, option_text, &looks->list, 0, 0},
		{"to", 0, option_text, &plan->to, 0, 0},
		{"name", 0, option_text, &plan->name, 0, 0},
		{"identity", 0, option_text, &plan->identity, 0, 0},
		{"new-source", 0, option_flag, &plan->new_source, 0, 0},
		{"follow", 0, option_flag, &plan->follow, 0, 0},
		{"every", 0, option_every, &e->every, 0, 0},
		{"poll", 0, option_count, &plan->poll, 1, FEED_MOST_SECONDS},
		{"spread", 0, option_count, &plan->spread, 0, FEED_MOST_SECONDS},
		{"heartbeat", 0, option_count, &plan->heartbeat, 1, FEED_MOST_SECONDS},
		{"expires", 0, option_count, &plan->expires, 0, 366 * 86400},
		{"keep-days", 0, option_count, &plan->keep_days, 1, 3660},
		{"sign", 0, take_key, plan, 0, 0},
		{"after", 0, option_text, &plan->after, 0, 0},
		{"quiet", 0, option_flag, &e->quiet, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};

	looks->cure = "CALL bloom_set_identity(name, identity) on the server gives it the old one";
	plan->expires = NOT_SAID;
	plan->keep_days = 7;
	read_options(line, options);
	check_plan(line, e);
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

static bool
resume(exporter *e)
{
	source	   *s = &e->source;
	bool		resumed = folder_resume(&e->folder, &s->news);

	tell_source(e);
	if (resumed && s->known_system[0] == '\0')
		snprintf(s->known_system, sizeof s->known_system, "%s", s->news.system);
	return resumed;
}

static void
say(const exporter *e, bool epoch, size_t bits, size_t changes)
{
	const feed_manifest *m = &e->folder.manifest;
	char		what[64];

	if (e->quiet)
		return;
	if (epoch)
		snprintf(what, sizeof what, "full file");
	else if (changes > 0)
		snprintf(what, sizeof what, "%zu changes", changes);
	else
		snprintf(what, sizeof what, "%zu bits", bits);
	announce("%s: serial %llu, %s, rate %.3g", e->plan.to, (unsigned long long) m->serial, what, m->rate);
}

/* Exports what is new; what could not be passed on is tried again, and stays new till then. */
static bool
export_news(exporter *e)
{
	list_news  *news = &e->source.news;
	size_t		bits = news->image.news_count;
	size_t		changes = news->changes.news.count;
	uint64_t	epoch = e->folder.manifest.epoch;
	bool		exported;
	bool		well = folder_export(&e->folder, news, &exported);

	if (exported)
	{
		source_forget_news(&e->source);
		tell_source(e);
		say(e, epoch != e->folder.manifest.epoch, bits, changes);
	}
	export_note(&e->health, &e->folder, &e->source, well);
	return well;
}

/* What the server has is in the image.  A connection begins with a read of all, so one that is of use is kept. */
static bool
look(exporter *e)
{
	source	   *s = &e->source;
	bool		begun = e->connection != NULL;

	if (!begun)
		e->connection = server_connect(e->dsn);
	if (e->connection != NULL && (begun || (source_begin(s, e->connection) && resume(e))) && source_look(s, e->connection))
		return true;
	PQfinish(e->connection);
	e->connection = NULL;
	if (!stop_requested())
		export_note(&e->health, &e->folder, s, false);
	return false;
}

/* A look of looks. */
static bool
look_and_export(void *state)
{
	exporter   *e = state;
	bool		well = look(e) && export_news(e);

	/* also what a child makes */
	while (well && !e->plan.follow && e->folder.renewal.child != 0)
		well = export_news(e);
	return well;
}

exit_status
command_export(int argc, char **argv)
{
	command_line line = {"export", help, argc, argv};
	exporter	e;
	look_loop	loop = {look_and_export, NULL, &e, false, 0, 0, 0, false};
	bool		well;

	memset(&e, 0, sizeof e);
	read_plan(&line, &e);
	stop_catch();
	/* before hosts say that the exporter is silent, if that can be */
	server_expect("bloomfilter export", e.plan.heartbeat == 0 ? 60 :
				 fmax(10, 3 * (double) e.plan.heartbeat));
	folder_open(&e.folder, &e.plan);
	snprintf(e.source.known_system, sizeof e.source.known_system, "%s", folder_system(&e.folder));
	if (e.plan.follow)
		messages_have_time();
	srandom((unsigned) getpid());
	loop.follow = e.plan.follow;
	loop.period = e.every;
	well = keep_looking(&loop);
	PQfinish(e.connection);
	source_free(&e.source);
	folder_close(&e.folder);
	if (!e.plan.follow && stop_requested())
		stop_die();
	return well || e.plan.follow ? STATUS_YES : STATUS_TROUBLE;
}
