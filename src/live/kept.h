/*
 * kept.h
 *	  Pages of a filter that stay pinned while a query asks for row after row.
 *
 * Pinning and unpinning a page is most of what a row of a scan costs.  A filter of which
 * all pages fit this process's share of the buffers is pinned once, page by page as they
 * are asked, until the query's run ends.
 */
#ifndef BFPG_LIVE_KEPT_H
#define BFPG_LIVE_KEPT_H

#include "live/target.h"

#pragma GCC visibility push(hidden)

/* Pages of one file that the query keeps pinned. */
typedef struct BfpgLiveKept
{
	struct BfpgLiveKept *next;
	BfpgFileLocator locator;
	uint32		pages;
	Buffer		buffers[FLEXIBLE_ARRAY_MEMBER]; /* by page, InvalidBuffer: not asked yet */
} BfpgLiveKept;

/* Moves each time that pages are let go: what was kept before is gone. */
extern uint64 bfpg_live_times_let_go;

/* Once, when the library is loaded. */
extern void bfpg_live_kept_init(void);

/* Where the pages of a target are to be kept; NULL if now they may not be. */
extern BfpgLiveKept *bfpg_live_kept(const BfpgLiveTarget *target);

/* Keeps a page that the caller has pinned, whose own pin stays his. */
extern void bfpg_live_keep(BfpgLiveKept *kept, BlockNumber page, Buffer buffer);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_KEPT_H */
