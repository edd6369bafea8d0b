/*
 * export_status.c
 *	  What an exporter tells of itself: FOLDER/.status.
 *
 * It is no part of what hosts take, and none but its owner may read it.  It isn't synced:
 * what a crash leaves of it is what the next look replaces.
 */
#define _GNU_SOURCE
#include "export_status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed_values.h"
#include "messages.h"
#include "system.h"

/* Written at most so often, seconds, while nothing but counts changes. */
#define WRITE_SECONDS 1.0

const export_value_kind export_value_kinds[EXPORT_VALUES] = {
	[VALUE_LIST] = {"list", KIND_TEXT, NULL},
	[VALUE_IDENTITY] = {"identity", KIND_TEXT, NULL},
	[VALUE_EXPORTER] = {"exporter", KIND_TEXT, NULL},
	[VALUE_SERVER] = {"server", KIND_TEXT, NULL},
	[VALUE_STANDBY] = {"standby", KIND_NUMBER, "1 if the server is a standby."},
	[VALUE_LAG] = {"lag", KIND_NUMBER, "Seconds by which the standby was behind."},
	[VALUE_SERIAL] = {"serial", KIND_NUMBER, "The serial of the manifest."},
	[VALUE_CONTENT] = {"content", KIND_NUMBER, "The serial of the content."},
	[VALUE_EPOCH] = {"epoch", KIND_NUMBER, "The serial that the epoch began with; another one is a whole file for each host."},
	[VALUE_TRUE_AT] = {"true_at", KIND_TIME, "All keys that were committed before are exported."},
	[VALUE_LOOKED] = {"looked", KIND_TIME, "When the server was last looked at, and all of it published."},
	[VALUE_PUBLISHED] = {"published", KIND_TIME, "When the manifest was last replaced."},
	[VALUE_NEXT_HEARTBEAT] = {"next_heartbeat", KIND_TIME, "When the manifest is replaced at the latest."},
	[VALUE_EXPIRES] = {"expires", KIND_TIME, "When hosts take the manifest for dead."},
	[VALUE_KEYS] = {"keys", KIND_NUMBER, "Keys in the filter, estimated."},
	[VALUE_N] = {"n", KIND_NUMBER, "Keys that it was sized for."},
	[VALUE_P] = {"p", KIND_REAL, "The false-positive rate that it was sized for."},
	[VALUE_RATE] = {"rate", KIND_REAL, "The false-positive rate now."},
	[VALUE_UNITED] = {"united", KIND_TIME, "Since when there are bits that the server has not."},
	[VALUE_LOOKS] = {"looks", KIND_NUMBER, "Looks at the server since the start."},
	[VALUE_WHOLE_READS] = {"whole_reads", KIND_NUMBER, "Looks that read all of the index or the list."},
	[VALUE_PAGES] = {"pages", KIND_NUMBER, "Changed pages of an index that came."},
	[VALUE_DATABASE_MS] = {"database_ms", KIND_NUMBER, "Milliseconds that looks took."},
	[VALUE_BITS] = {"bits", KIND_NUMBER, "Bits that were new, and published as patches."},
	[VALUE_PATCHES] = {"patches", KIND_NUMBER, "Patches that were published."},
	[VALUE_PATCH_BYTES] = {"patch_bytes", KIND_NUMBER, "Bytes of these patches."},
	[VALUE_WHOLES + WHOLE_FIRST] = {"wholes_first", KIND_NUMBER, "Times that whole files were written, and why."},
	[VALUE_WHOLES + WHOLE_FOLDER] = {"wholes_folder", KIND_NUMBER, NULL},
	[VALUE_WHOLES + WHOLE_REBUILD] = {"wholes_rebuild", KIND_NUMBER, NULL},
	[VALUE_WHOLES + WHOLE_GEOMETRY] = {"wholes_geometry", KIND_NUMBER, NULL},
	[VALUE_WHOLES + WHOLE_REMOVED] = {"wholes_removed", KIND_NUMBER, NULL},
	[VALUE_WHOLES + WHOLE_LONG] = {"wholes_long", KIND_NUMBER, NULL},
	[VALUE_WHOLES + WHOLE_RENEWED] = {"wholes_renewed", KIND_NUMBER, NULL},
	[VALUE_FILES] = {"files", KIND_NUMBER, "Patches and whole files in the folder."},
	[VALUE_BYTES] = {"bytes", KIND_NUMBER, "Bytes of these files."},
	[VALUE_FAILURES] = {"failures", KIND_NUMBER, "Looks that failed since the last one that went well."},
	[VALUE_FAILED] = {"failed", KIND_TIME, "When the first of them failed."},
	[VALUE_ERROR] = {"error", KIND_TEXT, NULL},
};

typedef struct status_text
{
	char		text[EXPORT_STATUS_BYTES];
	size_t		length;
} status_text;

/* Lines that don't fit are left out, the error's end first: it comes last.  So are those not known yet. */
static void
add_line(status_text *status, const char *name, const char *value)
{
	size_t		room = sizeof status->text - status->length;
	int			length = value == NULL || value[0] == '\0' ? 0 : snprintf(status->text + status->length, room, "%s %s\n", name, value);

	if (length > 0 && (size_t) length < room)
		status->length += (size_t) length;
	status->text[status->length] = '\0';
}

