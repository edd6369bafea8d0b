/*
 * build.c
 *	  Building a live index: CREATE INDEX and REINDEX.
 *
 * Nobody else writes to an index that is being built, and nobody sees it before the
 * build commits.  So pages are changed without logging each change, and logged whole
 * at the end.
 *
 * Without n, hashes are gathered first: if all fit into memory the number of different
 * keys is known exactly; if not, it is estimated from the part of the table that has
 * been read, and corrected at the end by the bits of the filter.
 *
 * A build that set bits as keys come would visit pages at random.  So hashes are
 * gathered in as much memory as maintenance_work_mem allows and sorted by their page,
 * by counting; then each page is visited once for all of its hashes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/storage.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "bf_batch.h"
#include "bf_estimate.h"
#include "bf_hashlist.h"
#include "live/am.h"
#include "live/build.h"
#include "engines/engines.h"
#include "base/report.h"
#include "base/sort.h"

/* The least n where it is not given, so that a filter of an empty table begins with some pages. */
#define LEAST_KEYS 100000

/* An estimated n is corrected if it is so many times what it should have been. */
#define TOO_LARGE 1.8

/* With so many times n keys, a filter's bits no longer tell their number. */
#define SATURATED 4.0

/* Attempts to correct an estimate: by the keys with their repeats, then by the bits. */
#define MOST_CORRECTIONS 2

/* Pages of the table that a process takes at a time, so that they are read in order. */
#define PAGES_AT_ONCE 64

#define SORT_BITS 11
#define SORT_VALUES (1 << SORT_BITS)

/* Hashes whose blocks are fetched ahead. */
#define HASHES_AHEAD 8

/* The fewest hashes that are gathered: 1 MB with the spare. */
#define LEAST_ROOM ((Size) 65536)

typedef struct BfpgLiveBuild
{
	Relation	heap;
	Relation	index;
	BfpgKeyCoder coder;
	BfpgLiveOptions options;
	BfpgLive	live;
	bool		laid_out;		/* live is set and the pages are there */
	bool		estimated;		/* for an n that may be too small */
	uint64	   *hashes;			/* that are gathered */
	uint64	   *spare;			/* as long, to sort by */
	Size		gathered;
	Size		room;			/* hashes that fit */
	BfpgLiveCounts counts;
	BlockNumber heap_pages;
	BlockNumber heap_page;		/* where the scan is */
} BfpgLiveBuild;

/* The n for so many keys where it is not given: with room to grow by a quarter. */
static uint64
keys_with_room(double keys)
{
	return Max((uint64) (keys * 1.25) + 1, LEAST_KEYS);
}

static Size
build_memory(void)
{
	return (Size) maintenance_work_mem * 1024;
}

static void
lay_out(BfpgLiveBuild *build, uint64 n)
{
	bfpg_live_layout(n, build->options.p, build->options.seed, build->coder.type, &build->live);
	if (build->laid_out)
	{
		/* The pages of an attempt with another size, and what was read of them. */
		RelationTruncate(build->index, 0);
		if (build->index->rd_amcache != NULL)
			pfree(build->index->rd_amcache);
		build->index->rd_amcache = NULL;
	}
	/* They are logged when the index is built: before that nobody reads it. */
	(void) bfpg_live_add_pages(build->index, MAIN_FORKNUM, &build->live, (BlockNumber) bfpg_live_fixed_pages(&build->live), 0, false);
	build->laid_out = true;
}

/* For as many keys as the whole table has if the rest is like the part that was read. */
static void
lay_out_by_estimate(BfpgLiveBuild *build)
{
	double		share = ((double) build->heap_page + 1) / Max(build->heap_pages, 1);
	double		keys = (double) build->gathered / Min(share, 1.0);

	lay_out(build, keys_with_room(keys));
	build->estimated = true;
}

/* Room for hashes in so many bytes, or the least if that is more, but no more than the rows of so many pages need. */
static void
begin_gathering(BfpgLiveBuild *build, Size bytes, uint64 heap_pages)
{
	Size		most = Min(bytes, MaxAllocHugeSize / 2) / (2 * sizeof(uint64));

	build->room = Max(Min(most, heap_pages * MaxHeapTuplesPerPage), LEAST_ROOM);
	build->gathered = 0;
	/* Memory that no hash comes to isn't touched. */
	build->hashes = MemoryContextAllocHuge(CurrentMemoryContext, build->room * sizeof(uint64));
	build->spare = MemoryContextAllocHuge(CurrentMemoryContext, build->room * sizeof(uint64));
}

