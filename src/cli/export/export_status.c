/*
 * export_status.c
 *	  What an exporter tells of itself: FOLDER/.status.
 *
 * It is no part of what hosts take, and none but its owner may read it.  It isn't synced:
 * what a crash leaves of it is what the next look replaces.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>


/* Written at most so often, seconds, while nothing but counts changes. */
#define WRITE_SECONDS 1.0

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
write_manifest(FILE *to, const list_folder *f)
{
	const feed_manifest *m = &f->manifest;
	char		identity[FEED_UUID_TEXT_BYTES];

	if (m->serial == 0)
		return;
	feed_uuid_text(identity, m->identity);
	fprintf(to, "list t %s\nidentity t %s\nexporter t %s\n", m->name, identity, f->exporter);
	fprintf(to, "serial s %" PRIu64 "\nrebuilt s %" PRIu64 "\n", m->content, m->epoch);
	fprintf(to, "true_at a %" PRIu64 "\npublished a %" PRIu64 "\n", m->true_at, f->counts.exported);
	if (f->plan->heartbeat != 0 && f->counts.exported != 0)
		fprintf(to, "next_heartbeat m %" PRIu64 "\n", f->counts.exported + f->plan->heartbeat * 1000000);
	fprintf(to, "expires m %" PRIu64 "\n", m->expires);
	if (m->tracked)
		fprintf(to, "changes n %" PRIu64 "\n", m->entries);
}

static void
write_filter_values(FILE *to, const list_image *image)
{
	feed_figures all = image_figures(image);

	if (image->count > 0)
		fprintf(to, "keys n %.0f\nn n %" PRIu64 "\np n %.6g\nrate n %.6g\n", floor(all.keys), all.n, all.p, all.rate);
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
write_status(export_health *health, const list_folder *f, const source *s)
{
	static const char unfinished[] = FOLDER_UNFINISHED "status";
	int			fd = openat(f->folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE	   *to = fd < 0 ? NULL : fdopen(fd, "w");
	bool		well;

	if (to == NULL)
		return;
	fprintf(to, EXPORT_STATUS_FIRST_LINE "\n");
	write_manifest(to, f);
	fprintf(to, "server t %s\nstandby n %d\n", s->address != NULL ? s->address : "", s->standby);
	fprintf(to, "looked a %" PRIu64 "\n", health->looked);
	write_filter_values(to, &s->news.image);
	write_counts(to, &f->counts, &s->counts);
	fprintf(to, "failures n %" PRIu64 "\nfailed m %" PRIu64 "\n", health->failures, health->failed);
	if (health->failures > 0)
		fprintf(to, "error t %s\n", last_complaint());
	well = ferror(to) == 0;
	if (fclose(to) != 0 || !well || renameat(f->folder, unfinished, f->folder, EXPORT_STATUS) != 0)
		unlinkat(f->folder, unfinished, 0);
	health->written = monotonic_seconds();
	health->serial = f->manifest.serial;
}

void
export_note(export_health *health, const list_folder *f, const source *s, bool well)
{
	bool		news = !well || health->failures > 0 || f->manifest.serial != health->serial;

	if (well)
	{
		health->looked = time_now();
		health->failures = 0;
		health->failed = 0;
	}
	else if (health->failures++ == 0)
		health->failed = time_now();
	if (news || monotonic_seconds() - health->written >= WRITE_SECONDS)
		write_status(health, f, s);
}
