/*
 * publish_build.h
 *	  How the filters of a list are built and checked, for the files that do it.
 */
#ifndef BFPG_PUBLISH_BUILD_H
#define BFPG_PUBLISH_BUILD_H

#include "utils/timestamp.h"

#include "list/publish.h"
#include "list/publish_agg.h"
#include "list/source.h"

#pragma GCC visibility push(hidden)

typedef struct BfpgBuild
{
	BfpgSource *source;
	PlannedStmt *plan;			/* of bloom_publish_agg over the query, without its parameter */
	bool		here;			/* this server computes that aggregate */
	BfpgShared *shared;			/* the filters, or NULL where each process had its own */
	double		rows;			/* that the planner expects */
	bool		checked;		/* all keys were looked up */
	MemoryContext context;		/* of the filters, and of all that one build makes */
} BfpgBuild;

/* What each part is like, but for its number and the type of its keys. */
extern bf_header bfpg_publish_plan_part(const BfpgPublication *list);

/* Reads the query once for filters in shared memory. */
extern void bfpg_publish_pass(const BfpgBuild *build, bytea *argument, int64 counts[BFPG_PASS_COUNTS]);

/*
 * The same for a list that this transaction has written.  Throws where another server or
 * engine would do it, which doesn't have the list, or has another one of its name.
 */
extern void bfpg_publish_pass_of_list(const BfpgPublication *list, int64 counts[BFPG_PASS_COUNTS]);

/* Looks all keys up in filters that were built, where that is possible before they are written. */
extern void bfpg_publish_check_built(BfpgPublication *list);

extern double bfpg_seconds_since(TimestampTz start);

/* PostgreSQL's count(key), or count(*) where key is NULL; filter is its FILTER clause, or NULL. */
extern Expr *bfpg_publish_count(const BfpgSource *source, Expr *key, Expr *filter);

/*
 * Builds the filters in the memory of each process and merges them: where there is no
 * shared memory, or another engine computes the aggregate.
 */
extern void bfpg_publish_build_apart(BfpgPublication *list);

#pragma GCC visibility pop

#endif							/* BFPG_PUBLISH_BUILD_H */
