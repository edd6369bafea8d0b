/*
 * elsewhere.c
 *	  Tables whose rows PostgreSQL's heap doesn't have: another engine keeps them.
 *
 * An engine is known by its catalog, found by schema and name and never through search_path:
 *
 * - pg_catalog.pg_dist_partition has a row for each table that Citus manages, by logicalrelid,
 *	 pg_dist_local_group one whose groupid says which node this is: 0 is the coordinator, and
 *	 pg_dist_node one for each node.
 * - _timescaledb_catalog.chunk has a row for each chunk of TimescaleDB, by schema_name and
 *	 table_name, from 2.29 on by relid.  Its status says whether it is compressed.
 *
 * A catalog of another shape is an error: read wrongly it could say that rows are here that
 * aren't.  Anybody who may create schemas could make such tables, and stop all look-ups by
 * them.  So only those count that a superuser owns, or that belong to the engine's extension.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/elsewhere.h"

/* A chunk that is frozen, and nothing else, has its rows where they were. */
#define TIMESCALE_FROZEN 4

static void
refuse_shape(Relation catalog)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s.%s\" has not the columns that bloomfilter knows",
					get_namespace_name(RelationGetNamespace(catalog)), RelationGetRelationName(catalog)),
			 errdetail("It tells which tables' rows are kept by another engine, and not by the tables themselves."),
			 errhint("Update bloomfilter, which may know this version of the engine.")));
}

/* Opens the catalog of an engine; NULL if the engine isn't here. */
static Relation
open_catalog(const char *engine, const char *schema, const char *name)
{
	Oid			place = get_namespace_oid(schema, true);
	Oid			oid = OidIsValid(place) ? get_relname_relid(name, place) : InvalidOid;
	Oid			extension;
	Relation	catalog;

	if (!OidIsValid(oid))
		return NULL;
	catalog = relation_open(oid, AccessShareLock);
	extension = getExtensionOfObject(RelationRelationId, oid);
	if (!superuser_arg(catalog->rd_rel->relowner) &&
		(!OidIsValid(extension) || strcmp(get_extension_name(extension), engine) != 0))
	{
		relation_close(catalog, AccessShareLock);
		return NULL;
	}
	if (catalog->rd_rel->relkind != RELKIND_RELATION)
		refuse_shape(catalog);
	return catalog;
}

/* A condition of a scan of a catalog: this column is that value. */
static void
add_key(Relation catalog, ScanKeyData *key, const char *column, Oid type, RegProcedure equal, Datum value)
{
	AttrNumber	number = get_attnum(RelationGetRelid(catalog), column);

	if (number == InvalidAttrNumber || get_atttype(RelationGetRelid(catalog), number) != type)
		refuse_shape(catalog);
	ScanKeyInit(key, number, BTEqualStrategyNumber, equal, value);
}

/* What is taken of a row: where it is, and what it has in a column. */
typedef struct Row
{
	ItemPointerData place;
	int32		number;
} Row;

/*
 * Closes a catalog and returns whether it has a row that the keys find, under a snapshot, of now
 * if that is NULL, by the index of this name if there is one.
 */
static bool
read_row(Relation catalog, const char *index, Snapshot snapshot, ScanKeyData *keys, int count,
		 const char *column, Row *found)
{
	Oid			by = index == NULL ? InvalidOid : get_relname_relid(index, RelationGetNamespace(catalog));
	ScanKeyData wanted;
	SysScanDesc scan;
	HeapTuple	row;
	bool		is_null;

	if (column != NULL)
		add_key(catalog, &wanted, column, INT4OID, F_INT4EQ, 0);
	scan = systable_beginscan(catalog, by, OidIsValid(by), snapshot, count, keys);
	row = systable_getnext(scan);
	if (column != NULL && HeapTupleIsValid(row))
	{
		found->place = row->t_self;
		found->number = DatumGetInt32(heap_getattr(row, wanted.sk_attno, RelationGetDescr(catalog), &is_null));
	}
	systable_endscan(scan);
	relation_close(catalog, AccessShareLock);
	return HeapTupleIsValid(row);
}

static bool
is_of_citus(Oid table)
{
	Relation	catalog = open_catalog("citus", "pg_catalog", "pg_dist_partition");
	ScanKeyData key;

	if (catalog == NULL)
		return false;
	add_key(catalog, &key, "logicalrelid", REGCLASSOID, F_OIDEQ, ObjectIdGetDatum(table));
	return read_row(catalog, "pg_dist_partition_logical_relid_index", NULL, &key, 1, NULL, NULL);
}

/* A reference table, whose rows are on all nodes, is the one kind with "t" in this column. */
bool
bfpg_is_distributed(Oid table)
{
	Relation	catalog = open_catalog("citus", "pg_catalog", "pg_dist_partition");
	ScanKeyData keys[2];

	if (catalog == NULL)
		return false;
	add_key(catalog, &keys[0], "logicalrelid", REGCLASSOID, F_OIDEQ, ObjectIdGetDatum(table));
	add_key(catalog, &keys[1], "repmodel", CHAROID, F_CHARNE, CharGetDatum('t'));
	return read_row(catalog, NULL, NULL, keys, lengthof(keys), NULL, NULL);
}

