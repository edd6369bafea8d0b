/*
 * pin.h
 *	  Pinning pages in the buffers where they were the last time.
 *
 * Each process remembers in which buffer it found a page.  It is only a hint:
 * PostgreSQL pins the buffer and tells whether the page is still there, which saves
 * looking it up in the shared table of all buffers.
 */
#ifndef BFPG_PIN_H
#define BFPG_PIN_H

#include "storage/buf_internals.h"

#include "bf_batch.h"
#include "base/pg_compat.h"

/* Hints, a power of two.  The kernel gives memory to those that are used. */
#define BFPG_PIN_HINTS (1 << 17)

extern Buffer bfpg_pin_hints[BFPG_PIN_HINTS];

/* Where the hint for a page is.  Pages of one relation are neighbours. */
static inline Buffer *
bfpg_pin_hint(const BfpgFileLocator *locator, BlockNumber page)
{
	return &bfpg_pin_hints[(page + (uint32) BFPG_FILE_NUMBER(*locator) * 0x9e3779b1u) % BFPG_PIN_HINTS];
}

/* Pins a page where the hint says, if it is there. */
static inline bool
bfpg_pin_hinted(const BfpgFileLocator *locator, bool temporary, BlockNumber page,
					 Buffer hint)
{
	/* Files of temporary tables may have the number of another table's. */
	return hint != InvalidBuffer && BufferIsLocal(hint) == temporary &&
		ReadRecentBuffer(*locator, MAIN_FORKNUM, page, hint);
}

/*
 * Fetches what a look at a page and at an offset of it will touch, as far as the hints tell
 * where it is.  Forced inline: gcc drops calls of a function that does nothing but prefetch.
 */
BF_INLINE void
bfpg_pin_fetch(const BfpgFileLocator *locator, BlockNumber page, uint32 offset)
{
	Buffer		buffer = *bfpg_pin_hint(locator, page);

	if (buffer <= 0)
		return;
	BF_PREFETCH(GetBufferDescriptor(buffer - 1));
	BF_PREFETCH((const char *) BufferGetBlock(buffer));
	BF_PREFETCH((const char *) BufferGetBlock(buffer) + offset);
}

/*
 * Whether an open relation has a page.  *pages is the length of its file, or InvalidBlockNumber
 * until it is needed.
 */
extern bool bfpg_pin_has_page(Relation relation, BlockNumber page, BlockNumber *pages);

/*
 * Pins a page of an open relation, or returns InvalidBuffer if it has no such page.  The length of
 * the file is a system call, and not needed for a page that is in a buffer: VACUUM takes those
 * that it cuts off out of the buffers.
 */
extern Buffer bfpg_pin_page(Relation relation, BlockNumber page, BlockNumber *pages);

#endif							/* BFPG_PIN_H */
