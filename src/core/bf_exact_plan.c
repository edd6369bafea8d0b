/*
 * bf_exact_plan.c
 *	  How large the levels of an exact filter are.
 *
 * Level 1 lets in others at rate p1, so level 2 has m * p1 keys.  Level 2 lets in members at
 * rate p2, so level 3 has n * p2.  p1 is p, or n / (4 m) where that is less: with many others a
 * larger level 1 costs less than a larger level 2.  The rates of levels 2 and 3 are in
 * proportion to the keys that they have and to those that they keep out.
 *
 * Levels are sized for six standard deviations more keys than they get on average.
 */
#include "bf_exact.h"

#include <math.h>
#include <string.h>

/* Members to one other, beyond which level 1's rate is below p. */
#define OTHERS_SHARE 4.0

/* Keys of level 2 to one member, whose rate in level 2 is that share of it. */
#define LEVEL_2_SHARE 16.0

/* The chance that one of level 2's keys passes level 3. */
#define LEVEL_3_CHANCE 1e-3

/* The most that a level lets in of the keys that it keeps out: one probe is then best. */
#define MOST_RATE 0.5

/* The rate that level 1 has: p, or less where there are many more others than members. */
static double
first_rate(const bf_universe *universe)
{
	double		rate;

	if (universe->others == 0)
		return universe->rate;
	rate = (double) universe->members / (OTHERS_SHARE * (double) universe->others);
	return rate < universe->rate ? bf_stored_rate(rate) : universe->rate;
}

/* Keys that come at a rate, and room for their spread. */
static uint64_t
room_for(double keys)
{
	return (uint64_t) (ceil(keys) + ceil(6.0 * sqrt(keys))) + 8;
}

static double
at_most(double rate)
{
	return rate < MOST_RATE ? rate : MOST_RATE;
}

/* The rate of level 2 or 3. */
static double
level_rate(unsigned level, uint64_t keys, uint64_t opposite)
{
	if (level == 1)
		return at_most((double) keys / (LEVEL_2_SHARE * (double) opposite));
	return at_most(LEVEL_3_CHANCE / (double) opposite);
}

bool
bf_exact_resize(bf_shape *exact, unsigned level, uint64_t keys, uint64_t opposite)
{
	bf_header  *h = &exact->level[level];
	bf_header	sized;
	bf_sizing	sizing;

	if (!bf_size_for_rate(keys > 0 ? keys : 1, level_rate(level, keys > 0 ? keys : 1, opposite > 0 ? opposite : 1), &sizing))
		return false;
	sized = bf_sizing_header(&sizing, 0);
	h->probes = sized.probes;
	h->log2_block_bits = sized.log2_block_bits;
	h->blocks = sized.blocks;
	h->capacity = sized.capacity;
	h->bits_set = 0;
	return true;
}

bool
bf_exact_plan(const bf_universe *universe, uint64_t seed, bf_shape *exact)
{
	double		rate = first_rate(universe);
	uint64_t	others = room_for((double) universe->others * rate);
	double		rate_2 = level_rate(1, others, universe->members);
	bf_sizing	sizing;
	unsigned	i;

	memset(exact, 0, sizeof *exact);
	exact->levels = BF_EXACT_LEVELS;
	if (!bf_size_for_rate(universe->members, rate, &sizing))
		return false;
	for (i = 0; i < BF_EXACT_LEVELS; i++)
		exact->level[i] = bf_sizing_header(&sizing, seed);
	exact->level[1].rate = exact->level[2].rate = 0;
	exact->others = universe->others;
	return bf_exact_resize(exact, 1, others, universe->members) &&
		bf_exact_resize(exact, 2, room_for((double) universe->members * rate_2), others);
}

bool
bf_exact_plan_least(const bf_universe *universe, uint64_t seed, const uint64_t least[BF_EXACT_LEVELS], bf_shape *exact)
{
	bool		planned = bf_exact_plan(universe, seed, exact);

	if (planned && least[1] > exact->level[1].capacity)
		planned = bf_exact_resize(exact, 1, least[1], universe->members) &&
			bf_exact_resize(exact, 2, exact->level[2].capacity, least[1]);
	if (planned && least[2] > exact->level[2].capacity)
		planned = bf_exact_resize(exact, 2, least[2], exact->level[1].capacity);
	return planned;
}

bf_universe
bf_exact_part_universe(const bf_universe *universe, uint32_t parts)
{
	bf_universe part = *universe;

	part.members = bf_part_capacity(universe->members, parts);
	if (universe->others > 0)
		part.others = bf_part_capacity(universe->others, parts);
	return part;
}

uint32_t
bf_exact_parts(const bf_universe *universe)
{
	uint32_t	parts = 1;
	bf_shape	exact;

	for (;;)
	{
		bf_universe part = bf_exact_part_universe(universe, parts);
		uint64_t	needed;

		if (!bf_exact_plan(&part, 0, &exact))
			return 0;
		if (bf_exact_fits(&exact))
			return parts;
		/* the next number at least, and what the bytes of this one tell */
		needed = parts * (bf_shape_bytes(&exact) / BF_MAX_BYTES);
		if (needed <= parts)
			needed = (uint64_t) parts + 1;
		if (needed > BF_MAX_PARTS)
			return 0;
		parts = (uint32_t) needed;
	}
}
