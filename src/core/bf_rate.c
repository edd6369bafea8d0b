/*
 * bf_rate.c
 *	  The exact expected false-positive rate of a blocked Bloom filter.
 *
 * A key asks one block.  With j keys in it, a block of B bits has had t = j k
 * bits thrown into it; the number X of bits then set has mean and variance in
 * closed form (occupancy), and is so close to normal that the moments of a normal
 * variable give E[(X/B)^k] to far more digits than matter.  The keys of a block
 * are binomial (Poisson in the limit), and the rate is the mean over j.
 */
#include "bf_rate.h"

#include <math.h>

/* Weights below this share of the largest one add nothing to a double's sum. */
#define NEGLIGIBLE 1e-20

/* Two different keys have the same 64-bit hash with probability 2^-64. */
#define HASH_COLLISION (1.0 / 18446744073709551616.0)

/* Odds that stand for certainty: with one block, all keys are in it. */
#define CERTAIN 1e300

/* Bits of a rate that is stored: 7 digits.  Far from the 45 in which machines agree. */
#define STORED_BITS 24

#define LN_2 0.69314718055994530942

/* 2 artanh(s) by its series, for |s| < 0.2: ln((1 + s) / (1 - s)). */
static double
twice_artanh(double s)
{
	double		square = s * s;
	double		sum = 0.0;
	int			i;

	for (i = 27; i >= 1; i -= 2)
		sum = sum * square + 1.0 / i;
	return 2.0 * s * sum;
}

double
bf_ln(double x)
{
	int			exponent;
	double		mantissa = frexp(x, &exponent);

	if (mantissa < 0.70710678118654752440)
	{
		mantissa *= 2.0;
		exponent--;
	}
	return twice_artanh((mantissa - 1.0) / (mantissa + 1.0)) + exponent * LN_2;
}

double
bf_ln1p(double x)
{
	if (x > -0.25 && x < 0.25)
		return twice_artanh(x / (2.0 + x));
	return bf_ln(1.0 + x);
}

double
bf_stored_rate(double rate)
{
	int			exponent;
	double		mantissa = frexp(rate, &exponent);
	double		rounded = ldexp(ceil(ldexp(mantissa, STORED_BITS)), exponent - STORED_BITS);

	return rounded < 1.0 ? rounded : rate;
}

double
bf_power(double base, double exponent)
{
	double		result = 1.0;

	while (exponent >= 1.0)
	{
		double		half = floor(exponent / 2.0);

		/* Also ends where the exponent is infinite. */
		if (base == 0.0)
			return 0.0;

		if (exponent - 2.0 * half >= 1.0)
			result *= base;
		base *= base;
		exponent = half;
	}
	return result;
}

/*
 * What a block looks like after j keys: empty1 is the expected share of empty
 * bits, (1 - 1/B)^(jk), empty2 that of pairs, (1 - 2/B)^(jk).
 */
typedef struct block_fill
{
	double		empty1;
	double		empty2;
} block_fill;

/* E[(X/B)^k] of a normal X/B with this mean and variance, k a whole number. */
static double
normal_moment(double mean, double variance, unsigned k)
{
	double		ratio;
	double		term = 1.0;
	double		sum = 1.0;
	unsigned	i;

	if (mean <= 0.0)
		return 0.0;
	ratio = variance / (mean * mean);
	for (i = 0; i + 2 <= k; i += 2)
	{
		term *= ratio * (k - i) * (k - i - 1) / (i + 2);
		sum += term;
	}
	return sum * bf_power(mean, k);
}

/* Adds to the sums what blocks of this fill contribute, times their weight. */
static void
add_fill(bf_expectation *sums, double *total, double *squares, double weight,
		 const block_fill *fill, double bits, unsigned k)
{
	double		mean = 1.0 - fill->empty1;
	double		variance = fill->empty1 / bits +
		(1.0 - 1.0 / bits) * fill->empty2 - fill->empty1 * fill->empty1;

	if (variance < 0.0)
		variance = 0.0;
	*total += weight;
	sums->rate += weight * normal_moment(mean, variance, k);
	sums->bits += weight * mean;
	*squares += weight * (variance + mean * mean);
}

/*
 * The number of keys in a block: binomial, or Poisson where odds is 0.  The
 * weight of j + 1 is that of j times next_weight(j).
 */
typedef struct key_spread
{
	double		n;
	double		odds;			/* q / (1 - q) with q = 1 / blocks */
	double		mean;
} key_spread;

static double
next_weight(const key_spread *spread, double j)
{
	if (spread->odds == 0.0)
		return spread->mean / (j + 1.0);
	return (spread->n - j) * spread->odds / (j + 1.0);
}

/* Sums over the keys of a block, from the likeliest number outwards both ways. */
static bf_expectation
sum_over_keys(const key_spread *spread, const bf_geometry *geometry)
{
	double		bits = ldexp(1.0, (int) geometry->log2_block_bits);
	unsigned	k = geometry->probes;
	double		step1 = bf_power(1.0 - 1.0 / bits, k);
	double		step2 = bf_power(1.0 - 2.0 / bits, k);
	double		middle = floor(spread->mean);
	block_fill	start = {bf_power(step1, middle), bf_power(step2, middle)};
	bf_expectation sums = {0.0, 0.0, 0.0};
	double		total = 0.0;
	double		squares = 0.0;
	block_fill	fill = start;
	double		weight = 1.0;
	double		j;

	for (j = middle; weight > NEGLIGIBLE; j += 1.0)
	{
		add_fill(&sums, &total, &squares, weight, &fill, bits, k);
		weight *= next_weight(spread, j);
		fill.empty1 *= step1;
		fill.empty2 *= step2;
	}
	fill = start;
	weight = 1.0;
	for (j = middle; j >= 1.0; j -= 1.0)
	{
		weight /= next_weight(spread, j - 1.0);
		if (weight <= NEGLIGIBLE)
			break;
		fill.empty1 /= step1;
		fill.empty2 /= step2;
		add_fill(&sums, &total, &squares, weight, &fill, bits, k);
	}
	sums.rate /= total;
	sums.bits /= total;
	sums.variance = (squares / total - sums.bits * sums.bits) * bits * bits;
	/* Nothing varies, and rounding left less than nothing. */
	if (sums.variance < 0.0)
		sums.variance = 0.0;
	sums.bits *= bits;
	return sums;
}

bf_expectation
bf_expect_load(double keys_per_block, const bf_geometry *geometry)
{
	key_spread	spread = {0.0, 0.0, keys_per_block};

	return sum_over_keys(&spread, geometry);
}

bf_expectation
bf_expect(double n, const bf_geometry *geometry)
{
	double		blocks = (double) geometry->blocks;
	key_spread	spread = {n, CERTAIN, n / blocks};
	double		collision = n * HASH_COLLISION;
	bf_expectation result;

	if (geometry->blocks > 1)
		spread.odds = 1.0 / (blocks - 1.0);
	result = sum_over_keys(&spread, geometry);
	if (collision > 1.0)
		collision = 1.0;
	result.rate += (1.0 - result.rate) * collision;
	return result;
}
