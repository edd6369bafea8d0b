/*
 * feed_patch_write.c
 *	  Writing patches, of listed positions or of two states of the blocks.
 */
#include "feed_patch.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_hashlist.h"
#include "feed_patch_at.h"

#define MOST_BLOCK_BITS 65536

/* What stands before a section's bits at most. */
#define HEADING_BYTES (3 * PATCH_VARINT_BYTES + 1 + FEED_FRONT_BYTES + 1 + 2)

uint64_t
feed_patch_checksum(const uint8_t *bytes, size_t length)
{
	return bf_checksum(bytes, PATCH_AT_CHECKSUM, bytes + FEED_PATCH_BYTES, length - FEED_PATCH_BYTES, NULL);
}

/* Without bytes to write to it only counts. */
typedef struct feed_bit_writer
{
	uint8_t    *at;				/* or NULL */
	uint64_t	count;			/* bits so far */
	uint64_t	bits;
	unsigned	held;			/* below 8 between calls */
} feed_bit_writer;

/* At most 32 bits. */
static void
feed_bits_write(feed_bit_writer *w, uint64_t bits, unsigned count)
{
	w->count += count;
	if (w->at == NULL)
		return;
	w->bits |= bits << w->held;
	for (w->held += count; w->held >= 8; w->held -= 8, w->bits >>= 8)
		*w->at++ = (uint8_t) w->bits;
}

static void
feed_rice_write(feed_bit_writer *w, unsigned width, uint64_t value)
{
	uint64_t	run;

	for (run = value >> width; run >= 32; run -= 32)
		feed_bits_write(w, UINT32_MAX, 32);
	feed_bits_write(w, ((uint64_t) 1 << run) - 1, (unsigned) run + 1);
	feed_bits_write(w, value & (((uint64_t) 1 << width) - 1), width);
}

/* Bytes of all that was written. */
static size_t
feed_bits_flush(feed_bit_writer *w)
{
	if (w->at != NULL && w->held > 0)
		*w->at++ = (uint8_t) w->bits;
	return (size_t) ((w->count + 7) / 8);
}

/* A touched block. */
typedef struct touched
{
	uint64_t	block;
	uint32_t	count;
	uint16_t	positions[MOST_BLOCK_BITS];
} touched;

/* Where a look through the changes of a part's level is. */
typedef struct cursor
{
	const bf_header *level;
	uint64_t	at;				/* of its blocks, in the bodies */
	const feed_change *change;
	size_t		done;			/* of the positions */
	uint64_t	block;			/* the next one to be looked at */
} cursor;

static bool
next_listed(cursor *c, touched *t)
{
	const feed_change *change = c->change;
	unsigned	width = c->level->log2_block_bits;

	if (c->done == change->count)
		return false;
	t->block = change->positions[c->done] >> width;
	for (t->count = 0; c->done < change->count && change->positions[c->done] >> width == t->block; c->done++)
		t->positions[t->count++] = (uint16_t) (change->positions[c->done] & (((uint64_t) 1 << width) - 1));
	return true;
}

static bool
next_different(cursor *c, touched *t)
{
	size_t		bytes = (size_t) bf_block_bytes(c->level);

	for (; c->block < c->level->blocks; c->block++)
	{
		const uint8_t *before = c->change->before + c->at + c->block * bytes;
		const uint8_t *after = c->change->after + c->at + c->block * bytes;
		uint32_t	at;
		uint64_t	differ;

		if (memcmp(before, after, bytes) == 0)
			continue;
		t->block = c->block++;
		for (t->count = 0, at = 0; at < bytes; at += 8)
			for (differ = bf_load_le64(before + at) ^ bf_load_le64(after + at); differ != 0; differ &= differ - 1)
				t->positions[t->count++] = (uint16_t) (at * 8 + (uint32_t) __builtin_ctzll(differ));
		return true;
	}
	return false;
}

static bool
next_touched(cursor *c, touched *t)
{
	return c->change->before != NULL ? next_different(c, t) : next_listed(c, t);
}

/* What the widths of a section's codes follow from. */
typedef struct totals
{
	uint64_t	touched;
	uint64_t	gaps;			/* blocks between those that are touched */
	uint64_t	positions;
} totals;

static totals
count_touched(cursor c)
{
	totals		all = {0, 0, 0};
	touched		t;

	while (next_touched(&c, &t))
	{
		all.gaps = t.block - all.touched;
		all.touched++;
		all.positions += t.count;
	}
	return all;
}

static uint8_t *
write_varint(uint8_t *at, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		*at++ = (uint8_t) (number | 128);
	*at++ = (uint8_t) number;
	return at;
}

