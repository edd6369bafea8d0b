/*
 * bf_limits.h
 *	  Every constant of the filter, with its unit and its reason.
 *
 * doc/FORMAT.md is the contract for the values that are seen from outside:
 * those may not change without a new format version.
 */
#ifndef BF_LIMITS_H
#define BF_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* The versions that this code reads and writes: of filters, and of exact ones. */
#define BF_FORMAT_VERSION	1
#define BF_EXACT_VERSION	2

/* Identifier of the hash in the header: XXH64 with the header's seed. */
#define BF_HASH_XXH64		1

/* Bytes of a cache line on x86-64 and most of arm64.  Where it is another, only speed differs. */
#define BF_CACHE_LINE		64

/* Bytes before the blocks: one cache line, so that blocks in a file start on one. */
#define BF_HEADER_BYTES		64

/*
 * Bytes of the largest filter, header included.  A little below 512 MiB: keeps
 * the number of bits under 2^32, the receive buffers of parallel queries (which
 * round up to a power of two) at 512 MiB, and the base64 text under 1 GiB.
 */
#define BF_MAX_BYTES		((uint64_t) 512 * 1024 * 1024 - 4096)

/* log2 of the bits of a block: from one cache line to 8 KiB. */
#define BF_MIN_LOG2_BLOCK	9
#define BF_MAX_LOG2_BLOCK	16

/* Probes per key.  32 is what 2^-32, about the rate a 64-bit hash can keep, needs. */
#define BF_MAX_PROBES		32

/* Parts of one set of filters; the header has 16 bits for them. */
#define BF_MAX_PARTS		65535

/* The largest capacity, in keys: what SQL's bigint can say. */
#define BF_MAX_CAPACITY		((uint64_t) INT64_MAX)

/*
 * How far above the ideal Bloom filter the bits of a filter may be: 4.5 %, of
 * which the block gets 4.45 and the rounding below 0.05.  The smallest block
 * that stays within it is chosen; see doc/DESIGN.md.
 */
#define BF_MAX_EXCESS		1.0445

/*
 * Blocks are rounded up to a multiple of the largest power of two that is at
 * most 1/BF_FOLD_GRAIN of their number, so that a filter always has divisors to
 * shrink by.  It costs at most 0.05 % of the size.
 */
#define BF_FOLD_GRAIN		2048

/* Bytes between two calls of a caller's bf_tick: well under 1 ms of work. */
#define BF_TICK_BYTES		((uint64_t) 2 * 1024 * 1024)

/*
 * Called every BF_TICK_BYTES of work by the functions that take one, so that
 * long loops can be cancelled.  It may not return.  NULL where nobody waits.
 */
typedef void (*bf_tick) (void);

/* Calls tick and says how many of the remaining bytes to do before the next. */
static inline uint64_t
bf_tick_step(uint64_t remaining, bf_tick tick)
{
	if (tick != NULL)
		tick();
	return remaining < BF_TICK_BYTES ? remaining : BF_TICK_BYTES;
}

#endif							/* BF_LIMITS_H */
