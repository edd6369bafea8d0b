/*
 * image.c
 *	  A list in memory: its parts, their sum, the bits that are new in it, and its changes by day.
 *
 * A piece that is touched leaves the sum at its first new bit, and comes back when the sum
 * is wanted: so a look costs what it changed.
 */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#include "system.h"

static size_t
touched_bytes(const feed_part *part)
{
	return (size_t) (part->length / FEED_PIECE / 8 + 1);
}

void
image_create(list_image *image, const feed_part *parts, uint8_t *const *filters, uint32_t count)
{
	uint32_t	i;

	memset(image, 0, sizeof *image);
	image->count = count;
	image->parts = allocate(NULL, count, sizeof *image->parts);
	image->filters = allocate(NULL, count, sizeof *image->filters);
	image->bodies = allocate(NULL, count, sizeof *image->bodies);
	image->news = zeros(count, sizeof *image->news);
	image->touched = allocate(NULL, count, sizeof *image->touched);
	for (i = 0; i < count; i++)
	{
		image->parts[i] = parts[i];
		feed_part_strip(&image->parts[i]);
		image->parts[i].shape.level[0].bits_set = filters != NULL ? parts[i].shape.level[0].bits_set : 0;
		image->sum += feed_sum_header(parts[i].shape.level[0].part, parts[i].header);
		image->filters[i] = filters != NULL ? filters[i] : zeros(feed_before(&parts[i]) + (size_t) parts[i].length, 1);
		image->bodies[i] = image->filters[i] + feed_before(&parts[i]);
		/* none has come into the sum yet */
		image->touched[i] = allocate(NULL, touched_bytes(&parts[i]), 1);
		memset(image->touched[i], 255, touched_bytes(&parts[i]));
	}
}

const char *
image_read(list_image *image, uint32_t count, filter_getter get, void *state, uint32_t *which)
{
	feed_part  *parts = zeros(count, sizeof *parts);
	uint8_t   **filters = zeros(count, sizeof *filters);
	const char *problem = count > 0 ? NULL : "there is none";
	uint32_t	i;

	*which = 0;
	for (i = 0; i < count && problem == NULL; i++)
	{
		uint64_t	length;

		*which = i;
		problem = get(state, i, &filters[i], &length);
		if (problem == NULL)
			problem = feed_part_check(filters[i], length, &parts[i]);
		if (problem == NULL && !feed_is_part(&parts[i], i, count))
			problem = "another part";
	}
	if (problem == NULL)
		image_create(image, parts, filters, count);
	for (i = 0; i < count && problem != NULL; i++)
		free(filters[i]);
	free(filters);
	free(parts);
	return problem;
}

const uint8_t *
image_filter(list_image *image, uint32_t part, size_t *length)
{
	feed_part	sealed = image->parts[part];

	feed_part_seal(&sealed, image->bodies[part]);
	memcpy(image->filters[part], sealed.header, feed_before(&sealed));
	*length = feed_before(&sealed) + (size_t) sealed.length;
	return image->filters[part];
}

void
image_free(list_image *image)
{
	uint32_t	i;

	for (i = 0; i < image->count; i++)
	{
		free(image->filters[i]);
		free(image->touched[i]);
		free(image->news[i].positions);
	}
	free(image->parts);
	free(image->filters);
	free(image->bodies);
	free(image->news);
	free(image->touched);
	memset(image, 0, sizeof *image);
}

bool
image_fits(const list_image *image, const feed_part *parts, uint32_t count)
{
	uint32_t	i;

	if (image->count != count)
		return false;
	for (i = 0; i < count; i++)
		if (!feed_part_fits(&image->parts[i], &parts[i]))
			return false;
	return true;
}

uint64_t
image_bytes(const list_image *image)
{
	uint64_t	bytes = 0;
	uint32_t	i;

	for (i = 0; i < image->count; i++)
		bytes += feed_before(&image->parts[i]) + image->parts[i].length;
	return bytes;
}

feed_figures
image_figures(const list_image *image)
{
	feed_figures all = {0, 0, 0, 0};
	uint32_t	i;

	for (i = 0; i < image->count; i++)
	{
		feed_figures part;

		feed_part_figures(&image->parts[i], &part);
		all.n += part.n;
		all.p = part.p;
		all.keys += part.keys;
		all.rate += part.rate / image->count;
	}
	return all;
}

/* ------------------------------------------------------------------------
 * Bits
 * ------------------------------------------------------------------------ */

void
image_note(list_image *image, uint32_t part, uint64_t position)
{
	bit_positions *news = &image->news[part];

	if (news->count == news->room)
	{
		news->room = news->room * 2 + 1024;
		news->positions = allocate(news->positions, news->room, sizeof *news->positions);
	}
	news->positions[news->count++] = position;
	image->news_count++;
}

