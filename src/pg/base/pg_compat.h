/*
 * pg_compat.h
 *	  What differs between the PostgreSQL versions that we build on, 15 to 19.
 *
 * What an index access method needs besides is in live/compat.h.  No other file asks for
 * PG_VERSION_NUM.  Include it after postgres.h.
 */
#ifndef PG_COMPAT_H
#define PG_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "bloomfilter needs PostgreSQL 15 or newer"
#endif

#if SIZEOF_VOID_P < 8
#error "bloomfilter needs a 64-bit system"
#endif

#include "access/detoast.h"
#include "access/toast_internals.h"
#include "common/base64.h"
#include "executor/execdesc.h"
#include "fmgr.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/palloc.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#endif

/* Soft errors: from 16 on, input functions can report instead of throwing. */
#if PG_VERSION_NUM >= 160000
#define bfpg_errsave(escontext, ...) errsave(escontext, __VA_ARGS__)
#else
#define bfpg_errsave(escontext, ...) \
	do { (void) (escontext); ereport(ERROR, __VA_ARGS__); } while (0)
#endif

/* base64 works on char before 18, on uint8 from then on, for the binary side. */
#if PG_VERSION_NUM >= 180000
typedef uint8 bfpg_b64_byte;
#else
typedef char bfpg_b64_byte;
#endif

/* A prefix from 18 on; before, an attribute behind the declarator. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/* A function that returns all its rows at once; the helper was renamed in 16. */
#if PG_VERSION_NUM < 160000
#define InitMaterializedSRF(fcinfo, flags) SetSingleFuncCall(fcinfo, flags)
#endif

/*
 * The answer of a support function whose function may change its first argument
 * in place: that argument, where it is the variable that the result goes to, and
 * NULL for every other request.  Such requests are made from 18 on.
 */
extern struct Node *bfpg_modify_in_place(struct Node *request);

/* This process's number of its transaction, whether it has an identifier or not; moved in 17. */
static inline LocalTransactionId
bfpg_own_transaction(void)
{
#if PG_VERSION_NUM >= 170000
	return MyProc->vxid.lxid;
#else
	return MyProc->lxid;
#endif
}

/* The snapshot that chunks of stored values are read by: until 17 it is made in room. */
static inline Snapshot
bfpg_toast_snapshot(SnapshotData *room)
{
#if PG_VERSION_NUM >= 180000
	return get_toast_snapshot();
#else
	init_toast_snapshot(room);
	return room;
#endif
}

/* Where a relation's file is; renamed in 16. */
#if PG_VERSION_NUM >= 160000
typedef RelFileLocator BfpgFileLocator;
#define BFPG_LOCATOR(relation) ((relation)->rd_locator)
#define BFPG_FILE_NUMBER(locator) ((locator).relNumber)
#else
typedef RelFileNode BfpgFileLocator;
#define BFPG_LOCATOR(relation) ((relation)->rd_node)
#define BFPG_FILE_NUMBER(locator) ((locator).relNode)
#endif

/* Plans a statement; from 19 on there is room for what EXPLAIN wants to know. */
#if PG_VERSION_NUM >= 190000
#define bfpg_plan_query(query, text, options, params) pg_plan_query(query, text, options, params, NULL)
#else
#define bfpg_plan_query(query, text, options, params) pg_plan_query(query, text, options, params)
#endif

/* Whether a query reads a temporary table; asked of all its objects from 19 on. */
#if PG_VERSION_NUM >= 190000
#define bfpg_reads_temporary(query) query_uses_temp_object(query, &(ObjectAddress) {0})
#else
#define bfpg_reads_temporary(query) isQueryUsingTempRelation(query)
#endif

/* Runs a plan of a query's text to its end, under the active snapshot. */
extern void bfpg_execute(PlannedStmt *plan, const char *text, ParamListInfo params, DestReceiver *receiver);

/* Whether a role may execute a function; asked by the object's class from 16 on. */
extern bool bfpg_may_execute(Oid function, Oid role);

/* Whether the current role owns an extension, InvalidOid none; asked by the object's class from 16 on. */
extern bool bfpg_owns_extension(Oid extension);

/* Whether the current role could become another one by SET ROLE, which a membership may lack from 16 on. */
extern bool bfpg_could_become(Oid role);

#endif							/* PG_COMPAT_H */
