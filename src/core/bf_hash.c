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

/* Powers of BF_PROBE_MULTIPLIER from the first on, mod 2^64. */
const uint64_t bf_probe_powers[BF_MAX_PROBES] = {
	UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xdf442d22ce4859b9),
	UINT64_C(0x604a5ce3addef82d), UINT64_C(0xd94363fc538227b1),
	UINT64_C(0x2e2b795f2d10fd85), UINT64_C(0x4be7956e30a337e9),
	UINT64_C(0x5ecb31e4ccd2721d), UINT64_C(0x06d4b2611beb6861),
	UINT64_C(0x0f10cd6a9be88bf5), UINT64_C(0x80e0dcf76db02719),
	UINT64_C(0x779023cf069d510d), UINT64_C(0x4114e3439eebf211),
	UINT64_C(0x8fc15a19ba851765), UINT64_C(0x50687085a271d749),
	UINT64_C(0x82fe791be9b804fd), UINT64_C(0xf53f7dff42a4f4c1),
	UINT64_C(0xc1712bcbdcdf8fd5), UINT64_C(0x204db59ca693f879),
	UINT64_C(0xe1a216043077fded), UINT64_C(0x07dde4bf1258a071),
	UINT64_C(0x657df06edea5e545), UINT64_C(0xfb5e617f1f9b3aa9),
	UINT64_C(0xb39afcd693ffabdd), UINT64_C(0x761af3294c1a2521),
	UINT64_C(0x3737591302ab07b5), UINT64_C(0xa6a140ea15154dd9),
	UINT64_C(0xa09b3202342e7ecd), UINT64_C(0x590dd8f2277db2d1),
	UINT64_C(0x3710df127f56e725), UINT64_C(0xf0f4b4b9b5c8e209),
	UINT64_C(0x196a94fe0490e6bd), UINT64_C(0xcdfb8afc05487981)
};

uint64_t
bf_hash(const void *bytes, size_t length, uint64_t seed)
{
	return XXH64(bytes, length, seed);
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
