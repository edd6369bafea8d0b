/*
 * build.h
 *	  How the filters of a list are built and checked, for the files that do it.
 */
#ifndef BFPG_PUBLISH_BUILD_H
#define BFPG_PUBLISH_BUILD_H

#include "utils/timestamp.h"

#include "publish/publish.h"
#include "publish/shared.h"
#include "publish/source.h"

#pragma GCC visibility push(hidden)

/* The aggregate that reads the keys: its arguments are the ticket of the filters, a bytea, and a key. */
#define BFPG_PUBLISH_AGG "bloom_publish_agg"

/* What it returns, as an array of bigint. */
typedef enum BfpgPassCount
{
	BFPG_PASS_KEYS,
	BFPG_PASS_NULLS,
	BFPG_PASS_MISSING,			/* keys that the filters lack */
	BFPG_PASS_COUNTS
} BfpgPassCount;

typedef struct BfpgBuild
{
	BfpgSource *source;
	PlannedStmt *plan;			/* of bloom_publish_agg over the query, without its parameter */
	bool		here;			/* this server computes that aggregate */
	BfpgShared *shared;			/* the filters; NULL while another engine has them */
	double		rows;			/* that the planner expects */
	MemoryContext context;		/* of the filters, and of all that one build makes */
} BfpgBuild;

/* What each part is like, but for its number and the type of its keys. */
extern bf_header bfpg_publish_plan_part(const BfpgPublication *list);

/*
 * Reads the query once for the filters of the build.  Throws where these are in this process's
 * memory and another server or engine would do it.
 */
extern void bfpg_publish_pass(const BfpgPublication *list, int64 counts[BFPG_PASS_COUNTS]);

/* Looks all keys up in the filters, before they are written.  Throws where one is missing. */
extern void bfpg_publish_check(BfpgPublication *list);

extern double bfpg_seconds_since(TimestampTz start);

/* PostgreSQL's count(key), or count(*) where key is NULL; filter is its FILTER clause, or NULL. */
extern Expr *bfpg_publish_count(const BfpgSource *source, Expr *key, Expr *filter);

/* Builds the filters where another engine, or a foreign server, computes aggregates. */
extern void bfpg_publish_build_apart(BfpgPublication *list);

#pragma GCC visibility pop

#endif							/* BFPG_PUBLISH_BUILD_H */
