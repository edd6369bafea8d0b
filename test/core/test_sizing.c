/*
 * test_sizing.c
 *	  How large filters are, pinned by sizes.tsv, and that they keep the rate that they are made for.
 */
#include <float.h>
#include <math.h>

#include "bf_hash.h"
#include "bf_sizing.h"
#include "tap.h"
#include "tsv.h"
#include "support.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

#define LN_2 0.69314718055994530942

/* The least double above 0. */
#define LEAST_DOUBLE 4.9406564584124654e-324

static double
total_bits(const bf_sizing *sizing)
{
	return ldexp((double) sizing->geometry.blocks, (int) sizing->geometry.log2_block_bits);
}

/* The i-th of count rates from 0.3 to 1e-9, in equal ratios. */
static double
rate_between(unsigned i, unsigned count)
{
	return 0.3 * pow(1e-9 / 0.3, (double) i / (count - 1));
}

/* A row that fails is told as it has become.  They change only when filters shall have other sizes, which users see. */
static void
test_golden(void)
{
	tsv		   *table = tsv_open("../core/sizes.tsv");
	bool		holds = true;
	unsigned	rows = 0;

	for (; tsv_next(table); rows++)
	{
		uint64_t	n = tsv_number(table, "n");
		const char *p = tsv_text(table, "p");
		bf_sizing	sizing;

		holds &= check(bf_size_for_rate(n, strtod(p, NULL), &sizing) &&
					   sizing.geometry.blocks == tsv_number(table, "blocks") &&
					   sizing.geometry.log2_block_bits == tsv_number(table, "log2_block_bits") &&
					   sizing.geometry.probes == tsv_number(table, "k"),
					   "%" PRIu64 "\t%s\t%" PRIu64 "\t%u\t%u", n, p, sizing.geometry.blocks, sizing.geometry.log2_block_bits,
					   sizing.geometry.probes);
	}
	tsv_close(table);
	ok(rows > 200 && holds, "%u filters have their pinned sizes", rows);
}

static void
test_size(void)
{
	static const uint64_t capacities[] = {1000000, 10000000, 100000000, 400000000};
	bool		small = true;
	bool		probes = true;
	unsigned	i;
	unsigned	c;

	for (c = 0; c < COUNT(capacities); c++)
		for (i = 0; i < 20; i++)
		{
			double		p = rate_between(i, 20);
			double		ideal = (double) capacities[c] * -log(p) / (LN_2 * LN_2);
			bf_sizing	sizing;

			small &= check(bf_size_for_rate(capacities[c], p, &sizing) &&
						   total_bits(&sizing) <= 1.045 * ideal &&
						   total_bits(&sizing) >= ideal,
						   "n = %" PRIu64 ", p = %g: %.5f", capacities[c], p,
						   total_bits(&sizing) / ideal);
			probes &= sizing.geometry.probes >= 1 && sizing.geometry.probes <= 32;
		}
	ok(small, "from a million keys on a filter is at most 4.5 %% above the ideal, "
	   "for 20 rates");
	ok(probes, "probes are 1 to 32");
}

static void
test_promise(void)
{
	static const double rates[] = {
		0.999, 0.9, 0.5, 0.3, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9
	};
	bool		holds = true;
	bool		told = true;
	unsigned	i;
	double		n;

	for (i = 0; i < COUNT(rates); i++)
		for (n = 1.0; n <= 1e11; n = floor(n * 2.7) + 1.0)
		{
			bf_sizing	sizing;
			bool		found = bf_size_for_rate((uint64_t) n, rates[i], &sizing);

			if (!found)
			{
				holds &= check(n / 18446744073709551616.0 > rates[i] / 1.05,
							   "n = %g, p = %g: none", n, rates[i]);
				continue;
			}
			holds &= check(sizing.expected_rate <= rates[i], "n = %g, p = %g: %g",
						   n, rates[i], sizing.expected_rate);
			told &= sizing.capacity == (uint64_t) n && sizing.rate == rates[i] &&
				sizing.expected_rate == bf_expect(n, &sizing.geometry).rate;
		}
	ok(holds, "the expected rate is at most p, for n from 1 to 1e11 and 14 rates");
	ok(told, "the sizing tells n, p and the expected rate of its shape");
}

