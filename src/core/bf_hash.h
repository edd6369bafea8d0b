/*
 * bf_hash.h
 *	  From key bytes to bits: hash, part, block and probes.
 *
 * One 64-bit hash decides everything.  Its high bits choose the block, a mix of
 * it the part of a set, and multiplication by powers of an odd constant the bits
 * within the block.  Double hashing is not used: inside a small block its probes
 * repeat too often (at 1e-4 twice the promised rate).
 *
 * These functions are part of the format: see doc/FORMAT.md.
 */
#ifndef BF_HASH_H
#define BF_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "bf_bytes.h"
#include "bf_limits.h"

#define BF_PROBE_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)
#define BF_PART_MULTIPLIER	UINT64_C(0xd6e8feb86659fd93)

/* The hash of a key's bytes.  length may be 0; bytes may then be NULL. */
extern uint64_t bf_hash(const void *bytes, size_t length, uint64_t seed);

/* XXH64's constants; see its specification, section "XXH64 algorithm". */
#define BF_XXH64_PRIME1 UINT64_C(0x9e3779b185ebca87)
#define BF_XXH64_PRIME2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define BF_XXH64_PRIME3 UINT64_C(0x165667b19e3779f9)
#define BF_XXH64_PRIME4 UINT64_C(0x85ebca77c2b2ae63)
#define BF_XXH64_PRIME5 UINT64_C(0x27d4eb2f165667c5)

static inline uint64_t
bf_rotate_left(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

/*
 * XXH64 of exactly 8 bytes, as most key types have, given as the number that they
 * are in little-endian order.  Written out, since the library's function for any
 * length costs twice as much for so short a key.
 */
static inline uint64_t
bf_hash_word(uint64_t word, uint64_t seed)
{
	uint64_t	hash = seed + BF_XXH64_PRIME5 + 8;

	hash ^= bf_rotate_left(word * BF_XXH64_PRIME2, 31) * BF_XXH64_PRIME1;
	hash = bf_rotate_left(hash, 27) * BF_XXH64_PRIME1 + BF_XXH64_PRIME4;
	hash ^= hash >> 33;
	hash *= BF_XXH64_PRIME2;
	hash ^= hash >> 29;
	hash *= BF_XXH64_PRIME3;
	return hash ^ hash >> 32;
}

/* The same of many, in place. */
static inline void
bf_hash_words(uint64_t *words, size_t count, uint64_t seed)
{
	size_t		i;

	for (i = 0; i < count; i++)
		words[i] = bf_hash_word(words[i], seed);
}

/* The checksum of a filter: XXH64, seed 0, of the header's part and the blocks. */
extern uint64_t bf_checksum(const uint8_t *header, size_t header_length,
							const uint8_t *blocks, uint64_t blocks_length,
							bf_tick tick);

/* The high 64 bits of a 128-bit product: maps x evenly to 0 .. range - 1. */
static inline uint64_t
bf_reduce(uint64_t x, uint64_t range)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 bf_uint128;

	return (uint64_t) (((bf_uint128) x * range) >> 64);
#else
	uint64_t	low = (x & UINT32_MAX) * (range & UINT32_MAX);
	uint64_t	mid1 = (x >> 32) * (range & UINT32_MAX) + (low >> 32);
	uint64_t	mid2 = (x & UINT32_MAX) * (range >> 32) + (mid1 & UINT32_MAX);

	return (x >> 32) * (range >> 32) + (mid1 >> 32) + (mid2 >> 32);
#endif
}

/* The block of a hash in a filter of so many blocks; it never falls as hash grows. */
static inline uint32_t
bf_block_of(uint64_t hash, uint32_t blocks)
{
	return (uint32_t) bf_reduce(hash, blocks);
}

/* The part of a hash in a set of so many parts, independent of its block. */
static inline uint32_t
bf_part_of(uint64_t hash, uint32_t parts)
{
	hash ^= hash >> 32;
	hash *= BF_PART_MULTIPLIER;
	hash ^= hash >> 32;
	return (uint32_t) bf_reduce(hash, parts);
}

/* The bit within the block that a probe asks for. */
static inline uint32_t
bf_probe_bit(uint64_t probe, unsigned log2_block_bits)
{
	return (uint32_t) (probe >> (64 - log2_block_bits));
}

/*
 * Probe i, from 0, of a hash: multiplication by a power of BF_PROBE_MULTIPLIER.  So probes
 * need not wait for each other.
 */
extern const uint64_t bf_probe_powers[BF_MAX_PROBES];

static inline uint64_t
bf_probe(uint64_t hash, unsigned i)
{
	return hash * bf_probe_powers[i];
}

/*
 * SHA-256 (FIPS 180-4), of bytes that are there as a whole.  A change by day is known by its
 * key's hash and by the beginning of this digest: two keys of one hash can be made, of one
 * digest they can't.  Neither the library nor WebAssembly has a library for it.
 */
#define BF_SHA256_BYTES 32

extern void bf_sha256(const void *bytes, size_t length, uint8_t digest[BF_SHA256_BYTES]);

#endif							/* BF_HASH_H */
