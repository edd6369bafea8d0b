/*
 * test_hash.c
 *	  From bytes to hash, part, block and probes.
 *
 * XXH64 is written here a second time, plainly and from its specification, and
 * compared for every length that takes another path.
 */
#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "tap.h"
#include "support.h"

#define PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME_3 UINT64_C(0x165667b19e3779f9)
#define PRIME_4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME_5 UINT64_C(0x27d4eb2f165667c5)

static uint64_t
rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static uint64_t
xxh_round(uint64_t lane, uint64_t input)
{
	return rotate(lane + input * PRIME_2, 31) * PRIME_1;
}

/* Steps 1 to 3 of the specification: whole stripes of 32 bytes. */
static uint64_t
xxh_stripes(const uint8_t **at, size_t *left, uint64_t seed)
{
	uint64_t	lane[4] = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};
	uint64_t	hash;
	unsigned	i;

	for (; *left >= 32; *left -= 32)
		for (i = 0; i < 4; i++, *at += 8)
			lane[i] = xxh_round(lane[i], bf_load_le(*at, 8));
	hash = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) +
		rotate(lane[3], 18);
	for (i = 0; i < 4; i++)
		hash = (hash ^ xxh_round(0, lane[i])) * PRIME_1 + PRIME_4;
	return hash;
}

static uint64_t
xxh64(const uint8_t *at, size_t length, uint64_t seed)
{
	size_t		left = length;
	uint64_t	hash = length >= 32 ? xxh_stripes(&at, &left, seed) : seed + PRIME_5;

	hash += length;
	for (; left >= 8; left -= 8, at += 8)
		hash = rotate(hash ^ xxh_round(0, bf_load_le(at, 8)), 27) * PRIME_1 + PRIME_4;
	for (; left >= 4; left -= 4, at += 4)
		hash = rotate(hash ^ bf_load_le(at, 4) * PRIME_1, 23) * PRIME_2 + PRIME_3;
	for (; left > 0; left--, at++)
		hash = rotate(hash ^ *at * PRIME_5, 11) * PRIME_1;
	hash = (hash ^ hash >> 33) * PRIME_2;
	hash = (hash ^ hash >> 29) * PRIME_3;
	return hash ^ hash >> 32;
}

static void
fill_random(uint8_t *bytes, size_t length, uint64_t seed)
{
	size_t		i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t) next_random(&seed);
}

static void
test_hash(void)
{
	uint8_t		bytes[1000];
	uint64_t	random = 5;
	bool		holds = true;
	size_t		i;

	for (i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t) (i * 7 + 3);
	ok(bf_hash(NULL, 0, 0) == UINT64_C(0xef46db3751d8e999),
	   "the hash of no bytes, which may be NULL, is the published one");
	ok(bf_hash("abc", 3, 42) == UINT64_C(0x13c1d910702770e6) &&
	   bf_hash(bytes, 1000, UINT64_C(0xdeadbeefcafebabe)) ==
	   UINT64_C(0xe9d57553e8fa6cfe),
	   "the hashes of FORMAT.md come out");
	for (i = 0; i <= 300; i++)
	{
		uint8_t    *copy = allocate(i + 8);
		size_t		shift = i % 8;
		uint64_t	seed = next_random(&random);

		fill_random(copy, i + 8, i);
		holds &= check(bf_hash(copy + shift, i, seed) == xxh64(copy + shift, i, seed),
					   "length %zu", i);
		free(copy);
	}
	ok(holds, "hashes are XXH64 for lengths 0 to 300 at any alignment");
}

/* Sixty-four words, hashed alone, together, and as the bytes that they are. */
static void
test_words(void)
{
	uint64_t	words[64];
	uint64_t	together[64];
	uint8_t		bytes[8];
	uint64_t	random = 8;
	bool		alone = true;
	bool		many = true;
	unsigned	i;

	for (i = 0; i < 64; i++)
		together[i] = words[i] = next_random(&random) >> i;
	bf_hash_words(together, 64, random);
	for (i = 0; i < 64; i++)
	{
		bf_store_le(bytes, 8, words[i]);
		alone &= bf_hash_word(words[i], random) == xxh64(bytes, 8, random);
		many &= together[i] == bf_hash_word(words[i], random);
	}
	ok(alone, "the hash of a word is that of its 8 bytes, the least first");
	ok(many, "bf_hash_words hashes each word in place");
	bf_hash_words(words, 0, 1);
	ok(words[0] == next_random(&(uint64_t) {8}), "or none");
}

static void
test_probes(void)
{
	uint64_t	random = 9;
	bool		holds = true;
	unsigned	round;
	unsigned	i;

	for (round = 0; round < 100; round++)
	{
		uint64_t	hash = next_random(&random);
		uint64_t	probe = hash;

		for (i = 0; i < BF_MAX_PROBES; i++)
			holds &= bf_probe(hash, i) == (probe *= BF_PROBE_MULTIPLIER);
	}
	ok(holds, "each of the 32 probes at once is the one that steps lead to");
}

