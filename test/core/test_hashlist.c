/*
 * test_hashlist.c
 *	  Sorting hashes and dropping repeats, against the C library's qsort.
 */
#include <string.h>

#include "bf_hashlist.h"
#include "tap.h"
#include "support.h"

static int
compare_hashes(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static size_t
naive_unique(uint64_t *hashes, size_t count)
{
	size_t		kept = 0;
	size_t		i;

	qsort(hashes, count, sizeof *hashes, compare_hashes);
	for (i = 0; i < count; i++)
		if (kept == 0 || hashes[i] != hashes[kept - 1])
			hashes[kept++] = hashes[i];
	return kept;
}

/* Makes the i-th of count values. */
typedef uint64_t (*generator) (size_t i, size_t count, uint64_t *random);

static bool
same_as_naive(generator make, size_t count)
{
	size_t		size = count * sizeof(uint64_t);
	uint64_t   *values = allocate(size);
	uint64_t   *sorted;
	uint64_t	random = count;
	size_t		kept;
	size_t		i;
	bool		same;

	for (i = 0; i < count; i++)
		values[i] = make(i, count, &random);
	sorted = (uint64_t *) (void *) exact_copy(values, size);
	kept = bf_hashlist_unique(sorted, count, NULL);
	same = kept == naive_unique(values, count) &&
		memcmp(sorted, values, kept * sizeof *values) == 0;
	free(values);
	free(sorted);
	return same;
}

static bool
holds_for(generator make)
{
	static const size_t counts[] = {
		0, 1, 2, 3, 47, 48, 49, 50, 96, 255, 256, 257, 1000, 4096, 65537, 300000
	};
	bool		holds = true;
	size_t		i;

	for (i = 0; i < sizeof counts / sizeof *counts; i++)
		holds &= check(same_as_naive(make, counts[i]), "%zu hashes", counts[i]);
	return holds;
}

static uint64_t
any(size_t i, size_t count, uint64_t *random)
{
	(void) i;
	(void) count;
	return next_random(random);
}

static uint64_t
sorted(size_t i, size_t count, uint64_t *random)
{
	(void) random;
	return UINT64_MAX / (count + 1) * i;
}

static uint64_t
reversed(size_t i, size_t count, uint64_t *random)
{
	return sorted(count - i, count, random);
}

static uint64_t
equal(size_t i, size_t count, uint64_t *random)
{
	(void) i;
	(void) count;
	(void) random;
	return UINT64_C(0x8877665544332211);
}

static uint64_t
repeated(size_t i, size_t count, uint64_t *random)
{
	(void) i;
	return (next_random(random) % (count / 10 + 1)) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t
same_high_bytes(size_t i, size_t count, uint64_t *random)
{
	(void) i;
	(void) count;
	return UINT64_C(0xabcdef0123456700) | next_random(random) % 256;
}

static uint64_t
same_low_bytes(size_t i, size_t count, uint64_t *random)
{
	(void) i;
	(void) count;
	return next_random(random) << 56 | 0x77;
}

/* Half of the values share all bytes but one, another one each time. */
static uint64_t
one_byte_differs(size_t i, size_t count, uint64_t *random)
{
	(void) count;
	return UINT64_C(0x5555555555555555) ^ (next_random(random) % 3) << (8 * (i % 8));
}

static uint64_t
extremes(size_t i, size_t count, uint64_t *random)
{
	static const uint64_t values[] = {
		0, UINT64_MAX, 1, UINT64_MAX - 1, UINT64_C(0x7fffffffffffffff),
		UINT64_C(0x8000000000000000)
	};

	(void) i;
	(void) count;
	return values[next_random(random) % 6];
}

/* Merges two sets of some of the numbers below range, and compares with all sorted. */
static bool
merges(size_t count, size_t other_count, uint64_t range)
{
	size_t		total = count + other_count;
	uint64_t   *both = allocate(total * sizeof *both);
	uint64_t   *other = allocate(other_count * sizeof *other);
	uint64_t   *all;
	uint64_t	random = total + range;
	size_t		kept;
	size_t		i;
	bool		same;

	for (i = 0; i < count; i++)
		both[i] = next_random(&random) % range;
	for (i = 0; i < other_count; i++)
		other[i] = next_random(&random) % range;
	count = naive_unique(both, count);
	other_count = naive_unique(other, other_count);
	memcpy(both + count, other, other_count * sizeof *both);
	all = (uint64_t *) (void *) exact_copy(both, (count + other_count) * sizeof *both);
	same = bf_hashlist_is_set(both, count) && bf_hashlist_is_set(other, other_count);
	kept = bf_hashlist_merge(both, count, other, other_count, NULL);
	same &= kept == naive_unique(all, count + other_count) &&
		memcmp(both, all, kept * sizeof *both) == 0 && bf_hashlist_is_set(both, kept);
	free(both);
	free(other);
	free(all);
	return same;
}

static void
test_merge(void)
{
	static const size_t counts[] = {0, 1, 2, 5, 100, 3000};
	static const uint64_t ranges[] = {1, 3, 150, 4000, UINT64_MAX};
	const size_t last = sizeof counts / sizeof *counts;
	bool		holds = true;
	size_t		i;
	size_t		j;
	size_t		k;

	for (i = 0; i < last; i++)
		for (j = 0; j < last; j++)
			for (k = 0; k < sizeof ranges / sizeof *ranges; k++)
				holds &= check(merges(counts[i], counts[j], ranges[k]), "%zu and %zu hashes below %" PRIu64,
							   counts[i], counts[j], ranges[k]);
	ok(holds, "merging two sets is sorting both");
}

static void
test_is_set(void)
{
	static const uint64_t hashes[] = {0, 3, 4, 4, 2, UINT64_MAX};

	ok(bf_hashlist_is_set(NULL, 0) && bf_hashlist_is_set(hashes, 1) && bf_hashlist_is_set(hashes, 3) &&
	   bf_hashlist_is_set(hashes + 4, 2) && !bf_hashlist_is_set(hashes, 4) && !bf_hashlist_is_set(hashes + 3, 2),
	   "a set rises from hash to hash");
}

/* Numbers of so many bits, each with repeats. */
static bool
sorts(unsigned bits, size_t count)
{
	size_t		size = count * sizeof(uint64_t);
	uint64_t   *numbers = allocate(size);
	uint64_t   *naive;
	uint64_t	random = bits;
	size_t		i;
	bool		same;

	for (i = 0; i < count; i++)
		numbers[i] = next_random(&random) >> (64 - bits) & ~(uint64_t) (i % 3);
	naive = (uint64_t *) (void *) exact_copy(numbers, size);
	bf_hashlist_sort(numbers, count, NULL);
	qsort(naive, count, sizeof *naive, compare_hashes);
	same = memcmp(numbers, naive, size) == 0;
	free(numbers);
	free(naive);
	return same;
}

static void
test_sort(void)
{
	bool		holds = true;
	unsigned	bits;

	for (bits = 1; bits <= 64; bits++)
		holds &= check(sorts(bits, 40), "%u bits", bits) && check(sorts(bits, 5000), "%u bits", bits);
	ok(holds, "numbers of any length are sorted, and repeats stay");
}

int
main(void)
{
	test_sort();
	ok(bf_hashlist_unique(NULL, 0, NULL) == 0, "no hashes stay no hashes");
	ok(holds_for(any), "random hashes are sorted, each once");
	ok(holds_for(sorted), "sorted hashes stay so");
	ok(holds_for(reversed), "reversed hashes are sorted");
	ok(holds_for(equal), "equal hashes become one");
	ok(holds_for(repeated), "of each hash one is kept");
	ok(holds_for(same_high_bytes), "hashes that differ in their last byte only");
	ok(holds_for(same_low_bytes), "hashes that differ in their first byte only");
	ok(holds_for(one_byte_differs), "hashes that differ in one byte, anywhere");
	ok(holds_for(extremes), "the least and the greatest hashes");
	test_is_set();
	test_merge();
	return tap_done();
}
