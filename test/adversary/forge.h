/*
 * forge.h
 *	  Keys whose hash is chosen: what somebody who knows the seed can do.
 *
 * XXH64 of 8 bytes with a fixed seed is a permutation of 64-bit words: each step is
 * a multiplication by an odd number, a rotation or an xor with a shifted self, and
 * all of these can be undone.  So an integer key for a wanted hash takes as long as
 * hashing one.
 */
#ifndef FORGE_H
#define FORGE_H

#include <stdint.h>

#include "bf_hash.h"

/* The number that an odd one becomes 1 with, mod 2^64 (Newton's iteration). */
static inline uint64_t
inverse(uint64_t odd)
{
	uint64_t	x = odd;
	int			i;

	/* Right in 3 bits at first, in twice as many after each round. */
	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* Undoes x ^= x >> bits. */
static inline uint64_t
unshift(uint64_t x, unsigned bits)
{
	uint64_t	result = x;
	unsigned	done;

	for (done = bits; done < 64; done += bits)
		result = x ^ result >> bits;
	return result;
}

/* The word that hashes to this with this seed: bf_hash_word backwards. */
static inline uint64_t
word_of_hash(uint64_t hash, uint64_t seed)
{
	hash = unshift(hash, 32) * inverse(BF_XXH64_PRIME3);
	hash = unshift(hash, 29) * inverse(BF_XXH64_PRIME2);
	hash = unshift(hash, 33);
	hash = bf_rotate_left((hash - BF_XXH64_PRIME4) * inverse(BF_XXH64_PRIME1), 64 - 27);
	hash = (hash ^ (seed + BF_XXH64_PRIME5 + 8)) * inverse(BF_XXH64_PRIME1);
	return bf_rotate_left(hash, 64 - 31) * inverse(BF_XXH64_PRIME2);
}

#endif							/* FORGE_H */
