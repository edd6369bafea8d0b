/*
 * pin.c
 *	  Pinning pages in the buffers where they were the last time.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/pin.h"

/* Hints: at most one for each shared buffer, and no more than this. */
#define MAX_HINTS (1 << 17)
#define LEAST_HINTS 1024

Buffer	   *bfpg_pin_hints = NULL;
uint32		bfpg_pin_hint_mask = 0;

void
bfpg_pin_make_hints(void)
{
	uint32		count = LEAST_HINTS;

	while (count < MAX_HINTS && count < (uint32) NBuffers)
		count *= 2;
	bfpg_pin_hints = MemoryContextAllocZero(TopMemoryContext, count * sizeof(Buffer));
	bfpg_pin_hint_mask = count - 1;
}

bool
bfpg_pin_has_page(Relation relation, BlockNumber page, BlockNumber *pages)
{
	if (*pages == InvalidBlockNumber)
		*pages = RelationGetNumberOfBlocks(relation);
	return page < *pages;
}

Buffer
bfpg_pin_page(Relation relation, BlockNumber page, BlockNumber *pages)
{
	Buffer	   *hint = bfpg_pin_hint(&BFPG_LOCATOR(relation), page);

	if (!bfpg_pin_hinted(&BFPG_LOCATOR(relation), RelationUsesLocalBuffers(relation), page, *hint))
		return bfpg_pin_has_page(relation, page, pages) ? *hint = ReadBuffer(relation, page) : InvalidBuffer;
	pgstat_count_buffer_read(relation);
	pgstat_count_buffer_hit(relation);
	return *hint;
}
