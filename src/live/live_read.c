/*
 * live_read.c
 *	  Reading pages of a live filter, and asking them for hashes.
 *
 * A page is looked at under its share lock: while a standby replays a full-page image
 * it is empty for a moment, and without the lock that would be a "no".
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

#include "live_pin.h"
#include "live_read.h"

/* So many keys are fetched ahead of the one that is looked at. */
#define KEYS_AHEAD 8

/* Pages that are not known to be in a buffer are asked for so many keys ahead. */
#define PAGES_AHEAD 32

static Buffer
look_up_page(const BfpgLiveTarget *target, BlockNumber page, Buffer *hint)
{
	Relation	index = RelationIdGetRelation(target->index);

	if (index == NULL)
		elog(ERROR, "could not open index with OID %u", target->index);
	*hint = ReadBuffer(index, page);
	RelationClose(index);
	return *hint;
}

/* Pins a page. */
static inline Buffer
read_page(const BfpgLiveTarget *target, BlockNumber page)
{
	Buffer	   *hint = bfpg_live_hint(&target->locator, page);

	if (bfpg_live_pin_hinted(&target->locator, target->temporary, page, *hint))
		return *hint;
	return look_up_page(target, page, hint);
}

/* Locks the page for this transaction, so that inserting the key later is a conflict. */
static void
lock_predicate(const BfpgLiveTarget *target, BlockNumber page)
{
	Relation	index = RelationIdGetRelation(target->index);

	if (index == NULL)
		elog(ERROR, "could not open index with OID %u", target->index);
	PredicateLockPage(index, page, GetActiveSnapshot());
	RelationClose(index);
}

/* Asks a page and its overflow pages. */
static bool
ask(const BfpgLiveTarget *target, uint64 hash, BfpgLivePlace place)
{
	const bf_header *header = &target->live.header;
	BlockNumber number = place.page;
	unsigned	level;

	for (level = 0;; level++)
	{
		Buffer		buffer = read_page(target, number);
		Page		page;
		bool		found;
		BlockNumber overflow;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = bfpg_live_checked_page(target->index, buffer, number, level);
		found = bf_block_contains(bfpg_live_block(page, place.offset),
								  header->log2_block_bits, header->probes, hash);
		overflow = bfpg_live_mark(page)->overflow;
		UnlockReleaseBuffer(buffer);
		if (found)
			return true;
		if (overflow == 0)
			return false;
		number = overflow + bfpg_live_child(hash, level);
	}
}

static inline bool
ask_place(const BfpgLiveTarget *target, uint64 hash, BfpgLivePlace place)
{
	if (IsolationIsSerializable())
		lock_predicate(target, place.page);
	return ask(target, hash, place);
}

bool
bfpg_live_contains(const BfpgLiveTarget *target, uint64 hash)
{
	BfpgLivePlace place;

	if (!OidIsValid(target->index))
		return true;
	if (unlikely(bfpg_live_hints == NULL))
		bfpg_live_make_hints();
	place = bfpg_live_place(&target->live, hash);
	/* On its way while the page is pinned and locked. */
	bfpg_live_fetch(&target->locator, place);
	return ask_place(target, hash, place);
}

/* A hash of a batch: which one, and where it belongs. */
typedef struct Asked
{
	BfpgLivePlace place;
	int			number;
} Asked;

static int
by_page(const void *a, const void *b)
{
	BlockNumber x = ((const Asked *) a)->place.page;
	BlockNumber y = ((const Asked *) b)->place.page;

	return x < y ? -1 : x > y;
}

void
bfpg_live_contains_hashes(const BfpgLiveTarget *target, const uint64 *hashes, int count,
						  uint8 *found)
{
	Asked	   *asked;
	Relation	index = NULL;
	int			open = 0;
	int			unknown = 0;
	int			i;

	if (!OidIsValid(target->index))
	{
		memset(found, 1, count);
		return;
	}
	if (unlikely(bfpg_live_hints == NULL))
		bfpg_live_make_hints();
	asked = palloc(((Size) count + 1) * sizeof *asked);
	for (i = 0; i < count; i++)
	{
		if (found[i])
			continue;
		asked[open].place = bfpg_live_place(&target->live, hashes[i]);
		unknown += *bfpg_live_hint(&target->locator, asked[open].place.page) == InvalidBuffer;
		asked[open++].number = i;
	}
	/* Where some pages may have to be read, in their order in the file. */
	if (unknown > 0)
	{
		qsort(asked, open, sizeof *asked, by_page);
		index = RelationIdGetRelation(target->index);
	}
	for (i = 0; i < Min(open, KEYS_AHEAD); i++)
		bfpg_live_fetch(&target->locator, asked[i].place);
	for (i = 0; i < open; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (i + KEYS_AHEAD < open)
			bfpg_live_fetch(&target->locator, asked[i + KEYS_AHEAD].place);
		if (index != NULL && i + PAGES_AHEAD < open &&
			*bfpg_live_hint(&target->locator, asked[i + PAGES_AHEAD].place.page) == InvalidBuffer)
			PrefetchBuffer(index, MAIN_FORKNUM, asked[i + PAGES_AHEAD].place.page);
		found[asked[i].number] = ask_place(target, hashes[asked[i].number], asked[i].place);
	}
	if (index != NULL)
		RelationClose(index);
	pfree(asked);
}
