/*
 * bf_sizing.c
 *	  How large a filter must be.
 *
 * Bits per key are searched in thousandths of a bit; the rest is integers.  The
 * search runs in the limit of many blocks, so that bits per key, block and
 * probes depend on p alone, and a last step checks the filter at hand exactly.
 */
#include "bf_sizing.h"

#include <math.h>

#define LN_2 0.69314718055994530942

/* Thousandths of a bit per key beyond which a rate counts as out of reach. */
#define MAX_MILLIBITS ((uint64_t) 1 << 50)

/* Blocks beyond which a filter is just far too large; keeps 64 bits from wrapping. */
#define MAX_BLOCKS (UINT64_MAX >> 20)

/* Standard deviations of its number of keys for which a part has room. */
#define PART_SPREAD 6.0

bool
bf_capacity_valid(uint64_t n)
{
	return n >= 1 && n <= BF_MAX_CAPACITY;
}

bool
bf_rate_valid(double p)
{
	return p > 0.0 && p < 1.0;
}

/* A filter has whole probes: above one half the best is one, not a fraction. */
double
bf_ideal_bits_per_key(double p)
{
	if (p > 0.5)
		return -1.0 / bf_ln1p(-p);
	return -bf_ln(p) / (LN_2 * LN_2);
}

/* Rate of a large filter with so many bits per key. */
static double
rate_at(double bits_per_key, unsigned log2_block_bits, unsigned probes)
{
	bf_geometry geometry = {0, log2_block_bits, probes};

	return bf_expect_load((double) ((uint64_t) 1 << log2_block_bits) / bits_per_key,
						  &geometry).rate;
}

/*
 * The numbers of probes among which the best for a rate is found: blocks want
 * fewer than the textbook's log2(1/p), never below half of it.
 */
typedef struct probe_range
{
	unsigned	first;
	unsigned	last;
} probe_range;

static probe_range
probes_for_rate(double p)
{
	double		ideal = -bf_ln(p) / LN_2;
	probe_range range;

	if (ideal > BF_MAX_PROBES)
		ideal = BF_MAX_PROBES;
	range.first = (unsigned) (ideal / 2.0);
	range.last = (unsigned) ideal + 2;
	if (range.first < 1)
		range.first = 1;
	if (range.last > BF_MAX_PROBES)
		range.last = BF_MAX_PROBES;
	return range;
}

/* The probes that give n keys in one block the lowest rate, and that rate. */
static double
best_of_one_block(uint64_t n, double p, unsigned log2_block_bits, unsigned *probes)
{
	probe_range range = probes_for_rate(p);
	double		best = 1.0;
	unsigned	k;

	for (k = range.first; k <= range.last; k++)
	{
		bf_geometry geometry = {1, log2_block_bits, k};
		double		rate = bf_expect((double) n, &geometry).rate;

		if (rate < best)
		{
			best = rate;
			*probes = k;
		}
	}
	return best;
}

/* Whether some number of probes reaches p within the allowed excess. */
static bool
excess_allowed(double p, unsigned log2_block_bits)
{
	double		bits_per_key = BF_MAX_EXCESS * bf_ideal_bits_per_key(p);
	probe_range range = probes_for_rate(p);
	unsigned	k;

	for (k = range.first; k <= range.last; k++)
		if (rate_at(bits_per_key, log2_block_bits, k) <= p)
			return true;
	return false;
}

