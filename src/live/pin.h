/*
 * pin.h
 *	  Pinning pages of a live filter, in the buffers where they were the last time.
 *
 * Each process remembers in which buffer it found a page.  It is only a hint:
 * PostgreSQL pins the buffer and tells whether the page is still there, which saves
 * looking it up in the shared table of all buffers.
 */
#ifndef BFPG_LIVE_PIN_H
#define BFPG_LIVE_PIN_H

#include "storage/buf_internals.h"

#include "bf_batch.h"
#include "live/compat.h"
#include "live/page.h"

#pragma GCC visibility push(hidden)

/* NULL until there are any: see bfpg_live_make_hints. */
extern Buffer *bfpg_live_hints;
extern uint32 bfpg_live_hint_mask;

extern void bfpg_live_make_hints(void);

/* Where the hint for a page is.  Pages of one index are neighbours. */
static inline Buffer *
bfpg_live_hint(const BfpgFileLocator *locator, BlockNumber page)
{
	return &bfpg_live_hints[(page + (uint32) BFPG_FILE_NUMBER(*locator) * 0x9e3779b1u) &
							bfpg_live_hint_mask];
}

/* Pins a page where the hint says, if it is there. */
static inline bool
bfpg_live_pin_hinted(const BfpgFileLocator *locator, bool temporary, BlockNumber page,
					 Buffer hint)
{
	/* Files of temporary tables may have the number of another table's. */
	return hint != InvalidBuffer && BufferIsLocal(hint) == temporary &&
		bfpg_read_recent_buffer(*locator, page, hint);
}

/*
 * Fetches what a look at a place will touch, as far as the hints tell where it is.
 * Forced inline: gcc drops calls of a function that does nothing but prefetch.
 */
BF_INLINE void
bfpg_live_fetch_place(const BfpgFileLocator *locator, BfpgLivePlace place)
{
	Buffer		buffer = *bfpg_live_hint(locator, place.page);

	if (buffer <= 0)
		return;
	BF_PREFETCH(GetBufferDescriptor(buffer - 1));
	BF_PREFETCH((const char *) BufferGetBlock(buffer));
	BF_PREFETCH((const char *) BufferGetBlock(buffer) + place.offset);
}

/* Pins a page of an open index. */
extern Buffer bfpg_live_pin(Relation index, BlockNumber page);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_PIN_H */
