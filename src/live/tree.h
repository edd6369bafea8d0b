/*
 * tree.h
 *	  Walking through a page of level 0 and all of its overflow pages.
 */
#ifndef BFPG_LIVE_TREE_H
#define BFPG_LIVE_TREE_H

#include "live/page.h"

#pragma GCC visibility push(hidden)

/* A page on the way, share-locked while it is looked at. */
typedef struct BfpgLiveNode
{
	Page		page;
	BlockNumber number;
	unsigned	level;
	double		share;			/* of the keys of level 0's page that come by here */
} BfpgLiveNode;

typedef void (*BfpgLiveVisit) (const BfpgLiveNode *node, void *argument);

/*
 * Visits a page of level 0 and what is below it, each page after the one that names it.
 * strategy may be NULL.
 */
extern void bfpg_live_walk(Relation index, BlockNumber home, BufferAccessStrategy strategy,
						   BfpgLiveVisit visit, void *argument);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_TREE_H */
