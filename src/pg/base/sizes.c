/*
 * sizes.c
 *	  The size of a filter for n keys at rate p, searched once and remembered.
 *
 * A search takes up to a millisecond and a half, more than a small filter takes to
 * build, and a filter for each of many groups is mostly for the same n and p; or for
 * one of not so many n, if each group's is what came.
 */
#include "postgres.h"

#include "bf_hash.h"
#include "base/report.h"
#include "base/sizes.h"

/* Sizes remembered at a time, each in a place of its own. */
#define PLACES 1024

/* capacity 0 where there is none yet. */
static bf_sizing remembered[PLACES];

static bf_sizing *
place_of(int64 n, double p)
{
	uint64		bits;

	memcpy(&bits, &p, sizeof(bits));
	return &remembered[bf_hash_word((uint64) n, bits) % PLACES];
}

void
bfpg_size_for_rate(int64 n, double p, bf_sizing *sizing)
{
	bf_sizing  *place;

	bfpg_check_capacity(n);
	bfpg_check_rate(p);
	place = place_of(n, p);
	if (place->capacity != (uint64) n || place->rate != p)
	{
		bf_sizing	found;

		if (!bf_size_for_rate((uint64_t) n, p, &found))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("a false-positive rate of %.7g cannot be reached for " INT64_FORMAT " keys", p, n),
					 errdetail("Hashes have 64 bits, so that %g of all other keys have the hash of one of these.",
							   (double) n / 18446744073709551616.0),
					 errhint("Ask for a higher rate.")));
		*place = found;
	}
	*sizing = *place;
}
