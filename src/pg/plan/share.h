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
 * query's result.  It is what PostgreSQL takes for any function.  A filter made from a
 * side of the same join counts twice, by itself and by the join's condition; a smaller
 * share, for two or three such filters, makes the planner expect some rows where there are
 * tens of thousands, and join them by nested loops over whole tables.
 */
#define BFPG_UNKNOWN_SHARE (1.0 / 3.0)

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
