/*
 * elsewhere.c
 *	  Tables whose rows PostgreSQL's heap doesn't have: another engine keeps them.
 *
 * Engines are known by their catalogs, found by schema and name and never through
 * search_path:
 *
 * - pg_catalog.pg_dist_partition has a row for each table that Citus manages, and
 *   pg_dist_local_group one that says which node this is: 0 is the coordinator.
 * - _timescaledb_catalog.chunk has a row for each chunk of TimescaleDB.  Three shapes of it
 *   were seen, up to 2.29: a chunk is named by schema_name and table_name, or by relid, and
 *   its compression by status, by compressed_chunk_id, or by both.
 *
 * A catalog of another shape is an error: the worst that can be concluded from it is that
 * rows are here when they aren't.  Anybody who may create schemas could make such tables,
 * and stop all look-ups by them.  So only those count that a superuser owns or that belong
 * to the engine's extension.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "base/elsewhere.h"
#include "base/epoch.h"
#include "base/pg_compat.h"

#define CITUS_CATALOG "pg_dist_partition"
#define CITUS_NODE "pg_dist_local_group"
#define TIMESCALE_SCHEMA "_timescaledb_catalog"
#define TIMESCALE_CATALOG "chunk"

/* A chunk that is frozen, and nothing else, has its rows where they were. */
#define TIMESCALE_FROZEN 4

/* Where the rows of a table are kept. */
typedef enum Kept
{
	KEPT_HERE,					/* in the table's own heap */
	KEPT_HERE_NOW,				/* the same, of a chunk, until it is compressed */
	KEPT_BY_CITUS,				/* in shards; or it may be */
	KEPT_COMPRESSED,			/* a chunk of TimescaleDB that is compressed, also partly */
	KEPT_BY_TABLE_AM			/* by an access method that isn't heap */
} Kept;

/* Tables that were found to keep their rows, a place for each by its OID. */
#define PLACES 1024

static struct
{
	Oid			table;
	uint64		epoch;			/* bfpg_epoch when it was found */
}			kept_here[PLACES];

/* An engine's catalog while it is read. */
typedef struct EngineCatalog
{
	const char *engine;
	const char *schema;
	Relation	relation;
} EngineCatalog;

pg_noreturn static void
refuse_shape(const EngineCatalog *catalog)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s.%s\" has not the columns that bloomfilter knows",
					catalog->schema, RelationGetRelationName(catalog->relation)),
			 errdetail("It tells which tables' rows are kept by %s, and not by the tables themselves.",
					   catalog->engine),
			 errhint("Update bloomfilter, which may know this version of %s.", catalog->engine)));
}

/*
 * Whether a relation is an engine's, and not a table of that name that anybody could have
 * made, by hand or as a member of another extension.
 */
static bool
is_genuine(const EngineCatalog *catalog, Oid relation)
{
	Oid			extension = getExtensionOfObject(RelationRelationId, relation);
	const char *name = OidIsValid(extension) ? get_extension_name(extension) : NULL;
	HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(row))
		return false;
	owner = ((Form_pg_class) GETSTRUCT(row))->relowner;
	ReleaseSysCache(row);
	return superuser_arg(owner) || (name != NULL && pg_strcasecmp(name, catalog->engine) == 0);
}

/* Opens an engine's catalog; returns whether there is one. */
static bool
open_catalog(EngineCatalog *catalog, Oid schema, const char *name)
{
	Oid			relation = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;

	if (!OidIsValid(relation) || !is_genuine(catalog, relation))
		return false;
	catalog->relation = relation_open(relation, AccessShareLock);
	if (catalog->relation->rd_rel->relkind != RELKIND_RELATION)
		refuse_shape(catalog);
	return true;
}

/* The number of a column, if it has one of two types; 0 if there is no such column. */
static AttrNumber
find_column(const EngineCatalog *catalog, const char *name, Oid type, Oid other_type)
{
	AttrNumber	number = get_attnum(RelationGetRelid(catalog->relation), name);
	Oid			found;

	if (number == InvalidAttrNumber)
		return InvalidAttrNumber;
	found = get_atttype(RelationGetRelid(catalog->relation), number);
	if (found != type && found != other_type)
		refuse_shape(catalog);
	return number;
}

