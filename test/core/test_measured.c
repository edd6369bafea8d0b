/*
 * test_measured.c
 *	  The rate that is got: false positives counted, and exactly pinned.
 *
 * The hash is the same on every machine, so the counts are, too.
 */
#include <math.h>
#include <string.h>

#include "bf_estimate.h"
#include "bf_hash.h"
#include "bf_key.h"
#include "tap.h"
#include "support.h"

static double
expected_rate(const filter *f, double keys)
{
	bf_geometry geometry = bf_header_geometry(&f->header);

	return bf_expect(keys, &geometry).rate;
}

/* Asks for absent keys and compares with what is pinned and promised. */
static void
test_rate(double p, uint64_t queries, uint64_t pinned)
{
	const uint64_t n = 300000;
	filter		f = filter_for_rate(n, p, 17);
	double		expected;
	double		count;
	double		spread;

	filter_add_integers(&f, 0, n);
	expected = expected_rate(&f, (double) n);
	count = (double) filter_count_integers(&f, UINT64_C(1) << 40, queries);
	spread = sqrt((double) queries * expected);
	ok(count <= (double) queries * p + 4.0 * spread && expected <= p,
	   "p = %g: the measured rate is at most p", p);
	ok(fabs(count - (double) queries * expected) <=
	   0.02 * (double) queries * expected + 3.0 * spread,
	   "p = %g: the measured rate is the expected one", p);
	ok(count == (double) pinned, "p = %g: %" PRIu64 " false positives, pinned (%.0f)",
	   p, pinned, count);
	filter_free(&f);
}

/* The i-th key of a kind; returns its length. */
typedef size_t (*key_maker) (uint64_t i, uint8_t *bytes);

static size_t
url_key(uint64_t i, uint8_t *bytes)
{
	return (size_t) sprintf((char *) bytes,
							"https://www.example.org/a/long/common/path/of/pages?page=%" PRIu64, i);
}

/* All strings of up to 3 bytes in turn, counted in base 256. */
static size_t
short_key(uint64_t i, uint8_t *bytes)
{
	size_t		length = 0;

	for (; i > 0; i = (i - 1) >> 8)
		bytes[length++] = (uint8_t) (i - 1);
	return length;
}

static size_t
high_key(uint64_t i, uint8_t *bytes)
{
	return bf_key_integer((int64_t) (i << 40), bytes);
}

static uint64_t
count_found(key_maker make, filter *f, uint64_t first, uint64_t count, bool add)
{
	uint8_t		bytes[128];
	uint64_t	found = 0;
	uint64_t	i;

	for (i = first; i < first + count; i++)
	{
		uint64_t	hash = bf_hash(bytes, make(i, bytes), f->header.seed);

		if (add)
			bf_add(&f->header, f->blocks, hash);
		else
			found += bf_contains(&f->header, f->blocks, hash);
	}
	return found;
}

static void
test_keys(key_maker make, const char *name)
{
	const uint64_t n = 200000;
	const uint64_t queries = 1000000;
	filter		f = filter_for_rate(n, 0.01, 99);
	double		expected = (double) queries * expected_rate(&f, (double) n);
	double		count;

	count_found(make, &f, 0, n, true);
	count = (double) count_found(make, &f, n, queries, false);
	ok(count_found(make, &f, 0, n, false) == n &&
	   fabs(count - expected) <= 0.02 * expected + 3.0 * sqrt(expected),
	   "%s as keys: all found, and the expected rate of others (%.0f of %.0f)", name,
	   count, expected);
	filter_free(&f);
}

int
main(void)
{
	test_rate(0.1, 2000000, 199696);
	test_rate(0.01, 2000000, 20172);
	test_rate(0.001, 5000000, 5025);
	test_rate(1e-4, 10000000, 1092);
	test_keys(url_key, "addresses with a long common beginning");
	test_keys(short_key, "strings of no to three bytes");
	test_keys(high_key, "integers whose low bits are 0");
	return tap_done();
}
