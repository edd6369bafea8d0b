/*
 * selectivity.c
 *	  The share of a table's rows that a filter lets pass, as the planner wants to know it.
 *
 * The filter tells how many keys it holds, and statistics tell how many different ones a
 * column has: as in a semi-join with the keys, the filter's are taken to be among the
 * column's.  No key is looked up for that.
 */
#include "postgres.h"

#include "utils/selfuncs.h"

#include "plan/selectivity.h"

/* The largest guess: if it is wrong, NOT must not be expected to leave nothing. */
#define LARGEST_SHARE 0.9

double
bfpg_share_of_rows(PlannerInfo *root, double keys, double rate, Node *key, int varRelid)
{
	VariableStatData column;
	bool		is_default;
	double		members;

	examine_variable(root, key, varRelid, &column);
	members = Min(keys / get_variable_numdistinct(&column, &is_default), 1.0);
	ReleaseVariableStats(column);
	return Min(members + (1.0 - members) * rate, LARGEST_SHARE);
}