void
bfpg_check_placements(Snapshot snapshot)
{
	Relation	catalog = open_catalog("citus", "pg_catalog", "pg_dist_placement");
	SysScanDesc scan;
	HeapTuple	row;

	if (catalog == NULL)
		return;
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		TransactionId maker = HeapTupleHeaderGetXmin(row->t_data);

		if (!TransactionIdIsCurrentTransactionId(maker) && XidInMVCCSnapshot(maker, snapshot))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("Citus has moved or made shards since the transaction began"),
					 errdetail("Nodes whose snapshot is older may not see the rows of these shards."),
					 errhint("Call again, in a new transaction.")));
	}
	systable_endscan(scan);
	relation_close(catalog, AccessShareLock);
}

/*
 * Whether this is a node of Citus that is not known to be the coordinator.  A worker without
 * metadata says 0 as well, and knows no other node: Citus' own sessions on it have a name.
 */
static bool
is_worker(void)
{
	Relation	catalog = open_catalog("citus", "pg_catalog", "pg_dist_local_group");
	Row			node;

	if (catalog == NULL)
		return false;
	if (!read_row(catalog, NULL, NULL, NULL, 0, "groupid", &node) || node.number != 0)
		return true;
	if (application_name == NULL || strncmp(application_name, "citus_", 6) != 0)
		return false;
	catalog = open_catalog("citus", "pg_catalog", "pg_dist_node");
	return catalog == NULL || !read_row(catalog, NULL, NULL, NULL, 0, NULL, NULL);
}

/* Whether a table is a chunk of TimescaleDB, to a snapshot; the number of *chunk is its status then. */
static bool
is_chunk(Oid table, Snapshot snapshot, Row *chunk)
{
	Relation	catalog = open_catalog("timescaledb", "_timescaledb_catalog", "chunk");
	ScanKeyData keys[2];
	NameData	names[2];

	if (catalog == NULL)
		return false;
	if (get_attnum(RelationGetRelid(catalog), "relid") != InvalidAttrNumber)
	{
		add_key(catalog, &keys[0], "relid", REGCLASSOID, F_OIDEQ, ObjectIdGetDatum(table));
		return read_row(catalog, "chunk_relid_key", snapshot, keys, 1, "status", chunk);
	}
	namestrcpy(&names[0], get_namespace_name(get_rel_namespace(table)));
	namestrcpy(&names[1], get_rel_name(table));
	add_key(catalog, &keys[0], "schema_name", NAMEOID, F_NAMEEQ, NameGetDatum(&names[0]));
	add_key(catalog, &keys[1], "table_name", NAMEOID, F_NAMEEQ, NameGetDatum(&names[1]));
	return read_row(catalog, "chunk_schema_name_table_name_key", snapshot, keys, 2, "status", chunk);
}

bool
bfpg_is_compressed(Oid table)
{
	Row			chunk;

	return is_chunk(table, NULL, &chunk) && (chunk.number & ~TIMESCALE_FROZEN) != 0;
}

/* The row of a chunk is written anew whenever its rows are compressed or decompressed. */
bool
bfpg_has_moved(Oid table, Snapshot snapshot)
{
	Row			now;
	Row			before;

	return is_chunk(table, NULL, &now) && is_chunk(table, snapshot, &before) &&
		!ItemPointerEquals(&now.place, &before.place);
}

static void
refuse_kept(const char *table, const char *reason, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("rows of table \"%s\" are not kept in the table: %s", table, reason),
			 errdetail("Neither the table's file nor its indexes know all of its rows."),
			 errhint("%s", hint)));
}

void
bfpg_check_heap(Relation table)
{
	if (table->rd_tableam != NULL && table->rd_tableam != GetHeapamTableAmRoutine())
		refuse_kept(RelationGetRelationName(table), "the table's access method is not heap",
					"Build a filter of a query with bloom_agg or bloom_publish.");
}

/*
 * Of a change of a table PostgreSQL tells, as Citus makes it do.  But rows may go into a compressed
 * chunk without a lock that waits for readers, so what is found of a chunk doesn't last.
 */
bool
bfpg_check_kept_here(Oid table)
{
	Relation	relation;
	Row			chunk;

	if (is_of_citus(table))
		refuse_kept(get_rel_name(table), "Citus keeps the rows in shards",
					"Look up in the shards' own indexes on their workers, or build a filter of a query with bloom_agg or bloom_publish.");
	relation = relation_open(table, NoLock);
	bfpg_check_heap(relation);
	relation_close(relation, NoLock);
	if (!is_chunk(table, NULL, &chunk))
		return true;
	if ((chunk.number & ~TIMESCALE_FROZEN) != 0)
		refuse_kept(get_rel_name(table), "TimescaleDB keeps rows in a compressed chunk",
					"Look up in chunks that are not compressed, or build a filter of a query with bloom_agg or bloom_publish.");
	return false;
}

/* How a list gets to where Citus runs queries of distributed tables. */
#define REFERENCE_TABLE_HINT "Publish the list on the coordinator, copy its filters into a reference table of your own with INSERT ... SELECT name, part, filter FROM bloom_list_part, and ask those with bloom_contains."

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
bfpg_check_list_table(Oid table)
{
	bfpg_check_coordinator("looked up");
	if (is_of_citus(table))
		refuse_kept(get_rel_name(table), "Citus keeps the rows in shards", "The way back is in doc/CITUS.md. " REFERENCE_TABLE_HINT);
}
