/*
 * feed_patch.c
 *	  Patches: reading, checking and going through them.
 *
 * Reading and going through are one walk over the sections, which checks all that it
 * meets; the second time nothing is left to be found.
 */
#include "feed_patch.h"

#include <string.h>

#include "bf_bytes.h"
#include "feed_patch_at.h"

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
	for (i = 0; i < PATCH_VARINT_BYTES && w->at < w->end; i++)
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
	return now->levels == was->levels && feed_is_part(&w->part, part, w->count) &&
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
	return s->gap_width <= FEED_MOST_RICE && s->count_width <= FEED_MOST_RICE &&
		s->touched <= s->blocks && (s->touched > 0 || w->kind == FEED_FLIP) && is_of_list(w, s, level - 1);
}

/* The positions of one block, which begins at bit first of the body. */
static bool
walk_block(walk *w, const heading *s, feed_bit_reader *r, uint64_t first, uint64_t count)
{
	uint64_t	bits = (uint64_t) 1 << s->width;
	unsigned	width = feed_rice_width(bits, count + 1);
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
	if (bytes[PATCH_AT_ZERO] != 0 || bytes[PATCH_AT_ZERO + 1] != 0 || patch->from < 1 || patch->to <= patch->from)
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
	if (memcmp(bytes, PATCH_MAGIC, 4) != 0)
		return "magic";
	if (bytes[PATCH_AT_VERSION] != PATCH_VERSION)
		return "version";
	if (bf_load_le64(bytes + PATCH_AT_LENGTH) != length)
		return "length";
	if (bf_load_le64(bytes + PATCH_AT_CHECKSUM) != feed_patch_checksum(bytes, length))
		return "checksum";
	read.kind = bytes[PATCH_AT_KIND];
	read.epoch = bf_load_le64(bytes + PATCH_AT_EPOCH);
	memcpy(read.identity, bytes + PATCH_AT_IDENTITY, FEED_IDENTITY_BYTES);
	read.from = bf_load_le64(bytes + PATCH_AT_FROM);
	read.to = bf_load_le64(bytes + PATCH_AT_TO);
	read.from_sum = bf_load_le64(bytes + PATCH_AT_FROM_SUM);
	read.to_sum = bf_load_le64(bytes + PATCH_AT_TO_SUM);
	read.positions = bf_load_le64(bytes + PATCH_AT_POSITIONS);
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
