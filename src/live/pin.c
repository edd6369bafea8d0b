/*
 * pin.c
 *	  Pinning pages of a live filter, in the buffers where they were the last time.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "live/pin.h"

/* Hints: at most one for each shared buffer, and no more than this. */
#define MAX_HINTS (1 << 17)
#define LEAST_HINTS 1024

Buffer	   *bfpg_live_hints = NULL;
uint32		bfpg_live_hint_mask = 0;

void
bfpg_live_make_hints(void)
{
	uint32		count = LEAST_HINTS;

	while (count < MAX_HINTS && count < (uint32) NBuffers)
		count *= 2;
	bfpg_live_hints = MemoryContextAllocZero(TopMemoryContext, count * sizeof(Buffer));
	bfpg_live_hint_mask = count - 1;
}

Buffer
bfpg_live_pin(Relation index, BlockNumber page)
{
	Buffer	   *hint = bfpg_live_hint(&BFPG_LOCATOR(index), page);

	if (!bfpg_live_pin_hinted(&BFPG_LOCATOR(index), RelationUsesLocalBuffers(index), page, *hint))
		*hint = ReadBuffer(index, page);
	return *hint;
}
