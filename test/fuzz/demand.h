/*
 * demand.h
 *	  What the fuzzers have in common: what must hold, and keys that are asked for.
 */
#ifndef FUZZ_DEMAND_H
#define FUZZ_DEMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "bf_hash.h"

/* Fields of a filter's header that are made right. */
#define AT_BITS_SET	40
#define AT_HEADER_CHECKSUM	52
#define AT_CHECKSUM	56

#define KEYS	40

static inline void
demand(bool holds)
{
	if (!holds)
		abort();
}

/* Hashes of some keys, and the first and the last that there is. */
static inline void
hash_keys(uint64_t hashes[KEYS], uint64_t seed)
{
	uint64_t	i;

	for (i = 0; i < KEYS; i++)
		hashes[i] = bf_hash_word(i, seed);
	hashes[0] = 0;
	hashes[1] = UINT64_MAX;
}

#endif							/* FUZZ_DEMAND_H */
