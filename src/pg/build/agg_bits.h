/*
 * agg_bits.h
 *	  The set bits of a filter's blocks as a list of gaps: what processes send each other
 *	  of a filter that is nearly empty.
 *
 * A gap is the number of unset bits before a set one, in groups of seven bits, the low
 * ones first, in a byte each; a byte with its highest bit is followed by another.
 */
#ifndef BFPG_AGG_BITS_H
#define BFPG_AGG_BITS_H

#pragma GCC visibility push(hidden)

/* Bytes that the list takes at most, for blocks of so many bytes with so many bits set. */
extern uint64 bfpg_bits_room(uint64 bytes, uint64 bits_set);

/* Writes the list, and returns its length in bytes. */
extern uint64 bfpg_bits_write(const uint8 *blocks, uint64 bytes, uint8 *list);

/*
 * Sets the bits of a list in blocks.  False if it isn't a list for so many bytes; then some
 * of its bits may be set.
 */
extern bool bfpg_bits_set(uint8 *blocks, uint64 bytes, const uint8 *list, uint64 length);

#pragma GCC visibility pop

#endif							/* BFPG_AGG_BITS_H */