static void
test_checksum(void)
{
	static const size_t lengths[] = {
		0, 1, 31, 32, 33, 64, 4096, 2097151, 2097152, 2097153, 5000000
	};
	size_t		longest = 5000000 + 56;
	uint8_t    *bytes = allocate(longest);
	bool		holds = true;
	size_t		i;

	fill_random(bytes, longest, 1);
	for (i = 0; i < sizeof lengths / sizeof *lengths; i++)
		holds &= check(bf_checksum(bytes, 56, bytes + 56, lengths[i], NULL) ==
					   xxh64(bytes, 56 + lengths[i], 0), "length %zu", lengths[i]);
	ok(holds, "the checksum is XXH64 of the two pieces as one");
	free(bytes);
}

/* The high half of a product by long multiplication of bytes. */
static uint64_t
high_half(uint64_t x, uint64_t y)
{
	uint32_t	digits[17] = {0};
	unsigned	i;
	unsigned	j;
	uint64_t	high = 0;

	for (i = 0; i < 8; i++)
	{
		uint32_t	carry = 0;

		for (j = 0; j < 8; j++)
		{
			uint32_t	sum = digits[i + j] + carry +
				(uint32_t) (x >> 8 * i & 255) * (uint32_t) (y >> 8 * j & 255);

			digits[i + j] = sum & 255;
			carry = sum >> 8;
		}
		digits[i + 8] = carry;
	}
	for (i = 0; i < 8; i++)
		high |= (uint64_t) digits[8 + i] << 8 * i;
	return high;
}

static void
test_reduce(void)
{
	static const uint64_t ends[] = {
		0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(0x100000000),
		UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_MAX
	};
	uint64_t	random = 6;
	bool		holds = true;
	unsigned	i;
	unsigned	j;

	for (i = 0; i < 10; i++)
		for (j = 0; j < 10; j++)
			holds &= check(bf_reduce(ends[i], ends[j]) == high_half(ends[i], ends[j]),
						   "%" PRIx64 " %" PRIx64, ends[i], ends[j]);
	for (i = 0; i < 100000; i++)
	{
		uint64_t	x = next_random(&random);
		uint64_t	range = next_random(&random) >> (i % 64);

		holds &= check(bf_reduce(x, range) == high_half(x, range),
					   "%" PRIx64 " %" PRIx64, x, range);
	}
	ok(holds, "bf_reduce is the high half of the product");
}

static void
test_block(void)
{
	static const uint32_t counts[] = {1, 2, 3, 7, 1000, 8388543, UINT32_MAX};
	uint64_t	random = 7;
	bool		ends = true;
	bool		rises = true;
	bool		folds = true;
	unsigned	i;
	unsigned	c;

	for (c = 0; c < sizeof counts / sizeof *counts; c++)
	{
		uint32_t	blocks = counts[c];
		uint64_t	hash = 0;
		uint32_t	last = 0;

		ends &= bf_block_of(0, blocks) == 0 && bf_block_of(UINT64_MAX, blocks) == blocks - 1;
		for (i = 0; i < 10000; i++)
		{
			uint64_t	step = next_random(&random) >> 14;

			if (hash > UINT64_MAX - step)
				break;
			hash += step;
			rises &= bf_block_of(hash, blocks) >= last;
			last = bf_block_of(hash, blocks);
		}
	}
	for (i = 0; i < 100000; i++)
	{
		uint64_t	hash = next_random(&random);

		folds &= bf_block_of(hash, 720720) / 13 == bf_block_of(hash, 720720 / 13);
	}
	ok(ends, "the least hash is in the first block, the greatest in the last");
	ok(bf_part_of(UINT64_MAX, 1) == 0 && bf_part_of(UINT64_MAX, 65535) < 65535, "a part is below the number of parts");
	ok(rises, "the block never falls as the hash grows");
	ok(folds, "a block's number divided is the block's number among fewer");
}

/* Chi-square of counts that should be equal. */
static double
chi_square(const uint32_t *counts, unsigned cells, double expected)
{
	double		sum = 0.0;
	unsigned	i;

	for (i = 0; i < cells; i++)
		sum += (counts[i] - expected) * (counts[i] - expected) / expected;
	return sum;
}

/* 0.9999 quantiles for 255 degrees of freedom. */
#define CHI_SQUARE_255 347.7

static void
test_evenness(void)
{
	uint32_t	in_part[256] = {0};
	uint32_t	in_block[256] = {0};
	uint32_t	at_bit[256] = {0};
	uint64_t	kept = 0;
	uint64_t	key;

	for (key = 0; key < 2560000; key++)
	{
		uint64_t	hash = integer_hash(key, 3);

		in_part[bf_part_of(hash, 256)]++;
		if (bf_part_of(hash, 16) != 5)
			continue;
		kept++;
		in_block[bf_block_of(hash, 256)]++;
		at_bit[bf_probe_bit(bf_probe(hash, 0), 9) / 2]++;
	}
	ok(chi_square(in_part, 256, 10000.0) < CHI_SQUARE_255,
	   "keys spread evenly over 256 parts");
	ok(chi_square(in_block, 256, (double) kept / 256) < CHI_SQUARE_255,
	   "the keys of one part spread evenly over 256 blocks");
	ok(chi_square(at_bit, 256, (double) kept / 256) < CHI_SQUARE_255,
	   "the first probes of one part spread evenly over a block");
}

int
main(void)
{
	test_hash();
	test_words();
	test_probes();
	test_checksum();
	test_reduce();
	test_block();
	test_evenness();
	return tap_done();
}
