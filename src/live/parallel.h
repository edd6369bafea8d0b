/*
 * parallel.h
 *	  Building a live filter by several processes.
 */
#ifndef BFPG_LIVE_PARALLEL_H
#define BFPG_LIVE_PARALLEL_H

#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "storage/block.h"

#pragma GCC visibility push(hidden)

/* The pages of a table that no process has taken yet. */
typedef struct BfpgLivePages
{
	pg_atomic_uint64 next;
	uint64		end;
} BfpgLivePages;

/* What a process has read. */
typedef struct BfpgLiveCounts
{
	double		rows;			/* of the table */
	double		keys;			/* not null, repeats counted */
} BfpgLiveCounts;

/*
 * Reads the table, from page first until before page end, into an index that is laid
 * out, by up to so many workers and the caller, and adds what it has read to counts.
 * Returns false where there are none to be had, and has read nothing.
 */
extern bool bfpg_live_parallel_scan(Relation heap, Relation index, IndexInfo *info, int workers,
									BlockNumber first, BlockNumber end, BfpgLiveCounts *counts);

/*
 * What each process does: reads rows of the pages that nobody has taken yet, into the
 * index's pages, with so much memory.  In build.c.
 */
extern void bfpg_live_scan_share(Relation heap, Relation index, IndexInfo *info,
								 BfpgLivePages *pages, Size memory, bool progress,
								 BfpgLiveCounts *counts);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_PARALLEL_H */