/* An index that begins with the columns of scan keys; InvalidOid if there is none. */
static Oid
find_index(Relation catalog, const ScanKeyData *keys, int count)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(catalog))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		bool		fits = index->rd_rel->relam == BTREE_AM_OID && index->rd_index->indisvalid &&
			index->rd_index->indnkeyatts >= count &&
			heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
		int			i;

		for (i = 0; fits && i < count; i++)
			fits = index->rd_index->indkey.values[i] == keys[i].sk_attno;
		index_close(index, AccessShareLock);
		if (fits)
			return lfirst_oid(cell);
	}
	return InvalidOid;
}

/* A catalog's row about a table, under a snapshot of now. */
static SysScanDesc
find_row(const EngineCatalog *catalog, ScanKeyData *keys, int count, HeapTuple *row)
{
	Oid			index = find_index(catalog->relation, keys, count);
	SysScanDesc scan = systable_beginscan(catalog->relation, index, OidIsValid(index),
										  NULL, count, keys);

	*row = systable_getnext(scan);
	return scan;
}

static bool
is_of_citus(Oid table)
{
	EngineCatalog		catalog = {"Citus", "pg_catalog", NULL};
	ScanKeyData key;
	AttrNumber	relation;
	SysScanDesc scan;
	HeapTuple	row;

	if (!open_catalog(&catalog, PG_CATALOG_NAMESPACE, CITUS_CATALOG))
		return false;
	relation = find_column(&catalog, "logicalrelid", REGCLASSOID, OIDOID);
	if (relation == InvalidAttrNumber)
		refuse_shape(&catalog);
	ScanKeyInit(&key, relation, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	scan = find_row(&catalog, &key, 1, &row);
	systable_endscan(scan);
	relation_close(catalog.relation, AccessShareLock);
	return HeapTupleIsValid(row);
}

/* Whether this is a node of Citus, and not known to be the coordinator. */
static bool
is_worker(void)
{
	EngineCatalog		catalog = {"Citus", "pg_catalog", NULL};
	AttrNumber	group;
	SysScanDesc scan;
	HeapTuple	row;
	bool		is_null;
	bool		worker;

	if (!open_catalog(&catalog, PG_CATALOG_NAMESPACE, CITUS_NODE))
		return false;
	group = find_column(&catalog, "groupid", INT4OID, INT4OID);
	if (group == InvalidAttrNumber)
		refuse_shape(&catalog);
	scan = find_row(&catalog, NULL, 0, &row);
	worker = !HeapTupleIsValid(row) ||
		DatumGetInt32(heap_getattr(row, group, RelationGetDescr(catalog.relation), &is_null)) != 0;
	systable_endscan(scan);
	relation_close(catalog.relation, AccessShareLock);
	return worker;
}

/* Makes the keys by which a chunk is found, in the shape that the catalog has. */
static int
chunk_keys(const EngineCatalog *catalog, Oid table, ScanKeyData *keys, NameData *names)
{
	AttrNumber	relation = find_column(catalog, "relid", REGCLASSOID, OIDOID);
	AttrNumber	schema = find_column(catalog, "schema_name", NAMEOID, NAMEOID);
	AttrNumber	name = find_column(catalog, "table_name", NAMEOID, NAMEOID);

	if (relation != InvalidAttrNumber)
	{
		ScanKeyInit(&keys[0], relation, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
		return 1;
	}
	if (schema == InvalidAttrNumber || name == InvalidAttrNumber)
		refuse_shape(catalog);
	namestrcpy(&names[0], get_namespace_name(get_rel_namespace(table)));
	namestrcpy(&names[1], get_rel_name(table));
	ScanKeyInit(&keys[0], schema, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&names[0]));
	ScanKeyInit(&keys[1], name, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&names[1]));
	return 2;
}

/* Whether a chunk's row says that it is compressed, wholly or in part. */
static bool
says_compressed(const EngineCatalog *catalog, HeapTuple row)
{
	AttrNumber	status = find_column(catalog, "status", INT4OID, INT4OID);
	AttrNumber	compressed = find_column(catalog, "compressed_chunk_id", INT4OID, INT4OID);
	TupleDesc	columns = RelationGetDescr(catalog->relation);
	bool		is_null;

	if (status == InvalidAttrNumber && compressed == InvalidAttrNumber)
		refuse_shape(catalog);
	if (compressed != InvalidAttrNumber && !heap_attisnull(row, compressed, columns))
		return true;
	return status != InvalidAttrNumber &&
		(DatumGetInt32(heap_getattr(row, status, columns, &is_null)) & ~TIMESCALE_FROZEN) != 0;
}

