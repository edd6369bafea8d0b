/*
 * share.c
 *	  The share of a table's rows that a filter lets pass, as the planner wants to know it.
 *
 * The filter tells how many keys it holds, and statistics tell how many different ones a
 * column has: as in a semi-join with the keys, the filter's are taken to be among the
 * column's.  That they are is a guess, so the values that statistics have of the column are
 * looked up in the filter.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "bf_estimate.h"
#include "plan/share.h"

/* The largest guess: if it is wrong, NOT must not be expected to leave nothing. */
#define LARGEST_SHARE 0.9

/* Of the most common values, and of the histogram's bounds, so many are looked up. */
#define MOST_VALUES 100

/* A plan for fewer rows can't go so wrong that looking into a stored filter pays. */
#define MANY_ROWS 10000

/* How the values of a column are looked up. */
typedef struct BfpgSampler
{
	const BfpgKnownFilter *filter;
	BfpgKeyCoder coder;
} BfpgSampler;

/* Whether there are statistics of values that can be keys of the filter, and it pays. */
static bool
can_sample(BfpgSampler *sampler, const VariableStatData *column)
{
	const BfpgKnownFilter *filter = sampler->filter;

	if (filter->contains == NULL || !HeapTupleIsValid(column->statsTuple) || !column->acl_ok ||
		(filter->is_stored && column->rel != NULL && column->rel->tuples < MANY_ROWS))
		return false;
	return bfpg_find_key_type(getBaseType(column->atttype), &sampler->coder) &&
		sampler->coder.type == filter->key_type;
}

static bool
passes(BfpgSampler *sampler, Datum value)
{
	const BfpgKnownFilter *filter = sampler->filter;

	return filter->contains(filter->state, bfpg_hash_key(&sampler->coder, value, filter->seed));
}

/*
 * The share of the values that statistics have no frequency of.  Of the histogram's bounds
 * so many pass; the guess must agree with them.  Two are the least and the largest value,
 * and may be no sample of the others.
 */
static double
share_of_others(BfpgSampler *sampler, HeapTuple statistics, double guess)
{
	AttStatsSlot slot;
	double		least = 0.0;
	double		most = 1.0;

	if (get_attstatsslot(&slot, statistics, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						 ATTSTATSSLOT_VALUES))
	{
		int			count = Min(slot.nvalues, MOST_VALUES);
		int			passed = 0;
		int			i;

		for (i = 0; i < count; i++)
			passed += passes(sampler, slot.values[(int64) i * slot.nvalues / count]);
		least = (double) Max(passed - 2, 0) / count;
		most = (double) (passed + 1) / (count + 1);
		free_attstatsslot(&slot);
	}
	return Max(least, Min(most, guess));
}

/* The share of a column's values that pass, by its statistics. */
static double
share_by_statistics(BfpgSampler *sampler, HeapTuple statistics, double guess)
{
	double		nulls = ((Form_pg_statistic) GETSTRUCT(statistics))->stanullfrac;
	AttStatsSlot slot;
	double		passed = 0.0;
	double		common = 0.0;
	int			i;

	if (get_attstatsslot(&slot, statistics, STATISTIC_KIND_MCV, InvalidOid,
						 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
	{
		/* The most common ones come first. */
		for (i = 0; i < Min(slot.nvalues, MOST_VALUES); i++)
		{
			common += slot.numbers[i];
			if (passes(sampler, slot.values[i]))
				passed += slot.numbers[i];
		}
		free_attstatsslot(&slot);
	}
	return passed + share_of_others(sampler, statistics, guess) * Max(1.0 - nulls - common, 0.0);
}

/* The share of a column's different keys that a filter holds or lets through. */
static double
share_of_keys(const BfpgKnownFilter *filter, double different)
{
	double		members = Min(filter->keys / different, 1.0);

	return members + (1.0 - members) * filter->rate;
}

/* Of a part all parts are told: each has as many keys as the others. */
BfpgKnownFilter
bfpg_known_filter(const bf_header *header)
{
	BfpgKnownFilter filter = {
		.keys = bf_estimate_keys(header) * header->parts,
		.rate = bf_estimate_rate(header),
		.key_type = header->key_type,
		.seed = header->seed
	};

	return filter;
}

double
bfpg_share_of_rows(PlannerInfo *root, const BfpgKnownFilter *filter, Node *key, int varRelid)
{
	VariableStatData column;
	BfpgSampler sampler = {.filter = filter};
	bool		is_default;
	double		share;

	examine_variable(root, key, varRelid, &column);
	share = share_of_keys(filter, get_variable_numdistinct(&column, &is_default));
	if (can_sample(&sampler, &column))
		share = share_by_statistics(&sampler, column.statsTuple, share);
	else
		share = Min(share, LARGEST_SHARE);
	ReleaseVariableStats(column);
	return share;
}
