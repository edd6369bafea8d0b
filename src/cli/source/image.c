/*
 * image.c
 *	  The parts of a list in memory, its sum, and the bits that are new in it.
 *
 * A piece that is touched leaves the sum at its first new bit, and comes back when the sum
 * is wanted: so a look costs what it changed.
 */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#include "feed_sum.h"
#include "messages.h"

static size_t
touched_bytes(const feed_part *part)
{
	return (size_t) (part->length / FEED_PIECE / 8 + 1);
}

void
copy_create(list_copy *copy, const feed_part *parts, uint32_t count)
{
	uint32_t	i;

	memset(copy, 0, sizeof *copy);
	copy->count = count;
	copy->parts = allocate(NULL, count, sizeof *copy->parts);
	copy->bodies = allocate(NULL, count, sizeof *copy->bodies);
	copy->bits_set = zeros(count, sizeof *copy->bits_set);
	copy->news = zeros(count, sizeof *copy->news);
	copy->touched = allocate(NULL, count, sizeof *copy->touched);
	for (i = 0; i < count; i++)
	{
		copy->parts[i] = parts[i];
		feed_part_strip(&copy->parts[i]);
		copy->sum += feed_sum_header(parts[i].part, parts[i].header);
		copy->bodies[i] = zeros((size_t) parts[i].length, 1);
		/* none has come into the sum yet */
		copy->touched[i] = allocate(NULL, touched_bytes(&parts[i]), 1);
		memset(copy->touched[i], 255, touched_bytes(&parts[i]));
	}
}

void
copy_free(list_copy *copy)
{
	uint32_t	i;

	for (i = 0; i < copy->count; i++)
	{
		free(copy->bodies[i]);
		free(copy->touched[i]);
		free(copy->news[i].positions);
	}
	free(copy->parts);
	free(copy->bodies);
	free(copy->bits_set);
	free(copy->news);
	free(copy->touched);
	memset(copy, 0, sizeof *copy);
}

bool
copy_fits(const list_copy *copy, const feed_part *parts, uint32_t count)
{
	uint32_t	i;

	if (copy->count != count)
		return false;
	for (i = 0; i < count; i++)
		if (!feed_part_fits(&copy->parts[i], &parts[i]))
			return false;
	return true;
}

uint64_t
copy_bytes(const list_copy *copy)
{
	uint64_t	bytes = 0;
	uint32_t	i;

	for (i = 0; i < copy->count; i++)
		bytes += feed_before(&copy->parts[i]) + copy->parts[i].length;
	return bytes;
}

/* ------------------------------------------------------------------------
 * Bits
 * ------------------------------------------------------------------------ */

void
copy_fill(list_copy *copy, const feed_part *part, const uint8_t *filter)
{
	memcpy(copy->bodies[part->part], filter + feed_before(part), (size_t) part->length);
	copy->bits_set[part->part] = part->bits_set;
}

void
copy_bits_add(copy_bits *bits, uint64_t position)
{
	if (bits->count == bits->room)
	{
		bits->room = bits->room * 2 + 1024;
		bits->positions = allocate(bits->positions, bits->room, sizeof *bits->positions);
	}
	bits->positions[bits->count++] = position;
}

/* Before a byte changes. */
static void
touch(list_copy *copy, uint32_t part, uint64_t byte)
{
	uint64_t	piece = byte / FEED_PIECE;
	uint8_t    *flags = &copy->touched[part][piece / 8];

	if (*flags >> piece % 8 & 1)
		return;
	*flags |= (uint8_t) (1 << piece % 8);
	copy->sum -= feed_sum_piece(part, byte, copy->bodies[part], copy->parts[part].length);
}

static void
set_bits(list_copy *copy, uint32_t part, uint64_t byte, unsigned fresh, bool note)
{
	unsigned	bit;

	touch(copy, part, byte);
	copy->bodies[part][byte] |= (uint8_t) fresh;
	for (bit = 0; bit < 8; bit++)
		if (fresh >> bit & 1)
		{
			copy->bits_set[part]++;
			copy->news_count += note;
			if (note)
				copy_bits_add(&copy->news[part], byte * 8 + bit);
		}
}

void
copy_or(list_copy *copy, uint32_t part, uint64_t at, const uint8_t *bytes, uint64_t length, bool note)
{
	const uint8_t *target = copy->bodies[part] + at;
	uint64_t	i;

	if (feed_is_exact(&copy->parts[part]))
		fail("bits of an exact list can't be set: a member would be denied");
	for (i = 0; i < length; i++)
	{
		unsigned	fresh;
		uint64_t	here;
		uint64_t	there;

		/* nearly all words have nothing new */
		if (i + sizeof here <= length)
		{
			memcpy(&here, target + i, sizeof here);
			memcpy(&there, bytes + i, sizeof there);
			if ((there & ~here) == 0)
			{
				i += sizeof here - 1;
				continue;
			}
		}
		fresh = bytes[i] & ~(unsigned) target[i] & 255u;
		if (fresh != 0)
			set_bits(copy, part, at + i, fresh, note);
	}
}

uint64_t
copy_sum(list_copy *copy)
{
	uint32_t	part;

	for (part = 0; part < copy->count; part++)
	{
		uint64_t	length = copy->parts[part].length;
		uint64_t	at;

		for (at = 0; at < length; at += FEED_PIECE)
			if (copy->touched[part][at / FEED_PIECE / 8] >> at / FEED_PIECE % 8 & 1)
				copy->sum += feed_sum_piece(part, at, copy->bodies[part], length);
		memset(copy->touched[part], 0, touched_bytes(&copy->parts[part]));
	}
	return copy->sum;
}

/* ------------------------------------------------------------------------
 * What is new
 * ------------------------------------------------------------------------ */

feed_change *
copy_changes(list_copy *copy)
{
	feed_change *changes = zeros(copy->count, sizeof *changes);
	uint32_t	i;

	for (i = 0; i < copy->count; i++)
	{
		copy->news[i].count = feed_patch_sort(copy->news[i].positions, copy->news[i].count);
		changes[i].positions = copy->news[i].positions;
		changes[i].count = copy->news[i].count;
	}
	return changes;
}

void
copy_settle(list_copy *copy)
{
	uint32_t	i;

	for (i = 0; i < copy->count; i++)
	{
		free(copy->news[i].positions);
		memset(&copy->news[i], 0, sizeof copy->news[i]);
	}
	copy->news_count = 0;
}

/* A feed_patch_position. */
static void
set_position(void *state, uint32_t part, uint64_t position)
{
	uint8_t		byte = (uint8_t) (1u << position % 8);

	copy_or(state, part, position / 8, &byte, 1, false);
}

void
copy_apply(list_copy *copy, const feed_patch *set)
{
	feed_patch_each(set, NULL, set_position, copy);
}
