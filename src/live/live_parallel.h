/*
 * live_parallel.h
 *	  Building a live filter by several processes.
 */
#ifndef BFPG_LIVE_PARALLEL_H
#define BFPG_LIVE_PARALLEL_H

#include "access/tableam.h"
#include "nodes/execnodes.h"

#pragma GCC visibility push(hidden)

/* What a process has read. */
typedef struct BfpgLiveCounts
{
	double		rows;			/* of the table */
	double		keys;			/* not null, repeats counted */
	bool		broken_hot_chain;
} BfpgLiveCounts;

/* How many workers PostgreSQL would have for this build. */
extern int	bfpg_live_plan_workers(Relation heap, Relation index, IndexInfo *info);

/*
 * Reads the table into an index that is laid out, by up to so many workers and the
 * caller.  Returns false where there are none to be had, and has read nothing.
 */
extern bool bfpg_live_parallel_scan(Relation heap, Relation index, IndexInfo *info,
									int workers, BfpgLiveCounts *counts);

/*
 * What each process does: reads rows, its share of them in a parallel scan, into the
 * index's pages, with so much memory.  In live_build.c.
 */
extern void bfpg_live_scan_share(Relation heap, Relation index, IndexInfo *info,
								 TableScanDesc scan, Size memory, bool progress,
								 BfpgLiveCounts *counts);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_PARALLEL_H */
