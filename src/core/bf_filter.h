/*
 * bf_filter.h
 *	  The filter itself: adding hashes, asking for them, combining filters.
 *
 * A filter here is a header and a pointer to its blocks, whoever owns them.  The
 * functions keep header->bits_set right; the checksum is made when the header is
 * written (bf_header_write).  The caller has checked that a key is of the
 * filter's key type and part (bf_in_part).
 */
#ifndef BF_FILTER_H
#define BF_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_format.h"
#include "bf_hash.h"
#include "bf_kernel.h"

/*
 * Hashes that a caller who gathers them may well ask at once: many times what is
 * fetched ahead, and few enough for the stack.
 */
#define BF_BATCH 256

/* Whether all bits of a hash are set in its block. */
static inline bool
bf_block_contains(const uint8_t *block, unsigned log2_block_bits,
				  unsigned probes, uint64_t hash)
{
	return bf_kernel->block_contains(block, log2_block_bits, probes, hash);
}

/*
 * Sets the bits of a hash in its block and returns how many were not set.  A word at
 * a time, since that takes fewer instructions than a byte.
 */
static inline unsigned
bf_block_add(uint8_t *block, unsigned log2_block_bits, unsigned probes,
			 uint64_t hash)
{
	unsigned	added = 0;
	unsigned	i;

	for (i = 0; i < probes; i++)
	{
		uint32_t	bit = bf_probe_bit(bf_probe(hash, i), log2_block_bits);
		uint8_t    *bytes = &block[bit / 64 * 8];
		uint64_t	word = bf_load_le64(bytes);
		uint64_t	mask = UINT64_C(1) << bit % 64;

		added += (word & mask) == 0;
		bf_store_le64(bytes, word | mask);
	}
	return added;
}

/* Where the block of a hash begins, in bytes from the first block. */
static inline uint64_t
bf_block_offset(const bf_header *header, uint64_t hash)
{
	return (uint64_t) bf_block_of(hash, header->blocks) <<
		(header->log2_block_bits - 3);
}

/* Whether the filter is the one of its set that a hash belongs to. */
static inline bool
bf_in_part(const bf_header *header, uint64_t hash)
{
	return header->parts == 1 ||
		bf_part_of(hash, header->parts) == header->part;
}

/* Whether the filter may contain a key with this hash. */
static inline bool
bf_contains(const bf_header *header, const uint8_t *blocks, uint64_t hash)
{
	return bf_block_contains(blocks + bf_block_offset(header, hash),
							 header->log2_block_bits, header->probes, hash);
}

/* Adds a hash. */
static inline void
bf_add(bf_header *header, uint8_t *blocks, uint64_t hash)
{
	header->bits_set += bf_block_add(blocks + bf_block_offset(header, hash),
									 header->log2_block_bits, header->probes,
									 hash);
}

/*
 * The same for many hashes, with the memory of the next ones fetched ahead.
 * found[i] is set to 1 or 0.  Adding is plain C everywhere: bits of a block are set one
 * after the other anyway, as two probes may hit the same word.
 */
static inline void
bf_contains_hashes(const bf_header *header, const uint8_t *blocks,
				   const uint64_t *hashes, size_t count, uint8_t *found)
{
	bf_kernel->contains_hashes(header, blocks, hashes, count, found);
}

extern void bf_add_hashes(bf_header *header, uint8_t *blocks, const uint64_t *hashes, size_t count);

/*
 * Whether two filters can be combined: the same geometry, seed and part, and
 * the same key type unless one of them has none.
 */
extern bool bf_compatible(const bf_header *a, const bf_header *b);

/*
 * Combine another, compatible filter into this one.  The result is promised for
 * the larger capacity at the larger rate of the two, so that the order in which
 * filters are combined does not show in the bytes.
 */
typedef void (*bf_combine) (bf_header *header, uint8_t *blocks,
							const bf_header *other, const uint8_t *other_blocks,
							bf_tick tick);

extern void bf_union(bf_header *header, uint8_t *blocks,
					 const bf_header *other, const uint8_t *other_blocks,
					 bf_tick tick);
extern void bf_intersect(bf_header *header, uint8_t *blocks,
						 const bf_header *other, const uint8_t *other_blocks,
						 bf_tick tick);

/*
 * Folds a filter in place to blocks / divisor blocks: exactly the filter that
 * its keys would have made in that many.  divisor divides the number of blocks.
 * Capacity and rate stay, which so few blocks may not keep: the caller sets them.
 */
extern void bf_fold(bf_header *header, uint8_t *blocks, uint32_t divisor,
					bf_tick tick);

#endif							/* BF_FILTER_H */
