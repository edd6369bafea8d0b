/*
 * feed_copy.c
 *	  The parts of a list in memory, the bits that are new in them, and steps.
 */
#include "feed_copy.h"

#include <stdlib.h>
#include <string.h>

#include "bf_bits.h"
#include "bf_hashlist.h"
#include "bf_limits.h"
#include "bf_working.h"
#include "messages.h"

void
feed_copy_create(feed_copy *copy, const bf_header *headers, uint32_t parts)
{
	uint32_t	i;

	memset(copy, 0, sizeof *copy);
	copy->parts = parts;
	copy->headers = allocate(NULL, parts, sizeof *copy->headers);
	copy->blocks = allocate(NULL, parts, sizeof *copy->blocks);
	copy->news = allocate(NULL, parts, sizeof *copy->news);
	memset(copy->news, 0, parts * sizeof *copy->news);
	for (i = 0; i < parts; i++)
	{
		copy->headers[i] = headers[i];
		copy->headers[i].bits_set = 0;
		copy->headers[i].checksum = 0;
		copy->blocks[i] = allocate(NULL, (size_t) bf_blocks_bytes(&headers[i]), 1);
		memset(copy->blocks[i], 0, (size_t) bf_blocks_bytes(&headers[i]));
	}
}

void
feed_copy_free(feed_copy *copy)
{
	uint32_t	i;

	for (i = 0; i < copy->parts; i++)
	{
		if (!copy->mapped)
			free(copy->blocks[i]);
		free(copy->news[i].positions);
	}
	free(copy->headers);
	free(copy->blocks);
	free(copy->news);
	memset(copy, 0, sizeof *copy);
}

void
feed_copy_clone(feed_copy *copy, const feed_copy *of)
{
	uint32_t	i;

	feed_copy_create(copy, of->headers, of->parts);
	for (i = 0; i < of->parts; i++)
	{
		memcpy(copy->blocks[i], of->blocks[i], (size_t) bf_blocks_bytes(&of->headers[i]));
		copy->headers[i].bits_set = of->headers[i].bits_set;
	}
}

bool
feed_copy_fits(const feed_copy *copy, const bf_header *headers, uint32_t parts)
{
	uint32_t	i;

	if (copy->parts != parts)
		return false;
	for (i = 0; i < parts; i++)
		if (copy->headers[i].probes != headers[i].probes ||
			copy->headers[i].log2_block_bits != headers[i].log2_block_bits ||
			copy->headers[i].blocks != headers[i].blocks ||
			copy->headers[i].seed != headers[i].seed ||
			copy->headers[i].part != headers[i].part ||
			copy->headers[i].parts != headers[i].parts ||
			copy->headers[i].key_type != headers[i].key_type)
			return false;
	return true;
}

uint64_t
feed_copy_bytes(const feed_copy *copy)
{
	uint64_t	bytes = 0;
	uint32_t	i;

	for (i = 0; i < copy->parts; i++)
		bytes += bf_total_bytes(&copy->headers[i]);
	return bytes;
}

static void
note_bit(feed_copy *copy, uint32_t part, uint64_t position)
{
	feed_bits  *bits = &copy->news[part];

	if (bits->count == bits->room)
	{
		bits->room = bits->room * 2 + 1024;
		bits->positions = allocate(bits->positions, bits->room, sizeof *bits->positions);
	}
	bits->positions[bits->count++] = position;
	copy->news_count++;
}

void
feed_copy_or(feed_copy *copy, uint32_t part, uint64_t at, const uint8_t *bytes, uint64_t length,
			 bool note)
{
	uint8_t    *target = copy->blocks[part] + at;
	uint64_t	i;

	for (i = 0; i < length; i++)
	{
		unsigned	fresh;
		unsigned	bit;
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
		if (fresh == 0)
			continue;
		if (copy->mapped)
			__atomic_fetch_or(&target[i], (uint8_t) fresh, __ATOMIC_RELAXED);
		else
			target[i] |= (uint8_t) fresh;
		for (bit = 0; bit < 8; bit++)
			if (fresh >> bit & 1)
			{
				copy->headers[part].bits_set++;
				if (note)
					note_bit(copy, part, (at + i) * 8 + bit);
			}
	}
}

void
feed_copy_settle(feed_copy *copy)
{
	uint32_t	i;

	for (i = 0; i < copy->parts; i++)
	{
		free(copy->news[i].positions);
		memset(&copy->news[i], 0, sizeof copy->news[i]);
	}
	copy->news_count = 0;
}