static Kept
find_chunk(Oid table)
{
	EngineCatalog		catalog = {"TimescaleDB", TIMESCALE_SCHEMA, NULL};
	ScanKeyData keys[2];
	NameData	names[2];
	SysScanDesc scan;
	HeapTuple	row;
	Kept		kept = KEPT_HERE;

	if (!open_catalog(&catalog, get_namespace_oid(TIMESCALE_SCHEMA, true), TIMESCALE_CATALOG))
		return kept;
	scan = find_row(&catalog, keys, chunk_keys(&catalog, table, keys, names), &row);
	if (HeapTupleIsValid(row))
		kept = says_compressed(&catalog, row) ? KEPT_COMPRESSED : KEPT_HERE_NOW;
	systable_endscan(scan);
	relation_close(catalog.relation, AccessShareLock);
	return kept;
}

static bool
has_heap(Relation table)
{
	return table->rd_tableam == NULL || table->rd_tableam == GetHeapamTableAmRoutine();
}

static bool
is_heap(Oid oid)
{
	Relation	table = relation_open(oid, NoLock);
	bool		heap = has_heap(table);

	relation_close(table, NoLock);
	return heap;
}

static Kept
find_kept(Oid table)
{
	if (is_of_citus(table))
		return KEPT_BY_CITUS;
	if (!is_heap(table))
		return KEPT_BY_TABLE_AM;
	return find_chunk(table);
}

/*
 * Where the rows of a table are kept; the caller has a lock on it.  Known until PostgreSQL
 * tells of a change, but for chunks.  Throws where an engine's catalog isn't as we know it.
 *
 * Rows may go into a compressed chunk without a lock that waits for readers, so a chunk's
 * status is read each time.
 */
static Kept
where_kept(Oid table)
{
	int			place = table % PLACES;
	uint64		epoch = bfpg_epoch;
	Kept		kept;

	if (likely(kept_here[place].table == table && kept_here[place].epoch == epoch))
		return KEPT_HERE;
	kept = find_kept(table);
	if (kept == KEPT_HERE)
	{
		kept_here[place].table = table;
		kept_here[place].epoch = epoch;
	}
	return kept;
}

/* Why the rows of a table aren't in its heap, and what to do instead. */
static const struct
{
	const char *reason;
	const char *hint;
}			refusals[] = {
	[KEPT_BY_CITUS] = {
		"Citus keeps the rows in shards",
		"Look up in the shards' own indexes on their workers, or build a filter of a query with bloom_agg or bloom_publish.",
	},
	[KEPT_COMPRESSED] = {
		"TimescaleDB keeps rows in a compressed chunk",
		"Decompress the chunk, look up in chunks that are not compressed, or build a filter of a query with bloom_agg or bloom_publish.",
	},
	[KEPT_BY_TABLE_AM] = {
		"the table's access method is not heap",
		"Build a filter of a query with bloom_agg or bloom_publish.",
	},
};

static void
refuse_kept(const char *table, Kept kept)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("rows of table \"%s\" are not kept in the table: %s", table, refusals[kept].reason),
			 errdetail("Neither the table's file nor its indexes know all of its rows."),
			 errhint("%s", refusals[kept].hint)));
}

bool
bfpg_check_kept_here(Oid table)
{
	Kept		kept = where_kept(table);

	if (unlikely(kept > KEPT_HERE_NOW))
		refuse_kept(get_rel_name(table), kept);
	return kept == KEPT_HERE;
}

/* How a list gets to where Citus runs queries of distributed tables. */
#define REFERENCE_TABLE_HINT "On the coordinator copy the list's filters into a reference table, with INSERT ... SELECT name, part, filter FROM bloom_list_part, and ask those with bloom_contains."

void
bfpg_check_coordinator(const char *done)
{
	if (unlikely(is_worker()))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("lists are not %s on a worker of Citus", done),
				 errdetail("Citus runs queries of distributed tables on all nodes, and a list is one node's, the coordinator's."),
				 errhint(REFERENCE_TABLE_HINT)));
}

void
bfpg_check_list_table(Relation table)
{
	bfpg_check_coordinator("looked up");
	if (unlikely(where_kept(RelationGetRelid(table)) == KEPT_BY_CITUS))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("lists are not looked up where Citus manages table \"%s\"", RelationGetRelationName(table)),
				 errhint("Take it from Citus with undistribute_table. " REFERENCE_TABLE_HINT)));
	bfpg_check_kept_here(RelationGetRelid(table));
}

void
bfpg_check_heap(Relation table)
{
	if (!has_heap(table))
		refuse_kept(RelationGetRelationName(table), KEPT_BY_TABLE_AM);
}
