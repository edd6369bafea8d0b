/*
 * test_rate.c
 *	  The expected rate against distributions that are computed in full, and the
 *	  own functions of real numbers against libm.
 */
#include <float.h>
#include <math.h>

#include "bf_rate.h"
#include "tap.h"
#include "support.h"

/* Distance in units of the last place of the reference. */
static double
ulps(double got, long double wanted)
{
	double		nearest = (double) wanted;
	int			exponent;

	if (got == nearest)
		return 0.0;
	frexp(nearest, &exponent);
	return fabs((double) ((long double) got - wanted)) /
		ldexp(1.0, exponent > -1021 ? exponent - 53 : -1074);
}

/* A random double with an exponent between two powers of two. */
static double
random_double(uint64_t *random, int low, int high)
{
	double		mantissa = 1.0 + (double) (next_random(random) >> 12) / 4503599627370496.0;
	int			exponent = low + (int) (next_random(random) % (unsigned) (high - low + 1));

	return ldexp(mantissa, exponent);
}

static void
test_ln(void)
{
	uint64_t	random = 30;
	double		worst = 0.0;
	int			i;

	for (i = 0; i < 200000; i++)
	{
		double		x = random_double(&random, i % 2 == 0 ? -1070 : -2, i % 2 == 0 ? 1020 : 1);

		worst = fmax(worst, ulps(bf_ln(x), logl((long double) x)));
	}
	for (i = 1; i <= 1000; i++)
	{
		worst = fmax(worst, ulps(bf_ln(1.0 + i * DBL_EPSILON), logl(1.0L + i * (long double) DBL_EPSILON)));
		worst = fmax(worst, ulps(bf_ln(1.0 - i * DBL_EPSILON), logl(1.0L - i * (long double) DBL_EPSILON)));
	}
	ok(worst <= 4.0, "bf_ln is within 4 units of the last place of libm's");
	ok(bf_ln(1.0) == 0.0, "bf_ln(1) is 0");
}

static void
test_ln1p(void)
{
	uint64_t	random = 31;
	double		worst = 0.0;
	int			i;

	for (i = 0; i < 200000; i++)
	{
		double		x = random_double(&random, i % 2 == 0 ? -1000 : -10, i % 2 == 0 ? 60 : 4);
		double		y = -random_double(&random, i % 2 == 0 ? -1000 : -10, -2);

		worst = fmax(worst, ulps(bf_ln1p(x), log1pl((long double) x)));
		worst = fmax(worst, ulps(bf_ln1p(y), log1pl((long double) y)));
		worst = fmax(worst, ulps(bf_ln1p(2.0 * y), log1pl(2.0L * (long double) y)));
	}
	ok(worst <= 5.0, "bf_ln1p is within 5 units of the last place of libm's");
	ok(bf_ln1p(0.0) == 0.0, "bf_ln1p(0) is 0");
}

static void
test_stored(void)
{
	uint64_t	random = 32;
	bool		close = true;
	bool		coarse = true;
	int			i;

	for (i = 0; i < 200000; i++)
	{
		double		rate = random_double(&random, -60, -1);
		double		stored = bf_stored_rate(rate);

		close &= stored >= rate && stored <= rate * (1.0 + 0x1p-23) && stored < 1.0;
		coarse &= bf_stored_rate(stored) == stored &&
			(stored == (double) (float) stored || stored > 1.0 - 0x1p-24);
	}
	ok(close, "a stored rate is at least the rate, and less than one part in 8 million above");
	ok(coarse, "it has 24 bits, and is not rounded again");
	ok(bf_stored_rate(0.01) == ldexp(10737419, -30), "a hundredth is rounded up to 24 bits");
}

