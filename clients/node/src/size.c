/*
 * size.c
 *	  How large a filter would be, and what rate it would have: the core's arithmetic.
 */
#include "reader.h"

#include "bf_sizing.h"

#define LN_2 0.69314718055994530942

/* What size_of() found, for JavaScript to read: seven numbers of 8 bytes. */
static double found[7];
static bf_sizing sizing;

TELLS(const double *, sizing_at, found)

/*
 * Sizes a filter for n keys at rate p, as SQL's bloom_sizing does.  Returns 0 where no
 * size has this rate, or more parts than a set can have would be needed.
 */
EXPORT("size_of") int
size_of(uint64_t n, double p)
{
	uint32_t	parts;

	if (!bf_size_for_rate(n, p, &sizing))
		return 0;
	parts = bf_parts_for_rate(n, p);
	if (parts == 0)
		return 0;
	found[0] = (double) sizing.geometry.blocks;
	found[1] = sizing.geometry.log2_block_bits;
	found[2] = sizing.geometry.probes;
	found[3] = (double) bf_sizing_bytes(&sizing);
	found[4] = sizing.expected_rate;
	/* The textbook's, which goes on above p = 0.5, where the core's ideal is one probe. */
	found[5] = -bf_ln(p) / (LN_2 * LN_2);
	found[6] = parts;
	return 1;
}

/* The false-positive rate to be expected of what size_of() found, with so many keys in it. */
EXPORT("rate_with") double
rate_with(double keys)
{
	return bf_expect(keys, &sizing.geometry).rate;
}
