/*
 * test_forge.c
 *	  What crafted keys do to a filter whose seed is known, and to one whose seed
 *	  is not.
 *
 *	  test_forge FILE COUNT FIRST LAST		prints so many for the filter in a file, other than those from FIRST to LAST
 *
 * XXH64 of 8 bytes with a fixed seed is a permutation of 64-bit words: each step is
 * a multiplication by an odd number, a rotation or an xor with a shifted self, and
 * all of these can be undone.  So an integer key for a wanted hash takes as long as
 * hashing one.
 *
 * Rates are compared with what the filter itself expects for the keys in it, within
 * six standard deviations of the binomial distribution.  The secret seeds are fixed
 * numbers that the crafting code does not use, so every run does the same.
 */
#include <math.h>

#include "bf_estimate.h"
#include "bf_filter.h"
#include "bf_hash.h"
#include "bf_key.h"
#include "files.h"
#include "tap.h"
#include "support.h"

#define KEYS 100000
#define RATE 0.01
#define CRAFTED 20000
#define SECRETS 100

/* Hashes among which a polluting key is chosen. */
#define DRAWS 50

/* The number that an odd one becomes 1 with, mod 2^64 (Newton's iteration). */
static uint64_t
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
static uint64_t
unshift(uint64_t x, unsigned bits)
{
	uint64_t	result = x;
	unsigned	done;

	for (done = bits; done < 64; done += bits)
		result = x ^ result >> bits;
	return result;
}

/* The word that hashes to this with this seed: bf_hash_word backwards. */
static uint64_t
word_of_hash(uint64_t hash, uint64_t seed)
{
	hash = unshift(hash, 32) * inverse(BF_XXH64_PRIME3);
	hash = unshift(hash, 29) * inverse(BF_XXH64_PRIME2);
	hash = unshift(hash, 33);
	hash = bf_rotate_left((hash - BF_XXH64_PRIME4) * inverse(BF_XXH64_PRIME1), 64 - 27);
	hash = (hash ^ (seed + BF_XXH64_PRIME5 + 8)) * inverse(BF_XXH64_PRIME1);
	return bf_rotate_left(hash, 64 - 31) * inverse(BF_XXH64_PRIME2);
}

/* Whether so many passed of count if each does with this probability. */
static bool
as_expected(uint64_t passed, uint64_t count, double rate)
{
	double		mean = (double) count * rate;

	return fabs((double) passed - mean) <= 6 * sqrt(mean * (1 - rate)) + 1;
}

/* How many integer keys of a list pass, by the way that every reader asks. */
static uint64_t
count_passing(const filter *f, const uint64_t *keys, uint64_t count)
{
	uint64_t	passed = 0;
	uint64_t	i;

	for (i = 0; i < count; i++)
	{
		uint8_t		bytes[8];
		size_t		length = bf_key_integer((int64_t) keys[i], bytes);

		passed += bf_contains(&f->header, f->blocks,
							  bf_hash(bytes, length, f->header.seed));
	}
	return passed;
}

/* A filter of keys 1 to KEYS. */
static filter
honest_filter(uint64_t seed)
{
	filter		f = filter_for_rate(KEYS, RATE, seed);

	filter_add_integers(&f, 1, KEYS);
	return f;
}

/* Keys that the filter lets through and that were never added, which are first to last. */
static void
forge(const bf_header *header, const uint8_t *blocks, int64_t first, int64_t last, uint64_t *keys, uint64_t count)
{
	uint64_t	state = 2;
	uint64_t	made = 0;

	while (made < count)
	{
		uint64_t	hash = next_random(&state);
		int64_t		key = (int64_t) word_of_hash(hash, header->seed);

		if ((key < first || key > last) && bf_contains(header, blocks, hash))
			keys[made++] = (uint64_t) key;
	}
}

static void
test_forged(void)
{
	filter		known = honest_filter(0);
	uint64_t   *keys = allocate(CRAFTED * sizeof(uint64_t));
	uint64_t	state = 3;
	uint64_t	passed;
	uint64_t	all = 0;
	double		expected = 0;
	int			i;

	forge(&known.header, known.blocks, 1, KEYS, keys, CRAFTED);
	passed = count_passing(&known, keys, CRAFTED);
	ok(passed == CRAFTED, "known seed: %" PRIu64 " of %d keys crafted for the filter pass",
	   passed, CRAFTED);
	for (i = 0; i < SECRETS; i++)
	{
		filter		secret = honest_filter(next_random(&state));

		all += count_passing(&secret, keys, CRAFTED);
		expected += bf_estimate_rate(&secret.header) / SECRETS;
		filter_free(&secret);
	}
	ok(as_expected(all, (uint64_t) CRAFTED * SECRETS, expected),
	   "%d secret seeds: the same keys pass at rate %.5f, expected %.5f", SECRETS,
	   (double) all / CRAFTED / SECRETS, expected);
	ok((double) all / CRAFTED / SECRETS <= RATE * 1.1,
	   "%d secret seeds: that is the rate promised, %g", SECRETS, RATE);
	filter_free(&known);
	free(keys);
}

