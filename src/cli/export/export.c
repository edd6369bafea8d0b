/*
 * export.c
 *	  bloomfilter export: a live index or a list as a folder of files that any web server serves.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
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

	/* How its looks went */
	uint64_t	looked;			/* when one went well and all of it was exported */
	uint64_t	failures;		/* since then */
	uint64_t	failed;			/* when the first of them was */
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
 * What an exporter tells of itself: FOLDER/.status
 *
 * It is no part of what hosts take, and none but its owner may read it.  It isn't synced:
 * what a crash leaves of it is what the next look replaces.
 * ------------------------------------------------------------------------ */

/* By reason. */
static const char *const wholes[WHOLE_REASONS] = {
	[WHOLE_FIRST] = "full_files_first",
	[WHOLE_FOLDER] = "full_files_folder",
	[WHOLE_REBUILD] = "full_files_rebuild",
	[WHOLE_GEOMETRY] = "full_files_geometry",
	[WHOLE_REMOVED] = "full_files_removed",
	[WHOLE_LONG] = "full_files_long",
	[WHOLE_RENEWED] = "full_files_renewed"
};

static void
write_list(FILE *to, const list_folder *f)
{
	const feed_manifest *m = &f->manifest;
	char		identity[FEED_UUID_TEXT_BYTES];

	if (m->serial == 0)
		return;
	feed_uuid_text(identity, m->identity);
	fprintf(to, "list t %s\nidentity t %s\n", m->name, identity);
	/* 0 until it has reached the server */
	if (f->exporter != 0)
		fprintf(to, "exporter t %016" PRIx64 "\n", f->exporter);
	fprintf(to, "serial s %" PRIu64 "\nrebuilt s %" PRIu64 "\n", m->content, m->epoch);
	fprintf(to, "true_at a %" PRIu64 "\npublished a %" PRIu64 "\n", m->true_at, f->counts.exported);
	if (f->plan->heartbeat != 0 && f->counts.exported != 0)
		fprintf(to, "next_heartbeat m %" PRIu64 "\n", f->counts.exported + f->plan->heartbeat * 1000000);
	fprintf(to, "expires m %" PRIu64 "\n", m->expires);
	if (m->tracked)
		fprintf(to, "changes n %" PRIu64 "\n", m->entries);
}

static void
write_counts(FILE *to, const folder_counts *counts, const source_counts *looks)
{
	int			i;

	fprintf(to, "ahead_since m %" PRIu64 "\nlooks n %" PRIu64 "\nfull_reads n %" PRIu64 "\npages n %" PRIu64 "\ndatabase_ms n %.0f\n",
			looks->united, looks->looks, looks->whole_reads, looks->pages, floor(looks->seconds * 1000));
	fprintf(to, "bits n %" PRIu64 "\npatches n %" PRIu64 "\npatch_bytes n %" PRIu64 "\n", counts->bits, counts->patches,
			counts->patch_bytes);
	fprintf(to, "change_entries n %" PRIu64 "\nchange_bytes n %" PRIu64 "\n", counts->changes, counts->change_bytes);
	for (i = 0; i < WHOLE_REASONS; i++)
		fprintf(to, "%s n %" PRIu64 "\n", wholes[i], counts->wholes[i]);
	fprintf(to, "files n %" PRIu64 "\nbytes n %" PRIu64 "\n", counts->files, counts->bytes);
}

