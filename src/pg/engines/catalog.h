/*
 * catalog.h
 *	  What the engines' catalogs tell of where the rows of a table are, for this room alone.
 */
#ifndef BFPG_CATALOG_H
#define BFPG_CATALOG_H

#include "access/skey.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "base/pg_compat.h"

/* Opens the catalog of an engine's extension; NULL if the engine isn't here. */
extern Relation bfpg_open_catalog(const char *engine, const char *schema, const char *name);

/* A condition of a scan of a catalog: this column is that value. */
extern void bfpg_catalog_key(Relation catalog, ScanKeyData *key, const char *column, Oid type,
							 RegProcedure equal, Datum value);

/* What is taken of a row: which transaction made it, and what it has in a column. */
typedef struct BfpgCatalogRow
{
	TransactionId maker;
	int32		number;
} BfpgCatalogRow;

/*
 * Closes a catalog and returns whether it has a row that the keys find, under a snapshot, of now if
 * that is NULL, by the index of this name if there is one.  Without a column the row is not told.
 */
extern bool bfpg_catalog_row(Relation catalog, const char *index, Snapshot snapshot, ScanKeyData *keys,
							 int count, const char *column, BfpgCatalogRow *row);

/* Throws: rows of a table are elsewhere. */
pg_noreturn extern void bfpg_refuse_kept(const char *table, const char *reason, const char *hint);

/* Each throws unless the rows of a table are in it, and returns whether that lasts: see bfpg_check_kept_here. */
extern bool bfpg_check_shard(Oid table);
extern bool bfpg_check_chunk(Oid table);

/* The transaction that made a chunk what it is, invalid if the table is none. */
extern TransactionId bfpg_chunk_maker(Oid table);

#endif							/* BFPG_CATALOG_H */