static void
test_monotony(void)
{
	static const double rates[] = {0.5, 0.1, 0.01, 1e-4, 1e-6, 1e-9};
	static const uint64_t capacities[] = {1, 10, 54, 1000, 1000000, 100000000};
	bool		by_n = true;
	bool		by_p = true;
	bool		change = true;
	unsigned	i;
	unsigned	step;
	double		n;

	for (i = 0; i < COUNT(rates); i++)
	{
		double		last = 0.0;

		for (n = 1.0; n < 1e9; n = n < 70.0 ? n + 1.0 : floor(n * 1.3))
		{
			bf_sizing	sizing;

			bf_size_for_rate((uint64_t) n, rates[i], &sizing);
			by_n &= check(total_bits(&sizing) >= last, "n = %g, p = %g", n, rates[i]);
			last = total_bits(&sizing);
		}
	}
	for (i = 0; i < COUNT(capacities); i++)
	{
		bf_sizing	last = {{1, 9, 1}, 0, 0.0, 0.0};

		for (step = 0; step < 50; step++)
		{
			bf_sizing	sizing;

			bf_size_for_rate(capacities[i], rate_between(step, 50), &sizing);
			if (sizing.geometry.log2_block_bits == last.geometry.log2_block_bits)
				by_p &= check(total_bits(&sizing) >= total_bits(&last),
							  "n = %" PRIu64 ", p = %g", capacities[i], sizing.rate);
			change &= check(total_bits(&sizing) >= 0.95 * total_bits(&last) &&
							sizing.geometry.log2_block_bits >= last.geometry.log2_block_bits,
							"n = %" PRIu64 ", p = %g", capacities[i], sizing.rate);
			last = sizing;
		}
	}
	ok(by_n, "more keys never make a smaller filter");
	ok(by_p, "a lower rate never makes a smaller filter of the same block size");
	ok(change, "where a lower rate takes larger blocks, the filter shrinks by 5 %% at most");
}

static void
test_grain(void)
{
	bool		holds = true;
	uint64_t	n;

	for (n = 1000000; n < 400000000; n = n * 3 / 2)
	{
		bf_sizing	sizing;
		uint64_t	grain = 1;

		bf_size_for_rate(n, 0.01, &sizing);
		while (grain * 2 <= sizing.geometry.blocks / 2049)
			grain *= 2;
		holds &= check(sizing.geometry.blocks % grain == 0, "n = %" PRIu64, n);
	}
	ok(holds, "large filters have a power of two to fold by, about 1/2048 of their blocks");
}

static void
test_unreachable(void)
{
	bf_sizing	sizing;
	bool		ends = true;
	unsigned	i;
	static const double rates[] = {LEAST_DOUBLE, DBL_MIN, 1e-300, 1e-30, 1e-20};

	for (i = 0; i < COUNT(rates); i++)
		ends &= !bf_size_for_rate(1000000, rates[i], &sizing);
	ok(ends, "rates below the chance of equal hashes are refused, the least double too");
	ok(!bf_size_for_rate(BF_MAX_CAPACITY, 0.4, &sizing) &&
	   (!bf_size_for_rate(BF_MAX_CAPACITY, 0.6, &sizing) || !bf_sizing_fits(&sizing)) &&
	   (!bf_size_for_rate(BF_MAX_CAPACITY, 0.999, &sizing) || !bf_sizing_fits(&sizing)),
	   "2^63 - 1 keys are refused or too large at any rate");
	ok(bf_size_for_rate(1, 1.0 - DBL_EPSILON / 2, &sizing) && bf_sizing_fits(&sizing) &&
	   bf_size_for_rate(1000000, 1.0 - DBL_EPSILON / 2, &sizing) &&
	   sizing.expected_rate <= 1.0 - DBL_EPSILON / 2 && sizing.geometry.blocks >= 1,
	   "the greatest rate below 1 is possible");
	ok(bf_size_for_rate(1, 1e-15, &sizing) && sizing.expected_rate <= 1e-15 &&
	   bf_sizing_fits(&sizing), "one key at 1e-15 is possible");
}

static void
test_validity(void)
{
	double		nan = NAN;

	ok(!bf_capacity_valid(0) && bf_capacity_valid(1) &&
	   bf_capacity_valid(UINT64_C(9223372036854775807)) &&
	   !bf_capacity_valid(UINT64_C(9223372036854775808)) && !bf_capacity_valid(UINT64_MAX),
	   "n is valid from 1 to 2^63 - 1");
	ok(!bf_rate_valid(0.0) && !bf_rate_valid(-0.0) && !bf_rate_valid(1.0) &&
	   !bf_rate_valid(-0.1) && !bf_rate_valid(nan) && !bf_rate_valid(HUGE_VAL) &&
	   bf_rate_valid(LEAST_DOUBLE) && bf_rate_valid(1.0 - DBL_EPSILON / 2),
	   "p is valid between 0 and 1, both left out");
	ok(fabs(bf_ideal_bits_per_key(0.01) - 9.585058) < 1e-6 &&
	   fabs(bf_ideal_bits_per_key(0.5) - 1.442695) < 1e-6 &&
	   fabs(bf_ideal_bits_per_key(0.75) - 0.721348) < 1e-6,
	   "ideal bits per key: log2(1/p) / ln 2, and that of one probe above one half");
}

