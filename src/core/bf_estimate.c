/*
 * bf_estimate.c
 *	  What a filter's fill says about the keys in it.
 */
#include "bf_estimate.h"

#include <math.h>

/* Standard deviations by which the fill must exceed what the capacity explains. */
#define SURE 5.0

/* Share of bits beyond which the number of keys can't be told from them any more. */
#define TELLING_FILL 0.9

bf_geometry
bf_header_geometry(const bf_header *header)
{
	return (bf_geometry) {header->blocks, header->log2_block_bits, header->probes};
}

double
bf_fill(const bf_header *header)
{
	return (double) header->bits_set / (double) bf_total_bits(header);
}

/*
 * A key leaves a bit of its own block empty with probability (1 - 1/B)^k, and
 * hits that block with probability 1 / blocks; so after n keys a bit is empty
 * with probability (1 - (1 - (1 - 1/B)^k) / blocks)^n.
 */
double
bf_estimate_keys(const bf_header *header)
{
	double		bits = (double) bf_total_bits(header);
	double		set = (double) header->bits_set;
	double		hit = 1.0 - bf_power(1.0 - (double) header->blocks / bits,
									 header->probes);

	if (set > bits - 0.5)
		set = bits - 0.5;
	return bf_ln1p(-set / bits) / bf_ln1p(-hit / (double) header->blocks);
}

bool
bf_is_saturated(const bf_header *header)
{
	return bf_fill(header) > TELLING_FILL;
}

double
bf_estimate_rate(const bf_header *header)
{
	bf_geometry geometry = bf_header_geometry(header);

	return bf_expect(bf_estimate_keys(header), &geometry).rate;
}

bool
bf_over_capacity(const bf_header *header)
{
	bf_geometry geometry = bf_header_geometry(header);
	double		blocks = (double) header->blocks;
	bf_expectation expected;

	/* Cheap, and enough nearly always. */
	if (bf_estimate_keys(header) <= (double) header->capacity)
		return false;
	expected = bf_expect((double) header->capacity, &geometry);
	return (double) header->bits_set >
		blocks * expected.bits + SURE * sqrt(blocks * expected.variance);
}

/* Whether the keys that it holds would meet p in so many blocks. */
static bool
meets(const bf_header *header, uint64_t blocks, double p)
{
	bf_geometry geometry = bf_header_geometry(header);

	geometry.blocks = blocks;
	return bf_expect(bf_estimate_keys(header), &geometry).rate <= p;
}

uint32_t
bf_fold_divisor(const bf_header *header, double p)
{
	uint32_t	blocks = header->blocks;
	uint32_t	best = 1;
	uint32_t	small;

	for (small = 1; (uint64_t) small * small <= blocks; small++)
	{
		if (blocks % small != 0)
			continue;
		if (small > best && meets(header, blocks / small, p))
			best = small;
		if (blocks / small > best && meets(header, small, p))
			best = blocks / small;
	}
	return best;
}
