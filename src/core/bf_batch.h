/*
 * bf_batch.h
 *	  Fetching the memory of many hashes ahead, and asking for them: the body that
 *	  each kernel compiles for its processor.
 *
 * A large filter is in nobody's cache: a look-up alone costs one miss or more.
 * While one hash is looked at, the blocks of the next ones are on their way.
 *
 * Everything is inlined into the kernel that calls it, for its instructions, and
 * because gcc takes a function that does nothing but prefetch for one without
 * effect and drops its calls.
 */
#ifndef BF_BATCH_H
#define BF_BATCH_H

#include "bf_filter.h"

#define BF_PREFETCH(address) __builtin_prefetch(address)
#define BF_INLINE static inline __attribute__((always_inline))

/* So many cache lines are on their way at a time, and of no more hashes than this. */
#define BF_LINES_AHEAD 128
#define BF_HASHES_AHEAD 32

/* Lines that are fetched for a hash: its block, or its bits' bytes where these are less. */
BF_INLINE unsigned
bf_lines_of_hash(const bf_header *header)
{
	uint64_t	lines = bf_block_bytes(header) / BF_CACHE_LINE;

	return lines < header->probes ? (unsigned) lines : header->probes;
}

BF_INLINE void
bf_fetch(const bf_header *header, const uint8_t *blocks, uint64_t hash)
{
	const uint8_t *block = blocks + bf_block_offset(header, hash);
	unsigned	lines = bf_lines_of_hash(header);
	unsigned	i;

	if (lines == header->probes)
		for (i = 0; i < lines; i++)
			BF_PREFETCH(&block[bf_probe_bit(bf_probe(hash, i), header->log2_block_bits) >> 3]);
	else
		for (i = 0; i < lines; i++)
			BF_PREFETCH(block + i * BF_CACHE_LINE);
}

/* Starts a batch: fetches the first hashes and returns how many. */
BF_INLINE size_t
bf_fetch_first(const bf_header *header, const uint8_t *blocks,
			   const uint64_t *hashes, size_t count)
{
	size_t		ahead = BF_LINES_AHEAD / bf_lines_of_hash(header);
	size_t		i;

	if (ahead > BF_HASHES_AHEAD)
		ahead = BF_HASHES_AHEAD;
	if (ahead > count)
		ahead = count;
	for (i = 0; i < ahead; i++)
		bf_fetch(header, blocks, hashes[i]);
	return ahead;
}

/*
 * bf_contains_hashes, by a kernel's way to look into a block.  The header is copied
 * into registers: any byte that is written might else be one of it.
 */
BF_INLINE void
bf_batch_contains(const bf_header *header, const uint8_t *blocks,
				  const uint64_t *hashes, size_t count, uint8_t *found,
				  bool (*block_contains) (const uint8_t *, unsigned, unsigned, uint64_t))
{
	const bf_header own = *header;
	size_t		ahead = bf_fetch_first(&own, blocks, hashes, count);
	size_t		i;

	for (i = 0; i < count; i++)
	{
		if (ahead < count)
			bf_fetch(&own, blocks, hashes[ahead++]);
		found[i] = block_contains(blocks + bf_block_offset(&own, hashes[i]),
								  own.log2_block_bits, own.probes, hashes[i]);
	}
}

#endif							/* BF_BATCH_H */