static void
test_bits(void)
{
	static const uint64_t sizes[] = {
		1, 511, 512, 513, 1024, 8192, 100000, 10000000, UINT64_C(4294934016),
		UINT64_C(4294967296), UINT64_C(1) << 52
	};
	bool		size = true;
	bool		rate = true;
	bool		fits = false;
	unsigned	i;
	unsigned	k;

	for (i = 0; i < COUNT(sizes); i++)
		for (k = 1; k <= 32; k++)
		{
			bf_sizing	s;
			double		block;

			bf_size_for_bits(sizes[i], k, &s);
			block = ldexp(1.0, (int) s.geometry.log2_block_bits);
			size &= check(s.geometry.probes == k && total_bits(&s) >= (double) sizes[i] &&
						  total_bits(&s) < (double) sizes[i] + block,
						  "%" PRIu64 " bits, k = %u", sizes[i], k);
			rate &= check(s.capacity >= 1 && s.rate == bf_stored_rate(s.expected_rate) && s.rate < 1.0 &&
						  fabs((double) s.capacity * k / LN_2 - total_bits(&s)) <=
						  1e-9 * total_bits(&s) + 2.0 * k + 1.0,
						  "%" PRIu64 " bits, k = %u", sizes[i], k);
		}
	ok(size, "a filter by bits and probes has the probes, and the bits in whole blocks");
	ok(rate, "its n is the number of keys that fill half of it");
	for (k = 1; k <= 32; k++)
	{
		bf_sizing	s;

		bf_size_for_bits(UINT64_MAX, k, &s);
		fits |= bf_sizing_fits(&s);
	}
	ok(!fits, "2^64 - 1 bits do not fit");
}

static void
test_limits(void)
{
	bool		holds = true;
	unsigned	i;

	for (i = 0; i < COUNT(most_blocks); i++)
	{
		bf_sizing	s = {{most_blocks[i], 9 + i, 7}, 1, 0.5, 0.5};

		holds &= bf_sizing_fits(&s) &&
			bf_sizing_bytes(&s) == 64 + ((uint64_t) most_blocks[i] << (6 + i));
		s.geometry.blocks++;
		holds &= !bf_sizing_fits(&s);
		s.geometry.blocks = UINT64_C(0x100000000) + 1;
		holds &= !bf_sizing_fits(&s);
	}
	ok(holds, "the most blocks of FORMAT.md fit, one more does not, 2^32 + 1 does not");
}

/*
 * A rate that was computed is in the header, and so in the bytes: it is the same
 * wherever it was computed.  Configuration gcc-387 has the other digits of 32-bit x86.
 */
static void
test_stored_rates(void)
{
	static const unsigned probes[] = {3, 7, 20};
	static const struct
	{
		uint64_t	bits;
		double		rates[COUNT(probes)];
	}			wanted[] = {
		{1, {0x1.ff4872p-4, 0x1.e6f6ccp-8, 0x1.3fdc02p-21}},
		{5000, {0x1.01f11ap-3, 0x1.2889a2p-7, 0x1.4c0906p-20}},
		{10000, {0x1.023e5ep-3, 0x1.2c0d46p-7, 0x1.71d56p-20}},
		{123456, {0x1.02825ep-3, 0x1.2f5bdep-7, 0x1.bd7be2p-20}},
		{10000000, {0x1.02884p-3, 0x1.2f8c42p-7, 0x1.c5d672p-20}},
		{1000000000, {0x1.02884ap-3, 0x1.2f8cecp-7, 0x1.c5f2fep-20}}
	};
	bool		same = true;
	bool		promised = true;
	unsigned	i;
	unsigned	j;

	for (i = 0; i < COUNT(wanted); i++)
		for (j = 0; j < COUNT(probes); j++)
		{
			bf_sizing	s;

			bf_size_for_bits(wanted[i].bits, probes[j], &s);
			same &= check(s.rate == wanted[i].rates[j], "%" PRIu64 " bits, k = %u: %a",
						  wanted[i].bits, probes[j], s.rate);
			promised &= s.rate >= s.expected_rate && s.rate < s.expected_rate * 1.000001;
		}
	ok(same, "the rate that bits and probes give is stored alike on all machines");
	ok(promised, "it is never below the rate that is to be expected");
}

/* Whether no part of n keys gets more than its capacity. */
static bool
parts_have_room(uint64_t n, uint32_t parts, uint64_t seed)
{
	uint64_t   *counts = allocate(parts * sizeof *counts);
	bool		room = true;
	uint64_t	i;

	for (i = 0; i < n; i++)
		counts[bf_part_of(bf_hash_word(i, seed), parts)]++;
	for (i = 0; i < parts; i++)
		room &= counts[i] <= bf_part_capacity(n, parts);
	free(counts);
	return room;
}

