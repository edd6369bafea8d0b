/*
 * compat.h
 *	  What differs between the PostgreSQL versions for an index access method.
 *
 * Include it after postgres.h.
 */
#ifndef BFPG_LIVE_COMPAT_H
#define BFPG_LIVE_COMPAT_H

#include "access/genam.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "tcop/utility.h"
#include "utils/rel.h"

#include "base/pg_compat.h"

/*
 * Records of the generic resource manager are made by hand on the versions on which
 * the tests have replayed them; others get them by its interface, which compares
 * whole pages.
 */
#if PG_VERSION_NUM < 200000 && !defined(BLOOMFILTER_GENERIC_XLOG)
#define BFPG_LIVE_WAL_BY_HAND 1
#endif

/* The number of a relation's file. */
#if PG_VERSION_NUM >= 160000
#define BFPG_FILE_NUMBER(locator) ((locator).relNumber)
#else
#define BFPG_FILE_NUMBER(locator) ((locator).relNode)
#endif

/* When this transaction gave a relation another file; renamed in 16. */
#if PG_VERSION_NUM >= 160000
#define BFPG_NEW_FILE_SUBID(relation) ((relation)->rd_newRelfilelocatorSubid)
#else
#define BFPG_NEW_FILE_SUBID(relation) ((relation)->rd_newRelfilenodeSubid)
#endif

/* What a hook of the executor's run gets after the count: until 17, whether it is the only run. */
#if PG_VERSION_NUM >= 180000
#define BFPG_RUN_ONCE_PARAMETER
#define BFPG_RUN_ONCE
#else
#define BFPG_RUN_ONCE_PARAMETER , bool once
#define BFPG_RUN_ONCE , once
#endif

/* What a hook of commands gets: from 14 on, whether it must leave the tree as it is, too. */
#if PG_VERSION_NUM >= 140000
#define BFPG_COMMAND_PARAMETERS \
	PlannedStmt *command, const char *text, bool keep_tree, ProcessUtilityContext context, \
	ParamListInfo params, QueryEnvironment *environment, DestReceiver *receiver, QueryCompletion *done
#define BFPG_COMMAND command, text, keep_tree, context, params, environment, receiver, done
#else
#define BFPG_COMMAND_PARAMETERS \
	PlannedStmt *command, const char *text, ProcessUtilityContext context, \
	ParamListInfo params, QueryEnvironment *environment, DestReceiver *receiver, QueryCompletion *done
#define BFPG_COMMAND command, text, context, params, environment, receiver, done
#endif

/* Row versions that were deleted before this transaction are seen by nobody any more. */
static inline TransactionId
bfpg_oldest_needed(Relation table)
{
#if PG_VERSION_NUM >= 140000
	return GetOldestNonRemovableTransactionId(table);
#else
	return GetOldestXmin(table, PROCARRAY_FLAGS_VACUUM);
#endif
}

/* A relation's partitions, from 14 on with those that are being detached concurrently. */
static inline List *
bfpg_partitions(Oid relation, LOCKMODE lock)
{
#if PG_VERSION_NUM >= 140000
	return find_inheritance_children_extended(relation, false, lock, NULL, NULL);
#else
	return find_inheritance_children(relation, lock);
#endif
}

#if PG_VERSION_NUM < 140000
#define ROLE_PG_STAT_SCAN_TABLES DEFAULT_ROLE_STAT_SCAN_TABLES
#endif

/* From 14 on an insertion is told whether the key has changed, which is only a hint. */
#if PG_VERSION_NUM >= 140000
#define BFPG_UNCHANGED_ARGUMENT bool unchanged,
#else
#define BFPG_UNCHANGED_ARGUMENT
#endif

#endif							/* BFPG_LIVE_COMPAT_H */
