/*
 * extract.c
 *	  bloom_snapshot: a live index as a value.
 *
 * The value is that of FORMAT.md, byte for byte what bloom_agg makes of the same keys
 * with the same n, p and seed.  Of a page with overflow pages it has all of their
 * bits.  Keys that are inserted while pages are read may be in it or not; those of all
 * transactions that had ended before are.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "bf_bits.h"
#include "bf_key.h"
#include "value/filter.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_snapshot);

/* Where the blocks of the page that is read go. */
typedef struct Target
{
	uint8	   *blocks;
	uint64		bytes;
} Target;

static void
or_page(const BfpgLiveNode *node, void *argument)
{
	Target	   *target = (Target *) argument;

	bf_or_bits(target->blocks, bfpg_live_block(node->page, BFPG_LIVE_BLOCKS_AT),
			   target->bytes, NULL);
}

static Datum
extract(Relation index, const BfpgLive *live, uint32 part)
{
	bf_header	header = live->header;
	uint64		page_bytes = (uint64) live->blocks_per_page << (header.log2_block_bits - 3);
	BfpgFilter *filter;
	/* Else a large index would drive all else from the buffers. */
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	uint32		i;

	header.part = (uint16) part;
	filter = bfpg_filter_new(&header, CurrentMemoryContext);
	for (i = 0; i < live->pages_per_part; i++)
	{
		BlockNumber home = BFPG_LIVE_FIRST_PAGE + part * live->pages_per_part + i;
		Target		target;

		CHECK_FOR_INTERRUPTS();
		target.blocks = filter->blocks + i * page_bytes;
		target.bytes = (uint64) bfpg_live_page_blocks(live, home) << (header.log2_block_bits - 3);
		bfpg_live_walk(index, live, home, strategy, or_page, &target);
	}
	filter->header->bits_set = bf_count_bits(filter->blocks, bf_blocks_bytes(&header), bfpg_tick);
	/* As a filter to which no key was added. */
	if (filter->header->bits_set == 0)
		filter->header->key_type = BF_KEY_NONE;
	bfpg_check_overflow(filter->header);
	return bfpg_filter_rw_datum(filter);
}

/* Of an index, which must have one part, or of one part of it. */
Datum
bloomfilter_snapshot(PG_FUNCTION_ARGS)
{
	Relation	index = bfpg_live_open_whole(PG_GETARG_OID(0));
	int32		part = PG_NARGS() == 2 ? PG_GETARG_INT32(1) : 0;
	BfpgLive	live = *bfpg_live_meta(index);
	Datum		result;

	if (PG_NARGS() == 1 && live.header.parts > 1)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" is too large for one bloomfilter", RelationGetRelationName(index)),
				 errhint("It has %u parts: bloom_snapshot(index, part) makes a bloomfilter of each, from 0.",
						 live.header.parts)));
	if (part < 0 || part >= live.header.parts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("part of index \"%s\" must be between 0 and %u, not %d",
						RelationGetRelationName(index), live.header.parts - 1, part)));
	result = extract(index, &live, (uint32) part);
	index_close(index, NoLock);
	PG_RETURN_DATUM(result);
}
