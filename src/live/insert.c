/*
 * insert.c
 *	  Adding the key of a new row: on its page, in place, under the page's lock.
 *
 * What is set is never cleared, and a key's bits are set before the row's transaction
 * can commit.  So a snapshot that sees the row finds its key.
 *
 * A filter that gets more keys than it was sized for gets overflow pages.  The full page itself
 * names its overflow pages, from before the first key goes there, and every look-up reads the
 * full page.  Were they announced in the meta page, which every backend remembers, some would
 * not know of them, and return false for their keys.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"

#include "live/am.h"
#include "live/target.h"

/*
 * One new key in so many looks whether its page is full.  Counting bits takes longer
 * than setting some, and a page has room for hundreds of keys.
 */
#define KEYS_BETWEEN_COUNTS 16

/* Changes of one page at a time: a byte for each probe. */
#define MAX_CHANGES BF_MAX_PROBES

/*
 * Bytes to be written to a page: for each run of them its offset and length, 16 bits
 * each, and the bytes.  This is what a record of the generic resource manager has, which is
 * replayed by standbys without this library.  PostgreSQL's own interface to it finds the runs
 * by comparing two copies of the page, byte by byte, which takes several times as long as all
 * else that an insertion does; we know what changes, and make the very same record.  Its form is
 * PostgreSQL's own affair, pinned by t/070_live_crash.pl and t/071_live_standby.pl on each
 * version; newer ones take the interface.
 */
typedef struct PageChanges
{
	uint32		length;
	uint8		bytes[MAX_CHANGES * (2 * sizeof(uint16) + 1)];
} PageChanges;

static void
add_change(PageChanges *changes, uint16 offset, const void *bytes, uint16 length)
{
	uint8	   *at = changes->bytes + changes->length;

	Assert(changes->length + 2 * sizeof(uint16) + length <= sizeof changes->bytes);
	memcpy(at, &offset, sizeof offset);
	memcpy(at + sizeof offset, &length, sizeof length);
	memcpy(at + sizeof offset + sizeof length, bytes, length);
	changes->length += sizeof offset + sizeof length + length;
}

static void
apply(Page page, const PageChanges *changes)
{
	const uint8 *at = changes->bytes;
	const uint8 *end = at + changes->length;

	while (at < end)
	{
		uint16		offset;
		uint16		length;

		memcpy(&offset, at, sizeof offset);
		memcpy(&length, at + sizeof offset, sizeof length);
		at += sizeof offset + sizeof length;
		memcpy((char *) page + offset, at, length);
		at += length;
	}
}

#ifdef BFPG_LIVE_WAL_BY_HAND

/* Makes the changes to the page in an exclusively locked buffer, and logs them. */
static void
write_changes(Relation index, Buffer buffer, const PageChanges *changes)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	apply(page, changes);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	end;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) changes->bytes, changes->length);
		end = XLogInsert(RM_GENERIC_ID, 0);
		PageSetLSN(page, end);
	}
	END_CRIT_SECTION();
}

#else

static void
write_changes(Relation index, Buffer buffer, const PageChanges *changes)
{
	GenericXLogState *state = GenericXLogStart(index);

	apply(GenericXLogRegisterBuffer(state, buffer, 0), changes);
	GenericXLogFinish(state);
}

#endif

void
bfpg_live_key_coder(Relation index, BfpgKeyCoder *coder)
{
	bfpg_column_coder(TupleDescAttr(RelationGetDescr(index), 0)->atttypid, index->rd_indcollation[0], coder);
}

/* The coder of a statement, which lives as long as its index information. */
static BfpgKeyCoder *
insert_coder(Relation index, IndexInfo *info)
{
	if (info->ii_AmCache == NULL)
	{
		/* The coder's own memory must not go before it. */
		MemoryContext old = MemoryContextSwitchTo(info->ii_Context);
		BfpgKeyCoder *coder = palloc(sizeof *coder);

		bfpg_live_check_type(index);
		bfpg_live_key_coder(index, coder);
		info->ii_AmCache = coder;
		MemoryContextSwitchTo(old);
	}
	return (BfpgKeyCoder *) info->ii_AmCache;
}

