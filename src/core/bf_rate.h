/*
 * bf_rate.h
 *	  The exact expected false-positive rate of a blocked Bloom filter.
 *
 * The textbook's (1 - e^(-kn/m))^k promises too much for blocks: keys fall into
 * them unevenly, and the fill of a block with a given number of keys varies too
 * (Bose et al., On the false-positive rate of Bloom filters, 2008).  Both are
 * summed here.
 *
 * The sums use nothing but + - * /, sqrt and exact scaling, which IEEE 754 defines
 * to the bit, and are compiled without fused operations: every machine sizes a
 * filter alike, whatever its libm.  But for one: 32-bit x86 without SSE2 computes in
 * more digits than it stores, and its rates differ in their last ones.  So what is
 * stored of a rate that was computed has fewer; see bf_stored_rate.
 */
#ifndef BF_RATE_H
#define BF_RATE_H

#include <stdint.h>

/* The shape of a filter's bits. */
typedef struct bf_geometry
{
	uint64_t	blocks;
	unsigned	log2_block_bits;
	unsigned	probes;
} bf_geometry;

/* What is to be expected of a filter that holds n different keys. */
typedef struct bf_expectation
{
	double		rate;			/* probability that an absent key is found */
	double		bits;			/* mean of the bits set, per block */
	double		variance;		/* variance of the bits set, per block */
} bf_expectation;

/* The expectation for n keys spread over the blocks of a filter. */
extern bf_expectation bf_expect(double n, const bf_geometry *geometry);

/*
 * The same in the limit of very many blocks, each with so many keys on average;
 * geometry->blocks is not looked at.
 */
extern bf_expectation bf_expect_load(double keys_per_block,
									 const bf_geometry *geometry);

/* Natural logarithm of x > 0, and of 1 + x for x > -1: alike on every machine. */
extern double bf_ln(double x);
extern double bf_ln1p(double x);

/*
 * A computed rate as headers have it: rounded up, as it is a promise, to 24 bits,
 * which are the same wherever it was computed.
 */
extern double bf_stored_rate(double rate);

/* base, 0 .. 1, to the power of a whole number. */
extern double bf_power(double base, double exponent);

#endif							/* BF_RATE_H */
