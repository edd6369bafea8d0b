/*
 * feed_patch.h
 *	  Patches: what changed in a list from one serial to another: doc/FEED.md, section 3.
 *
 * A set has positions of bits to set: it is good for any state from `from` on, and may
 * be repeated.  A flip has positions of bits to turn: it is good for `from` alone.  Of
 * exact parts there are flips only.  No memory is taken, nothing is read or written but the caller's bytes.
 */
#ifndef FEED_PATCH_H
#define FEED_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_page.h"
#include "feed_part.h"

#define FEED_PATCH_BYTES 88		/* the header; no patch is shorter */

typedef enum feed_patch_kind
{
	FEED_SET = 1,
	FEED_FLIP = 2
} feed_patch_kind;

typedef struct feed_patch
{
	feed_patch_kind kind;
	uint64_t	epoch;			/* that it leads to */
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	from;
	uint64_t	to;
	uint64_t	from_sum;		/* of a flip */
	uint64_t	to_sum;			/* of what it makes of exactly `from` */
	uint64_t	positions;		/* in all sections */
	const uint8_t *sections;	/* inside the bytes that were read */
	size_t		length;			/* of the sections */
} feed_patch;

/*
 * Reads and checks a whole patch for a list of these parts; only their levels' numbers of
 * blocks and the blocks' sizes are looked at.  Returns NULL, or FEED.md's word for what is
 * wrong.  *patch points into bytes, and is set only on NULL.
 */
extern const char *feed_patch_read(const uint8_t *bytes, size_t length, const feed_part *parts,
								   uint32_t count, feed_patch *patch);

/* Called for each part of a flip before its positions: header is its new one. */
typedef void (*feed_patch_section) (void *state, uint32_t part, const uint8_t *header);

/* Called for each position, which rise: it counts from the first bit of the part's body on. */
typedef void (*feed_patch_position) (void *state, uint32_t part, uint64_t position);

/* Goes through a patch that feed_patch_read has taken.  section may be NULL. */
extern void feed_patch_each(const feed_patch *patch, feed_patch_section section,
							feed_patch_position position, void *state);

/* What changed in a part. */
typedef struct feed_change
{
	const uint64_t *positions;	/* rising, or NULL; then all bits in which these bodies differ: */
	size_t		count;
	const uint8_t *before;
	const uint8_t *after;
} feed_change;

/* Sorts positions, drops repeats, and returns how many are left. */
extern size_t feed_patch_sort(uint64_t *positions, size_t count);

/*
 * Writes a patch of these changes, one a part, unless bytes is NULL, and returns its length.
 * Of *patch kind, epoch, identity, from, to and the sums are used; the parts have the new
 * headers.
 */
extern size_t feed_patch_write(const feed_patch *patch, const feed_part *parts, const feed_change *changes,
							   uint32_t count, uint8_t *bytes);

#endif							/* FEED_PATCH_H */
