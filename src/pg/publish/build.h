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

/* What bloom_publish_agg returns, as an array of bigint: these numbers, then the hashes that were let in. */
typedef enum BfpgPassCount
{
	BFPG_PASS_KEYS,				/* members: of a plain list all keys */
	BFPG_PASS_OTHERS,
	BFPG_PASS_NULLS,
	BFPG_PASS_UNKNOWN,			/* others whose boolean is null */
	BFPG_PASS_MISSING,			/* keys whose answer would be wrong */
	BFPG_PASS_LET_IN,			/* others that level 1 lets in */
	BFPG_PASS_SUM,				/* of their hashes, modulo 2^64 */
	BFPG_PASS_COUNTS
} BfpgPassCount;

typedef struct BfpgBuild
{
	BfpgSource *source;
	uint32		key_type;		/* of its keys; BF_KEY_NONE: rows alone tell it */
	PlannedStmt *plan;			/* of bloom_publish_agg over the query, without its parameter; with workers or without */
	bool		here;			/* this server computes that aggregate */
	PlannedStmt *apart;			/* of the statement that builds elsewhere, for apart_n keys */
	int64		apart_n;
	BfpgShared *shared;			/* the filters; NULL while another engine has them */
	double		rows;			/* that the planner expects, or that were counted */
	uint64		least[BF_EXACT_LEVELS];	/* keys for which levels 2 and 3 of a part are sized at least */
	MemoryContext context;		/* of the filters, and of all that one build makes */
} BfpgBuild;

/* What each part is like, but for its number and the type of its keys. */
extern bf_header bfpg_publish_part_header(const BfpgPublication *list);

/* Reads the query once for the filters of the build.  *hashes: how many hashes stand after the numbers. */
extern const int64 *bfpg_publish_pass(const BfpgPublication *list, BfpgPassMode mode, Size *hashes);

/* The shape of each part of an exact list, and how many parts there are. */
extern int32 bfpg_publish_exact_shape(const BfpgPublication *list, bf_shape *shape);

/* Bytes of the hashes that are let in while it is built. */
extern double bfpg_exact_list_bytes(const BfpgPublication *list, const bf_shape *shape);

/*
 * Makes levels 2 and 3 of filters whose level 1 has all members, and checks all keys.  False: a
 * level must be larger, which is noted, and all is to be built again.
 */
extern bool bfpg_publish_finish_exact(BfpgPublication *list);

/* One build with the n that the list has now, in place of the one before. */
extern void bfpg_publish_build_once(BfpgPublication *list);

/* Throws where the filters lack a key, or where another engine builds others the second time. */
extern void bfpg_publish_check(BfpgPublication *list);

extern double bfpg_seconds_since(TimestampTz start);

/*
 * What a publish with verbose tells: that a phase begins, how many rows all processes have read in it,
 * and at the end what has come out, and when writing began.
 */
extern void bfpg_progress_begin(const BfpgPublication *list, const char *phase);
extern void bfpg_progress_rows(uint64 rows);
extern void bfpg_progress_end(const BfpgPublication *list, TimestampTz writing);

/* PostgreSQL's count(key), or count(*) where key is NULL; filter is its FILTER clause, or NULL. */
extern Expr *bfpg_publish_count(const BfpgSource *source, Expr *key, Expr *filter);

/* Builds the filters where another engine, or a foreign server, computes aggregates. */
extern void bfpg_publish_build_apart(BfpgPublication *list);

#endif							/* BFPG_PUBLISH_BUILD_H */
