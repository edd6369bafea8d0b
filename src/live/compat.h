/*
 * compat.h
 *	  What differs between the PostgreSQL versions for an index access method.
 *
 * Include it after postgres.h.
 */
#ifndef BFPG_LIVE_COMPAT_H
#define BFPG_LIVE_COMPAT_H

#include "access/amapi.h"
#include "access/genam.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "nodes/execnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "base/pg_compat.h"

/*
 * Records of the generic resource manager are made by hand on the versions on which
 * the tests have replayed them; others get them by its interface, which compares
 * whole pages.
 */
#if PG_VERSION_NUM < 200000 && !defined(BLOOMFILTER_GENERIC_XLOG)
#define BFPG_LIVE_WAL_BY_HAND 1
#endif

/* When this transaction gave a relation another file; renamed in 16. */
#if PG_VERSION_NUM >= 160000
#define BFPG_NEW_FILE_SUBID(relation) ((relation)->rd_newRelfilelocatorSubid)
#else
#define BFPG_NEW_FILE_SUBID(relation) ((relation)->rd_newRelfilenodeSubid)
#endif

/* Gives an exclusively locked index a new file, which a rollback takes away; renamed in 16. */
static inline void
bfpg_set_new_file(Relation index)
{
#if PG_VERSION_NUM >= 160000
	RelationSetNewRelfilenumber(index, index->rd_rel->relpersistence);
#else
	RelationSetNewRelfilenode(index, index->rd_rel->relpersistence);
#endif
}

/* A member of the access method's table that came after 15. */
#if PG_VERSION_NUM >= 170000
#define BFPG_AM_CAN_BUILD_PARALLEL .amcanbuildparallel = true,
#else
#define BFPG_AM_CAN_BUILD_PARALLEL
#endif

/* The access method's table as its handler returns it: until 18 the caller frees it. */
static inline const IndexAmRoutine *
bfpg_am_routine(const IndexAmRoutine *routine)
{
#if PG_VERSION_NUM >= 190000
	return routine;
#else
	IndexAmRoutine *copy = palloc(sizeof *copy);

	*copy = *routine;
	return copy;
#endif
}

/* A page at the end of a fork, empty and locked; by an interface of its own from 16 on.  The caller holds the extension lock. */
static inline Buffer
bfpg_extend(Relation relation, ForkNumber fork)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(relation), fork, NULL, EB_LOCK_FIRST | EB_SKIP_EXTENSION_LOCK);
#else
	return ReadBufferExtended(relation, fork, P_NEW, RBM_ZERO_AND_LOCK, NULL);
#endif
}

/* How many workers a build may have: planned by CREATE INDEX itself from 17 on. */
static inline int
bfpg_build_workers(Relation heap, Relation index, const IndexInfo *info)
{
#if PG_VERSION_NUM >= 170000
	return info->ii_ParallelWorkers;
#else
	return plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
#endif
}

#endif							/* BFPG_LIVE_COMPAT_H */
