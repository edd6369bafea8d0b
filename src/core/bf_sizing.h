/*
 * bf_sizing.h
 *	  How large a filter must be: from n and p, bits per key, or bits and probes.
 *
 * Each function returns a shape whose exact expected rate at n keys is the one
 * that is promised.  The block is the smallest, from one cache line up, that
 * stays within BF_MAX_EXCESS of the ideal Bloom filter, or that holds all keys
 * by itself.
 */
#ifndef BF_SIZING_H
#define BF_SIZING_H

#include <stdbool.h>
#include <stdint.h>

#include "bf_format.h"
#include "bf_rate.h"

typedef struct bf_sizing
{
	bf_geometry geometry;
	uint64_t	capacity;		/* n, keys */
	double		rate;			/* p promised at n keys */
	double		expected_rate;	/* exact expected rate at n keys, at most rate */
} bf_sizing;

/*
 * Whether these can be asked for at all.  The sizing functions expect it:
 * capacity 1 .. BF_MAX_CAPACITY, 0 < rate < 1.
 */
extern bool bf_capacity_valid(uint64_t n);
extern bool bf_rate_valid(double p);

/*
 * The shape for n keys at a rate of at most p.  False where no size reaches p,
 * which happens only where n / 2^64, the chance of two equal hashes, exceeds it
 * or p is beyond what BF_MAX_PROBES can do in 2^40 bits a key.  The shape may be
 * too large for one filter (see bf_sizing_fits); it ends at 2^44 blocks, where it
 * may keep p no longer.
 */
extern bool bf_size_for_rate(uint64_t n, double p, bf_sizing *sizing);

/*
 * The shape of at least m bits and k probes.  Its capacity is the number of keys
 * that fill half of it, its rate what it then has.
 */
extern void bf_size_for_bits(uint64_t m, unsigned k, bf_sizing *sizing);

/* Bytes of a filter of this shape, header included. */
extern uint64_t bf_sizing_bytes(const bf_sizing *sizing);

/* Whether it is at most BF_MAX_BYTES. */
extern bool bf_sizing_fits(const bf_sizing *sizing);

/* The header of an empty filter of a shape.  Of one with too many blocks it has as many as it can say, which don't fit either. */
extern bf_header bf_sizing_header(const bf_sizing *sizing, uint64_t seed);

/*
 * A part's capacity in a set of n keys: its share and six standard deviations,
 * at most n.
 */
extern uint64_t bf_part_capacity(uint64_t n, uint32_t parts);

/*
 * The fewest parts in which n keys at rate p fit, 0 where BF_MAX_PARTS is not
 * enough.  n and p must be valid and p reachable.
 */
extern uint32_t bf_parts_for_rate(uint64_t n, double p);

/* The most keys for which a shape keeps rate p; 0 where it can't for one. */
extern uint64_t bf_capacity_for_rate(const bf_geometry *geometry, double p);

/* Bits per key of the ideal Bloom filter at rate p. */
extern double bf_ideal_bits_per_key(double p);

#endif							/* BF_SIZING_H */
