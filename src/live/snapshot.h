/*
 * snapshot.h
 *	  Which indexes may be taken as a whole: for a snapshot, or for what has changed.
 */
#ifndef BFPG_LIVE_SNAPSHOT_H
#define BFPG_LIVE_SNAPSHOT_H

#include "utils/rel.h"

#pragma GCC visibility push(hidden)

/* Opens an index that knows all keys of its table, for a user who may read them; or throws. */
extern Relation bfpg_live_open_for_snapshot(Oid index);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_SNAPSHOT_H */
