/*
 * insert.c
 *	  Adding the key of a new row: on its page, in place, under the page's lock.
 *
 * What is set is never cleared, and a key's bits are set before the row's transaction
 * can commit.  So a snapshot that sees the row finds its key.
 */
#include "postgres.h"

#include "storage/predicate.h"
#include "utils/lsyscache.h"

#include "live/insert.h"
#include "base/pin.h"
#include "live/wal.h"

/*
 * One new key in so many looks whether its page is full.  Counting bits takes longer
 * than setting some, and a page has room for hundreds of keys.
 */
#define KEYS_BETWEEN_COUNTS 16

void
bfpg_live_key_coder(Relation index, BfpgKeyCoder *coder)
{
	bfpg_column_coder(TupleDescAttr(RelationGetDescr(index), 0)->atttypid,
					  index->rd_indcollation[0], coder);
}

/* The coder of a statement, kept in its index information, which outlives its rows. */
static BfpgKeyCoder *
insert_coder(Relation index, IndexInfo *info)
{
	if (info->ii_AmCache == NULL)
	{
		BfpgKeyCoder coder;

		bfpg_live_key_coder(index, &coder);
		info->ii_AmCache = MemoryContextAlloc(info->ii_Context, sizeof coder);
		memcpy(info->ii_AmCache, &coder, sizeof coder);
	}
	return (BfpgKeyCoder *) info->ii_AmCache;
}

/* Whether a page has the keys that it was sized for. */
static bool
is_full(const BfpgLive *live, Page page, BlockNumber home, uint64 hash)
{
	if (bf_reduce(hash * BF_PART_MULTIPLIER, KEYS_BETWEEN_COUNTS) != 0)
		return false;
	return bfpg_live_page_bits(live, page) >
		(uint64) live->full_bits * bfpg_live_page_blocks(live, home) / live->blocks_per_page;
}

/* Sets a hash's bits, as a change of the bytes that have not got them yet. */
static void
set_bits(Relation index, const BfpgLive *live, Buffer buffer, uint32 offset, uint64 hash)
{
	uint8	   *block = bfpg_live_block(BufferGetPage(buffer), offset);
	BfpgLiveChanges changes = {0};
	uint32		bytes[BF_MAX_PROBES];
	uint8		values[BF_MAX_PROBES];
	int			count = 0;
	int			i;
	int			j;

	for (i = 0; i < live->header.probes; i++)
	{
		uint32		bit = bf_probe_bit(bf_probe(hash, i), live->header.log2_block_bits);
		uint32		byte = bit >> 3;
		uint8		mask = (uint8) (1 << (bit & 7));

		if (block[byte] & mask)
			continue;
		for (j = 0; j < count && bytes[j] != byte; j++)
			;
		if (j == count)
		{
			bytes[count] = byte;
			values[count++] = block[byte];
		}
		values[j] |= mask;
	}
	for (i = 0; i < count; i++)
		bfpg_live_add_change(&changes, (uint16) (offset + bytes[i]), &values[i], 1);
	bfpg_live_write(index, buffer, &changes);
}

/*
 * A serializable reader takes its predicate lock on the page of level 0 before it reads any
 * page of the key.  The caller has locked the page that gets the bits: so either we see the
 * reader's lock, or the reader sees the bits.  (specs/live_serializable.spec)
 */
static void
check_conflict(Relation index, BfpgLivePlace place)
{
	CheckForSerializableConflictIn(index, NULL, place.page);
}

static void
add_hash(Relation index, const BfpgLive *live, uint64 hash)
{
	BfpgLivePlace place = bfpg_live_place(live, hash);
	BlockNumber number = place.page;
	unsigned	level;

	if (unlikely(bfpg_pin_hints == NULL))
		bfpg_pin_make_hints();
	/* The memory is fetched while the page is pinned and locked. */
	bfpg_pin_fetch(&BFPG_LOCATOR(index), place.page, place.offset);

	for (level = 0;; level++)
	{
		Buffer		buffer = bfpg_pin_page(index, number, NULL);
		Page		page;
		BlockNumber overflow;

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		page = bfpg_live_checked_page(RelationGetRelid(index), buffer, number, level);
		if (bf_block_contains(bfpg_live_block(page, place.offset),
							  live->header.log2_block_bits, live->header.probes, hash))
		{
			/*
			 * Nothing to write, as other keys set these bits.  A serializable reader may have
			 * read the page before they did.
			 */
			check_conflict(index, place);
			UnlockReleaseBuffer(buffer);
			return;
		}
		overflow = bfpg_live_mark(page)->overflow;
		if (overflow == 0 && level < BFPG_LIVE_MAX_LEVEL &&
			is_full(live, page, place.page, hash))
			overflow = bfpg_live_grow(index, buffer, level);
		if (overflow == 0)
		{
			check_conflict(index, place);
			set_bits(index, live, buffer, place.offset, hash);
		}
		UnlockReleaseBuffer(buffer);
		if (overflow == 0)
			return;
		number = overflow + bfpg_live_child(hash, level);
	}
}

bool
bfpg_live_insert(Relation index, Datum *values, bool *isnull, ItemPointer row,
				 Relation heap, IndexUniqueCheck unique, bool unchanged, IndexInfo *info)
{
	if (!isnull[0])
	{
		/* A copy, as the relation's cache may be dropped while we hold locks. */
		const BfpgLive live = *bfpg_live_meta(index);

		add_hash(index, &live, bfpg_hash_key(insert_coder(index, info), values[0],
											 live.header.seed));
	}
	return false;
}
