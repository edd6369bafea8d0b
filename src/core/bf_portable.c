/*
 * bf_portable.c
 *	  The hot operations in plain C, for any processor.
 */
#include "bf_batch.h"

/*
 * Probes that are made without looking at each other's answers: their loads
 * overlap, and there is no branch to guess wrong until all are done.
 */
#define PROBES_AT_ONCE 8

static inline bool
block_contains(const uint8_t *block, unsigned log2_block_bits,
			   unsigned probes, uint64_t hash)
{
	unsigned	i = 0;

	for (;;)
	{
		unsigned	end = probes - i > PROBES_AT_ONCE ? i + PROBES_AT_ONCE : probes;
		unsigned	all = 1;

		for (; i < end; i++)
		{
			uint32_t	bit = bf_probe_bit(bf_probe(hash, i), log2_block_bits);

			all &= (unsigned) block[bit >> 3] >> (bit & 7);
		}
		if (i == probes)
			return all & 1;
		if ((all & 1) == 0)
			return false;
	}
}

static void
contains_hashes(const bf_header *header, const uint8_t *blocks,
				const uint64_t *hashes, size_t count, uint8_t *found)
{
	bf_batch_contains(header, blocks, hashes, count, found, block_contains);
}

const bf_kernel_functions bf_portable_kernel = {
	"portable", block_contains, contains_hashes
};
