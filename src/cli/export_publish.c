/*
 * export_publish.c
 *	  Publishing: what is new as files, and then the manifest that names them.
 *
 * Files are written, then the manifest is replaced; what a kill leaves between the two
 * is named by nobody and goes after a day.
 */
#define _GNU_SOURCE
#include "export_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bf_estimate.h"
#include "bf_limits.h"

/* Manifests' lengths differ by this, as web servers tell them by length and second. */
#define LENGTHS 64

/* Whether the folder still is as this process left it. */
static bool
check_alone(exporter *e)
{
	size_t		length;
	char	   *text = (char *) feed_read(e->folder, MANIFEST, FEED_MANIFEST_BYTES, &length);
	feed_manifest there;
	unsigned	line;
	bool		alone = true;

	if (text == NULL && errno == ENOENT)
		return true;
	if (text == NULL)
	{
		complain("cannot read the manifest of \"%s\": %s", e->plan->to, strerror(errno));
		return false;
	}
	if (feed_manifest_read(text, length, &there, &line) == NULL)
		alone = strcmp(there.exporter, e->exporter) == 0 ||
			(strcmp(there.exporter, e->manifest.exporter) == 0 && there.serial == e->manifest.serial);
	feed_manifest_free(&there);
	free(text);
	if (!alone)
		fail("another exporter writes to \"%s\": this one ends", e->plan->to);
	return true;
}

/* The text with so many dots that its length is not that of manifests shortly before. */
static char *
padded_text(const exporter *e, const feed_manifest *next)
{
	char	   *text = feed_manifest_text(next, 0);
	size_t		length;
	size_t		wanted = (e->manifest_length + 1) % LENGTHS;
	char	   *signed_text = feed_signed(text_of("%s", text), e->plan->keys, e->plan->key_count);

	length = strlen(signed_text);
	free(text);
	free(signed_text);
	text = feed_manifest_text(next, (unsigned) ((wanted + LENGTHS - length % LENGTHS) % LENGTHS));
	return feed_signed(text, e->plan->keys, e->plan->key_count);
}

double
export_rate(const feed_copy *copy)
{
	double		sum = 0;
	uint32_t	i;

	for (i = 0; i < copy->parts; i++)
		sum += bf_estimate_rate(&copy->headers[i]);
	return sum / copy->parts;
}

/* Makes next the manifest that is there; its files are. */
static bool
write_manifest(exporter *e, feed_manifest *next)
{
	char	   *text;
	feed_piece	piece;
	bool		written;

	next->true_at = e->true_at;
	next->poll = e->plan->poll;
	next->spread = e->plan->spread;
	next->expires = e->plan->expires == 0 ? 0 : feed_now() + e->plan->expires * 1000000;
	next->rate = export_rate(&e->copy);
	memcpy(next->exporter, e->exporter, sizeof next->exporter);
	text = padded_text(e, next);
	piece.bytes = text;
	piece.length = strlen(text);
	written = export_fits(piece.length) && check_alone(e) && feed_write(e->folder, MANIFEST, 0644, &piece, 1);
	free(text);
	if (!written)
		return false;
	e->manifest_length = piece.length;
	feed_manifest_free(&e->manifest);
	e->manifest = *next;
	memset(next, 0, sizeof *next);
	e->taken = true;
	e->counts.published = feed_now();
	/* where it could not be passed on, the next look tries again */
	if (!export_run_after(e, MANIFEST))
	{
		e->published = -(double) e->plan->heartbeat;
		return false;
	}
	e->published = monotonic_seconds();
	return true;
}

static feed_manifest
copy_manifest(const feed_manifest *m)
{
	feed_manifest next = *m;

	next.wholes = allocate(NULL, m->parts + 1, sizeof *next.wholes);
	if (m->parts > 0)
		memcpy(next.wholes, m->wholes, m->parts * sizeof *next.wholes);
	next.steps = allocate(NULL, m->step_count + 1, sizeof *next.steps);
	if (m->step_count > 0)
		memcpy(next.steps, m->steps, m->step_count * sizeof *next.steps);
	next.chain = allocate(NULL, m->chain_count + 1, sizeof *next.chain);
	if (m->chain_count > 0)
		memcpy(next.chain, m->chain, m->chain_count * sizeof *next.chain);
	next.inlined = NULL;
	return next;
}

static uint64_t
next_serial(const exporter *e)
{
	uint64_t	now = feed_now();

	if (now < e->list_serial)
		now = e->list_serial;
	return now > e->manifest.serial ? now : e->manifest.serial + 1;
}

export_reason
export_reason_of(const exporter *e, const bf_header *headers, uint32_t parts, export_reason fitting)
{
	if (e->copy.parts == 0)
		return e->manifest.serial == 0 ? WHOLE_FIRST : WHOLE_FOLDER;
	return feed_copy_fits(&e->copy, headers, parts) ? fitting : WHOLE_GEOMETRY;
}

/* step: what was published came as a step, too, unless it would have been too long. */
static void
count_published(exporter *e, bool step)
{
	const feed_manifest *m = &e->manifest;

	if (e->wholes_written)
		e->counts.wholes[e->whole_reason]++;
	if (!step || m->step_count == 0 || m->steps[m->step_count - 1].to != m->content)
		return;
	e->counts.steps++;
	e->counts.bits += e->copy.news_count;
	e->counts.step_bytes += e->step_bytes;
}

bool
export_publish(exporter *e, bool *published)
{
	bool		new_epoch = e->new_epoch || e->manifest.serial == 0;
	bool		news = new_epoch || e->copy.news_count > 0 || e->whole_needed ||
		(e->list_serial != 0 && e->list_serial != e->manifest.content);
	bool		lost = !new_epoch && export_is_lost(e);
	feed_manifest next;
	bool		went_well = true;

	*published = false;
	e->wholes_written = false;
	if (!news && !lost && e->taken && monotonic_seconds() - e->published < (double) e->plan->heartbeat)
	{
		export_sweep(e);
		return true;
	}
	next = copy_manifest(&e->manifest);
	next.serial = next_serial(e);
	/* a list has a serial of its own, and is built at each */
	if (news)
		next.content = e->list_serial != 0 ? e->list_serial : next.serial;
	if (e->list_serial != 0)
		next.built = e->built;
	if (new_epoch)
	{
		next.epoch = next.content;
		if (e->list_serial == 0)
			next.built = next.epoch;
		next.step_count = 0;
		went_well = export_write_wholes(e, &next, e->reason) && export_write_chain(e, &next) && export_write_state(e, next.epoch);
	}
	else if (news)
	{
		went_well = export_write_step(e, &next);
		export_trim_chain(&next);
	}
	if (went_well && lost)
		went_well = export_write_anew(e, &next);
	if (went_well)
	{
		export_touch_unnamed(e, &next);
		went_well = write_manifest(e, &next);
	}
	/* written, though --after may have failed for it */
	if (next.wholes == NULL)
	{
		count_published(e, news && !new_epoch);
		feed_copy_settle(&e->copy);
		e->new_epoch = false;
		e->whole_needed = false;
		e->lost = false;
		*published = news;
	}
	feed_manifest_free(&next);
	export_sweep(e);
	return went_well;
}
