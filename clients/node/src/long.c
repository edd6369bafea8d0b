/*
 * long.c
 *	  XXH64 of what doesn't come in one piece: keys that are longer than the room for
 *	  keys, and all blocks of a filter.
 *
 * Memory of WebAssembly never shrinks, so a long key is hashed through the room
 * that is there.
 */
#include "reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static XXH64_state_t state;

void
long_begin(uint64_t seed)
{
	XXH64_reset(&state, seed);
}

EXPORT("long_begin_key") void
long_begin_key(void)
{
	long_begin(header.seed);
}

EXPORT("long_add") void
long_add(const uint8_t *bytes, size_t length)
{
	XXH64_update(&state, bytes, length);
}

uint64_t
long_end(void)
{
	return XXH64_digest(&state);
}

/* The hash of a key in pieces, to where hashes are wanted. */
EXPORT("long_end_key") void
long_end_key(uint64_t *hash)
{
	*hash = long_end();
}
