/*
 * chunks.c
 *	  Asking a stored filter for keys without a copy of it: one chunk of the value a key.
 *
 * A chunk is read where arithmetic says that it lies, which costs as much as a page of an
 * index, or else by the TOAST index, which costs some pages of that before.
 *
 * What is found at a guessed place counts only if the tuple itself says that it is the chunk:
 *
 * 1. It has the value's identifier, the chunk's number and the size that this chunk must have.
 *	  (t/007_corruption.pl.)
 * 2. No transaction has written it but that of the run's chunks that the index has shown: all
 *	  chunks of a value are written by one.  An identifier is not given out while the index has
 *	  an entry for it.  A dead chunk of an earlier value can outlive its entry, and its identifier
 *	  can come round; but the index never leads to it.  (The same test; t/020_places.pl kills
 *	  entries and sets the counter of identifiers back.)
 * 3. Runs live as long as what is known of their pointer, whose header is confirmed by the
 *	  index: a stale place can't confirm itself.  (t/016_reused_toast_id.pl.)
 *
 * The file is as long as when we have opened it, as only an exclusive lock on the TOAST relation
 * makes it shorter.
 *
 * Anything else, and a chunk is read by the index.  Then it is checked as detoast_attr_slice
 * does it: each chunk must be there, once, and have its size, or it is an error.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "bf_hashlist.h"
#include "ask/copies.h"
#include "base/pin.h"

/* Keys whose pages are fetched ahead of the one that is asked. */
#define KEYS_AHEAD 8

/*
 * A call for many keys reads each chunk once.  Where it needs most of them, that costs a
 * quarter of what a copy does, which has to find memory and to count bits, and sorting each
 * key as much as so many bytes of it.
 */
#define COPY_COST 4
#define KEY_COST 128

/* The largest block. */
#define MAX_BLOCK_BYTES (1 << (BF_MAX_LOG2_BLOCK - 3))

/* One stored value's chunks, opened to be read. */
typedef struct BfpgChunks
{
	BfpgStored *stored;
	Relation	relation;
	BlockNumber pages;			/* of the relation, see pin.h */
	int32		size;			/* bytes of the value */
	Snapshot	snapshot;
	SnapshotData snapshot_room;
	Buffer		buffer;			/* a page of guessed places, locked, or 0 */
	Relation   *indexes;		/* NULL until a guess fails */
	int			index_count;
	int			valid_index;
	const bf_header *level;		/* of the filter, whose blocks are looked at */
	int64		blocks_at;		/* where these begin in the value */
	int32		read;			/* the chunk that was read by the index last, or -1 */
	char		bytes[TOAST_MAX_CHUNK_SIZE];	/* its bytes */
} BfpgChunks;

/*
 * Only chunks between two that the index has shown are guessed.  Beyond them lie other values,
 * whose pages may be damaged; and a value's last chunk, which is mostly short, often goes back to
 * an earlier page that has room for it.
 */

/* The run that a chunk is in, or NULL. */
static BfpgRun *
find_run(BfpgRuns *runs, int32 chunk)
{
	int			i;

	for (i = 0; i < runs->count; i++)
	{
		if (runs->runs[i].first <= chunk && chunk <= runs->runs[i].last)
			return &runs->runs[i];
	}
	return NULL;
}

/* The place of a chunk of a run. */
static void
guess_place(const BfpgRun *run, int32 chunk, ItemPointer place)
{
	int64		slot = run->shift + chunk;

	ItemPointerSet(place, (BlockNumber) (slot / EXTERN_TUPLES_PER_PAGE),
				   (OffsetNumber) (slot % EXTERN_TUPLES_PER_PAGE + 1));
}

