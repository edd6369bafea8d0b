/*
 * selectivity.h
 *	  The share of a table's rows that a filter lets pass, as the planner wants to know it.
 */
#ifndef BFPG_SELECTIVITY_H
#define BFPG_SELECTIVITY_H

#include "nodes/pathnodes.h"

/*
 * The share where nothing is known of the filter: a column, a scalar subquery, another
 * query's result.  It is meant for filters that let few rows pass, and large enough that three
 * of them, made from the sides of a join, don't make PostgreSQL join whole tables by nested
 * loops: with 0.05 and 0.1 it does.
 */
#define BFPG_UNKNOWN_SHARE 0.2

/*
 * The share of a relation's rows whose key, an expression, passes a filter that holds so many
 * keys and has this rate of false positives.  Others are keys that it knows not to be among them:
 * where nothing is known of the column, it is taken to have both.
 */
extern double bfpg_share_of_rows(PlannerInfo *root, double keys, double others, double rate, Node *key,
								 int varRelid);

#endif							/* BFPG_SELECTIVITY_H */
