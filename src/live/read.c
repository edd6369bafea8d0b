/*
 * read.c
 *	  Reading pages of a live index, and asking them for hashes.
 *
 * A page is looked at under its share lock, so a look sees each insertion into it as a
 * whole: the bits, and the overflow pages that took keys from then on.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

#include "bf_explain.h"
#include "bf_hashlist.h"
#include "base/pin.h"
#include "base/report.h"
#include "base/sort.h"
#include "live/target.h"

/* So many keys are fetched ahead of the one that is looked at. */
#define KEYS_AHEAD 8

/* Pages that are not known to be in a buffer are asked for so many keys ahead. */
#define PAGES_AHEAD 32

/* With so many pages for each key, or fewer, some keys meet on a page, and are sorted. */
#define PAGES_PER_KEY 4

static Relation
open_index(const BfpgLiveTarget *target)
{
	Relation	index = RelationIdGetRelation(target->index);

	if (index == NULL)
		elog(ERROR, "could not open index with OID %u", target->index);
	return index;
}

static inline Buffer
read_page(const BfpgLiveTarget *target, BlockNumber page)
{
	Buffer	   *hint = bfpg_pin_hint(&target->locator, page);

	if (!bfpg_pin_hinted(&target->locator, target->temporary, page, *hint))
	{
		Relation	index = open_index(target);

		*hint = ReadBuffer(index, page);
		RelationClose(index);
	}
	return *hint;
}

/* Locks the page for this transaction, so that inserting the key later is a conflict. */
static void
lock_predicate(const BfpgLiveTarget *target, BlockNumber page)
{
	Relation	index = open_index(target);

	PredicateLockPage(index, page, GetActiveSnapshot());
	RelationClose(index);
}

/*
 * Counts a scan, or reports of unused indexes would name this one: of all look-ups by which a call
 * site asks a target once it has found it, as each costs a search in the relation cache.
 */
static void
count_look(const BfpgLiveTarget *target)
{
	Relation	index = open_index(target);

	pgstat_count_index_scan(index);
	RelationClose(index);
}

static inline bool
ask_block(const BfpgLiveTarget *target, Page page, uint32 offset, uint64 hash)
{
	const bf_header *header = &target->live.header;

	return bf_block_contains(bfpg_live_block(page, offset), header->log2_block_bits,
							 header->probes, hash);
}

/* Asks a page of a level, and of those below it the ones that a hash belongs to. */
static bool
ask_pages(const BfpgLiveTarget *target, uint64 hash, uint32 offset, BlockNumber number, unsigned level)
{
	for (;; level++)
	{
		Buffer		buffer = read_page(target, number);
		BlockNumber overflow;
		Page		page;
		bool		found;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = bfpg_live_checked_page(target->index, buffer, number, level);
		found = ask_block(target, page, offset, hash);
		overflow = bfpg_live_mark(page)->overflow;
		UnlockReleaseBuffer(buffer);
		if (found || overflow == 0)
			return found;
		number = overflow + bfpg_live_child(hash, level);
	}
}

/* Whether a target has an index, and the snapshots of this look-up may believe it. */
static inline bool
can_be_false(const BfpgLiveTarget *target)
{
	return OidIsValid(target->index) &&
		!TransactionIdIsValid(bfpg_live_unseen_maker(&target->makers));
}

bool
bfpg_live_contains(BfpgLiveTarget *target, uint64 hash)
{
	BfpgLivePlace place;

	if (!can_be_false(target))
		return true;
	if (!target->counted)
		count_look(target);
	target->counted = true;
	place = bfpg_live_place(&target->live, hash);
	/* The memory is fetched while the page is pinned. */
	bfpg_pin_fetch(&target->locator, place.page, place.offset);
	if (IsolationIsSerializable())
		lock_predicate(target, place.page);
	return ask_pages(target, hash, place.offset, place.page, 0);
}

void
bfpg_live_explain(const BfpgLiveTarget *target, uint64 hash, StringInfo lines)
{
	BfpgLivePlace place = bfpg_live_place(&target->live, hash);
	Relation	index = open_index(target);
	BlockNumber number = place.page;
	unsigned	level;

	for (level = 0; number != 0; level++)
	{
		Buffer		buffer = ReadBuffer(index, number);
		char		text[BF_EXPLAIN_ROOM];
		BlockNumber overflow;
		Page		page;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = bfpg_live_checked_page(target->index, buffer, number, level);
		bf_explain_probes(bf_explain_number(bf_explain_number(text, "level", level), "page", number),
						  &target->live.header, hash, bfpg_live_block(page, place.offset));
		overflow = bfpg_live_mark(page)->overflow;
		UnlockReleaseBuffer(buffer);
		appendStringInfoString(lines, text);
		number = overflow == 0 ? 0 : overflow + bfpg_live_child(hash, level);
	}
	RelationClose(index);
}

/*
 * A batch for one filter.  What is sorted are numbers of hashes, each below the page that its
 * hash belongs to.
 */
typedef struct BfpgLivePageBatch
{
	const BfpgLiveTarget *target;
	const uint64 *hashes;
	uint8	   *found;			/* by the number of the hash */
	uint64	   *keys;			/* those that are not found yet */
	int			count;
} BfpgLivePageBatch;