/* Remembers where the index has found a chunk. */
static void
note_place(BfpgRuns *runs, int32 chunk, const ItemPointerData *place, TransactionId xmin)
{
	int64		page = ItemPointerGetBlockNumber(place);
	int64		shift = page * EXTERN_TUPLES_PER_PAGE + ItemPointerGetOffsetNumber(place) - 1 - chunk;
	int			i;

	if (ItemPointerGetOffsetNumber(place) > EXTERN_TUPLES_PER_PAGE)
		return;
	for (i = 0; i < runs->count; i++)
	{
		BfpgRun    *run = &runs->runs[i];

		if (run->shift != shift || run->xmin != xmin)
			continue;
		run->first = Min(run->first, chunk);
		run->last = Max(run->last, chunk);
		return;
	}
	if (runs->count < BFPG_RUNS)
		i = runs->count++;
	else
		i = runs->next++ % BFPG_RUNS;
	runs->runs[i] = (BfpgRun) {shift, chunk, chunk, xmin};
}

/* A chunk of this run was not where it should be: the run ends there, and its longer side stays. */
static void
cut_run(BfpgRun *run, int32 chunk)
{
	if (chunk - run->first > run->last - chunk)
		run->last = chunk - 1;
	else
		run->first = chunk + 1;
}

/* False if the value's chunks are stored in another way than these here. */
static bool
open_chunks(BfpgChunks *chunks)
{
	const BfpgStored *stored = chunks->stored;
	Relation	relation;

	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return false;
	chunks->snapshot = bfpg_toast_snapshot(&chunks->snapshot_room);
	relation = table_open(stored->pointer.va_toastrelid, AccessShareLock);
	if (relation->rd_rel->relam != HEAP_TABLE_AM_OID || RELATION_IS_OTHER_TEMP(relation) ||
		TupleDescAttr(RelationGetDescr(relation), 0)->atttypid != OIDOID)
	{
		table_close(relation, AccessShareLock);
		return false;
	}
	chunks->relation = relation;
	if (unlikely(bfpg_pin_hints == NULL))
		bfpg_pin_make_hints();
	chunks->pages = InvalidBlockNumber;
	chunks->size = stored->pointer.va_rawsize - VARHDRSZ;
	chunks->buffer = InvalidBuffer;
	chunks->indexes = NULL;
	chunks->read = -1;
	return true;
}

/* From now on keys are looked up in this level of the filter, by their hashes for it. */
static void
take_level(BfpgChunks *chunks, unsigned level)
{
	const bf_exact *shape = &chunks->stored->shape;

	chunks->level = &shape->level[level];
	chunks->blocks_at = bf_exact_front(shape) + bf_exact_offset(shape, level);
}

static void
leave_page(BfpgChunks *chunks)
{
	if (BufferIsValid(chunks->buffer))
		UnlockReleaseBuffer(chunks->buffer);
	chunks->buffer = InvalidBuffer;
}

static void
close_chunks(BfpgChunks *chunks)
{
	leave_page(chunks);
	if (chunks->indexes != NULL)
		toast_close_indexes(chunks->indexes, chunks->index_count, AccessShareLock);
	table_close(chunks->relation, AccessShareLock);
}

static void
refuse_chunk(void)
{
	bfpg_report_invalid(BF_BAD_SIZE, NULL, BFPG_DOOR_STORED, NULL);
}

/* The bytes of a chunk, or NULL if the tuple isn't this chunk whole. */
static const char *
chunk_bytes(const BfpgChunks *chunks, HeapTuple tuple, int32 number)
{
	TupleDesc	desc = RelationGetDescr(chunks->relation);
	int32		size = Min(TOAST_MAX_CHUNK_SIZE, chunks->size - number * TOAST_MAX_CHUNK_SIZE);
	bool		is_null;
	struct varlena *bytes;

	if (!HeapTupleNoNulls(tuple) || HeapTupleHeaderGetNatts(tuple->t_data) != 3 ||
		tuple->t_len < tuple->t_data->t_hoff + sizeof(Oid) + sizeof(int32) + size ||
		DatumGetObjectId(fastgetattr(tuple, 1, desc, &is_null)) != chunks->stored->pointer.va_valueid ||
		DatumGetInt32(fastgetattr(tuple, 2, desc, &is_null)) != number)
		return NULL;
	bytes = (struct varlena *) DatumGetPointer(fastgetattr(tuple, 3, desc, &is_null));
	if (VARATT_IS_EXTERNAL(bytes) || VARATT_IS_COMPRESSED(bytes) ||
		VARSIZE_ANY_EXHDR(bytes) != (Size) size)
		return NULL;
	return VARDATA_ANY(bytes);
}

