/*
 * share.h
 *	  The share of a table's rows that a filter lets pass, as the planner wants to know it.
 */
#ifndef BFPG_SHARE_H
#define BFPG_SHARE_H

#include "nodes/pathnodes.h"

#include "bf_format.h"
#include "key/key.h"

#pragma GCC visibility push(hidden)

/*
 * The share where nothing is known of the filter: a column, a scalar subquery, another
 * query's result.  It is meant for filters that let few rows pass, and large enough that a
 * nested loop over a large table is not chosen on the strength of it.
 */
#define BFPG_UNKNOWN_SHARE 0.05

/* What is known of a filter. */
typedef struct BfpgKnownFilter
{
	double		keys;			/* that it holds, all parts together */
	double		rate;			/* of false positives that it has now */
	uint32		key_type;		/* as in bf_header */
	uint64		seed;

	/* Whether it may contain a key with this hash; NULL where that takes too long. */
	bool		(*contains) (void *state, uint64 hash);
	void	   *state;
	bool		is_stored;		/* looking takes microseconds */
} BfpgKnownFilter;

/* What a header says of its filter, or of the set of parts that it belongs to. */
extern BfpgKnownFilter bfpg_known_filter(const bf_header *header);

/* The share of a relation's rows whose key, an expression, passes a known filter. */
extern double bfpg_share_of_rows(PlannerInfo *root, const BfpgKnownFilter *filter,
								 Node *key, int varRelid);

#pragma GCC visibility pop

#endif							/* BFPG_SHARE_H */
