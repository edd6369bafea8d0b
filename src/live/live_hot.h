/*
 * live_hot.h
 *	  Versions of rows that PostgreSQL's own scan for an index passes by.
 */
#ifndef BFPG_LIVE_HOT_H
#define BFPG_LIVE_HOT_H

#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#pragma GCC visibility push(hidden)

/*
 * Calls back for each version of a row that was updated within its page, has a later
 * one in its HOT chain and may still be seen by a snapshot.
 */
extern void bfpg_live_scan_hot_updated(Relation heap, Relation index, IndexInfo *info,
									   IndexBuildCallback add, void *state);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_HOT_H */
