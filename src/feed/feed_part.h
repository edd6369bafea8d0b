/*
 * feed_part.h
 *	  A part of a list: its header and where its blocks lie.
 *
 * Programs that follow lists know of a filter what is here.
 */
#ifndef FEED_PART_H
#define FEED_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_exact.h"

/* Versions of FORMAT.md that are read here, as people see them. */
#define FEED_FORMATS "1, 2"

#define FEED_HEADER_BYTES BF_HEADER_BYTES

/* Header and directory of an exact part: no filter is shorter. */
#define FEED_FRONT_BYTES BF_EXACT_HEADER_BYTES

/*
 * A part's body is what the sum and patches are about: the blocks of a plain part, and of an
 * exact one all of it, as nothing in it ever changes.
 */
typedef struct feed_part
{
	uint8_t		header[FEED_FRONT_BYTES];	/* of a plain part FEED_HEADER_BYTES are used */
	bf_shape	shape;			/* what it says; bits set may be those of now.  No levels: it isn't known yet */
	uint64_t	at;				/* in a file of parts */
	uint64_t	length;			/* of the body */
} feed_part;

static inline bool
feed_is_exact(const feed_part *part)
{
	return part->shape.levels > 1;
}

/* Bytes of header[] that are used; of them in front of the body; and where that begins in a file. */
static inline size_t
feed_front(const feed_part *part)
{
	return feed_is_exact(part) ? FEED_FRONT_BYTES : FEED_HEADER_BYTES;
}

static inline size_t
feed_before(const feed_part *part)
{
	return feed_is_exact(part) ? 0 : FEED_HEADER_BYTES;
}

static inline uint64_t
feed_body_at(const feed_part *part)
{
	return part->at + feed_before(part);
}

/* Where the blocks of a level, from 0 on, begin in the body. */
static inline uint64_t
feed_level_at(const feed_part *part, unsigned level)
{
	return feed_front(part) - feed_before(part) + bf_shape_offset(&part->shape, level);
}

/* Whether it is the part of this number, from 0 on, of a list of so many. */
static inline bool
feed_is_part(const feed_part *part, uint32_t number, uint32_t count)
{
	return part->shape.level[0].part == number && part->shape.level[0].parts == count;
}

/* Whether any of a list's parts is exact: then no bit of it may be set by itself. */
extern bool feed_are_exact(const feed_part *parts, uint32_t count);

/*
 * Reads a header, which tells its filter's length, of bytes of which there are so many.
 * Returns NULL, or why it is not valid.  *part is set only on NULL, with at 0.
 */
extern const char *feed_part_read(const uint8_t *bytes, uint64_t there, feed_part *part);

/*
 * The same for a whole filter of so many bytes: bits set and checksum are compared with
 * the blocks.
 */
extern const char *feed_part_check(const uint8_t *filter, uint64_t length, feed_part *part);

/* Makes bits set and checksum 0, as headers of plain parts in a followed file have them. */
extern void feed_part_strip(feed_part *part);

/* Whether they are as they must be there. */
extern bool feed_part_is_stripped(const feed_part *part);

/* Makes bits set and checksum those of the body, as headers of filters have them. */
extern void feed_part_seal(feed_part *part, const uint8_t *body);

/* Whether the filter of this header, by its checksum, is what lies here. */
extern bool feed_part_is(const feed_part *filter, const feed_part *here, const uint8_t *body);

/* Makes of a part the one with this header, which was read before, in the same place and stripped. */
extern void feed_part_take(feed_part *part, const uint8_t *header);

/*
 * Whether bits alone lead from one to the other: n and p may differ.  In exact parts they may
 * be turned, but never set: a bit of level 2 without its keys in level 3 denies a member.
 */
extern bool feed_part_fits(const feed_part *a, const feed_part *b);

/* What a filter was made for, and what so many set bits say of it now. */
typedef struct feed_figures
{
	uint64_t	n;
	double		p;
	double		keys;
	double		rate;
} feed_figures;

extern void feed_part_figures(const feed_part *part, feed_figures *figures);

/* ------------------------------------------------------------------------
 * The sum of a list's content: doc/FEED.md, section 2
 *
 * It is a sum over pieces, so who changes some of them need not read the others.
 * ------------------------------------------------------------------------ */

#define FEED_PIECE 4096

/*
 * What the fixed part of a part's header adds: all that says where a key's bits are.  The
 * header of an exact part lies in its body, and adds nothing by itself.
 */
extern uint64_t feed_sum_header(uint32_t part, const uint8_t *header);

/*
 * What these bytes of a part's body add to the sum.  They begin with piece number
 * first, and end with a piece or with the part.
 */
extern uint64_t feed_sum(uint32_t part, uint64_t first, const uint8_t *bytes, uint64_t length);

/* The same of the one piece in which this byte of the part's blocks lies. */
extern uint64_t feed_sum_piece(uint32_t part, uint64_t byte, const uint8_t *blocks, uint64_t length);

#endif							/* FEED_PART_H */
