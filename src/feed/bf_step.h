/*
 * bf_step.h
 *	  Steps: which bits were set in a set of filters from one serial to another.
 *
 * The format is doc/FORMAT.md, section 17.  No memory is taken, nothing is read or
 * written but the caller's bytes.
 */
#ifndef BF_STEP_H
#define BF_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_format.h"

#define BF_STEP_HEADER_BYTES 64
#define BF_IDENTITY_BYTES 16

/* Why bytes are not a step, in the order in which it is looked at. */
typedef enum bf_step_status
{
	BF_STEP_OK = 0,
	BF_STEP_SHORT,
	BF_STEP_MAGIC,
	BF_STEP_VERSION,
	BF_STEP_CHECKSUM,
	BF_STEP_HEADER,
	BF_STEP_SECTION
} bf_step_status;

/* FORMAT.md's word for it. */
extern const char *bf_step_word(bf_step_status status);

typedef struct bf_step
{
	uint64_t	epoch;
	uint8_t		identity[BF_IDENTITY_BYTES];
	uint64_t	from;
	uint64_t	to;
	uint64_t	bits;			/* positions in all sections */
	const uint8_t *sections;	/* inside the bytes that were read */
	size_t		length;			/* of the sections */
} bf_step;

/* A part's positions: rising, numbered from the part's first block on. */
typedef struct bf_step_part
{
	uint32_t	part;
	uint64_t	bits_set;		/* in all blocks of the part, afterwards */
	const uint64_t *positions;
	size_t		count;
} bf_step_part;

/*
 * Reads and checks a whole step for parts with these headers.  *step points into
 * bytes, and is set only on BF_STEP_OK.
 */
extern bf_step_status bf_step_read(const void *bytes, size_t length,
								   const bf_header *headers, uint32_t parts,
								   bf_step *step);

/* Called for each section before its positions, and for each position. */
typedef void (*bf_step_section) (void *state, uint32_t part, uint64_t bits_set);
typedef void (*bf_step_position) (void *state, uint32_t part, uint64_t position);

/* Goes through a step that bf_step_read has taken. */
extern void bf_step_each(const bf_step *step, bf_step_section section,
						 bf_step_position position, void *state);

/* Where a walk through a step is. */
typedef struct bf_step_walk
{
	const uint8_t *at;
	const uint8_t *end;
	const bf_header *headers;	/* NULL: all was checked before */
	uint32_t	parts;
	uint64_t	bits;			/* positions so far */
	bf_step_section section;
	bf_step_position position;
	void	   *state;

	/* The section */
	uint64_t	next_part;		/* the least that the next one may be about */
	uint32_t	part;
	unsigned	width;
	uint64_t	blocks;
	uint64_t	bits_set;
	uint64_t	touched;		/* blocks that are still to come */
	uint64_t	block;			/* the least that the next one may be */
	uint64_t	bits_before;
} bf_step_walk;

/*
 * The same for who must not be long at it: each call takes what a section begins with, or
 * the positions of one block.  Returns false at the end.
 */
extern void bf_step_begin(const bf_step *step, bf_step_section section,
						  bf_step_position position, void *state, bf_step_walk *walk);
extern bool bf_step_next(bf_step_walk *walk);

/* Bytes that a step with so many sections and positions never exceeds. */
extern size_t bf_step_room(size_t sections, size_t positions);

/*
 * Writes a step into bf_step_room bytes, and returns its length.  Of *step epoch,
 * identity, from and to are used; parts without positions are left out.
 */
extern size_t bf_step_write(const bf_step *step, const bf_header *headers,
							const bf_step_part *parts, size_t count, uint8_t *bytes);

/* Puts the right checksum into a step's bytes, of which there are at least 64. */
extern void bf_step_seal(uint8_t *bytes, size_t length);

#endif							/* BF_STEP_H */
