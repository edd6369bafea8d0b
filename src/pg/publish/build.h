/*
 * build.h
 *	  How the filters of a list are built and checked, for the files that do it.
 */
#ifndef BFPG_PUBLISH_BUILD_H
#define BFPG_PUBLISH_BUILD_H

#include "utils/timestamp.h"

#include "publish/publish.h"
#include "publish/agg.h"
#include "publish/source.h"

#pragma GCC visibility push(hidden)

typedef struct BfpgBuild
{
	BfpgSource *source;
	PlannedStmt *plan;			/* of bloom_publish_agg over the query, without its parameter */
	bool		here;			/* this server computes that aggregate */
	BfpgShared *shared;			/* the filters; NULL while another engine has them */
	double		rows;			/* that the planner expects */
	uint64		least[BF_EXACT_LEVELS];	/* keys for which levels 2 and 3 of a part are sized at least */
	MemoryContext context;		/* of the filters, and of all that one build makes */
} BfpgBuild;

/* What each part is like, but for its number and the type of its keys. */
extern bf_header bfpg_publish_plan_part(const BfpgPublication *list);

/*
 * Reads the query once for the filters of the build.  Throws where these are in this process's
 * memory and another server or engine would do it.
 */
extern void bfpg_publish_pass(const BfpgPublication *list, BfpgPassMode mode, int64 counts[BFPG_PASS_COUNTS]);

/* Counts members and others. */
extern void bfpg_publish_count_exact(BfpgPublication *list);

/* The shape of each part of an exact list, and how many parts there are. */
extern int32 bfpg_publish_plan_exact(const BfpgPublication *list, bf_exact *shape);

/* Bytes of the hashes that are gathered while it is built. */
extern double bfpg_exact_list_bytes(const BfpgPublication *list, const bf_exact *shape);

/*
 * Makes levels 2 and 3 of filters whose level 1 has all members, and checks all keys.  False: a
 * level must be larger, which is noted, and all is to be built again.
 */
extern bool bfpg_publish_finish_exact(BfpgPublication *list);

/* Looks all keys up in the filters, before they are written.  Throws where one is missing. */
extern void bfpg_publish_check(BfpgPublication *list);

extern double bfpg_seconds_since(TimestampTz start);

/* PostgreSQL's count(key), or count(*) where key is NULL; filter is its FILTER clause, or NULL. */
extern Expr *bfpg_publish_count(const BfpgSource *source, Expr *key, Expr *filter);

/* Builds the filters where another engine, or a foreign server, computes aggregates. */
extern void bfpg_publish_build_apart(BfpgPublication *list);

#pragma GCC visibility pop

#endif							/* BFPG_PUBLISH_BUILD_H */
