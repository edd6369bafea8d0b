/*
 * batch.c
 *	  Hashes gathered by a build, to be set page by page.
 *
 * A build that set bits as keys come would visit pages at random.  So hashes are
 * gathered in as much memory as maintenance_work_mem allows and sorted by their page,
 * by counting; then each page is visited once for all of its hashes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "bf_batch.h"
#include "base/sort.h"
#include "live/build.h"

#define SORT_BITS 11
#define SORT_VALUES (1 << SORT_BITS)

/* Hashes whose blocks are fetched ahead. */
#define HASHES_AHEAD 8

/* Hashes of the smallest batch: 1 MB with the spare. */
#define LEAST_ROOM ((Size) 65536)

/* Memory that no hash comes to isn't touched. */
void
bfpg_live_batch_init(BfpgLiveBatch *batch, Size bytes, uint64 heap_pages)
{
	Size		most = Min(bytes, MaxAllocHugeSize / 2) / (2 * sizeof(uint64));

	batch->room = Max(Min(most, heap_pages * MaxHeapTuplesPerPage), LEAST_ROOM);
	batch->count = 0;
	batch->hashes = MemoryContextAllocHuge(CurrentMemoryContext, batch->room * sizeof(uint64));
	batch->spare = MemoryContextAllocHuge(CurrentMemoryContext, batch->room * sizeof(uint64));
}

/* What a pass sorts by: SORT_BITS bits of the page. */
typedef struct Digit
{
	const BfpgLive *live;
	int			shift;
} Digit;

static uint32
digit_of(uint64 hash, const void *context)
{
	const Digit *digit = (const Digit *) context;

	return bfpg_live_place(digit->live, hash).page >> digit->shift & (SORT_VALUES - 1);
}

/*
 * By page alone, since a page needs no order within: bf_hashlist_sort, which sorts whole hashes,
 * makes a build take 1.4 to 1.7 times as long, and hashes in their order are not in the order of
 * their pages where a filter has parts.
 */
static void
sort_by_page(BfpgLiveBatch *batch, const BfpgLive *live)
{
	uint64		pages = bfpg_live_fixed_pages(live);
	Digit		digit = {live, 0};
	Size		ends[SORT_VALUES];

	for (; digit.shift == 0 || pages >> digit.shift > 0; digit.shift += SORT_BITS)
	{
		uint64	   *sorted = batch->spare;

		bfpg_counting_sort(batch->hashes, batch->count, sorted, ends, SORT_VALUES, digit_of, &digit);
		batch->spare = batch->hashes;
		batch->hashes = sorted;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Sets the hashes from at on that are on the same page; returns where the next begin. */
static Size
set_page(BfpgLiveBatch *batch, Relation index, const BfpgLive *live, Size at)
{
	BfpgLivePlace place = bfpg_live_place(live, batch->hashes[at]);
	BlockNumber number = place.page;
	Buffer		buffer = ReadBuffer(index, number);
	Page		page;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page = bfpg_live_checked_page(RelationGetRelid(index), buffer, number, 0);
	do
	{
		/* For a hash of the next page the prefetch is useless, and harmless. */
		if (at + HASHES_AHEAD < batch->count)
			BF_PREFETCH(bfpg_live_block(page, bfpg_live_place(live, batch->hashes[at + HASHES_AHEAD]).offset));
		bf_block_add(bfpg_live_block(page, place.offset), live->header.log2_block_bits,
					 live->header.probes, batch->hashes[at]);
		if (++at == batch->count)
			break;
		place = bfpg_live_place(live, batch->hashes[at]);
	} while (place.page == number);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	return at;
}

void
bfpg_live_batch_flush(BfpgLiveBatch *batch, Relation index, const BfpgLive *live)
{
	Size		at = 0;

	sort_by_page(batch, live);
	while (at < batch->count)
	{
		CHECK_FOR_INTERRUPTS();
		at = set_page(batch, index, live, at);
	}
	batch->count = 0;
}