static void
test_power(void)
{
	uint64_t	random = 33;
	bool		close = true;
	int			i;

	for (i = 0; i < 100000; i++)
	{
		double		base = random_double(&random, -3, 0);
		double		exponent = (double) (next_random(&random) % 200);
		long double wanted = powl((long double) base, (long double) exponent);

		close &= fabsl(((long double) bf_power(base, exponent) - wanted) / wanted) < 1e-13L;
	}
	ok(close, "bf_power is close to libm's");
	ok(bf_power(7.0, 0.0) == 1.0 && bf_power(7.0, 1.0) == 7.0 &&
	   bf_power(3.0, 5.0) == 243.0 && bf_power(2.0, 1000.0) == ldexp(1.0, 1000) &&
	   bf_power(0.0, 3.0) == 0.0, "bf_power is exact where it can be");
}

#define BITS 512

/* What X, the bits set of a block, is like after some probes: its distribution. */
typedef struct occupancy
{
	double		share[BITS + 1];
	unsigned	probes;
} occupancy;

static void
throw_probes(occupancy *o, unsigned probes)
{
	unsigned	x;

	for (; o->probes < probes; o->probes++)
	{
		for (x = BITS; x > 0; x--)
			o->share[x] = o->share[x] * x / BITS +
				o->share[x - 1] * (BITS - x + 1) / BITS;
		o->share[0] = 0.0;
	}
}

/* Adds the moments of X at this distribution, times a weight. */
static void
add_moments(bf_expectation *sum, const occupancy *o, double weight, unsigned k)
{
	unsigned	x;

	for (x = 0; x <= BITS; x++)
	{
		sum->rate += weight * o->share[x] * pow((double) x / BITS, k);
		sum->bits += weight * o->share[x] * x;
		sum->variance += weight * o->share[x] * x * x;
	}
}

/* The exact expectation for Poisson (n = 0) or binomial numbers of keys. */
static bf_expectation
exact_expectation(double load, unsigned n, unsigned blocks, unsigned k)
{
	static occupancy o;
	bf_expectation sum = {0.0, 0.0, 0.0};
	unsigned	last = n > 0 ? n : (unsigned) (load + 12.0 * sqrt(load) + 30.0);
	double		q = 1.0 / blocks;
	double		weight = n > 0 ? pow(1.0 - q, n) : exp(-load);
	unsigned	j;

	for (j = 0; j <= BITS; j++)
		o.share[j] = 0.0;
	o.share[0] = 1.0;
	o.probes = 0;
	for (j = 0; j <= last; j++)
	{
		throw_probes(&o, j * k);
		add_moments(&sum, &o, weight, k);
		weight *= n > 0 ? (n - j) / (j + 1.0) * q / (1.0 - q) : load / (j + 1.0);
	}
	sum.variance -= sum.bits * sum.bits;
	return sum;
}

static bool
near(double got, double wanted, double tolerance)
{
	return fabs(got - wanted) <= tolerance * fabs(wanted);
}

/* Whether the loads of a block around the best one give the exact numbers. */
static void
test_poisson(void)
{
	static const double shares[] = {0.1, 0.3, 0.6, 0.8, 1.0, 1.3, 2.0};
	bool		safe = true;
	bool		rates = true;
	bool		fills = true;
	unsigned	k;
	unsigned	i;

	for (k = 1; k <= 32; k += k < 12 ? 1 : 5)
		for (i = 0; i < sizeof shares / sizeof *shares; i++)
		{
			double		load = shares[i] * BITS * 0.693 / k;
			bf_geometry geometry = {0, 9, k};
			bf_expectation got = bf_expect_load(load, &geometry);
			bf_expectation wanted = exact_expectation(load, 0, 1, k);

			safe &= check(got.rate >= wanted.rate * (1.0 - 1e-5),
						  "k = %u, %g keys: %.9g, not %.9g", k, load, got.rate, wanted.rate);
			rates &= check(near(got.rate, wanted.rate, k <= 8 ? 1e-3 : 4e-3),
						   "k = %u, %g keys: %.9g, not %.9g", k, load, got.rate, wanted.rate);
			fills &= check(near(got.bits, wanted.bits, 1e-10) &&
						   near(got.variance, wanted.variance, 1e-7), "k = %u, %g keys",
						   k, load);
		}
	ok(safe, "the rate of a large filter is not below the full distribution's");
	ok(rates, "nor is it above by more than 0.1 %%, 0.4 %% beyond 8 probes");
	ok(fills, "the mean and the variance of the bits set agree with it");
}

