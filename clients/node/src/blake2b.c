/*
 * blake2b.c
 *	  BLAKE2b-512 without a key (RFC 7693), which browsers don't have: what minisign signs.
 */
#include "reader.h"

#include "bf_bytes.h"

#define BLOCK_BYTES 128
#define HASH_BYTES 64
#define ROUNDS 12

static const uint64_t start[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179
};

static const uint8_t order[10][16] = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}
};

static uint64_t
rotate(uint64_t word, unsigned bits)
{
	return word >> bits | word << (64 - bits);
}

static void
mix(uint64_t *v, unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x, uint64_t y)
{
	v[a] += v[b] + x;
	v[d] = rotate(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = rotate(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = rotate(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotate(v[b] ^ v[c], 63);
}

/* Takes a block in; so many bytes were hashed with it. */
static void
compress(uint64_t state[8], const uint8_t block[BLOCK_BYTES], uint64_t hashed, bool last)
{
	uint64_t	m[16];
	uint64_t	v[16];
	unsigned	i;

	for (i = 0; i < 16; i++)
		m[i] = bf_load_le64(block + 8 * i);
	for (i = 0; i < 8; i++)
	{
		v[i] = state[i];
		v[i + 8] = start[i];
	}
	v[12] ^= hashed;
	if (last)
		v[14] = ~v[14];
	for (i = 0; i < ROUNDS; i++)
	{
		const uint8_t *o = order[i % 10];

		mix(v, 0, 4, 8, 12, m[o[0]], m[o[1]]);
		mix(v, 1, 5, 9, 13, m[o[2]], m[o[3]]);
		mix(v, 2, 6, 10, 14, m[o[4]], m[o[5]]);
		mix(v, 3, 7, 11, 15, m[o[6]], m[o[7]]);
		mix(v, 0, 5, 10, 15, m[o[8]], m[o[9]]);
		mix(v, 1, 6, 11, 12, m[o[10]], m[o[11]]);
		mix(v, 2, 7, 8, 13, m[o[12]], m[o[13]]);
		mix(v, 3, 4, 9, 14, m[o[14]], m[o[15]]);
	}
	for (i = 0; i < 8; i++)
		state[i] ^= v[i] ^ v[i + 8];
}

EXPORT("blake2b") void
blake2b(const uint8_t *bytes, size_t length, uint8_t *hash)
{
	uint64_t	state[8];
	uint8_t		block[BLOCK_BYTES];
	size_t		at = 0;
	unsigned	i;

	memcpy(state, start, sizeof state);
	state[0] ^= 0x01010000 ^ HASH_BYTES;
	for (; length - at > BLOCK_BYTES; at += BLOCK_BYTES)
		compress(state, bytes + at, at + BLOCK_BYTES, false);
	memset(block, 0, sizeof block);
	memcpy(block, bytes + at, length - at);
	compress(state, block, length, true);
	for (i = 0; i < 8; i++)
		bf_store_le64(hash + 8 * i, state[i]);
}
