/*
 * am.c
 *	  The index access method "bloomfilter": what it can and can't do.
 *
 * Its operator classes have no operators.  So the planner finds no clause that the
 * index could answer and never considers it, which costs nothing; functions look keys
 * up in it.  It holds no row pointers: VACUUM has nothing to remove.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/pathnodes.h"

#include "live/am.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_handler);

/*
 * Nothing is deleted, and VACUUM reads no page: a damaged one is no reason not to vacuum the
 * table.  CREATE INDEX CONCURRENTLY is shown no row here, and adds all again.
 */
static IndexBulkDeleteResult *
bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			IndexBulkDeleteCallback callback, void *callback_state)
{
	return stats != NULL ? stats : palloc0(sizeof(IndexBulkDeleteResult));
}

static IndexBulkDeleteResult *
vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->num_index_tuples = info->num_heap_tuples;
	stats->estimated_count = true;
	return stats;
}

/* Never chosen: there is no operator by which it could be. */
static void
cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
			  Cost *startup, Cost *total, Selectivity *selectivity,
			  double *correlation, double *pages)
{
	*startup = *total = 1e300;
	*selectivity = 1.0;
	*correlation = 0.0;
	*pages = path->indexinfo->pages;
}

static IndexScanDesc
begin_scan(Relation index, int keys, int order_bys)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a bloomfilter index cannot be scanned"),
			 errhint("Ask it with bloom_index_contains.")));
}

/* No scan begins; PostgreSQL wants these to be there. */
static void
rescan(IndexScanDesc scan, ScanKey keys, int key_count, ScanKey order_bys, int order_by_count)
{
}

static void
end_scan(IndexScanDesc scan)
{
}

/* Any operator class will do: all that matters is the type, which the build looks at. */
static bool
validate(Oid opclass)
{
	return true;
}

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,
	/* Readers take predicate locks on pages, and insertions check them. */
	.ampredlocks = true,
	.amusemaintenanceworkmem = true,
	BFPG_AM_CAN_BUILD_PARALLEL
	.ambuild = bfpg_live_build,
	.ambuildempty = bfpg_live_build_empty,
	.aminsert = bfpg_live_insert,
	.ambulkdelete = bulk_delete,
	.amvacuumcleanup = vacuum_cleanup,
	.amcostestimate = cost_estimate,
	.amoptions = bfpg_live_parse_options,
	.amvalidate = validate,
	.ambeginscan = begin_scan,
	.amrescan = rescan,
	.amendscan = end_scan,
};

Datum
bloomfilter_index_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bfpg_am_routine(&routine));
}

bool
bfpg_is_live(Relation index)
{
	return index->rd_indam != NULL && index->rd_indam->aminsert == bfpg_live_insert;
}
