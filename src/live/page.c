/*
 * page.c
 *	  The pages of a live index: laying them out, making, checking and visiting them.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "utils/lsyscache.h"

#include "bf_bits.h"
#include "live/page.h"
#include "base/report.h"

#define PAGE_MAGIC 0x424c4d50	/* "BLMP" */
#define META_MAGIC 0x424c4d4d	/* "BLMM" */
#define META_VERSION 2

/* Standard deviations by which a page must exceed what its keys explain to be full. */
#define PAGE_SPREAD 5.0

/* The meta page's content, after PostgreSQL's page header. */
typedef struct BfpgLiveMeta
{
	uint32		magic;
	uint32		version;
	BfpgLive	live;
	pg_crc32c	crc;			/* of all before it */
} BfpgLiveMeta;

StaticAssertDecl(sizeof(BfpgLive) == 80, "what is stored has another META_VERSION");
StaticAssertDecl(sizeof(PageHeaderData) <= 24, "the page header leaves room for the mark");
StaticAssertDecl(MAXALIGN(SizeOfPageHeaderData) + sizeof(BfpgLiveMark) <= BFPG_LIVE_BLOCKS_AT,
				 "the mark ends before the blocks");

void
bfpg_live_refuse_page(Oid index, BlockNumber page, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("page %u of index \"%s\" is damaged: %s", page, get_rel_name(index), what),
			 errhint("Rebuild it with REINDEX.")));
}

Page
bfpg_live_checked_page(Oid index, Buffer buffer, BlockNumber number, unsigned level)
{
	Page		page = BufferGetPage(buffer);
	const BfpgLiveMark *mark = bfpg_live_mark(page);

	if (unlikely(mark->magic != PAGE_MAGIC || mark->self != number || mark->level != level))
		bfpg_live_refuse_page(index, number, PageIsNew(page) ? "it is empty" : "it is not a page of this filter");
	return page;
}

uint32
bfpg_live_page_blocks(const BfpgLive *live, BlockNumber page)
{
	uint32		in_part = (page - BFPG_LIVE_FIRST_PAGE) % live->pages_per_part;
	uint32		rest = live->header.blocks - in_part * live->blocks_per_page;

	return Min(rest, live->blocks_per_page);
}

uint64
bfpg_live_page_bits(const BfpgLive *live, Page page)
{
	return bf_count_bits(bfpg_live_block(page, BFPG_LIVE_BLOCKS_AT),
						 (uint64) live->blocks_per_page << (live->header.log2_block_bits - 3),
						 NULL);
}

/* The keys for which a whole page is enough at rate p: a filter is never smaller. */
static uint64
keys_of_one_page(uint64 n, double p)
{
	bf_sizing	sizing;
	bf_geometry page;

	/* By a filter that has many blocks, as few may be larger or smaller ones. */
	bfpg_size_for_rate((int64) Max(n, 1000000), p, &sizing);
	page = sizing.geometry;
	page.blocks = BFPG_LIVE_ROOM >> (page.log2_block_bits - 3);
	return page.blocks == 0 ? 1 : Max(bf_capacity_for_rate(&page, p), 1);
}

static void
check_layout(const bf_sizing *sizing, uint64 n, double p, uint32 parts)
{
	if (parts == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a bloomfilter index for " UINT64_FORMAT " keys at a false-positive rate of %.7g is too large",
						n, p),
				 errhint("Ask for fewer keys or a higher rate.")));
	if (sizing->geometry.log2_block_bits > BFPG_LIVE_MAX_LOG2_BLOCK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a bloomfilter index cannot have a false-positive rate of %.7g", p),
				 errdetail("Its blocks of %u bytes do not fit a page.",
						   1u << (sizing->geometry.log2_block_bits - 3)),
				 errhint("Ask for a higher rate.")));
}

/* Bits of a page that has all keys that it should, and then some by chance. */
static uint32
full_bits(const BfpgLive *live, const bf_sizing *sizing)
{
	bf_expectation expected = bf_expect((double) sizing->capacity, &sizing->geometry);
	double		blocks = live->blocks_per_page;

	return (uint32) (blocks * expected.bits +
					 PAGE_SPREAD * sqrt(blocks * expected.variance));
}

void
bfpg_live_layout(uint64 n, double p, uint64 seed, unsigned key_type, BfpgLive *live)
{
	bf_sizing	sizing;
	uint32		parts;
	uint32		per_page;

	bfpg_check_rate(p);
	n = Max(n, keys_of_one_page(n, p));
	bfpg_size_for_rate((int64) n, p, &sizing);
	parts = bf_parts_for_rate(n, p);
	check_layout(&sizing, n, p, parts);
	if (parts > 1)
		bfpg_size_for_rate((int64) bf_part_capacity(n, parts), p, &sizing);
	check_layout(&sizing, n, p, parts);

	memset(live, 0, sizeof *live);
	live->header = bf_sizing_header(&sizing, seed);
	live->header.key_type = key_type;
	live->header.parts = (uint16) parts;
	live->keys = n;
	/* Evenly, so that no page is left with a few blocks, and overflows as the others do. */
	per_page = BFPG_LIVE_ROOM >> (live->header.log2_block_bits - 3);
	live->pages_per_part = (live->header.blocks + per_page - 1) / per_page;
	live->blocks_per_page = (live->header.blocks + live->pages_per_part - 1) / live->pages_per_part;
	live->pages_per_part = (live->header.blocks + live->blocks_per_page - 1) / live->blocks_per_page;
	live->full_bits = full_bits(live, &sizing);
	if (bfpg_live_fixed_pages(live) > MaxBlockNumber / 2)
		check_layout(&sizing, n, p, 0);
}

