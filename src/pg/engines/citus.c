/*
 * citus.c
 *	  Tables that Citus distributes, and their shards.
 *
 * - pg_catalog.pg_dist_partition has a row for each table that Citus manages, by logicalrelid.
 * - pg_dist_placement has one for each shard on a node, pg_dist_shard one for each shard.
 * - pg_dist_local_group has one whose groupid says which node this is: 0 is the coordinator.
 * - pg_dist_node has one for each node.
 *
 * A shard is an ordinary table of its node, named by its table and its number.  While it moves to
 * another node, or is split, both nodes have a table of that name, and the catalogs say which of
 * them has the rows: the new one lacks some before, and the old one, until it is dropped, those that
 * are written afterwards.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/settings.h"
#include "engines/catalog.h"
#include "engines/engines.h"

/* A setting by which Citus splits aggregates whose state is internal, where it may not. */
#define SPLIT "citus.allow_aggregate_worker_combine_on_internal_types"

/* How to ask the shards, wherever they are. */
#define SHARDS_HINT "Ask the shards' indexes by the coordinator, with SELECT bool_or(result::bool) FROM run_command_on_shards('table', $$SELECT bloom_index_contains('%s', 'column', key)$$), or build a filter of a query with bloom_agg or bloom_publish."

/* How a list gets to where Citus runs queries of distributed tables. */
#define REFERENCE_TABLE_HINT "Publish the list on the coordinator, copy its filters into a reference table of your own with INSERT ... SELECT name, part, filter FROM bloom_list_part, and ask those with bloom_contains."

static Relation
open_citus(const char *catalog)
{
	return bfpg_open_catalog("citus", "pg_catalog", catalog);
}

/* Whether a catalog, if it is there, has a row with this in a column, which an index may find. */
static bool
has_row(const char *name, const char *column, Oid type, RegProcedure equal, Datum value, const char *index)
{
	Relation	catalog = open_citus(name);
	ScanKeyData key;

	if (catalog == NULL)
		return false;
	bfpg_catalog_key(catalog, &key, column, type, equal, value);
	return bfpg_catalog_row(catalog, index, NULL, &key, 1, NULL, NULL);
}

static bool
is_of_citus(Oid table)
{
	return has_row("pg_dist_partition", "logicalrelid", REGCLASSOID, F_OIDEQ, ObjectIdGetDatum(table), "pg_dist_partition_logical_relid_index");
}

/* A reference table, whose rows are on all nodes, is the one kind with "t" in this column. */
bool
bfpg_is_distributed(Oid table)
{
	Relation	catalog = open_citus("pg_dist_partition");
	ScanKeyData keys[2];

	if (catalog == NULL)
		return false;
	bfpg_catalog_key(catalog, &keys[0], "logicalrelid", REGCLASSOID, F_OIDEQ, ObjectIdGetDatum(table));
	bfpg_catalog_key(catalog, &keys[1], "repmodel", CHAROID, F_CHARNE, CharGetDatum('t'));
	return bfpg_catalog_row(catalog, NULL, NULL, keys, lengthof(keys), NULL, NULL);
}

void
bfpg_refuse_join(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("the filters of lists can't be joined with a distributed table"),
			 errdetail("Citus would read them again for each row."),
			 errhint("Ask bloom_contains((SELECT filter FROM bloom_list_part WHERE name = ... AND part = 0), key), or copy the filters into a reference table, as doc/CITUS.md does.")));
}

void
bfpg_check_placements(Snapshot snapshot)
{
	Relation	catalog = open_citus("pg_dist_placement");
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

/* Whether this is a node of Citus; *group: which one, or NULL. */
static bool
read_group(BfpgCatalogRow *group)
{
	Relation	catalog = open_citus("pg_dist_local_group");

	return catalog != NULL &&
		bfpg_catalog_row(catalog, NULL, NULL, NULL, 0, group == NULL ? NULL : "groupid", group);
}

/*
 * Whether this is a node of Citus that is not known to be the coordinator.  A worker without
 * metadata says 0 as well, and knows no other node: Citus' own sessions on it have a name.
 */
static bool
is_worker(void)
{
	Relation	catalog = open_citus("pg_dist_local_group");
	BfpgCatalogRow node;

	if (catalog == NULL)
		return false;
	if (!bfpg_catalog_row(catalog, NULL, NULL, NULL, 0, "groupid", &node) || node.number != 0)
		return true;
	if (application_name == NULL || strncmp(application_name, "citus_", 6) != 0)
		return false;
	catalog = open_citus("pg_dist_node");
	return catalog == NULL || !bfpg_catalog_row(catalog, NULL, NULL, NULL, 0, NULL, NULL);
}

/*
 * Whether a shard is on this node by Citus' catalogs, and stays so: who moves it writes them on all
 * nodes, where that is in progress until it counts, before it counts on one.
 */
static bool
is_placed_here(int64 shard)
{
	Relation	catalog = open_citus("pg_dist_placement");
	BfpgCatalogRow node;
	ScanKeyData keys[2];
	SnapshotData dirty;

	if (catalog == NULL || !read_group(&node))
		return false;
	InitDirtySnapshot(dirty);
	bfpg_catalog_key(catalog, &keys[0], "shardid", INT8OID, F_INT8EQ, Int64GetDatum(shard));
	bfpg_catalog_key(catalog, &keys[1], "groupid", INT4OID, F_INT4EQ, Int32GetDatum(node.number));
	return bfpg_catalog_row(catalog, NULL, &dirty, keys, lengthof(keys), NULL, NULL) &&
		!TransactionIdIsValid(dirty.xmin) && !TransactionIdIsValid(dirty.xmax);
}

/* Whether a shard of this number is known, on whatever node. */
static bool
is_known(int64 shard)
{
	return has_row("pg_dist_shard", "shardid", INT8OID, F_INT8EQ, Int64GetDatum(shard), "pg_dist_shard_shardid_index");
}

/*
 * Whether a name without its number is that of a table of Citus.  A name that would be too long is
 * cut, and has a hash behind it.
 */
static bool
names_citus(Oid schema, const char *name, const char *number)
{
	const char *hash = number - 9;

	if (is_of_citus(get_relname_relid(pnstrdup(name, number - name), schema)))
		return true;
	return strlen(name) >= NAMEDATALEN - MAX_MULTIBYTE_CHAR_LEN &&
		*hash == '_' && strspn(hash + 1, "0123456789abcdef") == 8;
}

bool
bfpg_check_shard(Oid table)
{
	const char *name = get_rel_name(table);
	const char *number = strrchr(name, '_');
	int64		shard;

	if (is_of_citus(table))
		bfpg_refuse_kept(name, "Citus keeps the rows in shards", SHARDS_HINT);
	if (number == NULL || strspn(number + 1, "0123456789") != strlen(number + 1) ||
		(shard = strtoll(number + 1, NULL, 10)) == 0 || !read_group(NULL))
		return true;
	if (!is_placed_here(shard) && (is_known(shard) || names_citus(get_rel_namespace(table), name, number)))
		bfpg_refuse_kept(name, "Citus has moved the shard to another node or split it, or is about to", SHARDS_HINT);
	return false;
}

void
bfpg_keep_aggregates_whole(void)
{
	if (GetConfigOption(SPLIT, true, false) != NULL)
		bfpg_set(SPLIT, "off");
}

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
		bfpg_refuse_kept(get_rel_name(table), "Citus keeps the rows in shards", "The way back is in doc/CITUS.md. " REFERENCE_TABLE_HINT);
}
