/*
 * batch.h
 *	  Many keys, which are 8-byte words, added to one of our filters and looked up in it.
 */
#ifndef BATCH_H
#define BATCH_H

#include <string.h>

#include "bf_filter.h"

#define BATCH_CHUNK 1024

/* Hashes the first of these keys, as many as a chunk takes; returns how many. */
static inline size_t
batch_hash(uint64_t *hashes, const uint64_t *keys, size_t count)
{
	size_t		length = count < BATCH_CHUNK ? count : BATCH_CHUNK;

	memcpy(hashes, keys, length * sizeof(*hashes));
	bf_hash_words(hashes, length, 0);
	return length;
}

/* How many of the keys are found. */
static inline uint64_t
batch_contains(const bf_header *header, const uint8_t *blocks, const uint64_t *keys, size_t count)
{
	uint64_t	hashes[BATCH_CHUNK];
	uint8_t		answers[BATCH_CHUNK];
	uint64_t	found = 0;
	size_t		i;
	size_t		j;

	for (i = 0; i < count; i += BATCH_CHUNK)
	{
		size_t		length = batch_hash(hashes, keys + i, count - i);

		bf_contains_hashes(header, blocks, hashes, length, answers);
		for (j = 0; j < length; j++)
			found += answers[j];
	}
	return found;
}

static inline void
batch_add(bf_header *header, uint8_t *blocks, const uint64_t *keys, size_t count)
{
	uint64_t	hashes[BATCH_CHUNK];
	size_t		i;

	for (i = 0; i < count; i += BATCH_CHUNK)
		bf_add_hashes(header, blocks, hashes, batch_hash(hashes, keys + i, count - i));
}

#endif							/* BATCH_H */
