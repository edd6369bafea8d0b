/*
 * list.h
 *	  The filters of published lists, read from the extension's own tables.
 *
 * A look-up reads bloom_generation_part by its primary key, under the snapshot that
 * the caller's query has, and without the caller's rights on it: whoever may execute
 * bloom_lookup gets answers and no filter.
 */
#ifndef BFPG_LIST_H
#define BFPG_LIST_H

#include "access/genam.h"
#include "access/htup.h"
#include "utils/relcache.h"

#include "bf_format.h"
#include "base/pg_compat.h"

/* Which of a list's generations: the number that the tables have in back. */
#define BFPG_CURRENT 0
#define BFPG_BEFORE 1

/* The schema that a function, and so the extension, is in. */
extern Oid	bfpg_extension_schema(Oid function);

/* Objects in it; a function by the types of its arguments. */
extern Oid	bfpg_list_relation(Oid schema, const char *name);
extern Oid	bfpg_extension_function(Oid schema, const char *name, int count, const Oid *types);

/*
 * The row of a list in one of the extension's tables, whose key is the name, as the newest
 * transaction left it; or NULL.  The caller ends the scan.
 */
extern HeapTuple bfpg_list_newest_row(Relation table, Datum name, SysScanDesc *scan);

/* Copies some columns of that row, of a table that belongs to a superuser; false where there is none. */
extern bool bfpg_list_read(Oid schema, const char *table, Datum name, int count, const char *const *columns, NullableDatum *values);

/* Throws unless the user may read whole filters, or has the rights of the list's owner. */
extern void bfpg_list_check_may_read(Oid schema, const char *list);

/* What the row of a part says. */
typedef struct BfpgListPart
{
	Datum		filter;			/* as the row has it: of a stored value the pointer */
	bool		tracked;		/* changes count, see changes.h */
} BfpgListPart;

/*
 * Finds one part of a list, in the current generation; false where there is none.  The table stays
 * locked until the transaction ends, so that what was read of it can be kept for as long as the
 * snapshot is.
 */
extern bool bfpg_list_part(Oid schema, Datum name, int32 number, MemoryContext context, BfpgListPart *part);

/* A list whose query this session is running.  A query may publish another list: outer is the list of that query. */
typedef struct BfpgListQuery
{
	Oid			schema;
	const char *list;
	const struct BfpgListQuery *outer;
} BfpgListQuery;

extern const BfpgListQuery *bfpg_list_queries;

/* Throws if this session is running the list's query, which must not change the list. */
extern void bfpg_list_check_query(Oid schema, const char *list);

/* Throws for a name that a list can't have. */
extern void bfpg_list_check_name(const char *name);

/* The error for a list that was never published. */
pg_noreturn extern void bfpg_list_unknown(Oid schema, Datum name);

#endif							/* BFPG_LIST_H */