/* The bytes of a chunk at its place on the locked page, or NULL if it isn't there. */
static const char *
chunk_at(const BfpgChunks *chunks, const BfpgRun *run, const ItemPointerData *place, int32 number)
{
	Page		page = BufferGetPage(chunks->buffer);
	OffsetNumber offset = ItemPointerGetOffsetNumber(place);
	ItemId		item;
	HeapTupleData tuple;

	if (offset > PageGetMaxOffsetNumber(page))
		return NULL;
	item = PageGetItemId(page, offset);
	if (!ItemIdIsNormal(item) || ItemIdGetLength(item) < SizeofHeapTupleHeader)
		return NULL;
	tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple.t_len = ItemIdGetLength(item);
	/* Then it is as visible for TOAST as those of the run. */
	if (HeapTupleHeaderGetRawXmin(tuple.t_data) != run->xmin)
		return NULL;
	return chunk_bytes(chunks, &tuple, number);
}

/* The bytes of a chunk where it is guessed to be, on a page that stays locked, or NULL. */
static const char *
read_by_place(BfpgChunks *chunks, int32 number)
{
	BfpgRun    *run = find_run(&chunks->stored->runs, number);
	ItemPointerData place;
	BlockNumber page;
	const char *bytes = NULL;

	if (run == NULL)
		return NULL;
	guess_place(run, number, &place);
	page = ItemPointerGetBlockNumber(&place);
	if (!BufferIsValid(chunks->buffer) || BufferGetBlockNumber(chunks->buffer) != page)
	{
		leave_page(chunks);
		CHECK_FOR_INTERRUPTS();
		chunks->buffer = bfpg_pin_page(chunks->relation, page, &chunks->pages);
		if (BufferIsValid(chunks->buffer))
			LockBuffer(chunks->buffer, BUFFER_LOCK_SHARE);
	}
	if (BufferIsValid(chunks->buffer))
		bytes = chunk_at(chunks, run, &place, number);
	if (bytes == NULL)
		cut_run(run, number);
	return bytes;
}

/* Reads a chunk by the index, and notes where it was. */
static const char *
read_by_index(BfpgChunks *chunks, int32 number)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	const char *bytes;

	if (chunks->read == number)
		return chunks->bytes;
	leave_page(chunks);
	CHECK_FOR_INTERRUPTS();
	chunks->read = -1;
	if (chunks->indexes == NULL)
		chunks->valid_index = toast_open_indexes(chunks->relation, AccessShareLock,
												 &chunks->indexes, &chunks->index_count);
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(chunks->stored->pointer.va_valueid));
	ScanKeyInit(&keys[1], 2, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(number));
	scan = systable_beginscan_ordered(chunks->relation, chunks->indexes[chunks->valid_index],
									  chunks->snapshot, lengthof(keys), keys);
	while ((tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		bytes = chunk_bytes(chunks, tuple, number);
		if (bytes == NULL || chunks->read == number)
			refuse_chunk();
		memcpy(chunks->bytes, bytes,
			   Min(TOAST_MAX_CHUNK_SIZE, chunks->size - number * TOAST_MAX_CHUNK_SIZE));
		chunks->read = number;
		note_place(&chunks->stored->runs, number, &tuple->t_self,
					   HeapTupleHeaderGetRawXmin(tuple->t_data));
	}
	systable_endscan_ordered(scan);
	if (chunks->read != number)
		refuse_chunk();
	return chunks->bytes;
}

/* Where the block of a key begins in the value. */
static int64
block_at(const BfpgChunks *chunks, uint64 hash)
{
	return chunks->blocks_at + (int64) bf_block_offset(chunks->level, hash);
}

