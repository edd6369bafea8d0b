/*
 * feed_part.h
 *	  A part of a list: its header and where its blocks lie.
 *
 * Programs that follow lists include no header of the core; this is what they know
 * of a filter.
 */
#ifndef FEED_PART_H
#define FEED_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_HEADER_BYTES 64

typedef struct feed_part
{
	uint8_t		header[FEED_HEADER_BYTES];
	uint64_t	at;				/* of the header, in a file of parts; the blocks follow it */
	uint64_t	length;			/* of the blocks */
	uint32_t	blocks;
	unsigned	log2_block_bits;
	uint32_t	part;
	uint32_t	parts;
	uint64_t	bits_set;		/* as the header says */
} feed_part;

/* Where a part's blocks begin in its file. */
static inline uint64_t
feed_blocks_at(const feed_part *part)
{
	return part->at + FEED_HEADER_BYTES;
}

/*
 * Reads a header, which tells its filter's length.  Returns NULL, or why it is not
 * valid.  *part is set only on NULL, with at 0.
 */
extern const char *feed_part_read(const uint8_t *header, feed_part *part);

/*
 * The same for a whole filter of so many bytes: bits set and checksum are compared with
 * the blocks.
 */
extern const char *feed_part_check(const uint8_t *filter, uint64_t length, feed_part *part);

/* Makes bits set and checksum 0, as headers in a followed file have them. */
extern void feed_part_strip(feed_part *part);

/* Makes bits set and checksum those of the blocks, as headers of filters have them. */
extern void feed_part_seal(feed_part *part, const uint8_t *blocks);

/* Whether bits of one may be set in the other: n and p may differ. */
extern bool feed_part_fits(const feed_part *a, const feed_part *b);

/* What a filter was made for, and what so many set bits say of it now. */
typedef struct feed_figures
{
	uint64_t	n;
	double		p;
	double		keys;
	double		rate;
} feed_figures;

extern void feed_part_figures(const feed_part *part, uint64_t bits_set, feed_figures *figures);

/* Bits that are 1. */
extern uint64_t feed_count_bits(const uint8_t *bytes, uint64_t length);

#endif							/* FEED_PART_H */
