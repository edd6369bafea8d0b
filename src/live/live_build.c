/*
 * live_build.c
 *	  Building a live filter: CREATE INDEX and REINDEX.
 *
 * Nobody else writes to an index that is being built, and nobody sees it before the
 * build commits.  So pages are changed without logging each change, and logged whole
 * at the end.
 *
 * Without n, hashes are gathered first: if all fit into memory the number of different
 * keys is known exactly; if not, it is estimated from the part of the table that has
 * been read, and checked at the end.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"

#include "bf_bits.h"
#include "bf_estimate.h"
#include "live_batch.h"
#include "live_build.h"
#include "live_hot.h"
#include "live_insert.h"
#include "live_options.h"
#include "live_parallel.h"
#include "report.h"

/* What pg_stat_progress_create_index shows; 1 is PostgreSQL's. */
#define PHASE_LAY_OUT 2
#define PHASE_SCAN 3
#define PHASE_LOG 4

/* Room to grow where n is not given: a quarter more than the keys that are there. */
#define WITH_ROOM(keys) ((uint64) ((double) (keys) * 1.25) + 1)

/* And the least such n, so that a filter of an empty table begins with some pages. */
#define LEAST_KEYS 100000

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
	double		keys;			/* not null, repeats counted */
	BlockNumber heap_pages;
	BlockNumber heap_page;		/* where the scan is */
} BfpgLiveBuild;

char *
bfpg_live_build_phase(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case PHASE_LAY_OUT:
			return "laying out pages";
		case PHASE_SCAN:
			return "scanning table";
		case PHASE_LOG:
			return "logging pages";
		default:
			return NULL;
	}
}