static void
add_text(status_text *status, export_value value, const char *text)
{
	add_line(status, export_value_kinds[value].name, text);
}

static void
add_number(status_text *status, export_value value, uint64_t number)
{
	char		text[32];

	snprintf(text, sizeof text, "%" PRIu64, number);
	add_text(status, value, text);
}

static void
add_real(status_text *status, export_value value, double number)
{
	char		text[32];

	snprintf(text, sizeof text, "%.6g", number);
	add_text(status, value, text);
}

/* 0: it was never */
static void
add_time(status_text *status, export_value value, uint64_t time)
{
	if (time != 0)
		add_number(status, value, time);
}

static void
add_filter(status_text *status, const list_copy *copy)
{
	feed_figures figures;
	double		keys = 0;
	uint64_t	n = 0;
	uint32_t	i;

	if (copy->count == 0)
		return;
	for (i = 0; i < copy->count; i++)
	{
		feed_part_figures(&copy->parts[i], copy->bits_set[i], &figures);
		keys += figures.keys;
		n += figures.n;
	}
	add_number(status, VALUE_KEYS, (uint64_t) keys);
	add_number(status, VALUE_N, n);
	add_real(status, VALUE_P, figures.p);
	add_real(status, VALUE_RATE, folder_rate(copy));
}

static void
add_counts(status_text *status, const folder_counts *counts, const source_counts *looks)
{
	int			i;

	add_time(status, VALUE_UNITED, looks->united);
	add_number(status, VALUE_LOOKS, looks->looks);
	add_number(status, VALUE_WHOLE_READS, looks->whole_reads);
	add_number(status, VALUE_PAGES, looks->pages);
	add_number(status, VALUE_DATABASE_MS, (uint64_t) (looks->seconds * 1000));
	add_number(status, VALUE_BITS, counts->bits);
	add_number(status, VALUE_PATCHES, counts->patches);
	add_number(status, VALUE_PATCH_BYTES, counts->patch_bytes);
	for (i = 0; i < WHOLE_REASONS; i++)
		add_number(status, VALUE_WHOLES + i, counts->wholes[i]);
	add_number(status, VALUE_FILES, counts->files);
	add_number(status, VALUE_BYTES, counts->bytes);
}

static void
add_manifest(status_text *status, const list_folder *f)
{
	const feed_manifest *m = &f->manifest;
	char		identity[FEED_UUID_TEXT_BYTES];

	if (m->serial == 0)
		return;
	feed_uuid_text(identity, m->identity);
	add_text(status, VALUE_LIST, m->name);
	add_text(status, VALUE_IDENTITY, identity);
	add_text(status, VALUE_EXPORTER, f->exporter);
	add_number(status, VALUE_SERIAL, m->serial);
	add_number(status, VALUE_CONTENT, m->content);
	add_number(status, VALUE_EPOCH, m->epoch);
	add_time(status, VALUE_TRUE_AT, m->true_at);
	add_time(status, VALUE_PUBLISHED, f->counts.published);
	if (f->plan->heartbeat != 0 && f->counts.published != 0)
		add_time(status, VALUE_NEXT_HEARTBEAT, f->counts.published + f->plan->heartbeat * 1000000);
	add_time(status, VALUE_EXPIRES, m->expires);
}

/* A folder that is full says so by the manifest's age; nothing more depends on this. */
static void
replace_status(const list_folder *f, const status_text *status)
{
	static const char unfinished[] = FOLDER_UNFINISHED "status";
	int			fd = openat(f->folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool		written = fd >= 0 && write(fd, status->text, status->length) == (ssize_t) status->length;

	if (fd < 0)
		return;
	if (close(fd) != 0 || !written || renameat(f->folder, unfinished, f->folder, EXPORT_STATUS) != 0)
		unlinkat(f->folder, unfinished, 0);
}

static void
write_status(export_health *health, const list_folder *f, const source *s)
{
	status_text status = {EXPORT_STATUS_FIRST_LINE "\n", sizeof EXPORT_STATUS_FIRST_LINE};

	add_manifest(&status, f);
	add_text(&status, VALUE_SERVER, s->place);
	add_number(&status, VALUE_STANDBY, s->standby);
	if (s->standby)
		add_number(&status, VALUE_LAG, s->counts.lag);
	add_time(&status, VALUE_LOOKED, health->looked);
	add_filter(&status, &s->copy);
	add_counts(&status, &f->counts, &s->counts);
	add_number(&status, VALUE_FAILURES, health->failures);
	add_time(&status, VALUE_FAILED, health->failed);
	if (health->failures > 0)
		add_text(&status, VALUE_ERROR, last_complaint());
	replace_status(f, &status);
	health->written = monotonic_seconds();
}

void
export_note_success(export_health *health, const list_folder *f, const source *s, bool published)
{
	bool		ended = health->failures > 0;

	health->failures = 0;
	health->failed = 0;
	health->looked = time_now();
	if (published || ended || monotonic_seconds() - health->written >= WRITE_SECONDS)
		write_status(health, f, s);
}

void
export_note_failure(export_health *health, const list_folder *f, const source *s)
{
	if (health->failures++ == 0)
		health->failed = time_now();
	write_status(health, f, s);
}
