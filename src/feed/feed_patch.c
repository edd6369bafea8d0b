/*
 * feed_patch.c
 *	  Patches: reading, checking, going through them, and writing them.
 *
 * Reading and going through are one walk over the sections, which checks all that it
 * meets; the second time nothing is left to be found.  Behind a section's heading are Rice codes
 * in a stream of bits: v >> b ones, a zero, the b low bits of v.  Bits are packed from the lowest
 * of a byte on.
 */
#include "feed_patch.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_hashlist.h"

#define MAGIC "BLMP"
#define VERSION 1
#define VARINT_BYTES 5

enum
{
	AT_VERSION = 4,
	AT_KIND = 5,
	AT_ZERO = 6,
	AT_EPOCH = 8,
	AT_IDENTITY = 16,
	AT_FROM = 32,
	AT_TO = 40,
	AT_FROM_SUM = 48,
	AT_TO_SUM = 56,
	AT_POSITIONS = 64,
	AT_LENGTH = 72,
	AT_CHECKSUM = 80
};

#define MOST_RICE 31

/* The b for numbers whose mean is total / count: floor(log2(max(1, 709/1024 of it))). */
static unsigned
rice_width(uint64_t total, uint64_t count)
{
	uint64_t	mean = 709 * total / (1024 * count);
	unsigned	width = 0;

	while (mean >> width > 1)
		width++;
	return width;
}

/* Of all bytes but those of the checksum. */
static uint64_t
checksum(const uint8_t *bytes, size_t length)
{
	return bf_checksum(bytes, AT_CHECKSUM, bytes + FEED_PATCH_BYTES, length - FEED_PATCH_BYTES, NULL);
}

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------ */

typedef struct feed_bit_reader
{
	const uint8_t *at;
	const uint8_t *end;
	uint64_t	bits;
	unsigned	held;
} feed_bit_reader;

static void
feed_bits_fill(feed_bit_reader *r)
{
	while (r->held <= 56 && r->at < r->end)
	{
		r->bits |= (uint64_t) *r->at++ << r->held;
		r->held += 8;
	}
}

static void
feed_bits_drop(feed_bit_reader *r, unsigned count)
{
	r->bits = count < 64 ? r->bits >> count : 0;
	r->held -= count;
}

/* Ones up to a zero, which is taken too; false if there are more than most, or no zero. */
static bool
feed_bits_run(feed_bit_reader *r, uint64_t most, uint64_t *run)
{
	for (*run = 0;;)
	{
		unsigned	ones;

		feed_bits_fill(r);
		ones = ~r->bits == 0 ? 64 : (unsigned) __builtin_ctzll(~r->bits);
		if (ones < r->held)
		{
			*run += ones;
			feed_bits_drop(r, ones + 1);
			return *run <= most;
		}
		*run += r->held;
		if (r->held == 0 || *run > most)
			return false;
		feed_bits_drop(r, r->held);
	}
}

/* A number whose run of ones is no longer than most. */
static bool
feed_rice_read(feed_bit_reader *r, unsigned width, uint64_t most, uint64_t *value)
{
	if (!feed_bits_run(r, most, value))
		return false;
	feed_bits_fill(r);
	if (r->held < width)
		return false;
	*value = *value << width | (r->bits & (((uint64_t) 1 << width) - 1));
	feed_bits_drop(r, width);
	return true;
}

/* Where the next byte begins; NULL if a bit that is left over isn't 0. */
static const uint8_t *
feed_bits_end(const feed_bit_reader *r)
{
	unsigned	left = r->held % 8;

	if ((r->bits & (((uint64_t) 1 << left) - 1)) != 0)
		return NULL;
	return r->at - r->held / 8;
}

typedef struct walk
{
	feed_patch_kind kind;
	const uint8_t *at;
	const uint8_t *end;
	const feed_part *parts;		/* NULL: all was checked before */
	uint32_t	count;
	uint64_t	positions;		/* so far */
	uint32_t	next_part;		/* the least that the next section may be about, ... */
	unsigned	next_level;		/* ... and its level, from 0 on */
	feed_part	part;			/* of a flip: as the last header says */
	feed_patch_section section;
	feed_patch_position position;
	void	   *state;
} walk;

/* What a section says before its bits. */
typedef struct heading
{
	uint32_t	part;
	const uint8_t *header;		/* NULL: none */
	uint64_t	first;			/* bit of the body with which the level's blocks begin */
	unsigned	width;			/* log2 of a block's bits */
	uint64_t	blocks;
	uint64_t	touched;
	unsigned	gap_width;
	unsigned	count_width;
} heading;

static bool
read_byte(walk *w, unsigned *byte)
{
	if (w->at == w->end)
		return false;
	*byte = *w->at++;
	return true;
}

