/*
 * heap_scan.c
 *	  Reading a table for the build of a live index.
 *
 * PostgreSQL's own scan for CREATE INDEX locks the page again for each row, as an index
 * needs to know which row a version belongs to, and passes by the older versions of a
 * HOT chain.  A filter needs the keys alone: here a page is locked once, all versions
 * that any snapshot may see are noted, and their keys are read while the page is only
 * pinned, as sequential scans do.
 *
 * Expressions and predicates of the index run as the table's owner, security-restricted, whoever
 * builds: CREATE INDEX, REINDEX, CLUSTER and ALTER TABLE see to that, for workers, too.
 * (t/023_as_owner.pl.)
 *
 * The scan takes every version but those that HeapTupleSatisfiesVacuum calls dead.  So it
 * takes all versions of a chain that is older than the index and has several keys, for which
 * PostgreSQL hides a new index from the snapshots that see the older ones (indcheckxmin), but
 * not one that REINDEX made anew.  (sql/live_build.sql, specs/live_rewrite.spec.)
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "live/compat.h"
#include "live/build.h"

struct BfpgLiveHeapScan
{
	Relation	heap;
	IndexInfo  *info;
	Snapshot	snapshot;		/* of a concurrent build, else NULL */
	TransactionId oldest;		/* without it: no snapshot sees what was deleted before */
	BufferAccessStrategy strategy;
	EState	   *state;			/* for expressions and predicates */
	ExprContext *context;
	ExprState  *predicate;
	TupleTableSlot *slot;
	double		rows;
	bool		refreshed;		/* oldest was computed anew for this page */
	int			versions;		/* of a page, to be read */
	OffsetNumber offsets[MaxHeapTuplesPerPage];
};

BfpgLiveHeapScan *
bfpg_live_heap_scan_begin(Relation heap, Relation index, IndexInfo *info)
{
	BfpgLiveHeapScan *scan = palloc0(sizeof *scan);

	scan->heap = heap;
	scan->info = info;
	/* Others write to the table meanwhile, and validation adds what this doesn't see. */
	if (info->ii_Concurrent)
		scan->snapshot = GetActiveSnapshot();
	else
		scan->oldest = GetOldestNonRemovableTransactionId(heap);
	scan->strategy = GetAccessStrategy(BAS_BULKREAD);
	scan->state = CreateExecutorState();
	scan->context = GetPerTupleExprContext(scan->state);
	scan->predicate = ExecPrepareQual(info->ii_Predicate, scan->state);
	scan->slot = table_slot_create(heap, NULL);
	scan->context->ecxt_scantuple = scan->slot;
	return scan;
}

double
bfpg_live_heap_scan_end(BfpgLiveHeapScan *scan)
{
	double		rows = scan->rows;

	ExecDropSingleTupleTableSlot(scan->slot);
	FreeExecutorState(scan->state);
	FreeAccessStrategy(scan->strategy);
	/* They may have been prepared in the state that is gone. */
	scan->info->ii_ExpressionsState = NIL;
	scan->info->ii_PredicateState = NULL;
	pfree(scan);
	return rows;
}

/*
 * What a version is, for the snapshots that there are now.  Those that saw it when the scan began
 * may have gone, and VACUUM of the TOAST table have taken its key: to read that would be an error.
 */
static HTSV_Result
state_of(BfpgLiveHeapScan *scan, HeapTuple version, Buffer buffer)
{
	HTSV_Result state = HeapTupleSatisfiesVacuum(version, scan->oldest, buffer);

	if (state != HEAPTUPLE_RECENTLY_DEAD || scan->refreshed)
		return state;
	scan->oldest = GetOldestNonRemovableTransactionId(scan->heap);
	scan->refreshed = true;
	return HeapTupleSatisfiesVacuum(version, scan->oldest, buffer);
}

/* Whether any snapshot may see a version on the locked page.  Counts the rows that are alive. */
static bool
may_be_seen(BfpgLiveHeapScan *scan, HeapTuple version, Buffer buffer)
{
	if (scan->snapshot != NULL)
	{
		bool		visible = HeapTupleSatisfiesVisibility(version, scan->snapshot, buffer);

		scan->rows += visible;
		return visible;
	}
	switch (state_of(scan, version, buffer))
	{
		case HEAPTUPLE_DEAD:
			return false;
		case HEAPTUPLE_LIVE:
			scan->rows++;
			return true;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			/* Only our own can be: the lock keeps others from writing. */
			scan->rows += TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(version->t_data));
			return true;
		case HEAPTUPLE_RECENTLY_DEAD:
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			return true;
	}
	elog(ERROR, "unexpected state of a row version");
}

static void
fill_tuple(HeapTuple version, Relation heap, Page page, BlockNumber number, OffsetNumber offset)
{
	ItemId		item = PageGetItemId(page, offset);

	version->t_data = (HeapTupleHeader) PageGetItem(page, item);
	version->t_len = ItemIdGetLength(item);
	version->t_tableOid = RelationGetRelid(heap);
	ItemPointerSet(&version->t_self, number, offset);
}

/* Notes which versions of a page are to be read, under its lock. */
static void
collect_versions(BfpgLiveHeapScan *scan, Buffer buffer)
{
	BlockNumber number = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);
	OffsetNumber last;
	OffsetNumber offset;
	bool		all_visible;

	scan->versions = 0;
	scan->refreshed = false;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	last = PageGetMaxOffsetNumber(page);
	all_visible = PageIsAllVisible(page);
	for (offset = FirstOffsetNumber; offset <= last; offset++)
	{
		HeapTupleData version;

		if (!ItemIdIsNormal(PageGetItemId(page, offset)))
			continue;
		if (!all_visible)
		{
			fill_tuple(&version, scan->heap, page, number, offset);
			if (!may_be_seen(scan, &version, buffer))
				continue;
		}
		scan->offsets[scan->versions++] = offset;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (all_visible)
		scan->rows += scan->versions;
}

/* The key of the version in the slot, unless the index leaves it out. */
static bool
key_of_row(BfpgLiveHeapScan *scan, Datum *key)
{
	AttrNumber	column = scan->info->ii_IndexAttrNumbers[0];
	bool		null;

	if (scan->predicate != NULL && !ExecQual(scan->predicate, scan->context))
		return false;
	if (column > 0)
		*key = slot_getattr(scan->slot, column, &null);
	else
		FormIndexDatum(scan->info, scan->slot, scan->state, key, &null);
	return !null;
}

void
bfpg_live_heap_scan_page(BfpgLiveHeapScan *scan, BlockNumber page, BfpgLiveTakeKey take, void *state)
{
	Buffer		buffer = ReadBufferExtended(scan->heap, MAIN_FORKNUM, page, RBM_NORMAL,
											scan->strategy);
	HeapTupleData version;		/* the slot points at it */
	Datum		key;
	int			i;

	CHECK_FOR_INTERRUPTS();
	collect_versions(scan, buffer);
	for (i = 0; i < scan->versions; i++)
	{
		fill_tuple(&version, scan->heap, BufferGetPage(buffer), page, scan->offsets[i]);
		ExecStoreBufferHeapTuple(&version, scan->slot, buffer);
		MemoryContextReset(scan->context->ecxt_per_tuple_memory);
		if (key_of_row(scan, &key))
			take(key, state);
	}
	ExecClearTuple(scan->slot);
	ReleaseBuffer(buffer);
}
