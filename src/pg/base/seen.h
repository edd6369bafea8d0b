/*
 * seen.h
 *	  Whether a snapshot sees the rows of a query's tables.
 */
#ifndef BFPG_SEEN_H
#define BFPG_SEEN_H

#include "nodes/plannodes.h"
#include "utils/snapshot.h"

#pragma GCC visibility push(hidden)

/*
 * Throws where a table of a plan got other rows after the snapshot was taken, and the snapshot
 * sees neither these nor those of before.  The tables are locked since they were planned, so
 * nothing changes from here on.  made_since: a table that was made after the snapshot is an error,
 * too, as the name may have been another table's then.
 */
extern void bfpg_check_seen(const PlannedStmt *plan, Snapshot snapshot, bool made_since);

#pragma GCC visibility pop

#endif							/* BFPG_SEEN_H */
