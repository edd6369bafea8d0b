/*
 * live_kept.h
 *	  Pages of a filter that stay pinned while row after row is asked for.
 *
 * Pinning and unpinning a page is most of what a row of a scan costs.  A filter of which
 * all pages fit this process's share of the buffers is pinned once, page by page as they
 * are asked, until the transaction ends.
 */
#ifndef BFPG_LIVE_KEPT_H
#define BFPG_LIVE_KEPT_H

#include "live_target.h"

#pragma GCC visibility push(hidden)

/* Pages of one file that this transaction keeps pinned. */
typedef struct BfpgLiveKept
{
	struct BfpgLiveKept *next;
	BfpgFileLocator locator;
	uint32		pages;
	Buffer		buffers[FLEXIBLE_ARRAY_MEMBER]; /* by page, InvalidBuffer: not kept now */
} BfpgLiveKept;

/*
 * Where the pages of a target are to be kept; NULL if they may not be.  It is right for
 * as long as the target is.
 */
extern BfpgLiveKept *bfpg_live_kept(const BfpgLiveTarget *target);

/* Keeps a page that the caller has pinned, whose own pin stays his. */
extern void bfpg_live_keep(BfpgLiveKept *kept, BlockNumber page, Buffer buffer);

/* Unpins all pages that are kept. */
extern void bfpg_live_let_go(void);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_KEPT_H */
