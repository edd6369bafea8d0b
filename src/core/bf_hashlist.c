/*
 * bf_hashlist.c
 *	  Sorting hashes in place, byte by byte from the highest, and merging them.
 *
 * Hashes are evenly spread, so a radix sort that swaps them into their buckets
 * (McIlroy, Bostic and McIlroy, Engineering radix sort, 1993) is done after two
 * or three bytes.  It needs no memory beside the list, and at most eight passes
 * whatever the values are.
 */
#include "bf_hashlist.h"

#define RADIX 256

/* Below this many, inserting each into its place is faster. */
#define FEW 48

/* Hashes sorted between two ticks. */
#define TICK_HASHES (BF_TICK_BYTES / sizeof(uint64_t))

static void
insertion_sort(uint64_t *hashes, size_t count)
{
	size_t		i;

	for (i = 1; i < count; i++)
	{
		uint64_t	hash = hashes[i];
		size_t		j;

		for (j = i; j > 0 && hashes[j - 1] > hash; j--)
			hashes[j] = hashes[j - 1];
		hashes[j] = hash;
	}
}

static inline unsigned
digit(uint64_t hash, unsigned shift)
{
	return (unsigned) (hash >> shift) % RADIX;
}

/* Who is called, and for how many hashes he was not. */
typedef struct ticker
{
	bf_tick		tick;
	size_t		since;
} ticker;

static void
count_ticks(ticker *ticks, size_t hashes)
{
	ticks->since += hashes;
	if (ticks->since >= TICK_HASHES && ticks->tick != NULL)
	{
		ticks->since = 0;
		ticks->tick();
	}
}

/* Moves each hash into its bucket; bucket b ends at end[b]. */
static void
distribute(uint64_t *hashes, size_t count, unsigned shift, size_t *end,
		   ticker *ticks)
{
	size_t		next[RADIX];
	size_t		sizes[RADIX] = {0};
	size_t		sum = 0;
	size_t		i;
	unsigned	b;

	for (i = 0; i < count; i++)
		sizes[digit(hashes[i], shift)]++;
	for (b = 0; b < RADIX; b++)
	{
		next[b] = sum;
		sum += sizes[b];
		end[b] = sum;
	}
	for (b = 0; b < RADIX; b++)
	{
		while (next[b] < end[b])
		{
			uint64_t	hash = hashes[next[b]];
			unsigned	home = digit(hash, shift);

			/* Carry what is in the way on to its own place, until one fits here. */
			while (home != b)
			{
				uint64_t	displaced = hashes[next[home]];

				hashes[next[home]++] = hash;
				hash = displaced;
				home = digit(hash, shift);
			}
			hashes[next[b]++] = hash;
		}
		count_ticks(ticks, sizes[b]);
	}
}

static void
radix_sort(uint64_t *hashes, size_t count, unsigned shift, ticker *ticks)
{
	size_t		end[RADIX];
	size_t		start = 0;
	unsigned	b;

	if (count <= FEW)
	{
		insertion_sort(hashes, count);
		return;
	}
	distribute(hashes, count, shift, end, ticks);
	if (shift == 0)
		return;
	for (b = 0; b < RADIX; b++)
	{
		radix_sort(hashes + start, end[b] - start, shift - 8, ticks);
		start = end[b];
	}
}

/* The bits to shift the highest byte by in which numbers differ. */
static unsigned
first_shift(const uint64_t *numbers, size_t count)
{
	uint64_t	differing = 0;
	unsigned	shift = 0;
	size_t		i;

	for (i = 1; i < count; i++)
		differing |= numbers[i] ^ numbers[0];
	while (shift < 56 && differing >> shift >= RADIX)
		shift += 8;
	return shift;
}

void
bf_hashlist_sort(uint64_t *numbers, size_t count, bf_tick tick)
{
	ticker		ticks = {tick, 0};

	radix_sort(numbers, count, first_shift(numbers, count), &ticks);
}

size_t
bf_hashlist_unique(uint64_t *hashes, size_t count, bf_tick tick)
{
	ticker		ticks = {tick, 0};
	size_t		kept = 0;
	size_t		i;

	if (count == 0)
		return 0;
	bf_hashlist_sort(hashes, count, tick);
	for (i = 1; i < count; i++)
	{
		if (hashes[i] != hashes[kept])
			hashes[++kept] = hashes[i];
		if (i % TICK_HASHES == 0)
			count_ticks(&ticks, TICK_HASHES);
	}
	return kept + 1;
}

bool
bf_hashlist_is_set(const uint64_t *hashes, size_t count)
{
	size_t		i;

	for (i = 1; i < count; i++)
		if (hashes[i - 1] >= hashes[i])
			return false;
	return true;
}

/* From the last hash down, so that what is not yet merged stays in front. */
size_t
bf_hashlist_merge(uint64_t *hashes, size_t count, const uint64_t *other,
				  size_t other_count, bf_tick tick)
{
	ticker		ticks = {tick, 0};
	size_t		total = count + other_count;
	size_t		at = total;
	size_t		i = count;
	size_t		j = other_count;

	while (j > 0)
	{
		uint64_t	b = other[j - 1];
		uint64_t	a = i > 0 ? hashes[i - 1] : 0;
		bool		from_other = i == 0 || b >= a;

		if (i > 0 && a >= b)
			i--;
		if (from_other)
			j--;
		hashes[--at] = from_other ? b : a;
		if (at % TICK_HASHES == 0)
			count_ticks(&ticks, TICK_HASHES);
	}
	/* Hashes that were in both leave a gap in front of what was merged. */
	while (at > i && at < total)
	{
		hashes[i++] = hashes[at++];
		if (at % TICK_HASHES == 0)
			count_ticks(&ticks, TICK_HASHES);
	}
	return i + (total - at);
}
