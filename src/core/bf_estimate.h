/*
 * bf_estimate.h
 *	  What a filter's fill says about the keys in it.
 *
 * Nothing counts insertions: the same keys give the same bytes, however often
 * they are added.  The number of different keys is estimated from the bits set.
 */
#ifndef BF_ESTIMATE_H
#define BF_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bf_format.h"
#include "bf_rate.h"

extern bf_geometry bf_header_geometry(const bf_header *header);

/* Share of bits that are set, 0 .. 1. */
extern double bf_fill(const bf_header *header);

/*
 * Estimated number of different keys.  Exact in expectation; the standard error
 * is a fraction of a percent for thousands of keys.  A full filter is taken for
 * one that misses half a bit.
 */
extern double bf_estimate_keys(const bf_header *header);

/*
 * Whether so few bits are left that their number tells no more than this: there are more keys than
 * the estimate.
 */
extern bool bf_is_saturated(const bf_header *header);

/* Expected false-positive rate for the keys that it holds now. */
extern double bf_estimate_rate(const bf_header *header);

/*
 * Whether it holds more keys than it was sized for: more bits are set than its
 * capacity explains, by more than five standard deviations.
 */
extern bool bf_over_capacity(const bf_header *header);

/*
 * The largest divisor of the number of blocks by which the filter can be folded
 * so that the keys it holds now still meet rate p; 1 if none.
 */
extern uint32_t bf_fold_divisor(const bf_header *header, double p);

#endif							/* BF_ESTIMATE_H */
