/*
 * test_hashlist.c
 *	  Sorting hashes and dropping repeats, against the C library's qsort.
 *
 *	  test_hashlist KIND COUNT		sorts so many of a kind, for the instruction counter of test/adversary
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

/* Each is a way to meet the sort where it hurts. */
typedef enum kind
{
	RANDOM, RISING, FALLING, EQUAL, REPEATED, LOW_BYTES, LAST_BYTE, FIRST_BYTE, ONE_BYTE, TWO_DIGITS, EXTREMES, INSERTIONS, DEEP, KINDS
} kind;

static const char *const kinds[KINDS] = {
	"random", "rising", "falling", "equal", "repeated", "low-bytes", "last-byte", "first-byte", "one-byte", "two-digits", "extremes",
	"insertions", "deep"
};

/* The i-th of groups of so many that differ in the last byte only, in falling order. */
static uint64_t
in_group(uint64_t i, uint64_t count, uint64_t size)
{
	uint64_t	groups = count / size + 1;
	uint64_t	prefix = (i % groups + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (prefix & ~UINT64_C(0xff)) | (255 - i / groups % 256);
}

/* The i-th of count hashes of a kind. */
static uint64_t
make_hash(kind of, uint64_t i, uint64_t count, uint64_t *random)
{
	static const uint64_t ends[] = {0, UINT64_MAX, 1, UINT64_MAX - 1, UINT64_MAX / 2, UINT64_MAX / 2 + 1};

	switch (of)
	{
		case RISING:
			return UINT64_MAX / (count + 1) * i;
		case FALLING:
			return UINT64_MAX / (count + 1) * (count - i);
		case EQUAL:
			return UINT64_C(0x8877665544332211);
		case REPEATED:
			return (next_random(random) % (count / 10 + 1)) * UINT64_C(0x9e3779b97f4a7c15);
		case LOW_BYTES:			/* one bucket in each of the first bytes: every pass but the last is for nothing */
			return next_random(random) % 65536;
		case LAST_BYTE:
			return UINT64_C(0xabcdef0123456700) | next_random(random) % 256;
		case FIRST_BYTE:
			return next_random(random) << 56 | 0x77;
		case ONE_BYTE:			/* half of them share all bytes but one, another one each time */
			return UINT64_C(0x5555555555555555) ^ (next_random(random) % 3) << (8 * (i % 8));
		case TWO_DIGITS:		/* two values of each byte */
			return (next_random(random) & UINT64_C(0x0101010101010101)) * 255;
		case EXTREMES:
			return ends[next_random(random) % 6];
		case INSERTIONS:		/* just few enough for the sort by insertion, in the worst order for it */
			return in_group(i, count, 47);
		case DEEP:				/* just too many for it, so that few are distributed byte by byte, in vain */
			return in_group(i, count, 50);
		default:
			return next_random(random);
	}
}

static uint64_t *
make_hashes(kind of, size_t count)
{
	uint64_t   *hashes = allocate(count * sizeof *hashes);
	uint64_t	random = count;
	size_t		i;

	for (i = 0; i < count; i++)
		hashes[i] = make_hash(of, i, count, &random);
	return hashes;
}

static bool
same_as_naive(kind of, size_t count)
{
	uint64_t   *values = make_hashes(of, count);
	uint64_t   *sorted = make_hashes(of, count);
	size_t		kept = bf_hashlist_unique(sorted, count, NULL);
	bool		same = kept == naive_unique(values, count) &&
		memcmp(sorted, values, kept * sizeof *values) == 0;

	free(values);
	free(sorted);
	return same;
}

static void
test_kinds(void)
{
	static const size_t counts[] = {
		0, 1, 2, 3, 47, 48, 49, 50, 96, 255, 256, 257, 1000, 4096, 65537, 300000
	};
	unsigned	of;
	size_t		i;

	for (of = 0; of < KINDS; of++)
	{
		bool		holds = true;

		for (i = 0; i < sizeof counts / sizeof *counts; i++)
			holds &= check(same_as_naive((kind) of, counts[i]), "%zu hashes", counts[i]);
		ok(holds, "%s hashes are sorted, each once", kinds[of]);
	}
}

static int
sort_kind(const char *name, size_t count)
{
	unsigned	of = 0;
	uint64_t   *hashes;

	while (of < KINDS && strcmp(kinds[of], name) != 0)
		of++;
	need(of < KINDS, name);
	hashes = make_hashes((kind) of, count);
	bf_hashlist_unique(hashes, count, NULL);
	free(hashes);
	return 0;
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
main(int count, char **arguments)
{
	if (count == 3)
		return sort_kind(arguments[1], strtoull(arguments[2], NULL, 10));
	test_sort();
	ok(bf_hashlist_unique(NULL, 0, NULL) == 0, "no hashes stay no hashes");
	test_kinds();
	test_is_set();
	test_merge();
	return tap_done();
}
