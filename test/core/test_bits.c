/*
 * test_bits.c
 *	  Counting, OR and AND, against loops over single bits.
 */
#include <string.h>

#include "bf_bits.h"
#include "tap.h"
#include "support.h"

/* Twice the strips in which the core works, and some blocks more. */
#define LONGEST (2 * 8192 + 5 * 64)

static uint64_t
naive_count(const uint8_t *bytes, size_t length)
{
	uint64_t	sum = 0;
	size_t		i;
	unsigned	bit;

	for (i = 0; i < length; i++)
		for (bit = 0; bit < 8; bit++)
			sum += (unsigned) bytes[i] >> bit & 1u;
	return sum;
}

typedef uint64_t (*combination) (uint8_t *target, const uint8_t *source,
								 uint64_t length, bf_tick tick);

static uint8_t
naive_byte(combination combine, uint8_t a, uint8_t b)
{
	return (uint8_t) (combine == bf_or_bits ? a | b : a & b);
}

/* Combines the ends of exact memory at some alignment and compares each byte. */
static bool
combines(combination combine, size_t length, size_t shift, uint64_t *random)
{
	uint8_t    *target = allocate(length + shift);
	uint8_t    *source = allocate(length + 7 - shift);
	uint8_t    *wanted = allocate(length);
	uint64_t	count;
	size_t		i;
	bool		same;

	fill_random(target, length + shift, random);
	fill_random(source, length + 7 - shift, random);
	for (i = 0; i < length; i++)
		wanted[i] = naive_byte(combine, target[shift + i], source[7 - shift + i]);
	count = combine(target + shift, source + 7 - shift, length, NULL);
	same = memcmp(target + shift, wanted, length) == 0 &&
		count == naive_count(wanted, length);
	free(target);
	free(source);
	free(wanted);
	return same;
}

static void
test_combinations(void)
{
	uint64_t	random = 11;
	bool		or_holds = true;
	bool		and_holds = true;
	size_t		length;

	for (length = 0; length <= LONGEST; length += 64)
	{
		size_t		shift = length / 64 % 8;

		or_holds &= check(combines(bf_or_bits, length, shift, &random),
						  "length %zu", length);
		and_holds &= check(combines(bf_and_bits, length, shift, &random),
						   "length %zu", length);
	}
	ok(or_holds, "OR gives the bits and the count of a plain loop at any "
	   "alignment and length");
	ok(and_holds, "AND gives the bits and the count of a plain loop at any "
	   "alignment and length");
}

static bool
counts(size_t length, size_t shift, uint64_t *random)
{
	uint8_t    *bytes = allocate(length + shift);
	bool		same;

	fill_random(bytes, length + shift, random);
	same = bf_count_bits(bytes + shift, length, NULL) ==
		naive_count(bytes + shift, length);
	free(bytes);
	return same;
}

static void
test_count(void)
{
	uint64_t	random = 12;
	bool		holds = true;
	size_t		length;
	size_t		shift;

	for (length = 0; length <= LONGEST; length += 64)
		for (shift = 0; shift < 8; shift += length < 1024 ? 1 : 3)
			holds &= check(counts(length, shift, &random), "length %zu + %zu",
						   length, shift);
	ok(holds, "counting agrees with a plain loop at any alignment and length");
	ok(counts(2 * 1024 * 1024 - 64, 1, &random) && counts(2 * 1024 * 1024, 0, &random) &&
	   counts(2 * 1024 * 1024 + 64, 5, &random), "and around the length of a tick");
}

int
main(void)
{
	test_combinations();
	test_count();
	return tap_done();
}