static inline BlockNumber
page_of(uint64 key)
{
	return (BlockNumber) (key >> 32);
}

static inline uint64
hash_of(const BfpgLivePageBatch *batch, uint64 key)
{
	return batch->hashes[(uint32) key];
}

static uint32
sort_key(uint64 key, const void *context)
{
	return page_of(key);
}

/* By counting: with bf_hashlist_sort a batch of 1000 keys takes 1.3 to 1.4 times as long. */
static void
count_by_page(BfpgLivePageBatch *batch, uint64 pages)
{
	uint64	   *sorted = palloc(((Size) batch->count + 1) * sizeof *sorted);
	Size	   *ends = palloc(pages * sizeof *ends);

	bfpg_counting_sort(batch->keys, batch->count, sorted, ends, (uint32) pages, sort_key, NULL);
	pfree(ends);
	pfree(batch->keys);
	batch->keys = sorted;
}

/* Gathers the hashes that have not been found; returns whether a page may have to be read. */
static bool
gather(BfpgLivePageBatch *batch, int count)
{
	const BfpgLiveTarget *target = batch->target;
	int			unknown = 0;
	int			i;

	batch->keys = palloc(((Size) count + 1) * sizeof *batch->keys);
	batch->count = 0;
	for (i = 0; i < count; i++)
	{
		BlockNumber page = bfpg_live_place(&target->live, batch->hashes[i]).page;

		if (batch->found[i])
			continue;
		unknown += *bfpg_pin_hint(&target->locator, page) == InvalidBuffer;
		batch->keys[batch->count++] = (uint64) page << 32 | (uint32) i;
	}
	return unknown > 0;
}

/* Fetches the memory of a key that is asked for later.  Forced inline, as bfpg_pin_fetch is. */
BF_INLINE void
fetch_ahead(const BfpgLivePageBatch *batch, int at)
{
	BfpgLivePlace place;

	if (at >= batch->count)
		return;
	place = bfpg_live_place(&batch->target->live, hash_of(batch, batch->keys[at]));
	bfpg_pin_fetch(&batch->target->locator, place.page, place.offset);
}

/* Asks for the keys from at on that are on the same page; returns the next. */
static int
ask_page(const BfpgLivePageBatch *batch, int at)
{
	const BfpgLiveTarget *target = batch->target;
	const uint64 *keys = batch->keys;
	BlockNumber number = page_of(keys[at]);
	Buffer		buffer;
	Page		page;
	BlockNumber overflow;
	int			next;

	if (IsolationIsSerializable())
		lock_predicate(target, number);
	buffer = read_page(target, number);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = bfpg_live_checked_page(target->index, buffer, number, 0);
	for (next = at; next < batch->count && page_of(keys[next]) == number; next++)
	{
		uint64		hash = hash_of(batch, keys[next]);

		fetch_ahead(batch, next + KEYS_AHEAD);
		batch->found[(uint32) keys[next]] =
			ask_block(target, page, bfpg_live_place(&target->live, hash).offset, hash);
	}
	overflow = bfpg_live_mark(page)->overflow;
	UnlockReleaseBuffer(buffer);
	for (; overflow != 0 && at < next; at++)
	{
		uint64		hash = hash_of(batch, keys[at]);

		if (!batch->found[(uint32) keys[at]])
			batch->found[(uint32) keys[at]] =
				ask_pages(target, hash, bfpg_live_place(&target->live, hash).offset, overflow + bfpg_live_child(hash, 0), 1);
	}
	return next;
}

/* Asks for the keys in their order, with pages that must be read on their way before. */
static void
ask_all(const BfpgLivePageBatch *batch, Relation index)
{
	int			i;

	for (i = 0; i < KEYS_AHEAD; i++)
		fetch_ahead(batch, i);
	for (i = 0; i < batch->count;)
	{
		CHECK_FOR_INTERRUPTS();
		if (index != NULL && i + PAGES_AHEAD < batch->count &&
			*bfpg_pin_hint(&batch->target->locator, page_of(batch->keys[i + PAGES_AHEAD])) == InvalidBuffer)
			PrefetchBuffer(index, MAIN_FORKNUM, page_of(batch->keys[i + PAGES_AHEAD]));
		i = ask_page(batch, i);
	}
}

void
bfpg_live_contains_hashes(const BfpgLiveTarget *target, const uint64 *hashes, int count,
						  uint8 *found)
{
	BfpgLivePageBatch batch = {.target = target, .hashes = hashes, .found = found};
	Relation	index = NULL;
	uint64		pages;
	bool		reads;

	if (!can_be_false(target))
	{
		memset(found, 1, count);
		return;
	}
	count_look(target);
	reads = gather(&batch, count);
	pages = bfpg_live_fixed_pages(&target->live);
	/* Keys of one page together, or pages in their order in the file: where it pays. */
	if (pages <= (uint64) batch.count * PAGES_PER_KEY)
		count_by_page(&batch, pages);
	else if (reads)
		bf_hashlist_sort(batch.keys, batch.count, bfpg_tick);
	if (reads)
		index = open_index(target);
	ask_all(&batch, index);
	if (index != NULL)
		RelationClose(index);
	pfree(batch.keys);
}
