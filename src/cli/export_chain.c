/*
 * export_chain.c
 *	  What leads hosts from older epochs to the one that begins, so that they need not
 *	  fetch whole files: the steps of the old epoch, and a delta of each part.
 *
 * The delta begins with what the folder's manifest announces, read from the folder: what
 * the copy in memory had beyond that, no host has.  Thus it is also the same after a
 * restart.
 */
#include "export_folder.h"

#include <stdlib.h>
#include <string.h>

#include "feed_delta.h"

/* The longest deltas of an epoch, as a part of the whole files. */
#define LONGEST_SHARE 2

/* How many epochs back hosts may be, and lines of the manifest that this may take. */
#define MOST_EPOCHS 8
#define MOST_LINES 512

/* Whether what leads to the epoch's begin leads on to its content. */
static bool
leads_on(const feed_manifest *m)
{
	return (m->step_count > 0 ? m->steps[0].from : m->content) == m->epoch;
}

static uint64_t
whole_bytes(const feed_manifest *m)
{
	return feed_files_bytes(m->wholes, m->parts);
}

void
export_trim_chain(feed_manifest *next)
{
	uint64_t	bytes = feed_files_bytes(next->chain, next->chain_count) + feed_files_bytes(next->steps, next->step_count);
	size_t		dropped = leads_on(next) ? 0 : next->chain_count;
	size_t		epochs = 0;
	size_t		i;

	for (i = 0; i < next->chain_count; i++)
		epochs += next->chain[i].delta && next->chain[i].part == 0;
	for (; dropped < next->chain_count; dropped++)
	{
		const feed_file *file = &next->chain[dropped];
		bool		begins = !file->delta || file->part == 0;

		if (begins && bytes <= whole_bytes(next) && epochs <= MOST_EPOCHS && next->chain_count - dropped <= MOST_LINES)
			break;
		bytes -= file->length;
		epochs -= file->delta && file->part == 0;
	}
	next->chain_count -= dropped;
	memmove(next->chain, next->chain + dropped, next->chain_count * sizeof *next->chain);
}

/* The deltas of all parts, behind the steps; *paid: they are shorter than whole files by far. */
static bool
write_deltas(exporter *e, feed_copy *old, feed_manifest *next, bool *paid)
{
	uint64_t	left = whole_bytes(next) / LONGEST_SHARE;
	uint32_t	i;

	for (i = 0; i < next->parts; i++)
	{
		feed_file  *file = &next->chain[next->chain_count++];
		feed_piece	piece;
		uint8_t    *bytes = feed_delta_write(old, &e->copy, i, (size_t) left, &piece.length);
		bool		written;

		*paid = bytes != NULL;
		if (!*paid)
			return true;
		left -= piece.length;
		memset(file, 0, sizeof *file);
		file->delta = true;
		file->part = i;
		file->from = e->manifest.content;
		file->to = next->epoch;
		memcpy(file->result, next->wholes[i].digest, FEED_DIGEST_BYTES);
		piece.bytes = bytes;
		written = export_write_content(e, &piece, 1, DELTA_ENDING, file);
		free(bytes);
		if (!written)
			return false;
	}
	return true;
}

bool
export_write_chain(exporter *e, feed_manifest *next)
{
	const feed_manifest *was = &e->manifest;
	feed_copy	old;
	bool		written = true;
	bool		paid = false;

	if (was->serial == 0 || was->content >= next->epoch || next->parts > MOST_LINES || !export_load_published(e, &old))
	{
		next->chain_count = 0;
		return true;
	}
	if (!leads_on(was))
		next->chain_count = 0;
	next->chain = allocate(next->chain, next->chain_count + was->step_count + next->parts, sizeof *next->chain);
	if (was->step_count > 0)
		memcpy(next->chain + next->chain_count, was->steps, was->step_count * sizeof *was->steps);
	next->chain_count += was->step_count;
	if (feed_copy_fits(&old, e->copy.headers, e->copy.parts))
		written = write_deltas(e, &old, next, &paid);
	feed_copy_free(&old);
	if (!paid)
		next->chain_count = 0;
	export_trim_chain(next);
	return written;
}