/* An empty page without a hole: replay and full-page images would zero it. */
static void
init_whole_page(Page page)
{
	PageInit(page, BLCKSZ, 0);
	((PageHeader) page)->pd_lower = BLCKSZ;
	((PageHeader) page)->pd_upper = BLCKSZ;
}

void
bfpg_live_init_page(Page page, BlockNumber number, unsigned level)
{
	BfpgLiveMark *mark = bfpg_live_mark(page);

	init_whole_page(page);
	mark->magic = PAGE_MAGIC;
	mark->level = level;
	mark->self = number;
	mark->overflow = 0;
}

static pg_crc32c
meta_crc(const BfpgLiveMeta *meta)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, meta, offsetof(BfpgLiveMeta, crc));
	FIN_CRC32C(crc);
	return crc;
}

void
bfpg_live_init_meta(Page page, const BfpgLive *live)
{
	BfpgLiveMeta *meta = (BfpgLiveMeta *) PageGetContents(page);

	init_whole_page(page);
	meta->magic = META_MAGIC;
	meta->version = META_VERSION;
	meta->live = *live;
	meta->crc = meta_crc(meta);
}

static uint32
read_meta(Oid index, Page page, BfpgLive *live)
{
	const BfpgLiveMeta *meta = (const BfpgLiveMeta *) PageGetContents(page);

	if (meta->magic != META_MAGIC || meta->crc != meta_crc(meta))
		bfpg_live_refuse_page(index, BFPG_LIVE_META_PAGE,
							  PageIsNew(page) ? "it is empty" : "it is not a meta page");
	if (meta->version != META_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has version %u, which is not supported",
						get_rel_name(index), meta->version),
				 errhint("It was made by another version of bloomfilter; rebuild it with REINDEX.")));
	*live = meta->live;
	return meta->crc;
}

/* Of an index that TRUNCATE has emptied in place: see bfpg_live_build. */
static void
refuse_empty(Relation index)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("bloomfilter index \"%s\" is empty", RelationGetRelationName(index)),
			 errdetail("TRUNCATE emptied it in place, after its table was moved to another tablespace in the same transaction, and ROLLBACK did not bring its pages back."),
			 errhint("Rebuild it with REINDEX.")));
}

uint32
bfpg_live_read_meta(Relation index, BfpgLive *live)
{
	Buffer		buffer;
	uint32		crc;

	if (RelationGetNumberOfBlocks(index) == 0)
		refuse_empty(index);
	buffer = ReadBuffer(index, BFPG_LIVE_META_PAGE);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	crc = read_meta(RelationGetRelid(index), BufferGetPage(buffer), live);
	UnlockReleaseBuffer(buffer);
	return crc;
}

/*
 * The meta page is written before anybody knows of the index, and never again: what
 * the relation cache keeps of it can't be stale.
 */
const BfpgLive *
bfpg_live_meta(Relation index)
{
	if (index->rd_amcache == NULL)
	{
		BfpgLive	live;

		(void) bfpg_live_read_meta(index, &live);
		index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof live);
		memcpy(index->rd_amcache, &live, sizeof live);
	}
	return (const BfpgLive *) index->rd_amcache;
}

static void
walk(Relation index, BfpgLiveNode node, BufferAccessStrategy strategy, BfpgLiveVisit visit, void *argument)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, node.number, RBM_NORMAL, strategy);
	uint32		fanout = bfpg_live_fanout(node.level);
	BlockNumber overflow;
	uint32		i;

	CHECK_FOR_INTERRUPTS();
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	node.page = bfpg_live_checked_page(RelationGetRelid(index), buffer, node.number, node.level);
	visit(&node, argument);
	overflow = bfpg_live_mark(node.page)->overflow;
	UnlockReleaseBuffer(buffer);
	for (i = 0; overflow != 0 && i < fanout; i++)
		walk(index, (BfpgLiveNode) {NULL, overflow + i, node.level + 1, node.blocks, node.share / fanout}, strategy, visit, argument);
}

void
bfpg_live_walk(Relation index, const BfpgLive *live, BlockNumber home, BufferAccessStrategy strategy,
			   BfpgLiveVisit visit, void *argument)
{
	walk(index, (BfpgLiveNode) {NULL, home, 0, bfpg_live_page_blocks(live, home), 1.0}, strategy, visit, argument);
}
