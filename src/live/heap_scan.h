/*
 * heap_scan.h
 *	  Reading a table for the build of a live filter.
 */
#ifndef BFPG_LIVE_HEAP_SCAN_H
#define BFPG_LIVE_HEAP_SCAN_H

#include "nodes/execnodes.h"
#include "utils/rel.h"

#pragma GCC visibility push(hidden)

typedef struct BfpgLiveHeapScan BfpgLiveHeapScan;

/* Is given each key that is not null; it may lie in memory that the next row reuses. */
typedef void (*BfpgLiveTakeKey) (Datum key, void *state);

/* Whether the table is one whose pages these functions know: PostgreSQL's own kind. */
extern bool bfpg_live_can_heap_scan(Relation heap);

/* Begins to read such a table, page by page in whatever order. */
extern BfpgLiveHeapScan *bfpg_live_heap_scan_begin(Relation heap, Relation index, IndexInfo *info);

/* Reads a page: all versions of rows on it that any snapshot may see. */
extern void bfpg_live_heap_scan_page(BfpgLiveHeapScan *scan, BlockNumber page,
								BfpgLiveTakeKey take, void *state);

/* Ends it; returns the number of rows that were alive. */
extern double bfpg_live_heap_scan_end(BfpgLiveHeapScan *scan);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_HEAP_SCAN_H */
