/*
 * tree.c
 *	  Walking through a page of level 0 and all of its overflow pages.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "live/tree.h"

static void
walk(Relation index, BlockNumber number, unsigned level, double share,
	 BufferAccessStrategy strategy, BfpgLiveVisit visit, void *argument)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, number, RBM_NORMAL, strategy);
	BfpgLiveNode node = {NULL, number, level, share};
	BlockNumber overflow;
	uint32		i;

	CHECK_FOR_INTERRUPTS();
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	node.page = bfpg_live_checked_page(RelationGetRelid(index), buffer, number, level);
	visit(&node, argument);
	overflow = bfpg_live_mark(node.page)->overflow;
	UnlockReleaseBuffer(buffer);
	if (overflow == 0)
		return;
	for (i = 0; i < bfpg_live_fanout(level); i++)
		walk(index, overflow + i, level + 1, share / bfpg_live_fanout(level), strategy, visit, argument);
}

void
bfpg_live_walk(Relation index, BlockNumber home, BufferAccessStrategy strategy,
			   BfpgLiveVisit visit, void *argument)
{
	walk(index, home, 0, 1.0, strategy, visit, argument);
}