/* A folder that is full says so by the manifest's age; nothing more depends on this. */
static void
write_status(exporter *e)
{
	const list_folder *f = &e->folder;
	const source *s = &e->source;
	const feed_figures all = image_figures(&s->news.image);
	static const char unfinished[] = FOLDER_UNFINISHED "status";
	int			fd = openat(f->folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE	   *to = fd < 0 ? NULL : fdopen(fd, "w");
	bool		well;

	if (to == NULL)
		return;
	fprintf(to, EXPORT_STATUS_FIRST_LINE "\n");
	write_list(to, f);
	fprintf(to, "server t %s\nstandby n %d\n", s->address != NULL ? s->address : "", s->standby);
	fprintf(to, "looked a %" PRIu64 "\n", e->looked);
	if (s->news.image.count > 0)
		fprintf(to, "keys n %.0f\nn n %" PRIu64 "\np n %.6g\nrate n %.6g\n", floor(all.keys), all.n, all.p, all.rate);
	write_counts(to, &f->counts, &s->counts);
	fprintf(to, "failures n %" PRIu64 "\nfailed m %" PRIu64 "\n", e->failures, e->failed);
	if (e->failures > 0)
		fprintf(to, "error t %s\n", last_complaint());
	well = ferror(to) == 0;
	if (fclose(to) != 0 || !well || renameat(f->folder, unfinished, f->folder, EXPORT_STATUS) != 0)
		unlinkat(f->folder, unfinished, 0);
}

/* After a look that went well to its end, or anything that failed: then the last complaint says why. */
static void
export_note(exporter *e, bool well)
{
	if (well)
	{
		e->looked = time_now();
		e->failures = 0;
		e->failed = 0;
	}
	else if (e->failures++ == 0)
		e->failed = time_now();
	write_status(e);
}

/* ------------------------------------------------------------------------
 * From the look to the folder
 * ------------------------------------------------------------------------ */

/* A source's. */
static bool
image_has_part(void *state, const feed_part *part)
{
	const list_image *image = state;
	const bf_header *head = &part->shape.level[0];

	return head->parts == image->count && feed_part_is(part, &image->parts[head->part], image->bodies[head->part]);
}

/* What the folder has, which the next look goes on from. */
static void
tell_source(exporter *e)
{
	const feed_manifest *m = &e->folder.manifest;
	source	   *s = &e->source;

	s->known = m->serial != 0;
	memcpy(s->known_identity, m->identity, sizeof s->known_identity);
	s->known_serial = s->plan.list != NULL ? m->content : 0;
	s->known_tracked = m->tracked;
	s->known_true_at = m->true_at;
	s->has_part = s->news.image.count > 0 ? image_has_part : NULL;
	s->state = &s->news.image;
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
	char		what[64];

	if (e->quiet)
		return;
	if (epoch)
		snprintf(what, sizeof what, "full file");
	else if (changes > 0)
		snprintf(what, sizeof what, "%zu changes", changes);
	else
		snprintf(what, sizeof what, "%zu bits", bits);
	announce("%s: serial %llu, %s, rate %.3g", e->plan.to, (unsigned long long) e->folder.manifest.serial, what,
			 image_figures(&e->source.news.image).rate);
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
	export_note(e, well);
	return well;
}

/* What the server has is in the image.  A connection begins with a read of all, so one that is of use is kept. */
static bool
look(exporter *e)
{
	source	   *s = &e->source;
	bool		begun = s->connection != NULL;

	/* silent no longer than until hosts say that the exporter is, if that can be */
	if (!begun)
		s->connection = server_connect(e->dsn, "bloomfilter export", e->plan.heartbeat == 0 ? 60 : fmax(10, 3 * (double) e->plan.heartbeat));
	if (s->connection != NULL && (begun || (source_begin(s) && resume(e))) && source_look(s))
		return true;
	PQfinish(s->connection);
	s->connection = NULL;
	if (!stop_requested())
		export_note(e, false);
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
	exporter	e = {0};
	look_loop	loop = {.look = look_and_export, .state = &e};
	bool		well;

	read_plan(&line, &e);
	stop_catch();
	folder_open(&e.folder, &e.plan);
	if (e.folder.state_known && e.folder.manifest.serial != 0 && !e.plan.new_source)
		snprintf(e.source.known_system, sizeof e.source.known_system, "%s", e.folder.state.system);
	if (e.plan.follow)
		messages_have_time();
	loop.follow = e.plan.follow;
	loop.period = e.every;
	well = keep_looking(&loop);
	source_free(&e.source);
	folder_close(&e.folder);
	if (!e.plan.follow && stop_requested())
		stop_die();
	return well || e.plan.follow ? STATUS_YES : STATUS_TROUBLE;
}
