/*
 * publish_plan.c
 *	  How large a published list is made.
 *
 * The shape of a filter should be the same from night to night, so that deltas are
 * small, although the number of keys isn't.  So it is planned in steps: with a fifth
 * of room at least, and kept until that is nearly used up.
 */
#include "postgres.h"

#include "bf_estimate.h"
#include "bf_sizing.h"
#include "list/publish.h"
#include "base/report.h"
#include "base/sizes.h"

/* Steps of a decade, each about a quarter more than the one before. */
static const int64 steps[] = {100, 125, 160, 200, 250, 320, 400, 500, 640, 800};

/* Room to grow that a new step leaves. */
#define ROOM 1.2

/* Growth that is expected until the next time, when it is decided to keep n. */
#define NEXT_GROWTH 1.05

/* A list is made smaller when its n is so many times what a new one would get. */
#define TOO_LARGE 4

/* Share of bits beyond which the number of keys can't be told from them any more. */
#define TELLING_FILL 0.9

int64
bfpg_plan_step(double keys)
{
	double		scale = 1;
	int			i;

	for (;;)
	{
		for (i = 0; i < lengthof(steps); i++)
		{
			double		step = (double) steps[i] * scale;

			if (step >= keys * ROOM || step >= (double) BF_MAX_CAPACITY)
				return (int64) Min(step, (double) BF_MAX_CAPACITY);
		}
		scale *= 10;
	}
}

int64
bfpg_plan_capacity(const BfpgLastList *last, double expected_keys)
{
	int64		step = bfpg_plan_step(last->exists ? last->keys : expected_keys);

	if (last->exists && last->keys * NEXT_GROWTH <= (double) last->n &&
		last->n / TOO_LARGE <= step)
		return last->n;
	return step;
}

int32
bfpg_plan_parts(int64 n, double p)
{
	uint32		parts;
	bf_sizing	sizing;

	bfpg_size_for_rate(n, p, &sizing);
	parts = bf_parts_for_rate((uint64_t) n, p);
	if (parts == 0)
		bfpg_check_fits(&sizing);
	return (int32) parts;
}

double
bfpg_estimate_list_keys(const BfpgPublication *list)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < list->count; i++)
	{
		if (bf_fill(&list->headers[i]) > TELLING_FILL && list->keys >= 0)
			return (double) list->keys;
		sum += bf_estimate_keys(&list->headers[i]);
	}
	if (list->keys >= 0)
		return Min(sum, (double) list->keys);
	return sum;
}
