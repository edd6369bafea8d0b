/*
 * textbook.h
 *	  The textbook's Bloom filter: k independent probes all over the bits.
 *
 * m = -n ln p / (ln 2)^2 bits and k = m/n ln 2 probes.  One hash is made of the
 * key and each probe mixed from it anew, which is as good as k hash functions and
 * cheaper; the position is the high half of a product, not a remainder.  It is
 * the strongest plain form, so that the comparison is about blocks and nothing
 * else.
 */
#ifndef TEXTBOOK_H
#define TEXTBOOK_H

#include <math.h>
#include <stdbool.h>

#include "bench.h"
#include "bf_hash.h"

#define TEXTBOOK_BATCH 32

typedef struct textbook
{
	uint64_t	bits;
	unsigned	probes;
	uint8_t    *bytes;
} textbook;

static inline textbook
textbook_create(uint64_t n, double p)
{
	textbook	filter;
	double		ln2 = log(2);

	filter.bits = ((uint64_t) ceil(-(double) n * log(p) / (ln2 * ln2)) + 511) / 512 * 512;
	filter.probes = (unsigned) lround((double) filter.bits / (double) n * ln2);
	filter.bytes = (uint8_t *) bench_memory(filter.bits / 8);
	return filter;
}

static inline uint64_t
textbook_bit(const textbook *filter, uint64_t hash, unsigned i)
{
	return bf_reduce(bench_mix(hash + i * BF_PROBE_MULTIPLIER), filter->bits);
}

static inline bool
textbook_contains(const textbook *filter, uint64_t hash)
{
	unsigned	i;

	for (i = 0; i < filter->probes; i++)
	{
		uint64_t	bit = textbook_bit(filter, hash, i);

		if ((filter->bytes[bit >> 3] >> (bit & 7) & 1) == 0)
			return false;
	}
	return true;
}

static inline void
textbook_add(textbook *filter, uint64_t hash)
{
	unsigned	i;

	for (i = 0; i < filter->probes; i++)
	{
		uint64_t	bit = textbook_bit(filter, hash, i);

		filter->bytes[bit >> 3] = (uint8_t) (filter->bytes[bit >> 3] | 1u << (bit & 7));
	}
}

/*
 * Where hash i begins a batch, brings the memory of that batch on its way, as the
 * core does for its own.
 */
static inline __attribute__((always_inline)) void
textbook_fetch_batch(const textbook *filter, const uint64_t *hashes, size_t i,
					 size_t count)
{
	size_t		end = count - i < TEXTBOOK_BATCH ? count : i + TEXTBOOK_BATCH;
	unsigned	j;

	if (i % TEXTBOOK_BATCH != 0)
		return;
	for (; i < end; i++)
		for (j = 0; j < filter->probes; j++)
			__builtin_prefetch(&filter->bytes[textbook_bit(filter, hashes[i], j) >> 3]);
}

#endif							/* TEXTBOOK_H */