static bool
read_varint(walk *w, uint64_t *number)
{
	unsigned	i;

	*number = 0;
	for (i = 0; i < VARINT_BYTES && w->at < w->end; i++)
	{
		uint8_t		byte = *w->at++;

		*number |= (uint64_t) (byte & 127) << (7 * i);
		if (byte < 128)
			return *number <= UINT32_MAX;
	}
	return false;
}

/* A flip's first section of a part has its new header, which says how many levels follow. */
static bool
read_header(walk *w, heading *s)
{
	s->header = NULL;
	if (w->kind == FEED_SET || w->next_level > 0)
		return true;
	if (feed_part_read(w->at, (uint64_t) (w->end - w->at), &w->part) != NULL)
		return false;
	s->header = w->at;
	w->at += feed_front(&w->part);
	return true;
}

/* Whether a flip's header changes nothing of a part's geometry, which is that of all its levels. */
static bool
is_of_part(const walk *w, uint32_t part)
{
	const bf_shape *was = &w->parts[part].shape;
	const bf_shape *now = &w->part.shape;
	unsigned	i;

	for (i = 0; i < was->levels; i++)
		if (now->level[i].blocks != was->level[i].blocks || now->level[i].log2_block_bits != was->level[i].log2_block_bits)
			return false;
	return now->levels == was->levels && now->level[0].part == part && now->level[0].parts == w->count &&
		(was->levels > 1 || now->level[0].bits_set == 0);
}

/* Whether a section is of a level of the list, and where its blocks lie then. */
static bool
is_of_list(walk *w, heading *s, unsigned level)
{
	const feed_part *part = &w->part;

	s->first = 0;
	if (w->kind == FEED_SET && w->parts == NULL)
		return true;
	if (w->parts != NULL && (s->part >= w->count || (s->header != NULL && !is_of_part(w, s->part))))
		return false;
	if (w->kind == FEED_SET)
		part = &w->parts[s->part];
	s->first = feed_level_at(part, level) * 8;
	return s->width == part->shape.level[level].log2_block_bits && s->blocks == part->shape.level[level].blocks;
}

static bool
read_section(walk *w, heading *s)
{
	uint64_t	part;
	unsigned	level;

	if (!read_varint(w, &part) || part < w->next_part || part >= FEED_MOST_PARTS ||
		(w->kind == FEED_FLIP && part != w->next_part) ||
		!read_byte(w, &level) || level != w->next_level + 1 || !read_header(w, s) ||
		!read_byte(w, &s->width) || !read_varint(w, &s->blocks) || !read_varint(w, &s->touched) ||
		!read_byte(w, &s->gap_width) || !read_byte(w, &s->count_width))
		return false;
	s->part = (uint32_t) part;
	w->next_level = w->kind == FEED_FLIP && level < w->part.shape.levels ? level : 0;
	w->next_part = s->part + (w->next_level == 0);
	return s->gap_width <= MOST_RICE && s->count_width <= MOST_RICE &&
		s->touched <= s->blocks && (s->touched > 0 || w->kind == FEED_FLIP) && is_of_list(w, s, level - 1);
}

/* The positions of one block, which begins at bit first of the body. */
static bool
walk_block(walk *w, const heading *s, feed_bit_reader *r, uint64_t first, uint64_t count)
{
	uint64_t	bits = (uint64_t) 1 << s->width;
	unsigned	width = rice_width(bits, count + 1);
	uint64_t	at = 0;
	uint64_t	i;

	for (i = 0; i < count; i++)
	{
		uint64_t	gap;

		if (!feed_rice_read(r, width, bits, &gap) || gap >= bits - at)
			return false;
		at += gap;
		if (w->position != NULL)
			w->position(w->state, s->part, first + at);
		at++;
	}
	w->positions += count;
	return true;
}

static bool
walk_section(walk *w)
{
	feed_bit_reader r;
	heading		s;
	uint64_t	bits;
	uint64_t	block = 0;
	uint64_t	i;

	if (!read_section(w, &s))
		return false;
	if (w->section != NULL && s.header != NULL)
		w->section(w->state, s.part, s.header);
	bits = (uint64_t) 1 << s.width;
	r = (feed_bit_reader) {w->at, w->end, 0, 0};
	for (i = 0; i < s.touched; i++)
	{
		uint64_t	gap;
		uint64_t	count;

		if (!feed_rice_read(&r, s.gap_width, s.blocks, &gap) || gap >= s.blocks - block ||
			!feed_rice_read(&r, s.count_width, bits, &count) || count >= bits)
			return false;
		block += gap;
		if (!walk_block(w, &s, &r, s.first + (block << s.width), count + 1))
			return false;
		block++;
	}
	w->at = feed_bits_end(&r);
	return w->at != NULL;
}

