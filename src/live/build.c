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
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/storage.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"

#include "bf_estimate.h"
#include "bf_hashlist.h"
#include "live/am.h"
#include "live/build.h"
#include "engines/engines.h"
#include "base/report.h"

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

typedef struct BfpgLiveBuild
{
	Relation	heap;
	Relation	index;
	BfpgKeyCoder coder;
	BfpgLiveOptions options;
	BfpgLive	live;
	bool		laid_out;		/* live is set and the pages are there */
	bool		estimated;		/* for an n that may be too small */
	BfpgLiveBatch batch;
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

/*
 * Writes all pages of level 0.  Those of the main fork are logged when the index is built:
 * before that nobody reads it.
 */
static void
write_pages(Relation index, ForkNumber fork, const BfpgLive *live)
{
	BlockNumber pages = (BlockNumber) bfpg_live_fixed_pages(live);
	BlockNumber number;

	if (!RELATION_IS_LOCAL(index))
		LockRelationForExtension(index, ExclusiveLock);
	for (number = 0; number < pages; number++)
	{
		CHECK_FOR_INTERRUPTS();
		(void) bfpg_live_add_page(index, fork, number == BFPG_LIVE_META_PAGE ? live : NULL, 0, fork == INIT_FORKNUM);
	}
	if (!RELATION_IS_LOCAL(index))
		UnlockRelationForExtension(index, ExclusiveLock);
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
	write_pages(build->index, MAIN_FORKNUM, &build->live);
	build->laid_out = true;
}

/* For as many keys as the whole table has if the rest is like the part that was read. */
static void
lay_out_by_estimate(BfpgLiveBuild *build)
{
	double		share = ((double) build->heap_page + 1) / Max(build->heap_pages, 1);
	double		keys = (double) build->batch.count / Min(share, 1.0);

	lay_out(build, keys_with_room(keys));
	build->estimated = true;
}

static void
drop_repeats(BfpgLiveBatch *batch)
{
	batch->count = bf_hashlist_unique(batch->hashes, batch->count, bfpg_tick);
}

static void
make_room(BfpgLiveBuild *build)
{
	if (!build->laid_out)
	{
		drop_repeats(&build->batch);
		if (build->batch.count < build->batch.room / 2)
			return;
		lay_out_by_estimate(build);
	}
	bfpg_live_batch_flush(&build->batch, build->index, &build->live);
}

static void
take_key(Datum key, void *state)
{
	BfpgLiveBuild *build = (BfpgLiveBuild *) state;

	build->counts.keys++;
	if (build->batch.count == build->batch.room)
		make_room(build);
	build->batch.hashes[build->batch.count++] =
		bfpg_hash_key(&build->coder, key, build->options.seed);
}

/* Empties what the scan has left, into pages that are there from now on. */
static void
finish_batch(BfpgLiveBuild *build)
{
	if (!build->laid_out)
	{
		drop_repeats(&build->batch);
		lay_out(build, keys_with_room((double) build->batch.count));
	}
	bfpg_live_batch_flush(&build->batch, build->index, &build->live);
	pfree(build->batch.hashes);
	pfree(build->batch.spare);
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
	bfpg_live_batch_init(&build.batch, memory, pages->end);
	while ((page = pg_atomic_fetch_add_u64(&pages->next, PAGES_AT_ONCE)) < pages->end)
	{
		if (progress)
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, (int64) page);
		for (end = Min(page + PAGES_AT_ONCE, pages->end); page < end; page++)
			bfpg_live_heap_scan_page(scan, (BlockNumber) page, take_key, &build);
	}
	finish_batch(&build);
	counts->rows += bfpg_live_heap_scan_end(scan);
	counts->keys += build.counts.keys;
}

/* Reads the table until it is known how many keys there are; returns the next page. */
static BlockNumber
scan_for_size(BfpgLiveBuild *build, IndexInfo *info)
{
	BfpgLiveHeapScan *scan = bfpg_live_heap_scan_begin(build->heap, build->index, info);
	BlockNumber page;

	bfpg_live_batch_init(&build->batch, build_memory(), build->heap_pages);
	for (page = 0; page < build->heap_pages && !build->laid_out; page++)
	{
		build->heap_page = page;
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, page);
		bfpg_live_heap_scan_page(scan, page, take_key, build);
	}
	finish_batch(build);
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
	write_pages(index, INIT_FORKNUM, &live);
}
