/*
 * build.h
 *	  How the filters of a list are built and checked, for the files that do it.
 */
#ifndef BFPG_PUBLISH_BUILD_H
#define BFPG_PUBLISH_BUILD_H

#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "bf_exact.h"
#include "publish/publish.h"
#include "publish/source.h"

/*
 * shared.c: the filters of a list while it is published, and what is done with keys.
 *
 * A process that runs the query alone has them in its own memory.  Where a plan has workers they
 * are in one segment of dynamic shared memory, and all processes set bits in them, each region
 * under a lock.  Each stands behind room for the header of a value, so that it is one
 * without being copied.  The memory is the creator's and goes with its transaction or
 * earlier.
 *
 * A process finds it by a ticket, a bytea with the segment's handle and a random secret that
 * stands in the memory, too.  So nobody who calls the aggregate by hand gets at it, or at any
 * other segment.
 */

/* Many times the processes of a query, so that these seldom wait for each other. */
#define BFPG_REGION_LOCKS 256

/* What a pass over the query's keys does with them. */
typedef enum BfpgPassMode
{
	BFPG_ADD,					/* members to level 1; others are counted */
	BFPG_CHECK,					/* looks all of them up, for a list without others */
	BFPG_OTHERS,				/* tells which others level 1 lets in */
	BFPG_PROVE					/* looks all of them up, and tells which members level 2 lets in */
} BfpgPassMode;

typedef struct BfpgTicket
{
	dsm_handle	segment;		/* DSM_HANDLE_INVALID: all is in memory of this process */
	uint8		secret[16];
} BfpgTicket;

/* What stands in front of the filters. */
typedef struct BfpgShared
{
	Oid			type;			/* the keys', in SQL */
	int			processes;		/* that may set bits; 1: the creator alone, in its own memory */
	BfpgPassMode mode;			/* what is done with the keys */
	BfpgTicket	ticket;			/* of this pass */
	pg_atomic_uint64 rows;		/* that were read */
	pg_atomic_uint32 key_type;	/* BF_KEY_NONE while there is no key */
	bf_shape	shape;			/* of each part, but for key_type and part */
	LWLockPadded locks[BFPG_REGION_LOCKS];
} BfpgShared;

extern double bfpg_shared_bytes(const bf_shape *shape);

/*
 * NULL if shared memory has room for so many bytes, and as much again stays free, at least 64 MB:
 * the parallel queries of all sessions, this one's as well, take their memory from the same file
 * system, and fail where it is full.  Else why it has not.
 */
extern const char *bfpg_shared_lack(double bytes);

/*
 * Makes empty filters of this shape for keys of an SQL type, for a query that so many processes
 * run.  Those for one process are in the current memory context.
 */
extern BfpgShared *bfpg_shared_create(const bf_shape *shape, Oid type, int processes);

extern void bfpg_shared_free(BfpgShared *shared);

/*
 * Finds the filters of a ticket; a worker attaches to them, until it ends.  Throws unless they are
 * for such keys, and for a ticket of NULL.
 */
extern BfpgShared *bfpg_shared_attach(const bytea *ticket, Oid type);

/* Of a part: the bytes of the format.  The room in front of them is for the header of a value. */
extern uint8 *bfpg_shared_image(BfpgShared *shared, uint32 part);

/* The blocks of a part's first level. */
static inline uint8 *
bfpg_shared_blocks(BfpgShared *shared, uint32 part)
{
	return bfpg_shared_image(shared, part) + bf_shape_front(&shared->shape);
}

/*
 * Adds hashes of keys to a part, also while other processes do.  All are of one region: no
 * hash of another region is in one of its blocks.
 */
extern void bfpg_shared_add(BfpgShared *shared, uint32 part, uint32 region, const uint64 *hashes, Size count);

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
 * run.c, what a publish with verbose tells: that a phase begins, how many rows all processes have read in it,
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