/* The fewest thousandths of a bit per key, between low (too few) and high. */
static uint64_t
search_millibits(double p, unsigned log2_block_bits, unsigned probes,
				 uint64_t low, uint64_t high)
{
	while (high - low > 1)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (rate_at((double) middle / 1000.0, log2_block_bits, probes) <= p)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* The fewest thousandths of a bit per key for p, and the probes that need them. */
static uint64_t
best_millibits(double p, unsigned log2_block_bits, unsigned *probes)
{
	probe_range range = probes_for_rate(p);
	uint64_t	best = MAX_MILLIBITS;
	unsigned	k;

	for (k = range.first; k <= range.last; k++)
	{
		uint64_t	high = (uint64_t) (2000.0 * bf_ideal_bits_per_key(p)) + 1;

		while (high < best && rate_at((double) high / 1000.0, log2_block_bits, k) > p)
			high *= 2;
		if (high >= best)
			high = best - 1;
		if (rate_at((double) high / 1000.0, log2_block_bits, k) <= p)
		{
			best = search_millibits(p, log2_block_bits, k, 0, high);
			*probes = k;
		}
	}
	return best;
}

/*
 * ceil(n * millibits / 1000 / bits of a block), saturated.  Large numbers are
 * rounded up a little further so that the filter can be folded: see
 * BF_FOLD_GRAIN.
 */
static uint64_t
blocks_for(uint64_t n, uint64_t millibits, unsigned log2_block_bits)
{
	uint64_t	per_block = (uint64_t) 1000 << log2_block_bits;
	uint64_t	blocks;
	uint64_t	grain = 1;

	if (n > (UINT64_MAX - per_block) / millibits)
		return MAX_BLOCKS;
	blocks = (n * millibits + per_block - 1) / per_block;
	while (grain * 2 <= blocks / BF_FOLD_GRAIN)
		grain *= 2;
	return (blocks + grain - 1) / grain * grain;
}

static void
finish_sizing(bf_sizing *sizing)
{
	sizing->expected_rate =
		bf_expect((double) sizing->capacity, &sizing->geometry).rate;
}

bool
bf_size_for_rate(uint64_t n, double p, bf_sizing *sizing)
{
	bf_geometry *geometry = &sizing->geometry;
	unsigned	log2 = BF_MIN_LOG2_BLOCK;
	uint64_t	millibits;

	sizing->capacity = n;
	sizing->rate = p;
	for (;; log2++)
	{
		geometry->log2_block_bits = log2;
		geometry->blocks = 1;
		if (n <= (uint64_t) 1 << (log2 + 4) &&
			best_of_one_block(n, p, log2, &geometry->probes) <= p)
		{
			finish_sizing(sizing);
			return true;
		}
		if (log2 == BF_MAX_LOG2_BLOCK || excess_allowed(p, log2))
			break;
	}
	millibits = best_millibits(p, log2, &geometry->probes);
	if (millibits == MAX_MILLIBITS || (double) n / 18446744073709551616.0 >= p)
		return false;
	geometry->blocks = blocks_for(n, millibits, log2);
	finish_sizing(sizing);
	/* Few blocks, or a rate near that of equal hashes, may want some more. */
	while (sizing->expected_rate > p && geometry->blocks < MAX_BLOCKS)
	{
		geometry->blocks += 1 + geometry->blocks / 4096;
		finish_sizing(sizing);
	}
	return true;
}

void
bf_size_for_bits(uint64_t m, unsigned k, bf_sizing *sizing)
{
	bf_geometry *geometry = &sizing->geometry;
	double		bits_per_key = k / LN_2;
	unsigned	log2 = BF_MIN_LOG2_BLOCK;
	uint64_t	bits;

	/* until the rate is within the allowed excess */
	while (log2 < BF_MAX_LOG2_BLOCK && m > (uint64_t) 1 << log2 &&
		   BF_MAX_EXCESS * bf_ideal_bits_per_key(rate_at(bits_per_key, log2, k)) < bits_per_key)
		log2++;
	geometry->log2_block_bits = log2;
	geometry->probes = k;
	geometry->blocks = m / ((uint64_t) 1 << log2) +
		(m % ((uint64_t) 1 << log2) != 0);
	if (geometry->blocks > MAX_BLOCKS)
		geometry->blocks = MAX_BLOCKS;
	bits = geometry->blocks << log2;
	sizing->capacity = (uint64_t) ((double) bits / bits_per_key);
	if (sizing->capacity < 1)
		sizing->capacity = 1;
	finish_sizing(sizing);
	sizing->rate = bf_stored_rate(sizing->expected_rate);
}

uint64_t
bf_sizing_bytes(const bf_sizing *sizing)
{
	const bf_geometry *geometry = &sizing->geometry;

	return (geometry->blocks << (geometry->log2_block_bits - 3)) + BF_HEADER_BYTES;
}

bool
bf_sizing_fits(const bf_sizing *sizing)
{
	return bf_sizing_bytes(sizing) <= BF_MAX_BYTES;
}

bf_header
bf_sizing_header(const bf_sizing *sizing, uint64_t seed)
{
	bf_header	header = {0};

	header.probes = (uint8_t) sizing->geometry.probes;
	header.log2_block_bits = (uint8_t) sizing->geometry.log2_block_bits;
	header.blocks = sizing->geometry.blocks > UINT32_MAX ? UINT32_MAX : (uint32_t) sizing->geometry.blocks;
	header.parts = 1;
	header.seed = seed;
	header.capacity = sizing->capacity;
	header.rate = sizing->rate;
	return header;
}

uint64_t
bf_part_capacity(uint64_t n, uint32_t parts)
{
	uint64_t	share = n / parts + (n % parts != 0);
	uint64_t	spread;

	if (parts == 1)
		return n;
	spread = (uint64_t) ceil(PART_SPREAD * sqrt((double) share));
	return n - share < spread ? n : share + spread;
}

uint32_t
bf_parts_for_rate(uint64_t n, double p)
{
	bf_sizing	sizing;
	uint64_t	parts;

	if (!bf_size_for_rate(n, p, &sizing))
		return 0;
	parts = bf_sizing_bytes(&sizing) / BF_MAX_BYTES + 1;
	if (bf_sizing_fits(&sizing))
		return 1;
	for (; parts <= BF_MAX_PARTS; parts++)
	{
		if (!bf_size_for_rate(bf_part_capacity(n, (uint32_t) parts), p, &sizing))
			return 0;
		if (bf_sizing_fits(&sizing))
			return (uint32_t) parts;
	}
	return 0;
}

uint64_t
bf_capacity_for_rate(const bf_geometry *geometry, double p)
{
	uint64_t	low = 0;		/* keeps p */
	uint64_t	high = (geometry->blocks << geometry->log2_block_bits) * 32;

	while (high - low > 1)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (bf_expect((double) middle, geometry).rate <= p)
			low = middle;
		else
			high = middle;
	}
	return low;
}