/* The bytes of a chunk, good until another one is read. */
static const char *
read_chunk(BfpgChunks *chunks, int32 number)
{
	const char *bytes = read_by_place(chunks, number);

	return bytes != NULL ? bytes : read_by_index(chunks, number);
}

/* Gathers a block that is in several chunks. */
static void
gather_block(BfpgChunks *chunks, int64 at, int32 size, uint8 *block)
{
	while (size > 0)
	{
		int32		offset = (int32) (at % TOAST_MAX_CHUNK_SIZE);
		int32		length = Min(size, TOAST_MAX_CHUNK_SIZE - offset);

		memcpy(block, read_chunk(chunks, (int32) (at / TOAST_MAX_CHUNK_SIZE)) + offset, length);
		block += length;
		at += length;
		size -= length;
	}
}

static bool
ask_block(BfpgChunks *chunks, uint64 hash)
{
	const bf_header *header = chunks->level;
	int64		at = block_at(chunks, hash);
	int32		offset = (int32) (at % TOAST_MAX_CHUNK_SIZE);
	int32		size = (int32) bf_block_bytes(header);
	uint8		gathered[MAX_BLOCK_BYTES];
	const uint8 *block = gathered;

	if (offset + size <= TOAST_MAX_CHUNK_SIZE)
		block = (const uint8 *) read_chunk(chunks, (int32) (at / TOAST_MAX_CHUNK_SIZE)) + offset;
	else
		gather_block(chunks, at, size, gathered);
	return bf_block_contains(block, header->log2_block_bits, header->probes, hash);
}

/*
 * Has what the look at a key's block will touch on its way to the processor, and from the
 * disk where other keys are looked at meanwhile.
 */
static void
fetch_page(BfpgChunks *chunks, uint64 hash, bool from_disk)
{
	const BfpgFileLocator *locator = &BFPG_LOCATOR(chunks->relation);
	int64		at = block_at(chunks, hash);
	int32		number = (int32) (at / TOAST_MAX_CHUNK_SIZE);
	const BfpgRun *run = find_run(&chunks->stored->runs, number);
	ItemPointerData place;
	BlockNumber page;

	if (run == NULL)
		return;
	guess_place(run, number, &place);
	page = ItemPointerGetBlockNumber(&place);
	if (*bfpg_pin_hint(locator, page) == InvalidBuffer)
	{
		if (from_disk && bfpg_pin_has_page(chunks->relation, page, &chunks->pages))
			PrefetchBuffer(chunks->relation, MAIN_FORKNUM, page);
	}
	else
	{
		/* The tuple's end on a page of full chunks, and where the block begins in it. */
		uint32		end = BLCKSZ - (ItemPointerGetOffsetNumber(&place) - 1) * EXTERN_TUPLE_MAX_SIZE;
		uint32		block = end - TOAST_MAX_CHUNK_SIZE + (uint32) (at % TOAST_MAX_CHUNK_SIZE);

		bfpg_pin_fetch(locator, page, end - EXTERN_TUPLE_MAX_SIZE);
		bfpg_pin_fetch(locator, page, block);
		bfpg_pin_fetch(locator, page, Min(block + BF_CACHE_LINE - 1, BLCKSZ - 1));
	}
}

/* The keys' numbers in the order of their blocks, in the lower halves. */
static uint64 *
sort_by_block(const bf_header *header, const uint64 *hashes, int count)
{
	uint64	   *order = palloc(count * sizeof(uint64));
	int			i;

	for (i = 0; i < count; i++)
		order[i] = (uint64) bf_block_of(hashes[i], header->blocks) << 32 | (uint32) i;
	bf_hashlist_sort(order, count, bfpg_tick);
	return order;
}

/* Lets the index show where the chunk of a key is, unless it is in a run. */
static void
show_chunk(BfpgChunks *chunks, uint64 hash)
{
	int32		number = (int32) (block_at(chunks, hash) / TOAST_MAX_CHUNK_SIZE);

	if (find_run(&chunks->stored->runs, number) == NULL)
		(void) read_by_index(chunks, number);
}