static void
test_binomial(void)
{
	bool		holds = true;
	unsigned	blocks;

	for (blocks = 2; blocks <= 5; blocks++)
	{
		bf_geometry geometry = {blocks, 9, 7};
		bf_expectation got = bf_expect(60.0 * blocks, &geometry);
		bf_expectation wanted = exact_expectation(60.0, 60 * blocks, blocks, 7);

		holds &= check(near(got.rate, wanted.rate, 2e-4) &&
					   near(got.bits, wanted.bits, 1e-10) &&
					   near(got.variance, wanted.variance, 1e-7), "%u blocks", blocks);
	}
	ok(holds, "filters of two to five blocks agree with the full distribution");
}

static void
test_one_block(void)
{
	bf_geometry geometry = {1, 9, 2};
	double		two = (1.0 / 512 * 1.0 + 511.0 / 512 * 4.0) / (512.0 * 512.0);

	ok(near(bf_expect(1.0, &geometry).rate, two, 1e-12),
	   "one key with two probes in one block: the rate on paper");
	geometry.probes = 1;
	ok(near(bf_expect(1.0, &geometry).rate, 1.0 / 512, 1e-12) &&
	   near(bf_expect(1.0, &geometry).bits, 1.0, 1e-12) &&
	   bf_expect(1.0, &geometry).variance < 1e-9,
	   "one key with one probe sets one bit");
	geometry.blocks = 1000;
	ok(near(bf_expect(1.0, &geometry).rate, 1.0 / 512000, 1e-12),
	   "and a thousandth of that in a thousand blocks");
}

static void
test_limits(void)
{
	bf_geometry geometry = {100, 9, 7};
	bf_geometry many = {UINT64_C(1) << 40, 9, 7};
	bf_expectation none = bf_expect(0.0, &geometry);
	bf_expectation all = bf_expect(1e9, &geometry);

	ok(none.rate == 0.0 && none.bits == 0.0 && none.variance == 0.0,
	   "without keys no rate, no bits");
	ok(near(all.rate, 1.0, 1e-9) && near(all.bits, 512.0, 1e-9) && all.variance < 1e-6,
	   "with far too many keys every bit is set");
	ok(near(bf_expect(50.0 * 1099511627776.0, &many).rate,
			bf_expect_load(50.0, &many).rate + 50.0 * 1099511627776.0 / 18446744073709551616.0,
			1e-4),
	   "in many blocks the rate is the limit and the chance of equal hashes");
	ok(bf_expect(9.2e18, &many).rate <= 1.0, "a rate is at most 1");
}

static void
test_rises(void)
{
	bool		holds = true;
	uint64_t	blocks;

	for (blocks = 1; blocks <= 1000000; blocks *= 10)
	{
		bf_geometry geometry = {blocks, 10, 8};
		bf_expectation last = {0.0, 0.0, 0.0};
		double		n;

		for (n = 1.0; n <= 200.0 * (double) blocks; n = floor(n * 1.3) + 1.0)
		{
			bf_expectation now = bf_expect(n, &geometry);

			holds &= now.rate > last.rate && now.bits > last.bits;
			last = now;
		}
	}
	ok(holds, "more keys set more bits and raise the rate");
}

int
main(void)
{
	test_ln();
	test_ln1p();
	test_stored();
	test_power();
	test_poisson();
	test_binomial();
	test_one_block();
	test_limits();
	test_rises();
	return tap_done();
}
