/*
 * build.h
 *	  The pieces of a live index's build: the scan of the table, and the processes that share it.
 */
#ifndef BFPG_LIVE_BUILD_H
#define BFPG_LIVE_BUILD_H

#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "utils/rel.h"

#include "live/page.h"

/* heap_scan.c */

typedef struct BfpgLiveHeapScan BfpgLiveHeapScan;

/* Is given each key that is not null; it may lie in memory that the next row reuses. */
typedef void (*BfpgLiveTakeKey) (Datum key, void *state);

/* Begins to read a table, page by page in whatever order. */
extern BfpgLiveHeapScan *bfpg_live_heap_scan_begin(Relation heap, Relation index, IndexInfo *info);

/* Reads a page: all versions of rows on it that any snapshot may see. */
extern void bfpg_live_heap_scan_page(BfpgLiveHeapScan *scan, BlockNumber page,
								BfpgLiveTakeKey take, void *state);

/* Ends it; returns the number of rows that were alive. */
extern double bfpg_live_heap_scan_end(BfpgLiveHeapScan *scan);

/* parallel.c */

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
 * Returns false, and has read nothing, if no worker could be started.
 */
extern bool bfpg_live_parallel_scan(Relation heap, Relation index, IndexInfo *info, int workers,
									BlockNumber first, BlockNumber end, BfpgLiveCounts *counts);

/*
 * What each process does: reads rows of the pages that nobody has taken yet, into the
 * index's pages, with so much memory.  In build.c.
 */
extern void bfpg_live_scan_pages(Relation heap, Relation index, IndexInfo *info,
								 BfpgLivePages *pages, Size memory, bool progress,
								 BfpgLiveCounts *counts);

#endif							/* BFPG_LIVE_BUILD_H */
