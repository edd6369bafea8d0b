/*
 * trust.c
 *	  For which snapshots a live index may say that a key is not there.
 *
 * On a primary: for all by which the planner would use a valid index.  A standby's snapshots may
 * be older than the index, and see rows that no snapshot of the primary saw any more when it was
 * built.  There a look-up may return false only if its snapshot sees the transactions that made
 * the index (its makers) as committed.  A standby replays commits in the log's order, so this
 * snapshot sees every transaction that had ended when a maker looked.  Later writers add their
 * keys, which the log has before their commit, and a look-up reads pages after its snapshot was
 * taken.  Then each row that the snapshot sees has its key:
 *
 * 1. A build leaves out rows whose deletion had ended, which the snapshot sees, too.
 *	  (t/074_live_standby_old.pl: an older snapshot.)
 * 2. A build waits for all that wrote to the table before, prepared transactions too, by its
 *	  lock; a concurrent one adds what they wrote before the index becomes valid.
 *	  (specs/live_ddl.spec: a key that only its validation adds; t/074_live_standby_old.pl: writers
 *	  that began before, prepared ones, subtransactions, a concurrent build.)
 * 3. Insertions pass an index by when DROP INDEX CONCURRENTLY or REINDEX CONCURRENTLY has
 *	  declared it dead, which doesn't wait for locks on a standby.  So a look-up there reads all
 *	  messages first: those of that commit were sent when it was replayed, before any such
 *	  insertion.  (The same test: an index that is dropped concurrently.)
 * 4. A function that looks a key up may have a younger snapshot than the statement that reads
 *	  the rows, so every snapshot by which this backend reads rows must see the makers.  That is
 *	  certain if they are older than TransactionXmin, at REPEATABLE READ, where all snapshots see
 *	  the same, or if the statement's snapshot is the only one that is registered.  Else a look-up
 *	  returns true.  (The same test: a volatile function, one that looks up by a query, a cursor.)
 *
 * A transaction that is open on the primary since before the build keeps TransactionXmin back:
 * then functions' look-ups return true for every key.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "tcop/pquery.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "live/target.h"

static bool
snapshots_of_standby(void)
{
	return RecoveryInProgress() || TransactionStartedDuringRecovery() ||
		(ActiveSnapshotSet() && GetActiveSnapshot()->takenDuringRecovery);
}

/* Which transaction made a row of a catalog, by the cache that finds it by a relation's OID. */
static TransactionId
maker_of_row(int cache, Oid relation)
{
	HeapTuple	row = SearchSysCache1(cache, ObjectIdGetDatum(relation));
	TransactionId xmin;

	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for relation %u", relation);
	xmin = HeapTupleHeaderGetXmin(row->t_data);
	ReleaseSysCache(row);
	return xmin;
}

bool
bfpg_live_usable(Relation index)
{
	if (!index->rd_index->indisvalid || !index->rd_index->indisready || !index->rd_index->indislive)
		return false;
	/* Pages of a temporary table are in the memory of its session's leader. */
	return !(RelationUsesLocalBuffers(index) && IsParallelWorker());
}

BfpgLiveMakers
bfpg_live_makers(Relation index)
{
	Oid			oid = RelationGetRelid(index);

	return (BfpgLiveMakers) {snapshots_of_standby(), maker_of_row(INDEXRELID, oid), maker_of_row(RELOID, oid)};
}

/*
 * The snapshot by which the running statement reads rows, if this backend has no other one:
 * rows are read by registered snapshots, that of the catalogs apart.
 */
static Snapshot
only_snapshot(void)
{
	Snapshot	snapshot = GetActiveSnapshot();

	/* What an expression of a function takes for itself is not registered. */
	if (snapshot->regd_count == 0 && ActivePortal != NULL && ActivePortal->queryDesc != NULL)
		snapshot = ActivePortal->queryDesc->snapshot;
	InvalidateCatalogSnapshot();
	return snapshot != NULL && snapshot->regd_count > 0 && ThereAreNoPriorRegisteredSnapshots() ?
		snapshot : NULL;
}

/* Whether all snapshots by which this backend reads rows see that a transaction has committed. */
static bool
is_seen(TransactionId maker)
{
	Snapshot	snapshot;

	if (TransactionIdPrecedes(maker, TransactionXmin))
		return true;
	if (!ActiveSnapshotSet() || !IsMVCCSnapshot(GetActiveSnapshot()) ||
		XidInMVCCSnapshot(maker, GetActiveSnapshot()))
		return false;
	if (IsolationUsesXactSnapshot())
		return true;
	snapshot = only_snapshot();
	return snapshot != NULL && IsMVCCSnapshot(snapshot) && !XidInMVCCSnapshot(maker, snapshot);
}

TransactionId
bfpg_live_unseen_maker(const BfpgLiveMakers *makers)
{
	if (likely(!makers->matter))
		return InvalidTransactionId;
	if (!is_seen(makers->index))
		return makers->index;
	return is_seen(makers->file) ? InvalidTransactionId : makers->file;
}
