/*
 * bf_gaps.h
 *	  The bits in which two arrays differ, as a string of gaps and back.
 *
 * The code is described in bf_delta.h.  Both directions work on pieces of any
 * length: neither the string nor a list of positions is ever whole in memory.
 */
#ifndef BF_GAPS_H
#define BF_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_tick.h"

/* Gaps below this are one byte. */
#define BF_GAPS_ONE_BYTE	224

/* The byte that stands for BF_GAPS_SKIP unchanged bits. */
#define BF_GAPS_SKIP_BYTE	255

/* 224 one-byte gaps and 31 * 256 two-byte gaps: the first that needs a skip. */
#define BF_GAPS_SKIP \
	(BF_GAPS_ONE_BYTE + (BF_GAPS_SKIP_BYTE - BF_GAPS_ONE_BYTE) * 256)

/* Writes the gaps between two arrays of the same length, a multiple of 8. */
typedef struct bf_gaps_writer
{
	const uint8_t *a;
	const uint8_t *b;
	uint64_t	length;			/* bytes of each array */
	bf_tick		tick;
	uint64_t	at;				/* bytes looked at */
	uint64_t	word;			/* changed bits of the word before at, not yet written */
	uint64_t	next;			/* position after the last changed bit */
	uint64_t	gap;			/* what is left of the gap to be written */
	bool		pending;		/* whether there is one */
	uint64_t	changed;		/* changed bits written */
} bf_gaps_writer;

extern void bf_gaps_writer_init(bf_gaps_writer *writer, const uint8_t *a,
								const uint8_t *b, uint64_t length, bf_tick tick);

/* The next bytes of the string, at most room (2 or more); 0 at its end. */
extern size_t bf_gaps_write(bf_gaps_writer *writer, uint8_t *bytes, size_t room);

/* Flips the bits of an array that a string of gaps names. */
typedef struct bf_gaps_reader
{
	uint8_t    *target;
	uint64_t	bits;			/* length of the array */
	uint64_t	position;		/* bits passed */
	unsigned	high;			/* first byte of a gap of two, or 0 */
} bf_gaps_reader;

extern void bf_gaps_reader_init(bf_gaps_reader *reader, uint8_t *target,
								uint64_t length);

/* Takes the next bytes; false where a position is beyond the array. */
extern bool bf_gaps_read(bf_gaps_reader *reader, const uint8_t *bytes,
						 size_t length);

/* Whether the string may end here, and not within a gap. */
extern bool bf_gaps_read_ended(const bf_gaps_reader *reader);

#endif							/* BF_GAPS_H */
