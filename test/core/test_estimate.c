/*
 * test_estimate.c
 *	  What the bits set tell: keys, rate, whether too many, how far to shrink.
 */
#include <math.h>

#include "bf_estimate.h"
#include "bf_key.h"
#include "bf_sizing.h"
#include "tap.h"
#include "support.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* Standard error of the estimate at n keys: that of the bits over their slope. */
static double
standard_error(const bf_header *header, double n)
{
	bf_geometry geometry = bf_header_geometry(header);
	double		blocks = (double) header->blocks;
	double		step = n / 1000.0 > 1.0 ? floor(n / 1000.0) : 1.0;
	bf_expectation here = bf_expect(n, &geometry);
	bf_expectation there = bf_expect(n + step, &geometry);

	return sqrt(blocks * here.variance) * step / (blocks * (there.bits - here.bits));
}

/* The error of the estimate in standard errors. */
static double
estimate_error(uint64_t n, double p, double share, uint64_t seed)
{
	filter		f = filter_for_rate(n, p, seed);
	double		keys = ceil((double) n * share);
	double		error;

	filter_add_integers(&f, seed << 32, (uint64_t) keys);
	error = (bf_estimate_keys(&f.header) - keys) / (standard_error(&f.header, keys) + 0.02);
	filter_free(&f);
	return error;
}

static void
test_keys(void)
{
	static const double shares[] = {0.01, 0.1, 0.5, 1.0, 2.0, 3.0};
	static const double rates[] = {0.3, 0.1, 0.01, 1e-4, 1e-7, 1e-9};
	static const uint64_t capacities[] = {1000, 20000};
	bool		close = true;
	bool		unbiased = true;
	unsigned	i;
	unsigned	j;
	unsigned	c;
	uint64_t	seed;

	for (c = 0; c < COUNT(capacities); c++)
		for (i = 0; i < COUNT(rates); i++)
			for (j = 0; j < COUNT(shares); j++)
			{
				double		sum = 0.0;

				for (seed = 0; seed < 16; seed++)
				{
					double		error = estimate_error(capacities[c], rates[i], shares[j], seed);

					close &= check(fabs(error) <= 5.0,
								   "n = %" PRIu64 ", p = %g, %g n keys, seed %" PRIu64 ": %g",
								   capacities[c], rates[i], shares[j], seed, error);
					sum += error;
				}
				unbiased &= check(fabs(sum / 4.0) <= 4.0, "n = %" PRIu64 ", p = %g, %g n keys: %g",
								  capacities[c], rates[i], shares[j], sum / 4.0);
			}
	ok(close, "keys are estimated within 5 standard errors, from 0.01 n to 3 n");
	ok(unbiased, "and rightly in the mean of 16 seeds");
}

static void
test_ends(void)
{
	filter		f = filter_for_rate(1000, 0.01, 1);
	double		almost;

	ok(bf_estimate_keys(&f.header) == 0.0 && bf_estimate_rate(&f.header) == 0.0 &&
	   bf_fill(&f.header) == 0.0 && !bf_over_capacity(&f.header) && !bf_is_saturated(&f.header),
	   "an empty filter holds no keys and finds none");
	filter_add_integers(&f, 7, 1);
	ok(fabs(bf_estimate_keys(&f.header) - 1.0) < 0.1, "one key counts as about one");
	f.header.bits_set = bf_total_bits(&f.header) - 1;
	almost = bf_estimate_keys(&f.header);
	f.header.bits_set++;
	ok(isfinite(bf_estimate_keys(&f.header)) && bf_estimate_keys(&f.header) > almost,
	   "a full filter has an estimate, above that of one that misses a bit");
	ok(bf_estimate_rate(&f.header) > 0.99 && bf_estimate_rate(&f.header) <= 1.0 &&
	   bf_fill(&f.header) == 1.0 && bf_over_capacity(&f.header) && bf_is_saturated(&f.header),
	   "a full filter finds every key, is over its capacity, and tells no number of keys");
	filter_free(&f);
}

static void
test_rises(void)
{
	bf_header	header = shape(64, 9, 7);
	double		last = -1.0;
	bool		holds = true;

	for (; header.bits_set <= bf_total_bits(&header); header.bits_set++)
	{
		holds &= bf_estimate_keys(&header) > last;
		last = bf_estimate_keys(&header);
	}
	ok(holds, "more bits mean more keys");
}