/* A step of each part's bits, which are sorted, and of which each is there once. */
static uint8_t *
write_step(const bf_step *step, const feed_copy *copy, feed_bits *bits, const uint64_t *bits_set,
		   size_t *length)
{
	bf_step_part *parts = allocate(NULL, copy->parts, sizeof *parts);
	uint8_t    *bytes;
	size_t		all = 0;
	uint32_t	i;

	for (i = 0; i < copy->parts; i++)
	{
		bits[i].count = bf_hashlist_unique(bits[i].positions, bits[i].count, NULL);
		parts[i].part = i;
		parts[i].bits_set = bits_set[i];
		parts[i].positions = bits[i].positions;
		parts[i].count = bits[i].count;
		all += bits[i].count;
	}
	bytes = allocate(NULL, bf_step_room(copy->parts, all), 1);
	*length = bf_step_write(step, copy->headers, parts, copy->parts, bytes);
	free(parts);
	return bytes;
}

uint8_t *
feed_copy_step(feed_copy *copy, const bf_step *step, size_t *length)
{
	uint64_t   *bits_set = allocate(NULL, copy->parts, sizeof *bits_set);
	uint8_t    *bytes;
	uint32_t	i;

	for (i = 0; i < copy->parts; i++)
		bits_set[i] = copy->headers[i].bits_set;
	bytes = write_step(step, copy, copy->news, bits_set, length);
	free(bits_set);
	return bytes;
}

/* ------------------------------------------------------------------------
 * Steps that exist
 * ------------------------------------------------------------------------ */

typedef struct merging
{
	feed_copy	sum;			/* its news are what is merged */
	uint64_t   *bits_set;
} merging;

static void
merge_section(void *state, uint32_t part, uint64_t bits_set)
{
	merging    *merge = state;

	if (bits_set > merge->bits_set[part])
		merge->bits_set[part] = bits_set;
}

static void
merge_position(void *state, uint32_t part, uint64_t position)
{
	merging    *merge = state;

	note_bit(&merge->sum, part, position);
}

uint8_t *
feed_merge(const feed_copy *copy, const bf_step *steps, size_t count, size_t *length)
{
	merging		merge;
	bf_step		all = steps[0];
	uint8_t    *bytes;
	size_t		i;

	memset(&merge, 0, sizeof merge);
	merge.sum.parts = copy->parts;
	merge.sum.headers = copy->headers;
	merge.sum.news = allocate(NULL, copy->parts, sizeof *merge.sum.news);
	memset(merge.sum.news, 0, copy->parts * sizeof *merge.sum.news);
	merge.bits_set = allocate(NULL, copy->parts, sizeof *merge.bits_set);
	memset(merge.bits_set, 0, copy->parts * sizeof *merge.bits_set);
	for (i = 0; i < count; i++)
		bf_step_each(&steps[i], merge_section, merge_position, &merge);
	all.to = steps[count - 1].to;
	bytes = write_step(&all, &merge.sum, merge.sum.news, merge.bits_set, length);
	feed_copy_settle(&merge.sum);
	free(merge.sum.news);
	free(merge.bits_set);
	return bytes;
}

typedef struct applying
{
	feed_copy  *copy;
	uint64_t   *bits_set;
} applying;

static void
apply_section(void *state, uint32_t part, uint64_t bits_set)
{
	applying   *apply = state;

	apply->bits_set[part] = bits_set;
}

static void
apply_position(void *state, uint32_t part, uint64_t position)
{
	applying   *apply = state;
	uint8_t    *blocks = apply->copy->blocks[part];

	if (blocks[position >> 3] >> (position & 7) & 1)
		return;
	bf_working_set_bit(blocks, position);
	apply->copy->headers[part].bits_set++;
}

bool
feed_copy_apply(feed_copy *copy, const bf_step *step, bool exact)
{
	applying	apply = {copy, allocate(NULL, copy->parts, sizeof(uint64_t))};
	bool		right = true;
	uint32_t	i;

	memset(apply.bits_set, 0, copy->parts * sizeof *apply.bits_set);
	bf_step_each(step, apply_section, apply_position, &apply);
	for (i = 0; i < copy->parts; i++)
		if (apply.bits_set[i] != 0 &&
			(exact ? copy->headers[i].bits_set != apply.bits_set[i] :
			 copy->headers[i].bits_set < apply.bits_set[i]))
			right = false;
	free(apply.bits_set);
	return right;
}

void
feed_copy_seal(feed_copy *copy, uint32_t part, uint8_t header[64])
{
	bf_header_write(&copy->headers[part], copy->blocks[part], NULL, header);
}