/* Before a byte changes. */
static void
touch(list_image *image, uint32_t part, uint64_t byte)
{
	uint64_t	piece = byte / FEED_PIECE;
	uint8_t    *flags = &image->touched[part][piece / 8];

	if (*flags >> piece % 8 & 1)
		return;
	*flags |= (uint8_t) (1 << piece % 8);
	image->sum -= feed_sum_piece(part, byte, image->bodies[part], image->parts[part].length);
}

static void
set_bits(list_image *image, uint32_t part, uint64_t byte, unsigned fresh, bool note)
{
	unsigned	bit;

	touch(image, part, byte);
	image->bodies[part][byte] |= (uint8_t) fresh;
	for (bit = 0; bit < 8; bit++)
		if (fresh >> bit & 1)
		{
			image->parts[part].shape.level[0].bits_set++;
			if (note)
				image_note(image, part, byte * 8 + bit);
		}
}

void
image_or(list_image *image, uint32_t part, uint64_t at, const uint8_t *bytes, uint64_t length, bool note)
{
	const uint8_t *target = image->bodies[part] + at;
	uint64_t	i;

	if (feed_is_exact(&image->parts[part]))
		fail("bits of an exact list can't be set: a member would be denied");
	/* nearly all pages have nothing new */
	if (memcmp(target, bytes, (size_t) length) == 0)
		return;
	for (i = 0; i < length; i++)
	{
		unsigned	fresh = bytes[i] & ~(unsigned) target[i];

		if (fresh != 0)
			set_bits(image, part, at + i, fresh, note);
	}
}

uint64_t
image_sum(list_image *image)
{
	uint32_t	part;

	for (part = 0; part < image->count; part++)
	{
		uint64_t	length = image->parts[part].length;
		uint64_t	at;

		for (at = 0; at < length; at += FEED_PIECE)
			if (image->touched[part][at / FEED_PIECE / 8] >> at / FEED_PIECE % 8 & 1)
				image->sum += feed_sum_piece(part, at, image->bodies[part], length);
		memset(image->touched[part], 0, touched_bytes(&image->parts[part]));
	}
	return image->sum;
}

/* ------------------------------------------------------------------------
 * What is new
 * ------------------------------------------------------------------------ */

feed_change *
image_changes(list_image *image)
{
	feed_change *changes = zeros(image->count, sizeof *changes);
	uint32_t	i;

	for (i = 0; i < image->count; i++)
	{
		image->news[i].count = feed_patch_sort(image->news[i].positions, image->news[i].count);
		changes[i].positions = image->news[i].positions;
		changes[i].count = image->news[i].count;
	}
	return changes;
}

void
image_forget_news(list_image *image)
{
	uint32_t	i;

	for (i = 0; i < image->count; i++)
	{
		free(image->news[i].positions);
		memset(&image->news[i], 0, sizeof image->news[i]);
	}
	image->news_count = 0;
}

/* ------------------------------------------------------------------------
 * Changes by day
 * ------------------------------------------------------------------------ */

void
entries_add(entry_list *to, const feed_entry *entries, size_t count)
{
	if (count == 0)
		return;
	if (to->count + count > to->room)
	{
		to->room = 2 * (to->count + count);
		to->entries = allocate(to->entries, to->room, sizeof *to->entries);
	}
	memcpy(to->entries + to->count, entries, count * sizeof *entries);
	to->count += count;
}

void
entries_add_file(entry_list *to, const uint8_t *file, uint64_t count)
{
	uint64_t	i;

	for (i = 0; i < count; i++)
	{
		feed_entry	entry = feed_entry_read(file + feed_changes_bytes(i));

		entries_add(to, &entry, 1);
	}
}

void
entries_unite(entry_list *of)
{
	of->count = feed_entries_unite(of->entries, of->count);
}

void
entries_free(entry_list *of)
{
	free(of->entries);
	memset(of, 0, sizeof *of);
}

void
changes_begin(list_changes *changes, uint64_t serial)
{
	if (changes->serial == serial)
		return;
	changes->all.count = 0;
	changes->news.count = 0;
	changes->serial = serial;
	changes->lacking = 0;
}

void
changes_add(list_changes *changes, const entry_list *read, bool all)
{
	const entry_list *had = &changes->all;
	uint64_t	found = 0;
	size_t		i = 0;
	size_t		j;

	for (j = 0; j < read->count; j++)
	{
		const feed_entry *entry = &read->entries[j];

		while (i < had->count && feed_entry_compare(&had->entries[i], entry) < 0)
			i++;
		if (i < had->count && feed_entry_compare(&had->entries[i], entry) == 0)
		{
			found += entry->state >= had->entries[i].state;
			if (entry->state <= had->entries[i].state)
				continue;
		}
		entries_add(&changes->news, entry, 1);
	}
	if (all)
		changes->lacking = had->count - found;
	entries_add(&changes->all, read->entries, read->count);
	entries_unite(&changes->all);
	entries_unite(&changes->news);
}
