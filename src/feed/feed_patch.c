/*
 * feed_patch.c
 *	  Patches: reading, checking, going through and applying them.
 *
 * Reading and going through are one walk over the sections, which checks all that it
 * meets; the second time nothing is left to be found.
 */
#include "feed_patch.h"

#include <string.h>

#include "bf_bytes.h"
#include "feed_patch_at.h"
#include "feed_rice.h"
#include "feed_sum.h"

const char *
feed_patch_word(feed_patch_status status)
{
	static const char *const words[] = {
		"-", "short", "magic", "version", "length", "checksum", "header", "section"
	};

	return words[status];
}

typedef struct walk
{
	feed_patch_kind kind;
	const uint8_t *at;
	const uint8_t *end;
	const feed_part *parts;		/* NULL: all was checked before */
	uint32_t	count;
	uint64_t	positions;		/* so far */
	uint32_t	next_part;		/* the least that the next section may be about */
	feed_patch_section section;
	feed_patch_position position;
	void	   *state;
} walk;

/* What a section says before its bits. */
typedef struct heading
{
	uint32_t	part;
	const uint8_t *header;
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

/* The part's new header, of a flip: of the same geometry as the section says. */
static bool
read_header(walk *w, heading *s)
{
	s->header = NULL;
	if (w->kind == FEED_SET)
		return true;
	if (w->end - w->at < FEED_HEADER_BYTES)
		return false;
	s->header = w->at;
	w->at += FEED_HEADER_BYTES;
	return true;
}

/* Against the list's part: a flip's header changes all but the geometry. */
static bool
is_of_part(const walk *w, const heading *s)
{
	const feed_part *part = &w->parts[s->part];
	feed_part	new;

	if (s->width != part->log2_block_bits || s->blocks != part->blocks)
		return false;
	if (s->header == NULL)
		return true;
	return feed_part_read(s->header, &new) == NULL && new.log2_block_bits == s->width &&
		new.blocks == s->blocks && new.part == s->part && new.parts == w->count && new.bits_set == 0;
}

static bool
read_section(walk *w, heading *s)
{
	uint64_t	part;
	unsigned	level;

	if (!read_varint(w, &part) || part < w->next_part || part >= FEED_MOST_PARTS ||
		(w->kind == FEED_FLIP && part != w->next_part) ||
		!read_byte(w, &level) || level != PATCH_LEVEL || !read_header(w, s) ||
		!read_byte(w, &s->width) || !read_varint(w, &s->blocks) || !read_varint(w, &s->touched) ||
		!read_byte(w, &s->gap_width) || !read_byte(w, &s->count_width))
		return false;
	s->part = (uint32_t) part;
	w->next_part = s->part + 1;
	return s->gap_width <= FEED_MOST_RICE && s->count_width <= FEED_MOST_RICE &&
		s->touched <= s->blocks && (s->touched > 0 || w->kind == FEED_FLIP) &&
		(w->parts == NULL || (s->part < w->count && is_of_part(w, s)));
}

/* The positions of one block, which begins at bit first of the part. */
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
	if (w->section != NULL)
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
		if (!walk_block(w, &s, &r, block << s.width, count + 1))
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

static void
begin_walk(walk *w, const feed_patch *patch)
{
	memset(w, 0, sizeof *w);
	w->kind = patch->kind;
	w->at = patch->sections;
	w->end = patch->sections + patch->length;
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

feed_patch_status
feed_patch_read(const uint8_t *bytes, size_t length, const feed_part *parts, uint32_t count,
				feed_patch *patch)
{
	feed_patch	read;
	walk		w;

	if (length < FEED_PATCH_BYTES)
		return FEED_PATCH_SHORT;
	if (memcmp(bytes, PATCH_MAGIC, 4) != 0)
		return FEED_PATCH_MAGIC;
	if (bytes[PATCH_AT_VERSION] != PATCH_VERSION)
		return FEED_PATCH_VERSION;
	if (bf_load_le64(bytes + PATCH_AT_LENGTH) != length)
		return FEED_PATCH_LENGTH;
	if (bf_load_le64(bytes + PATCH_AT_CHECKSUM) != feed_patch_checksum(bytes, length))
		return FEED_PATCH_CHECKSUM;
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
		return FEED_PATCH_HEADER;
	begin_walk(&w, &read);
	w.parts = parts;
	w.count = count;
	if (!walk_all(&w) || w.positions != read.positions || (read.kind == FEED_FLIP && w.next_part != count))
		return FEED_PATCH_SECTION;
	*patch = read;
	return FEED_PATCH_OK;
}

void
feed_patch_each(const feed_patch *patch, feed_patch_section section, feed_patch_position position,
				void *state)
{
	walk		w;

	begin_walk(&w, patch);
	w.section = section;
	w.position = position;
	w.state = state;
	(void) walk_all(&w);
}

/* ------------------------------------------------------------------------
 * Applying
 * ------------------------------------------------------------------------ */

typedef struct applying
{
	feed_patch_kind kind;
	feed_part  *parts;
	uint8_t    *const *blocks;
	uint64_t   *sum;
	bool		any;			/* a piece is being changed: */
	uint32_t	part;
	uint64_t	byte;
} applying;

/* The sum again has the piece that was being changed. */
static void
leave_piece(applying *a)
{
	if (a->any)
		*a->sum += feed_sum_piece(a->part, a->byte, a->blocks[a->part], a->parts[a->part].length);
	a->any = false;
}

static void
apply_section(void *state, uint32_t part, const uint8_t *header)
{
	applying   *a = state;
	uint64_t	at = a->parts[part].at;

	leave_piece(a);
	if (header != NULL && feed_part_read(header, &a->parts[part]) == NULL)
		a->parts[part].at = at;
}

static void
apply_position(void *state, uint32_t part, uint64_t position)
{
	applying   *a = state;
	uint64_t	byte = position >> 3;
	uint8_t		bit = (uint8_t) (1 << (position & 7));

	if (!a->any || byte / FEED_PIECE != a->byte / FEED_PIECE)
	{
		leave_piece(a);
		a->any = true;
		a->part = part;
		a->byte = byte;
		*a->sum -= feed_sum_piece(part, byte, a->blocks[part], a->parts[part].length);
	}
	if (a->kind == FEED_SET)
		a->blocks[part][byte] |= bit;
	else
		a->blocks[part][byte] ^= bit;
}

void
feed_patch_apply(const feed_patch *patch, feed_part *parts, uint8_t *const *blocks, uint64_t *sum)
{
	applying	a = {patch->kind, parts, blocks, sum, false, 0, 0};

	feed_patch_each(patch, apply_section, apply_position, &a);
	leave_piece(&a);
}