static void
drop_repeats(BfpgLiveBuild *build)
{
	build->gathered = bf_hashlist_unique(build->hashes, build->gathered, bfpg_tick);
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
sort_by_page(BfpgLiveBuild *build)
{
	uint64		pages = bfpg_live_fixed_pages(&build->live);
	Digit		digit = {&build->live, 0};
	Size		ends[SORT_VALUES];

	for (; digit.shift == 0 || pages >> digit.shift > 0; digit.shift += SORT_BITS)
	{
		uint64	   *sorted = build->spare;

		bfpg_counting_sort(build->hashes, build->gathered, sorted, ends, SORT_VALUES, digit_of, &digit);
		build->spare = build->hashes;
		build->hashes = sorted;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Sets the hashes from at on that are on the same page; returns where the next begin. */
static Size
set_page(BfpgLiveBuild *build, Size at)
{
	const BfpgLive *live = &build->live;
	BfpgLivePlace place = bfpg_live_place(live, build->hashes[at]);
	BlockNumber number = place.page;
	Buffer		buffer = ReadBuffer(build->index, number);
	Page		page;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page = bfpg_live_checked_page(RelationGetRelid(build->index), buffer, number, 0);
	do
	{
		/* For a hash of the next page the prefetch is useless, and harmless. */
		if (at + HASHES_AHEAD < build->gathered)
			BF_PREFETCH(bfpg_live_block(page, bfpg_live_place(live, build->hashes[at + HASHES_AHEAD]).offset));
		bf_block_add(bfpg_live_block(page, place.offset), live->header.log2_block_bits,
					 live->header.probes, build->hashes[at]);
		if (++at == build->gathered)
			break;
		place = bfpg_live_place(live, build->hashes[at]);
	} while (place.page == number);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	return at;
}

/* Sets the bits of all hashes in pages of level 0, without logging them. */
static void
set_gathered(BfpgLiveBuild *build)
{
	Size		at = 0;

	sort_by_page(build);
	while (at < build->gathered)
	{
		CHECK_FOR_INTERRUPTS();
		at = set_page(build, at);
	}
	build->gathered = 0;
}

static void
make_room(BfpgLiveBuild *build)
{
	if (!build->laid_out)
	{
		drop_repeats(build);
		if (build->gathered < build->room / 2)
			return;
		lay_out_by_estimate(build);
	}
	set_gathered(build);
}

static void
take_key(Datum key, void *state)
{
	BfpgLiveBuild *build = (BfpgLiveBuild *) state;

	build->counts.keys++;
	if (build->gathered == build->room)
		make_room(build);
	build->hashes[build->gathered++] = bfpg_hash_key(&build->coder, key, build->options.seed);
}

/* Empties what the scan has left, into pages that are there from now on. */
static void
finish_gathering(BfpgLiveBuild *build)
{
	if (!build->laid_out)
	{
		drop_repeats(build);
		lay_out(build, keys_with_room((double) build->gathered));
	}
	set_gathered(build);
	pfree(build->hashes);
	pfree(build->spare);
}

void
bfpg_live_scan_pages(Relation heap, Relation index, IndexInfo *info, BfpgLivePages *pages,
					 Size memory, bool progress, BfpgLiveCounts *counts)
{
	BfpgLiveBuild build = {0};
	BfpgLiveHeapScan *scan = bfpg_live_heap_scan_begin(heap, index, info);
	uint64		page;
	uint64		end;

	build.index = index;
	build.live = *bfpg_live_meta(index);
	build.options.seed = build.live.header.seed;
	build.laid_out = true;
	bfpg_live_key_coder(index, &build.coder);
	begin_gathering(&build, memory, pages->end);
	while ((page = pg_atomic_fetch_add_u64(&pages->next, PAGES_AT_ONCE)) < pages->end)
	{
		if (progress)
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, (int64) page);
		for (end = Min(page + PAGES_AT_ONCE, pages->end); page < end; page++)
			bfpg_live_heap_scan_page(scan, (BlockNumber) page, take_key, &build);
	}
	finish_gathering(&build);
	counts->rows += bfpg_live_heap_scan_end(scan);
	counts->keys += build.counts.keys;
}

/* Reads the table until it is known how many keys there are; returns the next page. */
static BlockNumber
scan_for_size(BfpgLiveBuild *build, IndexInfo *info)
{
	BfpgLiveHeapScan *scan = bfpg_live_heap_scan_begin(build->heap, build->index, info);
	BlockNumber page;

	begin_gathering(build, build_memory(), build->heap_pages);
	for (page = 0; page < build->heap_pages && !build->laid_out; page++)
	{
		build->heap_page = page;
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, page);
		bfpg_live_heap_scan_page(scan, page, take_key, build);
	}
	finish_gathering(build);
	build->counts.rows += bfpg_live_heap_scan_end(scan);
	return page;
}

/* Reads the pages from first on, with workers' help where there are some. */
static void
scan_rest(BfpgLiveBuild *build, IndexInfo *info, BlockNumber first)
{
	int			workers = bfpg_build_workers(build->heap, build->index, info);
	BfpgLivePages pages;

	if (workers > 0 &&
		bfpg_live_parallel_scan(build->heap, build->index, info, workers,
								first, build->heap_pages, &build->counts))
		return;
	pg_atomic_init_u64(&pages.next, first);
	pages.end = build->heap_pages;
	bfpg_live_scan_pages(build->heap, build->index, info, &pages, build_memory(), true,
						 &build->counts);
}

static void
scan(BfpgLiveBuild *build, IndexInfo *info)
{
	BlockNumber next = 0;

	memset(&build->counts, 0, sizeof build->counts);
	build->heap_pages = RelationGetNumberOfBlocks(build->heap);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, build->heap_pages);
	if (!build->laid_out)
		next = scan_for_size(build, info);
	if (next < build->heap_pages)
		scan_rest(build, info, next);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, build->heap_pages);
}