static void
write_block(feed_bit_writer *w, const touched *t, unsigned block_width)
{
	unsigned	width = feed_rice_width((uint64_t) 1 << block_width, (uint64_t) t->count + 1);
	uint32_t	next = 0;
	uint32_t	i;

	for (i = 0; i < t->count; i++)
	{
		feed_rice_write(w, width, t->positions[i] - next);
		next = (uint32_t) t->positions[i] + 1;
	}
}

/* What stands before a section's bits; returns its length. */
static size_t
write_heading(uint8_t *bytes, feed_patch_kind kind, const feed_part *part, unsigned level, uint64_t blocks,
			  unsigned gap_width, unsigned count_width)
{
	uint8_t    *at = bytes;
	feed_part	header = *part;

	at = write_varint(at, part->shape.level[0].part);
	*at++ = (uint8_t) (level + 1);
	if (kind == FEED_FLIP && level == 0)
	{
		feed_part_strip(&header);
		memcpy(at, header.header, feed_front(part));
		at += feed_front(part);
	}
	*at++ = part->shape.level[level].log2_block_bits;
	at = write_varint(at, part->shape.level[level].blocks);
	at = write_varint(at, blocks);
	*at++ = (uint8_t) gap_width;
	*at++ = (uint8_t) count_width;
	return (size_t) (at - bytes);
}

/* Writes a section, unless at is NULL; returns its length.  *positions counts its positions. */
static size_t
write_section(uint8_t *at, feed_patch_kind kind, const feed_part *part, unsigned number,
			  const feed_change *change, uint64_t *positions)
{
	cursor		c = {&part->shape.level[number], feed_level_at(part, number), change, 0, 0};
	totals		all = count_touched(c);
	unsigned	gap_width = all.touched == 0 ? 0 : feed_rice_width(all.gaps, all.touched);
	unsigned	count_width = all.touched == 0 ? 0 : feed_rice_width(all.positions - all.touched, all.touched);
	uint8_t		heading[HEADING_BYTES];
	size_t		length;
	uint64_t	next = 0;
	feed_bit_writer w;
	touched		t;

	if (all.touched == 0 && kind == FEED_SET)
		return 0;
	*positions += all.positions;
	length = write_heading(heading, kind, part, number, all.touched, gap_width, count_width);
	if (at != NULL)
		memcpy(at, heading, length);
	w = (feed_bit_writer) {at != NULL ? at + length : NULL, 0, 0, 0};
	while (next_touched(&c, &t))
	{
		feed_rice_write(&w, gap_width, t.block - next);
		feed_rice_write(&w, count_width, t.count - 1);
		write_block(&w, &t, c.level->log2_block_bits);
		next = t.block + 1;
	}
	return length + feed_bits_flush(&w);
}

size_t
feed_patch_sort(uint64_t *positions, size_t count)
{
	return bf_hashlist_unique(positions, count, NULL);
}

size_t
feed_patch_write(const feed_patch *patch, const feed_part *parts, const feed_change *changes,
				 uint32_t count, uint8_t *bytes)
{
	size_t		length = FEED_PATCH_BYTES;
	uint64_t	positions = 0;
	unsigned	level;
	uint32_t	i;

	for (i = 0; i < count; i++)
		for (level = 0; level < parts[i].shape.levels; level++)
			length += write_section(bytes != NULL ? bytes + length : NULL, patch->kind, &parts[i], level, &changes[i], &positions);
	if (bytes == NULL)
		return length;
	memset(bytes, 0, FEED_PATCH_BYTES);
	memcpy(bytes, PATCH_MAGIC, 4);
	bytes[PATCH_AT_VERSION] = PATCH_VERSION;
	bytes[PATCH_AT_KIND] = (uint8_t) patch->kind;
	bf_store_le64(bytes + PATCH_AT_EPOCH, patch->epoch);
	memcpy(bytes + PATCH_AT_IDENTITY, patch->identity, FEED_IDENTITY_BYTES);
	bf_store_le64(bytes + PATCH_AT_FROM, patch->from);
	bf_store_le64(bytes + PATCH_AT_TO, patch->to);
	bf_store_le64(bytes + PATCH_AT_FROM_SUM, patch->from_sum);
	bf_store_le64(bytes + PATCH_AT_TO_SUM, patch->to_sum);
	bf_store_le64(bytes + PATCH_AT_POSITIONS, positions);
	bf_store_le64(bytes + PATCH_AT_LENGTH, length);
	bf_store_le64(bytes + PATCH_AT_CHECKSUM, feed_patch_checksum(bytes, length));
	return length;
}
