/*
 * bf_hash.c
 *	  The hash of a key and the checksum of a filter: XXH64, inlined from the
 *	  system's xxhash.h.
 *
 * Inlined, so that the extension and the library need no libxxhash at run time
 * and export none of its symbols.
 */
#include "bf_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t
bf_hash(const void *bytes, size_t length, uint64_t seed)
{
	return XXH64(bytes, length, seed);
}

uint64_t
bf_hash_8(const void *bytes, uint64_t seed)
{
	return XXH64(bytes, 8, seed);
}

uint64_t
bf_checksum(const uint8_t *header, size_t header_length, const uint8_t *blocks,
			uint64_t blocks_length, bf_tick tick)
{
	XXH64_state_t state;
	uint64_t	at = 0;

	XXH64_reset(&state, 0);
	XXH64_update(&state, header, header_length);
	while (at < blocks_length)
	{
		uint64_t	step = bf_tick_step(blocks_length - at, tick);

		XXH64_update(&state, blocks + at, (size_t) step);
		at += step;
	}
	return XXH64_digest(&state);
}
