/*
 * pin.c
 *	  Pinning pages in the buffers where they were the last time.
 */
#include "postgres.h"

#include "pgstat.h"
#include "utils/rel.h"

#include "base/pin.h"

Buffer		bfpg_pin_hints[BFPG_PIN_HINTS];

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
