/*
 * image.h
 *	  The parts of a list in memory, its sum, and the bits that are new in it.
 */
#ifndef CLI_IMAGE_H
#define CLI_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_part.h"
#include "feed_patch.h"

/* Positions of bits in a part, numbered from its first block on. */
typedef struct copy_bits
{
	uint64_t   *positions;
	size_t		count;
	size_t		room;
} copy_bits;

/* Adds one. */
extern void copy_bits_add(copy_bits *bits, uint64_t position);

typedef struct list_copy
{
	uint32_t	count;			/* of the parts; 0: there is none */
	feed_part  *parts;			/* headers as they lie in a followed file */
	uint8_t   **bodies;
	uint64_t   *bits_set;		/* of each part's level 1 */
	copy_bits  *news;			/* of each part; unsorted */
	size_t		news_count;		/* of all */
	uint64_t	sum;			/* without the pieces that are touched */
	uint8_t   **touched;		/* a bit for each piece of each part */
} list_copy;

/* Parts without bits, with these headers. */
extern void copy_create(list_copy *copy, const feed_part *parts, uint32_t count);
extern void copy_free(list_copy *copy);

/* Whether bits alone lead to filters with these headers. */
extern bool copy_fits(const list_copy *copy, const feed_part *parts, uint32_t count);

/* Of all parts as files. */
extern uint64_t copy_bytes(const list_copy *copy);

/* The body of a part of a copy that was just created: that of a filter, of which nothing is new. */
extern void copy_fill(list_copy *copy, const feed_part *part, const uint8_t *filter);

/*
 * Sets the bits of length bytes from byte at on, and notes those that are new, if wanted.
 * Of an exact part that would end the program.
 */
extern void copy_or(list_copy *copy, uint32_t part, uint64_t at, const uint8_t *bytes, uint64_t length,
					bool note);

/* The sum of what it has now. */
extern uint64_t copy_sum(list_copy *copy);

/*
 * What is new, as a patch takes it, one of each part, in new memory; valid until more
 * comes.
 */
extern feed_change *copy_changes(list_copy *copy);

/* Forgets what is new. */
extern void copy_settle(list_copy *copy);

/* Sets the bits of a set that was read. */
extern void copy_apply(list_copy *copy, const feed_patch *set);

#endif							/* CLI_IMAGE_H */
