/*
 * verify.c
 *	  bloom_index_verify: whether an index is whole.
 *
 * Every page must be there, be what it says, be named by one page at most, and have
 * nothing where it has no blocks.  Whether all rows' keys are found is asked by a
 * query: doc/OPERATIONS.md has it.
 */
#include "postgres.h"

#include "nodes/bitmapset.h"
#include "utils/lsyscache.h"

#include "bf_bits.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_verify);

typedef struct Verification
{
	Relation	index;
	const BfpgLive *live;
	BlockNumber pages;			/* of the index */
	Bitmapset  *seen;			/* pages */
} Verification;

/* Whether a page's overflow pages are behind those of level 0 and in the index. */
static bool
in_index(Verification *verification, BlockNumber overflow, unsigned level)
{
	uint64		end = (uint64) overflow + bfpg_live_fanout(level);

	if (overflow < bfpg_live_fixed_pages(verification->live))
		return false;
	/* They may be younger than this verification. */
	if (end > verification->pages)
		verification->pages = RelationGetNumberOfBlocks(verification->index);
	return end <= verification->pages;
}

static void
verify_page(const BfpgLiveNode *node, void *argument)
{
	Verification *verification = (Verification *) argument;
	const BfpgLive *live = verification->live;
	Oid			index = RelationGetRelid(verification->index);
	uint64		used = (uint64) node->blocks << (live->header.log2_block_bits - 3);
	BlockNumber overflow = bfpg_live_mark(node->page)->overflow;

	if (bms_is_member((int) node->number, verification->seen))
		bfpg_live_refuse_page(index, node->number, "two pages name it");
	verification->seen = bms_add_member(verification->seen, (int) node->number);
	if (bf_count_bits(bfpg_live_block(node->page, BFPG_LIVE_BLOCKS_AT) + used, BFPG_LIVE_ROOM - used, NULL) != 0)
		bfpg_live_refuse_page(index, node->number, "there are bits where it has no blocks");
	if (overflow != 0 && !in_index(verification, overflow, node->level))
		bfpg_live_refuse_page(index, node->number, "its overflow pages are not in the index");
}

/*
 * Opens an index, or warns that it can't be read now.  One that nobody has built has no
 * pages, and one that somebody has locked isn't waited for: the others of the same query
 * are verified.
 */
static Relation
open_if_readable(Oid oid)
{
	const char *why = NULL;

	if (!bfpg_live_lock_if_free(oid))
		why = "somebody has locked it or its table";
	else if (!bfpg_live_is_built(oid))
		why = "it is being built, or its build was cancelled";
	if (why == NULL)
		return bfpg_live_open_index(oid, true);
	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" was not verified: %s", get_rel_name(oid), why)));
	return NULL;
}

Datum
bloomfilter_index_verify(PG_FUNCTION_ARGS)
{
	Relation	index = open_if_readable(PG_GETARG_OID(0));
	Verification verification = {index};
	BfpgLive	live;
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	uint64		fixed;
	BlockNumber number;

	if (index == NULL)
		PG_RETURN_NULL();
	live = *bfpg_live_meta(index);
	verification.live = &live;
	fixed = bfpg_live_fixed_pages(&live);

	verification.pages = RelationGetNumberOfBlocks(index);
	if (verification.pages < fixed)
		bfpg_live_refuse_page(RelationGetRelid(index), verification.pages, "it is missing");
	for (number = BFPG_LIVE_FIRST_PAGE; number < fixed; number++)
		bfpg_live_walk(index, &live, number, strategy, verify_page, &verification);
	index_close(index, NoLock);
	PG_RETURN_BOOL(true);
}
