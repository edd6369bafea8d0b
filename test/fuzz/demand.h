/*
 * demand.h
 *	  What the fuzzers have in common: what must hold, keys that are asked for, and the input in memory
 *	  of its own.
 */
#ifndef FUZZ_DEMAND_H
#define FUZZ_DEMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_hash.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

/* Uses the input as it is and, if it is as long as what is repaired, once more with that made right. */
static inline void
use_twice(const uint8_t *data, size_t size, void (*use) (const uint8_t *bytes, size_t length),
		  size_t least, void (*repair) (uint8_t *bytes, size_t length))
{
	uint8_t    *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		return;
	if (size > 0)
		memcpy(copy, data, size);
	use(copy, size);
	if (size >= least)
	{
		repair(copy, size);
		use(copy, size);
	}
	free(copy);
}

#endif							/* FUZZ_DEMAND_H */