static BlockNumber
add_page(Relation index, ForkNumber fork, const BfpgLive *meta, unsigned level, bool log)
{
	Buffer		buffer = bfpg_extend(index, fork);
	BlockNumber number = BufferGetBlockNumber(buffer);

	START_CRIT_SECTION();
	if (meta != NULL)
		bfpg_live_init_meta(BufferGetPage(buffer), meta);
	else
		bfpg_live_init_page(BufferGetPage(buffer), number, level);
	MarkBufferDirty(buffer);
	if (log)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	return number;
}

BlockNumber
bfpg_live_add_pages(Relation index, ForkNumber fork, const BfpgLive *meta, BlockNumber count, unsigned level, bool log)
{
	BlockNumber first;
	BlockNumber i;

	/* The lock makes them neighbours. */
	if (!RELATION_IS_LOCAL(index))
		LockRelationForExtension(index, ExclusiveLock);
	first = add_page(index, fork, meta, level, log);
	for (i = 1; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		(void) add_page(index, fork, NULL, level, log);
	}
	if (!RELATION_IS_LOCAL(index))
		UnlockRelationForExtension(index, ExclusiveLock);
	return first;
}

/*
 * Gives the full page in an exclusively locked buffer its overflow pages, and returns the first
 * of them.  New pages are made first, then the name of the first one is written: after a crash or
 * an error between the two, the new pages are lost room and nothing worse.
 */
static BlockNumber
grow(Relation index, Buffer full, unsigned level)
{
	BlockNumber first = bfpg_live_add_pages(index, MAIN_FORKNUM, NULL, bfpg_live_fanout(level), level + 1, RelationNeedsWAL(index));
	PageChanges changes = {0};

	add_change(&changes, MAXALIGN(SizeOfPageHeaderData) + offsetof(BfpgLiveMark, overflow),
			   &first, sizeof first);
	write_changes(index, full, &changes);
	return first;
}

/* Whether a page is full.  Only one key in KEYS_BETWEEN_COUNTS has its page counted, by its hash. */
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
	const uint8 *before = bfpg_live_block(BufferGetPage(buffer), offset);
	uint8		after[1 << (BFPG_LIVE_MAX_LOG2_BLOCK - 3)];
	PageChanges changes = {0};
	int			i;

	memcpy(after, before, (Size) 1 << (live->header.log2_block_bits - 3));
	(void) bf_block_add(after, live->header.log2_block_bits, live->header.probes, hash);
	for (i = 0; i < live->header.probes; i++)
	{
		uint32		byte = bf_probe_bit(bf_probe(hash, i), live->header.log2_block_bits) >> 3;

		if (after[byte] == before[byte])
			continue;
		add_change(&changes, (uint16) (offset + byte), &after[byte], 1);
		after[byte] = before[byte]; /* another probe's bit in it is in the change */
	}
	write_changes(index, buffer, &changes);
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

	for (level = 0;; level++)
	{
		Buffer		buffer = ReadBuffer(index, number);
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
			overflow = grow(index, buffer, level);
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

/* Whatever fails here keeps the table from being written to, so the error says what helps. */
static void
tell_cure(void *argument)
{
	int			code = geterrcode();

	errcontext("adding a key to bloomfilter index \"%s\"", RelationGetRelationName((Relation) argument));
	if (code == ERRCODE_DATA_CORRUPTED || code == ERRCODE_IO_ERROR)
		errhint("Rebuild the index with REINDEX INDEX CONCURRENTLY, or remove it with DROP INDEX.");
}

bool
bfpg_live_insert(Relation index, Datum *values, bool *isnull, ItemPointer row,
				 Relation heap, IndexUniqueCheck unique, bool unchanged, IndexInfo *info)
{
	ErrorContextCallback cure = {.previous = error_context_stack, .callback = tell_cure, .arg = index};
	BfpgLive	live;

	if (isnull[0])
		return false;
	error_context_stack = &cure;
	/* A copy, as the relation's cache may be dropped while we hold locks. */
	live = *bfpg_live_meta(index);
	add_hash(index, &live, bfpg_hash_key(insert_coder(index, info), values[0], live.header.seed));
	error_context_stack = cure.previous;
	return false;
}
