/*
 * feed_copy.h
 *	  The parts of a list in memory, the bits that are new in them, and steps.
 */
#ifndef CLI_FEED_COPY_H
#define CLI_FEED_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_format.h"
#include "bf_step.h"

/* Positions of bits in a part, numbered from its first block on. */
typedef struct feed_bits
{
	uint64_t   *positions;
	size_t		count;
	size_t		room;
} feed_bits;

typedef struct feed_copy
{
	uint32_t	parts;
	bf_header  *headers;		/* bits_set is kept right */
	uint8_t   **blocks;
	bool		mapped;			/* the blocks are a working copy's: others read them */
	feed_bits  *news;			/* of each part; unsorted */
	size_t		news_count;		/* of all */
} feed_copy;

/* Parts without bits, with these headers. */
extern void feed_copy_create(feed_copy *copy, const bf_header *headers, uint32_t parts);
extern void feed_copy_free(feed_copy *copy);

/* The same bits in memory of its own. */
extern void feed_copy_clone(feed_copy *copy, const feed_copy *of);

/* Whether filters with these headers are of the same epoch as far as headers tell. */
extern bool feed_copy_fits(const feed_copy *copy, const bf_header *headers, uint32_t parts);

extern uint64_t feed_copy_bytes(const feed_copy *copy);

/* Sets the bits of length bytes from byte at on, and notes those that are new, if wanted. */
extern void feed_copy_or(feed_copy *copy, uint32_t part, uint64_t at, const uint8_t *bytes,
						 uint64_t length, bool note);

/* Forgets what is new. */
extern void feed_copy_settle(feed_copy *copy);

/* A step of what is new, in new memory. */
extern uint8_t *feed_copy_step(feed_copy *copy, const bf_step *step, size_t *length);

/* One step of several that follow each other and fit the copy, in new memory. */
extern uint8_t *feed_merge(const feed_copy *copy, const bf_step *steps, size_t count, size_t *length);

/*
 * Sets the bits of a step.  exact: the copy was what the step begins with, and so the
 * result must be what it says; false if it is not.
 */
extern bool feed_copy_apply(feed_copy *copy, const bf_step *step, bool exact);

/* A part's header as a file has it, with checksums. */
extern void feed_copy_seal(feed_copy *copy, uint32_t part, uint8_t header[64]);

#endif							/* CLI_FEED_COPY_H */
