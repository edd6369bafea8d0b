/*
 * timescale.c
 *	  Chunks of TimescaleDB.
 *
 * _timescaledb_catalog.chunk has a row for each chunk, by schema_name and table_name, from 2.29 on
 * by relid.  Its status says whether the chunk is compressed: then another table has rows of it,
 * which its indexes don't know.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "engines/catalog.h"
#include "engines/engines.h"

/* A chunk that is frozen, and nothing else, has its rows where they were. */
#define FROZEN 4

/* Whether a table is a chunk; the number of *chunk is its status then. */
static bool
is_chunk(Oid table, BfpgCatalogRow *chunk)
{
	Relation	catalog = bfpg_open_catalog("timescaledb", "_timescaledb_catalog", "chunk");
	ScanKeyData keys[2];
	NameData	names[2];

	if (catalog == NULL)
		return false;
	if (get_attnum(RelationGetRelid(catalog), "relid") != InvalidAttrNumber)
	{
		bfpg_catalog_key(catalog, &keys[0], "relid", REGCLASSOID, F_OIDEQ, ObjectIdGetDatum(table));
		return bfpg_catalog_row(catalog, "chunk_relid_key", NULL, keys, 1, "status", chunk);
	}
	namestrcpy(&names[0], get_namespace_name(get_rel_namespace(table)));
	namestrcpy(&names[1], get_rel_name(table));
	bfpg_catalog_key(catalog, &keys[0], "schema_name", NAMEOID, F_NAMEEQ, NameGetDatum(&names[0]));
	bfpg_catalog_key(catalog, &keys[1], "table_name", NAMEOID, F_NAMEEQ, NameGetDatum(&names[1]));
	return bfpg_catalog_row(catalog, "chunk_schema_name_table_name_key", NULL, keys, 2, "status", chunk);
}

static bool
is_compressed(const BfpgCatalogRow *chunk)
{
	return (chunk->number & ~FROZEN) != 0;
}

bool
bfpg_is_compressed(Oid table)
{
	BfpgCatalogRow chunk;

	return is_chunk(table, &chunk) && is_compressed(&chunk);
}

/*
 * Rows may go into a compressed chunk without a lock that waits for readers, so what is found of a
 * chunk doesn't last.
 */
bool
bfpg_check_chunk(Oid table)
{
	BfpgCatalogRow chunk;

	if (!is_chunk(table, &chunk))
		return true;
	if (is_compressed(&chunk))
		bfpg_refuse_kept(get_rel_name(table), "TimescaleDB keeps rows in a compressed chunk",
						 "Look up in chunks that are not compressed, or build a filter of a query with bloom_agg or bloom_publish.");
	return false;
}

/* The row of a chunk is written anew whenever its rows are compressed or decompressed. */
TransactionId
bfpg_chunk_maker(Oid table)
{
	BfpgCatalogRow chunk;

	return is_chunk(table, &chunk) ? chunk.maker : InvalidTransactionId;
}

void
bfpg_refuse_compressed(Oid table)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" has chunks that TimescaleDB has compressed, whose keys are in no index",
					get_rel_name(table)),
			 errhint("Take bloom_search or bloom_index_partitions, for which such a chunk may have the key. "
					 "Or ask each chunk that is not compressed, with SELECT bool_or(bloom_index_contains(c, 'column', key)) FROM show_chunks('table', newer_than => ...) AS c.")));
}