/*
 * Without the filter's bytes: the hash 0 has all its probes on one bit, so its key
 * passes any filter of this seed that happens to have that bit.
 */
static void
test_blind(void)
{
	uint64_t	known_passed = 0;
	uint64_t	secret_passed = 0;
	uint64_t	key = word_of_hash(0, 0);
	int			i;

	for (i = 0; i < 1000; i++)
	{
		filter		known = filter_for_rate(1000, RATE, 0);
		filter		secret = filter_for_rate(1000, RATE, (uint64_t) i * 77 + 5);

		filter_add_integers(&known, (uint64_t) i * 1000 + 1, 1000);
		filter_add_integers(&secret, (uint64_t) i * 1000 + 1, 1000);
		known_passed += count_passing(&known, &key, 1);
		secret_passed += count_passing(&secret, &key, 1);
		filter_free(&known);
		filter_free(&secret);
	}
	ok(known_passed < 700,
	   "known seed, unseen filter: the worst key passes %" PRIu64 " filters of 1000, about their fill",
	   known_passed);
	ok(as_expected(secret_passed, 1000, RATE),
	   "secret seed: it passes %" PRIu64 " of 1000", secret_passed);
}

/* How many bits a hash would set anew. */
static unsigned
fresh_bits(const filter *f, uint64_t hash)
{
	const uint8_t *block = f->blocks + bf_block_offset(&f->header, hash);
	unsigned	fresh = 0;
	unsigned	i;

	for (i = 0; i < f->header.probes; i++)
	{
		uint32_t	bit = bf_probe_bit(bf_probe(hash, i), f->header.log2_block_bits);

		fresh += (~(unsigned) block[bit >> 3] >> (bit & 7)) & 1u;
	}
	return fresh;
}

/* Of some hashes, the one that sets the most bits. */
static uint64_t
most_polluting(const filter *f, uint64_t *state)
{
	uint64_t	best = next_random(state);
	int			i;

	for (i = 0; i < DRAWS; i++)
	{
		uint64_t	hash = next_random(state);

		if (fresh_bits(f, hash) > fresh_bits(f, best))
			best = hash;
	}
	return best;
}

/*
 * Somebody who may add keys, as many as the filter is made for, chooses those that
 * set as many new bits as possible.
 */
static void
test_pollution(void)
{
	filter		known = filter_for_rate(KEYS, RATE, 0);
	filter		secret = filter_for_rate(KEYS, RATE, 12345);
	uint64_t	state = 4;
	uint64_t	passed = 0;
	double		rate;
	uint64_t	i;

	for (i = 0; i < KEYS; i++)
	{
		uint64_t	hash = most_polluting(&known, &state);

		bf_add(&known.header, known.blocks, hash);
		bf_add(&secret.header, secret.blocks, bf_hash_word(word_of_hash(hash, 0), 12345));
	}
	for (i = 0; i < CRAFTED * 10; i++)
		passed += bf_contains(&known.header, known.blocks, next_random(&state));
	rate = (double) passed / CRAFTED / 10;
	ok(rate > 2 * RATE && bf_over_capacity(&known.header),
	   "known seed: n keys chosen to pollute give rate %.4f instead of %g, and the filter knows that it is over capacity",
	   rate, RATE);
	rate = bf_estimate_rate(&secret.header);
	ok(rate <= RATE * 1.1 && !bf_over_capacity(&secret.header),
	   "secret seed: the same keys give rate %.4f", rate);
	filter_free(&known);
	filter_free(&secret);
}

static int
print_forged(char **arguments)
{
	uint64_t	count = strtoull(arguments[1], NULL, 10);
	uint64_t   *keys = allocate(count * sizeof *keys);
	bf_header	header;
	size_t		length;
	uint8_t    *bytes = read_file(arguments[0], &length);
	uint64_t	i;

	need(plain_parse(bytes, length, NULL, &header) == BF_OK, arguments[0]);
	forge(&header, bytes + BF_HEADER_BYTES, strtoll(arguments[2], NULL, 10), strtoll(arguments[3], NULL, 10), keys, count);
	for (i = 0; i < count; i++)
		printf("%" PRId64 "\n", (int64_t) keys[i]);
	free(bytes);
	free(keys);
	return 0;
}

int
main(int count, char **arguments)
{
	if (count == 5)
		return print_forged(arguments + 1);
	test_forged();
	test_blind();
	test_pollution();
	return tap_done();
}
