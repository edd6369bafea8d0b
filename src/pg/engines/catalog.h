/*
 * catalog.h
 *	  Reading the catalogs of other engines.
 */
#ifndef BFPG_CATALOG_H
#define BFPG_CATALOG_H

#include "access/skey.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* Opens the catalog of an engine's extension; NULL if the engine isn't here. */
extern Relation bfpg_open_catalog(const char *engine, const char *schema, const char *name);

/* Whether an open catalog has a column of this name. */
extern bool bfpg_catalog_has(Relation catalog, const char *column);

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

#endif							/* BFPG_CATALOG_H */
