/*
 * live_hot.c
 *	  Versions of rows that PostgreSQL's own scan for an index passes by.
 *
 * The scan takes but the last version of a HOT chain, whose versions have one value
 * in all columns that were indexed when they were made.  Where an index is new they
 * may have several, and PostgreSQL hides the index from older snapshots
 * (indcheckxmin).  An index of a kind that is summarizing, as ours is from 16 on, does
 * not end HOT updates of its columns.  So its chains have several values all the time,
 * and REINDEX, which hides no valid index, must bring those that older snapshots see.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/procarray.h"

#include "live_hot.h"

#if PG_VERSION_NUM >= 160000

/* Whether a snapshot may see a version of a row. */
static bool
may_be_seen(HeapTuple row, TransactionId oldest, Buffer buffer)
{
	HTSV_Result state;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	state = HeapTupleSatisfiesVacuum(row, oldest, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return state != HEAPTUPLE_DEAD;
}

void
bfpg_live_scan_hot_updated(Relation heap, Relation index, IndexInfo *info,
						   IndexBuildCallback add, void *state)
{
	EState	   *executor = CreateExecutorState();
	ExprContext *context = GetPerTupleExprContext(executor);
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	ExprState  *predicate = ExecPrepareQual(info->ii_Predicate, executor);
	TransactionId oldest = GetOldestNonRemovableTransactionId(heap);
	TableScanDesc scan;
	HeapTuple	row;

	if (heap->rd_rel->relam != HEAP_TABLE_AM_OID)
		elog(ERROR, "HOT chains in table \"%s\", which is no heap", RelationGetRelationName(heap));
	context->ecxt_scantuple = slot;
	scan = table_beginscan_strat(heap, SnapshotAny, 0, NULL, true, false);
	while ((row = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Buffer		buffer = ((HeapScanDesc) scan)->rs_cbuf;
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		CHECK_FOR_INTERRUPTS();
		if (!HeapTupleIsHotUpdated(row) || !may_be_seen(row, oldest, buffer))
			continue;
		MemoryContextReset(context->ecxt_per_tuple_memory);
		ExecStoreBufferHeapTuple(row, slot, buffer);
		if (!ExecQual(predicate, context))
			continue;
		FormIndexDatum(info, slot, executor, values, isnull);
		add(index, &row->t_self, values, isnull, false, state);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(executor);
	/* They were made in the executor's memory. */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
}

#else

void
bfpg_live_scan_hot_updated(Relation heap, Relation index, IndexInfo *info,
						   IndexBuildCallback add, void *state)
{
}

#endif