static void
test_part_capacity(void)
{
	static const uint64_t capacities[] = {1, 2, 7, 100, 65535, 1000000, UINT64_C(1) << 53, BF_MAX_CAPACITY};
	static const uint32_t counts[] = {1, 2, 3, 7, 100, 65535};
	bool		bounds = true;
	bool		one = true;
	bool		room = true;
	unsigned	i;
	unsigned	j;

	for (i = 0; i < COUNT(capacities); i++)
	{
		one &= bf_part_capacity(capacities[i], 1) == capacities[i];
		for (j = 0; j < COUNT(counts); j++)
		{
			uint64_t	n = capacities[i];
			uint64_t	part = bf_part_capacity(n, counts[j]);

			bounds &= check(part >= 1 && part <= n && part >= n / counts[j] &&
							(double) part <= (double) n / counts[j] + 2.0 +
							7.0 * sqrt((double) n / counts[j] + 1.0),
							"%" PRIu64 " keys, %u parts: %" PRIu64, n, counts[j], part);
		}
	}
	for (i = 0; i < 200; i++)
		room &= check(parts_have_room(5000, 2 + i, i), "%u parts", 2 + i);
	ok(one, "one part has room for all keys");
	ok(bounds, "a part has room for its share and some more, at most for all");
	ok(room, "no part of 5000 keys has too many, in 2 to 201 parts");
	ok(bf_part_capacity(1000000, 100) == 10600, "10000 keys on average: room for 10600");
}

static bool
fits_in(uint64_t n, double p, uint32_t parts)
{
	bf_sizing	sizing;

	return bf_size_for_rate(bf_part_capacity(n, parts), p, &sizing) &&
		bf_sizing_fits(&sizing);
}

static void
test_parts(void)
{
	static const uint64_t capacities[] = {
		1, 400000000, 430000000, 440000000, 450000000, 900000000,
		UINT64_C(10000000000), UINT64_C(1000000000000)
	};
	bool		fewest = true;
	unsigned	i;

	for (i = 0; i < COUNT(capacities); i++)
	{
		uint32_t	parts = bf_parts_for_rate(capacities[i], 0.01);

		fewest &= check(parts >= 1 && fits_in(capacities[i], 0.01, parts) &&
						(parts == 1 || !fits_in(capacities[i], 0.01, parts - 1)),
						"%" PRIu64 " keys: %u parts", capacities[i], parts);
	}
	ok(fewest, "parts are the fewest that fit");
	ok(bf_parts_for_rate(430000000, 0.01) == 1 && bf_parts_for_rate(440000000, 0.01) == 2,
	   "430 million keys at 1 %% fit one filter, 440 million do not");
	ok(bf_parts_for_rate(UINT64_C(20000000000000), 0.01) > 1 &&
	   bf_parts_for_rate(UINT64_C(30000000000000), 0.01) == 0,
	   "20e12 keys at 1 %% fit 65535 parts, 30e12 do not");
	ok(bf_parts_for_rate(BF_MAX_CAPACITY, 0.6) == 0, "2^63 - 1 keys fit no set");
	ok(bf_parts_for_rate(1000000, 1e-15) == 0, "a rate out of reach has no parts");
}

static void
test_capacity(void)
{
	static const bf_geometry shapes[] = {
		{1, 9, 7}, {2, 9, 7}, {1000, 9, 7}, {1000, 12, 16}, {8388543, 9, 7}, {65535, 16, 32},
		{3, 9, 1}
	};
	static const double rates[] = {0.9999, 0.9, 0.5, 0.1, 0.01, 0.0001, 1e-8};
	bool		holds = true;
	unsigned	i;
	unsigned	j;

	for (i = 0; i < COUNT(shapes); i++)
		for (j = 0; j < COUNT(rates); j++)
		{
			double		n = (double) bf_capacity_for_rate(&shapes[i], rates[j]);

			holds &= check((n == 0.0 || bf_expect(n, &shapes[i]).rate <= rates[j]) &&
						   bf_expect(n + 1.0, &shapes[i]).rate > rates[j],
						   "%" PRIu64 " blocks, k = %u, p = %g: %g", shapes[i].blocks,
						   shapes[i].probes, rates[j], n);
		}
	ok(holds, "the capacity of a shape keeps p, and one key more does not");
	ok(bf_capacity_for_rate(&shapes[0], 1e-15) == 0, "it is 0 where one key is too many");
}

int
main(void)
{
	test_golden();
	test_size();
	test_promise();
	test_monotony();
	test_grain();
	test_unreachable();
	test_validity();
	test_bits();
	test_limits();
	test_stored_rates();
	test_part_capacity();
	test_parts();
	test_capacity();
	return tap_done();
}
