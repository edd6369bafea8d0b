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
#include "utils/relcache.h"

#include "bf_format.h"
#include "base/pg_compat.h"

#pragma GCC visibility push(hidden)

/* Which of a list's generations: the number that the tables have in back. */
#define BFPG_CURRENT 0

/* The table of filters, open, and where one part was found. */
typedef struct BfpgListTable
{
	Relation	table;
	Oid			schema;
	SysScanDesc scan;			/* of the index, or NULL */
} BfpgListTable;

/* The schema that a function, and so the extension, is in. */
extern Oid	bfpg_extension_schema(Oid function);

/* A relation of the extension by its name. */
extern Oid	bfpg_list_relation(Oid schema, const char *name);

/* Throws unless the user may read whole filters. */
extern void bfpg_list_check_may_read(Oid schema);

/*
 * Opens the table of filters.  It stays locked until the transaction ends, so that
 * what was read of it can be kept for as long as the snapshot is.
 */
extern void bfpg_list_open(Oid schema, BfpgListTable *table);
extern void bfpg_list_close(BfpgListTable *table);

/* The same for who can do without: false where the table or its index isn't there. */
extern bool bfpg_list_try_open(Oid schema, BfpgListTable *table);

/*
 * Finds one part of a list, in the current generation.  False where there is
 * none; else *filter is good until bfpg_list_done, and has to be followed by that.
 */
extern bool bfpg_list_part(BfpgListTable *table, Datum name, int32 part, Datum *filter);
extern void bfpg_list_done(BfpgListTable *table);

/* The error for a list that was never published. */
pg_noreturn extern void bfpg_list_unknown(Datum name);

/* The error for a list that lacks a part that it must have. */
pg_noreturn extern void bfpg_list_damaged(Datum name, uint32 part, uint32 parts);

/* The error for a list with a part that isn't one of its set. */
pg_noreturn extern void bfpg_list_mixed(Datum name, uint32 part);

/* By which query a list was published, so that bloom_refresh can run it again. */
typedef struct BfpgDefinition
{
	Oid			role;			/* that published, and alone may refresh */
	const char *query;
	const char *search_path;	/* by which the query's names were resolved */
	bool		check;
	bool		allow_empty;
} BfpgDefinition;

/*
 * Reads the definition of a list, in the caller's memory.  Throws where it has none, and where
 * the current role is not the one that published it.
 */
extern void bfpg_definition_read(Oid schema, const char *name, BfpgDefinition *definition);

/* Keeps the definition of a list, by the current role; NULL removes what is there. */
extern void bfpg_definition_write(Oid schema, const char *name, const BfpgDefinition *definition);

#pragma GCC visibility pop

#endif							/* BFPG_LIST_H */
