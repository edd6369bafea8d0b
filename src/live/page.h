/*
 * page.h
 *	  The pages of a live index: what is where.
 *
 *	page 0			the meta page: the filter's header, written once by the build
 *	pages 1 ..		the blocks of part 0, those of part 1, ...
 *	pages after		overflow pages, in the order in which they were needed
 *
 * A page of blocks:
 *
 *	byte 0			PostgreSQL's page header, with pd_lower = pd_upper = the page's end:
 *					replay and full-page images zero what is between these two
 *	byte 24			BfpgLiveMark
 *	byte 64			blocks, each on cache lines of its own
 *
 * A page that holds as many keys as it was sized for gets overflow pages, whose
 * first it names, and takes no more keys.  They are filters as it is: the same block,
 * chosen by the hash, and the same bits in it.  So OR-ing them all gives the filter
 * that would have been without them.
 */
#ifndef BFPG_LIVE_PAGE_H
#define BFPG_LIVE_PAGE_H

#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "bf_filter.h"
#include "bf_sizing.h"

#define BFPG_LIVE_META_PAGE 0
#define BFPG_LIVE_FIRST_PAGE 1

/* Where a page's blocks begin: on a cache line, since pages do. */
#define BFPG_LIVE_BLOCKS_AT 64
#define BFPG_LIVE_ROOM (BLCKSZ - BFPG_LIVE_BLOCKS_AT)

/* The largest blocks of which one fits a page. */
#define BFPG_LIVE_MAX_LOG2_BLOCK 15

/* Overflow pages of overflow pages: enough for any file. */
#define BFPG_LIVE_MAX_LEVEL 12

/* What each page of blocks says of itself.  A page without it is an error, never false. */
typedef struct BfpgLiveMark
{
	uint32		magic;			/* PAGE_MAGIC in page.c */
	uint32		level;			/* 0, or how many pages are between it and one of level 0 */
	BlockNumber self;			/* its own number */
	BlockNumber overflow;		/* first of its overflow pages, 0 if there are none */
} BfpgLiveMark;

/* What the meta page says.  It is stored as it is here. */
typedef struct BfpgLive
{
	bf_header	header;			/* of each part, but for its number and its bits */
	uint64		keys;			/* n of the whole, which all parts share */
	uint32		blocks_per_page;
	uint32		pages_per_part;
	uint32		full_bits;		/* a page with more bits takes no more keys */
} BfpgLive;

/* Where a hash belongs. */
typedef struct BfpgLivePlace
{
	BlockNumber page;
	uint32		offset;			/* of its block in that page, and in all below it */
} BfpgLivePlace;

static inline BfpgLivePlace
bfpg_live_place(const BfpgLive *live, uint64 hash)
{
	uint32		block = bf_block_of(hash, live->header.blocks);
	BfpgLivePlace place;

	place.page = BFPG_LIVE_FIRST_PAGE + block / live->blocks_per_page;
	place.offset = BFPG_LIVE_BLOCKS_AT +
		((block % live->blocks_per_page) << (live->header.log2_block_bits - 3));
	if (live->header.parts > 1)
		place.page += bf_part_of(hash, live->header.parts) * live->pages_per_part;
	return place;
}

/*
 * How many overflow pages a page of a level gets.  All pages of a level fill at about the
 * same time, so a new level multiplies the filter's space at once: by three, from 1 to 3, 9,
 * 27 times its size, and a filter takes about three times the space that its keys need at most.
 */
static inline uint32
bfpg_live_fanout(unsigned level)
{
	return level == 0 ? 2 : 3;
}

/*
 * Which of them is a hash's.  As with parts, the hash is mixed, once more for each
 * level, or a page's keys, whose hashes are alike in their first bits, would share one.
 */
static inline uint32
bfpg_live_child(uint64 hash, unsigned level)
{
	unsigned	i;

	for (i = 0; i < level + 2; i++)
	{
		hash ^= hash >> 32;
		hash *= BF_PART_MULTIPLIER;
	}
	hash ^= hash >> 32;
	return (uint32) bf_reduce(hash, bfpg_live_fanout(level));
}

/* Pages of level 0 and the meta page. */
static inline uint64
bfpg_live_fixed_pages(const BfpgLive *live)
{
	return BFPG_LIVE_FIRST_PAGE + (uint64) live->pages_per_part * live->header.parts;
}

static inline uint8 *
bfpg_live_block(Page page, uint32 offset)
{
	return (uint8 *) page + offset;
}

static inline BfpgLiveMark *
bfpg_live_mark(Page page)
{
	return (BfpgLiveMark *) PageGetContents(page);
}

/* Throws, as a page is damaged. */
extern void bfpg_live_refuse_page(Oid index, BlockNumber page, const char *what);

/* The page in a pinned buffer.  Throws unless it is what it must be. */
extern Page bfpg_live_checked_page(Oid index, Buffer buffer, BlockNumber number,
								   unsigned level);

extern uint32 bfpg_live_page_blocks(const BfpgLive *live, BlockNumber page);

extern uint64 bfpg_live_page_bits(const BfpgLive *live, Page page);

/* How an index for n keys at rate p is laid out.  Throws if it can't be. */
extern void bfpg_live_layout(uint64 n, double p, uint64 seed, unsigned key_type,
							 BfpgLive *live);

/* Make a page what it must be; the caller holds its lock. */
extern void bfpg_live_init_page(Page page, BlockNumber number, unsigned level);
extern void bfpg_live_init_meta(Page page, const BfpgLive *live);

/* Reads an open index's meta page as it is now, and returns the checksum that it has. */
extern uint32 bfpg_live_read_meta(Relation index, BfpgLive *live);

/* What an open index's meta page says; valid while the index is open. */
extern const BfpgLive *bfpg_live_meta(Relation index);

/* A page on the way, share-locked while it is looked at. */
typedef struct BfpgLiveNode
{
	Page		page;
	BlockNumber number;
	unsigned	level;
	uint32		blocks;			/* as many as level 0's page has */
	double		share;			/* of the keys of level 0's page that come by here */
} BfpgLiveNode;

typedef void (*BfpgLiveVisit) (const BfpgLiveNode *node, void *argument);

/*
 * Visits a page of level 0 and what is below it, each page after the one that names it.
 * strategy may be NULL.
 */
extern void bfpg_live_walk(Relation index, const BfpgLive *live, BlockNumber home, BufferAccessStrategy strategy,
						   BfpgLiveVisit visit, void *argument);

#endif							/* BFPG_LIVE_PAGE_H */