/* Asks for keys in the order of their blocks, so that each page is locked once. */
static void
ask_in_order(BfpgChunks *chunks, const uint64 *hashes, int count, uint8 *found)
{
	uint64	   *order = sort_by_block(chunks->level, hashes, count);
	int			fetched = 0;
	int			i;

	/* All between these two can be guessed then. */
	show_chunk(chunks, hashes[(uint32) order[0]]);
	show_chunk(chunks, hashes[(uint32) order[count - 1]]);
	for (i = 0; i < count; i++)
	{
		uint32		key = (uint32) order[i];

		for (; fetched < Min(count, i + KEYS_AHEAD); fetched++)
			fetch_page(chunks, hashes[(uint32) order[fetched]], true);
		found[key] = ask_block(chunks, hashes[key]);
	}
	pfree(order);
}

/* Asks for keys by slices, one by one. */
static void
ask_slices(const BfpgChunks *chunks, const uint64 *hashes, int count, uint8 *found)
{
	const bf_header *header = chunks->level;
	int			i;

	for (i = 0; i < count; i++)
	{
		struct varlena *block = bfpg_read_slice(PointerGetDatum(chunks->stored->value),
												block_at(chunks, hashes[i]), bf_block_bytes(header));

		found[i] = bf_block_contains((const uint8 *) VARDATA_ANY(block),
									 header->log2_block_bits, header->probes, hashes[i]);
		pfree(block);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Asks one level for keys by their hashes for it. */
static void
ask_level(BfpgChunks *chunks, bool by_place, const uint64 *hashes, int count, uint8 *found)
{
	if (!by_place)
		ask_slices(chunks, hashes, count, found);
	else if (count == 1)
	{
		/* The lines of one page: one after the other they take half as long again. */
		fetch_page(chunks, hashes[0], false);
		found[0] = ask_block(chunks, hashes[0]);
	}
	else if (count > 1)
		ask_in_order(chunks, hashes, count, found);
}

/*
 * The other levels of an exact filter, for the keys that level 1 lets in.  Level 2 doesn't have
 * most of them, which is the answer true; those that it has are what level 3 says.
 */
static void
ask_exact(BfpgChunks *chunks, bool by_place, const uint64 *hashes, int count, uint8 *found)
{
	const bf_exact *shape = &chunks->stored->shape;
	int		   *open = palloc(count * sizeof(int));
	uint64	   *own = palloc(count * sizeof(uint64));
	uint8	   *has = palloc(count);
	int			left = 0;
	unsigned	level;
	int			i;

	for (i = 0; i < count; i++)
		if (found[i])
			open[left++] = i;
	for (level = 1; level < shape->levels && left > 0; level++)
	{
		int			asked = left;

		take_level(chunks, level);
		for (i = 0; i < asked; i++)
			own[i] = bf_exact_hash(shape, level, hashes[open[i]]);
		ask_level(chunks, by_place, own, asked, has);
		for (i = left = 0; i < asked; i++)
		{
			if (level == 2)
				found[open[i]] = has[i];
			else if (has[i])
				open[left++] = open[i];
		}
	}
	pfree(open);
	pfree(own);
	pfree(has);
}

uint64
bfpg_chunks_cost(const BfpgStored *stored, uint64 keys)
{
	uint64		one_by_one = keys * bfpg_question_cost(stored);

	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return one_by_one;
	return Min(one_by_one, bf_exact_bytes(&stored->shape) / COPY_COST + keys * KEY_COST);
}

void
bfpg_chunks_contain(BfpgStored *stored, const uint64 *hashes, int count, uint8 *found)
{
	BfpgChunks	chunks;
	bool		by_place;

	stored->spent += bfpg_chunks_cost(stored, (uint64) count);
	chunks.stored = stored;
	by_place = open_chunks(&chunks);
	take_level(&chunks, 0);
	ask_level(&chunks, by_place, hashes, count, found);
	if (stored->shape.levels > 1)
		ask_exact(&chunks, by_place, hashes, count, found);
	if (by_place)
		close_chunks(&chunks);
}