static bool
walk_all(walk *w)
{
	while (w->at < w->end)
		if (!walk_section(w))
			return false;
	return true;
}

/* What of a header can be right or wrong without its sections. */
static bool
is_sound(const uint8_t *bytes, const feed_patch *patch)
{
	if (bytes[AT_ZERO] != 0 || bytes[AT_ZERO + 1] != 0 || patch->from < 1 || patch->to <= patch->from)
		return false;
	if (patch->kind == FEED_SET)
		return patch->epoch >= 1 && patch->from >= patch->epoch && patch->from_sum == 0;
	return patch->kind == FEED_FLIP && patch->epoch == patch->to;
}

const char *
feed_patch_read(const uint8_t *bytes, size_t length, const feed_part *parts, uint32_t count,
				feed_patch *patch)
{
	feed_patch	read;
	walk		w;

	if (length < FEED_PATCH_BYTES)
		return "short";
	if (memcmp(bytes, MAGIC, 4) != 0)
		return "magic";
	if (bytes[AT_VERSION] != VERSION)
		return "version";
	if (bf_load_le64(bytes + AT_LENGTH) != length)
		return "length";
	if (bf_load_le64(bytes + AT_CHECKSUM) != checksum(bytes, length))
		return "checksum";
	read.kind = bytes[AT_KIND];
	read.epoch = bf_load_le64(bytes + AT_EPOCH);
	memcpy(read.identity, bytes + AT_IDENTITY, FEED_IDENTITY_BYTES);
	read.from = bf_load_le64(bytes + AT_FROM);
	read.to = bf_load_le64(bytes + AT_TO);
	read.from_sum = bf_load_le64(bytes + AT_FROM_SUM);
	read.to_sum = bf_load_le64(bytes + AT_TO_SUM);
	read.positions = bf_load_le64(bytes + AT_POSITIONS);
	read.sections = bytes + FEED_PATCH_BYTES;
	read.length = length - FEED_PATCH_BYTES;
	if (!is_sound(bytes, &read))
		return "header";
	w = (walk) {.kind = read.kind, .at = read.sections, .end = bytes + length, .parts = parts, .count = count};
	/* nothing is set in an exact list: nor may a set without sections say that it is of a later serial */
	if ((read.kind == FEED_SET && feed_are_exact(parts, count)) || !walk_all(&w) || w.positions != read.positions ||
		(read.kind == FEED_FLIP && w.next_part != count))
		return "section";
	*patch = read;
	return NULL;
}

void
feed_patch_each(const feed_patch *patch, feed_patch_section section, feed_patch_position position,
				void *state)
{
	walk		w = {.kind = patch->kind, .at = patch->sections, .end = patch->sections + patch->length,
		.section = section, .position = position, .state = state};

	(void) walk_all(&w);
}

/* ------------------------------------------------------------------------
 * Writing, of listed positions or of two states of the blocks
 * ------------------------------------------------------------------------ */

#define MOST_BLOCK_BITS 65536

/* What stands before a section's bits at most. */
#define HEADING_BYTES (3 * VARINT_BYTES + 1 + FEED_FRONT_BYTES + 1 + 2)

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
	unsigned	width = rice_width((uint64_t) 1 << block_width, (uint64_t) t->count + 1);
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
	unsigned	gap_width = all.touched == 0 ? 0 : rice_width(all.gaps, all.touched);
	unsigned	count_width = all.touched == 0 ? 0 : rice_width(all.positions - all.touched, all.touched);
	uint8_t		front[HEADING_BYTES];
	size_t		length;
	uint64_t	next = 0;
	feed_bit_writer w;
	touched		t;

	if (all.touched == 0 && kind == FEED_SET)
		return 0;
	*positions += all.positions;
	length = write_heading(front, kind, part, number, all.touched, gap_width, count_width);
	if (at != NULL)
		memcpy(at, front, length);
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
	memcpy(bytes, MAGIC, 4);
	bytes[AT_VERSION] = VERSION;
	bytes[AT_KIND] = (uint8_t) patch->kind;
	bf_store_le64(bytes + AT_EPOCH, patch->epoch);
	memcpy(bytes + AT_IDENTITY, patch->identity, FEED_IDENTITY_BYTES);
	bf_store_le64(bytes + AT_FROM, patch->from);
	bf_store_le64(bytes + AT_TO, patch->to);
	bf_store_le64(bytes + AT_FROM_SUM, patch->from_sum);
	bf_store_le64(bytes + AT_TO_SUM, patch->to_sum);
	bf_store_le64(bytes + AT_POSITIONS, positions);
	bf_store_le64(bytes + AT_LENGTH, length);
	bf_store_le64(bytes + AT_CHECKSUM, checksum(bytes, length));
	return length;
}