/* How many different keys the filter has, from the bits of all pages. */
static double
count_keys(BfpgLiveBuild *build)
{
	bf_header	header = build->live.header;
	BlockNumber pages = (BlockNumber) bfpg_live_fixed_pages(&build->live);
	BlockNumber number;

	/* The parts together, as if they were one filter of average fill. */
	header.bits_set = 0;
	for (number = BFPG_LIVE_FIRST_PAGE; number < pages; number++)
	{
		Buffer		buffer = ReadBuffer(build->index, number);

		CHECK_FOR_INTERRUPTS();
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		header.bits_set += bfpg_live_page_bits(&build->live, BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
	}
	header.bits_set /= header.parts;
	return bf_estimate_keys(&header) * header.parts;
}

/*
 * Builds the filter anew where the estimated n was smaller than the number of keys, or much
 * larger than what that number would have been laid out for.
 *
 * count_keys says little of a filter nearly all of whose bits are set.  Then the number of
 * keys with their repeats is taken, which is never too small, and the next attempt can count.
 */
static void
correct_estimate(BfpgLiveBuild *build, IndexInfo *info)
{
	int			attempt;

	for (attempt = 0; build->estimated && attempt < MOST_CORRECTIONS; attempt++)
	{
		double		keys = count_keys(build);

		if (keys > SATURATED * (double) build->live.keys)
			keys = build->counts.keys;
		keys = Min(keys, build->counts.keys);
		if (keys <= (double) build->live.keys &&
			(double) build->live.keys <= TOO_LARGE * (double) keys_with_room(keys))
			return;
		lay_out(build, keys_with_room(keys));
		scan(build, info);
	}
}

/* Whether a relation's file is of a subtransaction, whose rollback undoes all that is done to it. */
static bool
has_file_of(Relation relation, SubTransactionId own)
{
	return relation->rd_createSubid == own || BFPG_NEW_FILE_SUBID(relation) == own;
}

/*
 * Whether TRUNCATE has emptied the index's file in place, which ROLLBACK does not undo.  It
 * does so where the table's file was made by the current subtransaction, without looking at
 * the index's file, which ALTER TABLE SET TABLESPACE leaves as it was.
 */
static bool
truncated_in_place(Relation heap, Relation index)
{
	SubTransactionId own = GetCurrentSubTransactionId();

	return has_file_of(heap, own) && !has_file_of(index, own);
}

static void
collect(BfpgLiveBuild *build, IndexInfo *info)
{
	if (build->options.n != 0)
		lay_out(build, build->options.n);
	scan(build, info);
	correct_estimate(build, info);
	if (RelationNeedsWAL(build->index))
		log_newpage_range(build->index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(build->index), true);
}

IndexBuildResult *
bfpg_live_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof *result);
	BfpgLiveBuild build = {.heap = heap, .index = index};

	bfpg_check_heap(heap);
	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
	/*
	 * After a rollback the table has its rows again, and an index built in this file would say
	 * that none is there.  So it is built in another one: the file without any page, which a
	 * rollback brings back, is an error for all who read the index or write to it.
	 */
	if (truncated_in_place(heap, index))
		bfpg_set_new_file(index);
	build.options = bfpg_live_options(index);
	bfpg_live_key_coder(index, &build.coder);
	collect(&build, info);
	result->heap_tuples = build.counts.rows;
	result->index_tuples = build.counts.keys;
	return result;
}

/*
 * What an unlogged index is after a crash, with its table empty: a filter of a few
 * pages, which grows, since all pages of one for n keys would be a file twice as
 * large as the index.
 */
void
bfpg_live_build_empty(Relation index)
{
	BfpgLiveOptions options = bfpg_live_options(index);
	BfpgKeyCoder coder;
	BfpgLive	live;
	uint64		n = options.n == 0 ? LEAST_KEYS : Min(options.n, LEAST_KEYS);

	bfpg_live_key_coder(index, &coder);
	bfpg_live_layout(n, options.p, options.seed, coder.type, &live);
	(void) bfpg_live_add_pages(index, INIT_FORKNUM, &live, (BlockNumber) bfpg_live_fixed_pages(&live), 0, true);
}