static void
test_rate(void)
{
	static const double rates[] = {0.1, 0.01, 1e-4};
	bool		holds = true;
	unsigned	i;

	for (i = 0; i < COUNT(rates); i++)
	{
		filter		f = filter_for_rate(100000, rates[i], i);

		filter_add_integers(&f, 0, 100000);
		holds &= check(fabs(bf_estimate_rate(&f.header) / rates[i] - 1.0) < 0.02, "p = %g: %g",
					   rates[i], bf_estimate_rate(&f.header));
		filter_free(&f);
	}
	ok(holds, "at its capacity a filter's estimated rate is within 2 %% of p");
}

/* How many of so many seeds make a filter that is over its capacity. */
static unsigned
count_over(uint64_t n, double p, uint64_t keys, unsigned seeds)
{
	unsigned	over = 0;
	unsigned	seed;

	for (seed = 0; seed < seeds; seed++)
	{
		filter		f = filter_for_rate(n, p, seed);

		filter_add_integers(&f, 0, keys);
		over += bf_over_capacity(&f.header);
		filter_free(&f);
	}
	return over;
}

static void
test_over_capacity(void)
{
	ok(count_over(1000, 0.01, 1000, 1000) == 0,
	   "1000 keys are never over a capacity of 1000, for 1000 seeds");
	ok(count_over(1000, 0.01, 1200, 1000) >= 990,
	   "1200 keys are over a capacity of 1000, for 990 of 1000 seeds at least");
	ok(count_over(1, 0.01, 1, 1000) == 0 && count_over(10, 1e-6, 10, 1000) == 0 &&
	   count_over(100, 0.3, 100, 1000) == 0, "small filters at capacity are not over it");
	ok(count_over(1000, 0.3, 1000, 100) == 0 && count_over(1000, 1e-9, 1000, 100) == 0 &&
	   count_over(100000, 0.001, 100000, 20) == 0, "nor are those of other rates and sizes");
	ok(count_over(3000, 0.3, 3600, 100) == 100 && count_over(3000, 0.01, 3600, 100) == 100 &&
	   count_over(3000, 1e-9, 3600, 100) == 100 && count_over(100000, 0.001, 120000, 20) == 20,
	   "a fifth more keys than 3000 or more are always over capacity");
}

/* Whether divisor is the largest by which the rate stays at most p. */
static bool
is_largest_divisor(const bf_header *header, double p, uint32_t divisor)
{
	bf_geometry geometry = bf_header_geometry(header);
	uint32_t	d;

	for (d = header->blocks; d > divisor; d--)
	{
		geometry.blocks = header->blocks / d;
		if (header->blocks % d == 0 &&
			bf_expect(bf_estimate_keys(header), &geometry).rate <= p)
			return false;
	}
	geometry.blocks = header->blocks / divisor;
	return header->blocks % divisor == 0 &&
		(divisor == 1 || bf_expect(bf_estimate_keys(header), &geometry).rate <= p);
}

/* Folds a filter that has room for 50000 keys, and looks at its rate. */
static bool
shrinks_well(uint64_t keys, double p, uint64_t seed)
{
	filter		f = filter_for_rate(50000, p, seed);
	uint32_t	divisor;
	uint64_t	found;
	bool		well;

	filter_add_integers(&f, 0, keys);
	divisor = bf_fold_divisor(&f.header, p);
	well = is_largest_divisor(&f.header, p, divisor);
	bf_fold(&f.header, f.blocks, divisor, NULL);
	found = filter_count_integers(&f, UINT64_C(1) << 40, 100000);
	well &= filter_count_integers(&f, 0, keys) == keys &&
		(double) found <= 100000 * p * 1.02 + 4.0 * sqrt(100000 * p) &&
		(divisor == 1 || bf_estimate_rate(&f.header) <= p * 1.02);
	filter_free(&f);
	return check(well, "%" PRIu64 " keys, p = %g: divisor %u", keys, p, divisor);
}

static void
test_fold_divisor(void)
{
	bf_header	header = shape(720, 9, 7);
	bool		holds = true;
	uint64_t	keys;

	for (keys = 0; keys <= 50000; keys += 2500)
		holds &= shrinks_well(keys, 0.01, keys) && shrinks_well(keys, 1e-5, keys);
	ok(holds, "filters shrink by the largest divisor that keeps p");
	ok(bf_fold_divisor(&header, 0.01) == 720, "an empty filter shrinks to one block");
	header.bits_set = bf_total_bits(&header);
	ok(bf_fold_divisor(&header, 0.01) == 1, "a full filter does not shrink");
}

int
main(void)
{
	test_keys();
	test_ends();
	test_rises();
	test_rate();
	test_over_capacity();
	test_fold_divisor();
	return tap_done();
}
