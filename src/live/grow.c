/*
 * grow.c
 *	  Overflow pages, for a filter that gets more keys than it was sized for.
 *
 * The full page itself names its overflow pages, from before the first key goes
 * there, and every look-up reads the full page.  Were they announced in the meta page,
 * which every backend remembers, some would not know of them, and return false for their
 * keys.
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "live/insert.h"
#include "live/wal.h"

Buffer
bfpg_live_extend(Relation index, ForkNumber fork)
{
	return ReadBufferExtended(index, fork, P_NEW, RBM_ZERO_AND_LOCK, NULL);
}

static BlockNumber
add_page(Relation index, unsigned level)
{
	Buffer		buffer = bfpg_live_extend(index, MAIN_FORKNUM);
	BlockNumber number = BufferGetBlockNumber(buffer);

	START_CRIT_SECTION();
	bfpg_live_init_page(BufferGetPage(buffer), number, level);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	return number;
}

/*
 * New pages first, then the name of the first one.  After a crash or an error
 * between the two, the new pages are lost room and nothing worse.
 */
BlockNumber
bfpg_live_grow(Relation index, Buffer full, unsigned level)
{
	uint32		count = bfpg_live_fanout(level);
	BlockNumber first;
	BfpgLiveChanges changes = {0};
	uint32		i;

	/* The lock makes them neighbours. */
	if (!RELATION_IS_LOCAL(index))
		LockRelationForExtension(index, ExclusiveLock);
	first = add_page(index, level + 1);
	for (i = 1; i < count; i++)
		add_page(index, level + 1);
	if (!RELATION_IS_LOCAL(index))
		UnlockRelationForExtension(index, ExclusiveLock);

	bfpg_live_add_change(&changes,
						 MAXALIGN(SizeOfPageHeaderData) + offsetof(BfpgLiveMark, overflow),
						 &first, sizeof first);
	bfpg_live_write(index, full, &changes);
	return first;
}