static void
report_phase(int64 phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

/* A page of the index that is being built, locked: it may be there from a first try. */
static Buffer
take_page(Relation index, ForkNumber fork, BlockNumber number, BlockNumber present)
{
	if (number < present)
		return ReadBufferExtended(index, fork, number, RBM_ZERO_AND_LOCK, NULL);
	return bfpg_live_extend(index, fork);
}

/* Writes an empty filter: all pages of level 0.  The init fork's are logged at once. */
static void
write_empty(Relation index, ForkNumber fork, const BfpgLive *live)
{
	BlockNumber present = RelationGetNumberOfBlocksInFork(index, fork);
	BlockNumber pages = (BlockNumber) bfpg_live_fixed_pages(live);
	BlockNumber number;
	bool		extension_lock = !RELATION_IS_LOCAL(index);

	if (extension_lock)
		LockRelationForExtension(index, ExclusiveLock);
	for (number = 0; number < pages; number++)
	{
		Buffer		buffer = take_page(index, fork, number, present);

		CHECK_FOR_INTERRUPTS();
		START_CRIT_SECTION();
		if (number == BFPG_LIVE_META_PAGE)
			bfpg_live_init_meta(BufferGetPage(buffer), live);
		else
			bfpg_live_init_page(BufferGetPage(buffer), number, 0);
		MarkBufferDirty(buffer);
		if (fork == INIT_FORKNUM)
			log_newpage_buffer(buffer, true);
		END_CRIT_SECTION();
		UnlockReleaseBuffer(buffer);
	}
	if (extension_lock)
		UnlockRelationForExtension(index, ExclusiveLock);
}

static void
lay_out(BfpgLiveBuild *build, uint64 n)
{
	report_phase(PHASE_LAY_OUT);
	bfpg_live_layout(n, build->options.p, build->options.seed, build->coder.type, &build->live);
	/* Of a first try, with another size. */
	if (build->index->rd_amcache != NULL)
		pfree(build->index->rd_amcache);
	build->index->rd_amcache = NULL;
	write_empty(build->index, MAIN_FORKNUM, &build->live);
	build->laid_out = true;
	report_phase(PHASE_SCAN);
}

/* For as many keys as the whole table has if the rest is like the part that was read. */
static void
lay_out_by_estimate(BfpgLiveBuild *build)
{
	double		share = ((double) build->heap_page + 1) / Max(build->heap_pages, 1);
	double		keys = (double) build->batch.count / Min(share, 1.0);

	lay_out(build, Max(WITH_ROOM(keys), LEAST_KEYS));
	build->estimated = true;
}

/* Makes room in a full batch. */
static void
empty_batch(BfpgLiveBuild *build)
{
	if (!build->laid_out)
	{
		bfpg_live_batch_unique(&build->batch);
		if (build->batch.count < build->batch.room / 2)
			return;
		lay_out_by_estimate(build);
	}
	bfpg_live_batch_flush(&build->batch, build->index, &build->live);
}

static void
add_row(Relation index, ItemPointer row, Datum *values, bool *isnull, bool alive, void *state)
{
	BfpgLiveBuild *build = (BfpgLiveBuild *) state;

	if (isnull[0])
		return;
	build->heap_page = ItemPointerGetBlockNumber(row);
	build->keys++;
	if (build->batch.count == build->batch.room)
		empty_batch(build);
	build->batch.hashes[build->batch.count++] =
		bfpg_hash_key(&build->coder, values[0], build->options.seed);
}

/* Reads the table by this process alone; returns the number of its rows. */
static double
scan_alone(BfpgLiveBuild *build, IndexInfo *info, Size memory, TableScanDesc part, bool progress)
{
	double		rows;

	bfpg_live_batch_init(&build->batch, memory);
	build->heap_pages = RelationGetNumberOfBlocks(build->heap);
	rows = table_index_build_scan(build->heap, build->index, info,
								  build->laid_out /* else in order, or the estimate would be wrong */ ,
								  progress, add_row, build, part);
	if (!build->laid_out)
	{
		bfpg_live_batch_unique(&build->batch);
		lay_out(build, Max(WITH_ROOM(build->batch.count), LEAST_KEYS));
	}
	bfpg_live_batch_flush(&build->batch, build->index, &build->live);
	bfpg_live_batch_free(&build->batch);
	return rows;
}

/* Adds the older versions of rows that were updated in place: scan_alone passes them by. */
static void
add_hot_updated(BfpgLiveBuild *build, IndexInfo *info)
{
	if (!info->ii_BrokenHotChain)
		return;
	bfpg_live_batch_init(&build->batch, (Size) maintenance_work_mem * 1024);
	bfpg_live_scan_hot_updated(build->heap, build->index, info, add_row, build);
	bfpg_live_batch_flush(&build->batch, build->index, &build->live);
	bfpg_live_batch_free(&build->batch);
}

void
bfpg_live_scan_share(Relation heap, Relation index, IndexInfo *info, TableScanDesc part,
					 Size memory, bool progress, BfpgLiveCounts *counts)
{
	BfpgLiveBuild build = {0};

	build.heap = heap;
	build.index = index;
	build.live = *bfpg_live_meta(index);
	build.options.seed = build.live.header.seed;
	build.laid_out = true;
	bfpg_live_key_coder(index, &build.coder);
	counts->rows = scan_alone(&build, info, memory, part, progress);
	counts->keys = build.keys;
	counts->broken_hot_chain = info->ii_BrokenHotChain;
}

/*
 * Reads the table into the filter; returns the number of its rows.  Workers help where
 * the pages are there: the size for an unknown n shows only on the way.
 */
static double
scan(BfpgLiveBuild *build, IndexInfo *info)
{
	int			workers = build->laid_out ? bfpg_live_plan_workers(build->heap, build->index, info) : 0;
	BfpgLiveCounts counts = {0};

	report_phase(PHASE_SCAN);
	build->keys = 0;
	if (workers > 0 && bfpg_live_parallel_scan(build->heap, build->index, info, workers, &counts))
		build->keys = counts.keys;
	else
		counts.rows = scan_alone(build, info, (Size) maintenance_work_mem * 1024, NULL, true);
	add_hot_updated(build, info);
	return counts.rows;
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

/* Builds the filter anew where the estimated n was too small.  Seldom comes to it. */
static void
correct_estimate(BfpgLiveBuild *build, IndexInfo *info)
{
	double		keys;

	if (!build->estimated || build->keys <= (double) build->live.keys)
		return;
	keys = count_keys(build);
	if (keys <= (double) build->live.keys)
		return;
	lay_out(build, WITH_ROOM(keys));
	(void) scan(build, info);
}

IndexBuildResult *
bfpg_live_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof *result);
	BfpgLiveBuild build = {0};

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
	report_phase(PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE);
	build.heap = heap;
	build.index = index;
	build.options = bfpg_live_options(index);
	bfpg_live_key_coder(index, &build.coder);
	if (build.options.n != 0)
		lay_out(&build, build.options.n);
	result->heap_tuples = scan(&build, info);
	correct_estimate(&build, info);
	result->index_tuples = build.keys;
	report_phase(PHASE_LOG);
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
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
	write_empty(index, INIT_FORKNUM, &live);
}
