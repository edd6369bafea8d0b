/*
 * bf_bits.h
 *	  Loops over all bytes of the blocks: counting, OR, AND.
 *
 * They are plain loops that compilers vectorize.  Where an x86-64 processor has the
 * popcnt instruction, counting uses it, chosen at run time; the result
 * is the same.  Lengths are multiples of 64 bytes, as blocks are.
 */
#ifndef BF_BITS_H
#define BF_BITS_H

#include <stdint.h>

#include "bf_limits.h"

extern uint64_t bf_count_bits(const uint8_t *bytes, uint64_t length, bf_tick tick);

/* target |= source; returns the bits then set in target. */
extern uint64_t bf_or_bits(uint8_t *target, const uint8_t *source,
						   uint64_t length, bf_tick tick);

/* target &= source; returns the bits then set in target. */
extern uint64_t bf_and_bits(uint8_t *target, const uint8_t *source,
							uint64_t length, bf_tick tick);

#endif							/* BF_BITS_H */
