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
 * The file's length is a system call, and asked once for as long as the header is believed and no relation
 * is invalidated.  Only VACUUM makes the file shorter meanwhile, and not by pages of a value that is there.
 *
 * Anything else, and a chunk is read by the index.  Then it is checked as detoast_attr_slice
 * does it: each chunk must be there, once, and have its size, or it is an error.
 */
#include "postgres.h"

#include "access/genam.h"
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

#define MAX_BLOCK_BYTES (1 << (BF_MAX_LOG2_BLOCK - 3))

/* One stored value's chunks, opened to be read. */
typedef struct BfpgChunks
{
	BfpgStored *stored;
	Relation	relation;		/* NULL: they are stored in another way, and read by slices */
	int32		size;			/* bytes of the value */
	Buffer		buffer;			/* a page of guessed places, locked, or 0 */
	Snapshot	snapshot;
	SnapshotData snapshot_room;
	Relation   *indexes;		/* of the TOAST relation, for chunks that no guess finds; NULL until then */
	int			index_count;
	int			valid_index;
	int32		read;			/* the chunk that was read last, but by its place, or -1 */
	char		bytes[TOAST_MAX_CHUNK_SIZE];	/* its bytes */
	const bf_header *level;		/* of the filter, whose blocks are looked at */
	int64		blocks_at;		/* where these begin in the value */
} BfpgChunks;

/*
 * The place of a chunk, if it is in the run.  Only chunks between two that the index has shown are
 * guessed.  Beyond them lie other values, whose pages may be damaged; and a value's last chunk, which
 * is mostly short, often goes back to an earlier page that has room for it.
 */
static bool
guess_place(const BfpgChunks *chunks, int32 chunk, ItemPointer place)
{
	const BfpgRun *run = &chunks->stored->run;
	int64		slot = run->shift + chunk;

	if (chunks->relation == NULL || !TransactionIdIsValid(run->xmin) || chunk < run->first || run->last < chunk)
		return false;
	ItemPointerSet(place, (BlockNumber) (slot / EXTERN_TUPLES_PER_PAGE),
				   (OffsetNumber) (slot % EXTERN_TUPLES_PER_PAGE + 1));
	return true;
}

/* Remembers where the index has found a chunk; a run of several stays when one lies elsewhere, as the last often does. */
static void
note_place(BfpgRun *run, int32 chunk, const ItemPointerData *place, TransactionId xmin)
{
	int64		page = ItemPointerGetBlockNumber(place);
	int64		shift = page * EXTERN_TUPLES_PER_PAGE + ItemPointerGetOffsetNumber(place) - 1 - chunk;

	if (ItemPointerGetOffsetNumber(place) > EXTERN_TUPLES_PER_PAGE)
		return;
	if (run->shift == shift && run->xmin == xmin)
	{
		run->first = Min(run->first, chunk);
		run->last = Max(run->last, chunk);
	}
	else if (!TransactionIdIsValid(run->xmin) || run->first >= run->last)
		*run = (BfpgRun) {shift, chunk, chunk, xmin};
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

static void
open_chunks(BfpgChunks *chunks, BfpgStored *stored)
{
	Relation	relation;

	chunks->stored = stored;
	chunks->relation = NULL;
	chunks->size = stored->pointer.va_rawsize - VARHDRSZ;
	chunks->read = -1;
	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return;
	chunks->snapshot = bfpg_toast_snapshot(&chunks->snapshot_room);
	relation = table_open(stored->pointer.va_toastrelid, AccessShareLock);
	if (relation->rd_rel->relam != HEAP_TABLE_AM_OID || RELATION_IS_OTHER_TEMP(relation) ||
		TupleDescAttr(RelationGetDescr(relation), 0)->atttypid != OIDOID)
	{
		table_close(relation, AccessShareLock);
		return;
	}
	chunks->relation = relation;
	if (stored->pages_epoch != bfpg_epoch)
		stored->pages = InvalidBlockNumber;
	stored->pages_epoch = bfpg_epoch;
	chunks->buffer = InvalidBuffer;
	chunks->indexes = NULL;
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
	if (chunks->relation == NULL)
		return;
	leave_page(chunks);
	if (chunks->indexes != NULL)
		toast_close_indexes(chunks->indexes, chunks->index_count, AccessShareLock);
	table_close(chunks->relation, AccessShareLock);
}

/* Each chunk but the last has the same size. */
static int32
chunk_size(const BfpgChunks *chunks, int32 number)
{
	return Min(TOAST_MAX_CHUNK_SIZE, chunks->size - number * TOAST_MAX_CHUNK_SIZE);
}

/* The bytes of a chunk, or NULL if the tuple isn't this chunk whole. */
static const char *
chunk_bytes(const BfpgChunks *chunks, HeapTuple tuple, int32 number)
{
	TupleDesc	desc = RelationGetDescr(chunks->relation);
	int32		size = chunk_size(chunks, number);
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
	BfpgRun    *run = &chunks->stored->run;
	ItemPointerData place;
	BlockNumber page;
	const char *bytes = NULL;

	if (!guess_place(chunks, number, &place))
		return NULL;
	page = ItemPointerGetBlockNumber(&place);
	if (!BufferIsValid(chunks->buffer) || BufferGetBlockNumber(chunks->buffer) != page)
	{
		leave_page(chunks);
		CHECK_FOR_INTERRUPTS();
		chunks->buffer = bfpg_pin_page(chunks->relation, page, &chunks->stored->pages);
		if (BufferIsValid(chunks->buffer))
			LockBuffer(chunks->buffer, BUFFER_LOCK_SHARE);
	}
	if (BufferIsValid(chunks->buffer))
		bytes = chunk_at(chunks, run, &place, number);
	if (bytes == NULL)
		cut_run(run, number);
	return bytes;
}

static void
read_by_index(BfpgChunks *chunks, int32 number)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	const char *bytes;

	leave_page(chunks);
	CHECK_FOR_INTERRUPTS();
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
			bfpg_report_invalid(BF_BAD_SIZE, NULL, BFPG_DOOR_STORED, NULL);
		memcpy(chunks->bytes, bytes, chunk_size(chunks, number));
		chunks->read = number;
		note_place(&chunks->stored->run, number, &tuple->t_self, HeapTupleHeaderGetRawXmin(tuple->t_data));
	}
	systable_endscan_ordered(scan);
	if (chunks->read != number)
		bfpg_report_invalid(BF_BAD_SIZE, NULL, BFPG_DOOR_STORED, NULL);
}

static void
read_by_slice(BfpgChunks *chunks, int32 number)
{
	int32		size = chunk_size(chunks, number);
	struct varlena *slice = bfpg_read_slice(PointerGetDatum(chunks->stored->value),
											(uint64) number * TOAST_MAX_CHUNK_SIZE, size);

	CHECK_FOR_INTERRUPTS();
	memcpy(chunks->bytes, VARDATA_ANY(slice), size);
	chunks->read = number;
	pfree(slice);
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

	if (bytes != NULL)
		return bytes;
	if (chunks->read != number)
	{
		chunks->read = -1;
		if (chunks->relation == NULL)
			read_by_slice(chunks, number);
		else
			read_by_index(chunks, number);
	}
	return chunks->bytes;
}

static bool
ask_block(BfpgChunks *chunks, uint64 hash)
{
	const bf_header *header = chunks->level;
	int64		at = block_at(chunks, hash);
	int32		size = (int32) bf_block_bytes(header);
	uint8		gathered[MAX_BLOCK_BYTES];
	const uint8 *block = gathered;
	int32		done;
	int32		length;

	/* A block that is in several chunks is gathered. */
	for (done = 0; done < size; done += length)
	{
		int32		offset = (int32) ((at + done) % TOAST_MAX_CHUNK_SIZE);
		const char *bytes = read_chunk(chunks, (int32) ((at + done) / TOAST_MAX_CHUNK_SIZE)) + offset;

		length = Min(size - done, TOAST_MAX_CHUNK_SIZE - offset);
		if (length == size)
			block = (const uint8 *) bytes;
		else
			memcpy(gathered + done, bytes, length);
	}
	return bf_block_contains(block, header->log2_block_bits, header->probes, hash);
}

/*
 * Has what the look at a key's block will touch on its way to the processor, and from the
 * disk where other keys are looked at meanwhile.
 */
static void
fetch_page(BfpgChunks *chunks, uint64 hash, bool from_disk)
{
	const BfpgFileLocator *locator;
	int64		at = block_at(chunks, hash);
	int32		number = (int32) (at / TOAST_MAX_CHUNK_SIZE);
	ItemPointerData place;
	BlockNumber page;

	if (!guess_place(chunks, number, &place))
		return;
	locator = &BFPG_LOCATOR(chunks->relation);
	page = ItemPointerGetBlockNumber(&place);
	if (*bfpg_pin_hint(locator, page) == InvalidBuffer)
	{
		if (from_disk && bfpg_pin_has_page(chunks->relation, page, &chunks->stored->pages))
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

/* Lets the index show where the chunk of a key is, unless it is in the run. */
static void
show_chunk(BfpgChunks *chunks, uint64 hash)
{
	int32		number = (int32) (block_at(chunks, hash) / TOAST_MAX_CHUNK_SIZE);
	ItemPointerData place;

	if (chunks->relation != NULL && !guess_place(chunks, number, &place))
		(void) read_chunk(chunks, number);
}

/* Asks for keys in the order of their blocks, so that each page is locked once. */
static void
ask_in_order(BfpgChunks *chunks, const uint64 *hashes, int count, uint8 *found)
{
	uint64	   *order = palloc(count * sizeof(uint64));	/* numbers of keys in the lower halves */
	int			fetched = 0;
	int			i;

	for (i = 0; i < count; i++)
		order[i] = (uint64) bf_block_of(hashes[i], chunks->level->blocks) << 32 | (uint32) i;
	bf_hashlist_sort(order, count, bfpg_tick);
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

static void
ask_level(BfpgChunks *chunks, unsigned level, const uint64 *hashes, int count, uint8 *found)
{
	const bf_shape *shape = &chunks->stored->shape;

	chunks->level = &shape->level[level];
	chunks->blocks_at = bf_shape_front(shape) + bf_shape_offset(shape, level);
	if (count == 1)
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
ask_exact(BfpgChunks *chunks, const uint64 *hashes, int count, uint8 *found)
{
	const bf_shape *shape = &chunks->stored->shape;
	uint64	   *own = palloc(count * (sizeof(uint64) + sizeof(int) + 1));
	int		   *open = (int *) (own + count);
	uint8	   *has = (uint8 *) (open + count);
	int			left = 0;
	unsigned	level;
	int			i;

	for (i = 0; i < count; i++)
		if (found[i])
			open[left++] = i;
	for (level = 1; level < shape->levels && left > 0; level++)
	{
		int			asked = left;

		for (i = 0; i < asked; i++)
			own[i] = bf_exact_hash(shape, level, hashes[open[i]]);
		ask_level(chunks, level, own, asked, has);
		for (i = left = 0; i < asked; i++)
		{
			if (level == 2)
				found[open[i]] = has[i];
			else if (has[i])
				open[left++] = open[i];
		}
	}
	pfree(own);
}

uint64
bfpg_chunks_cost(const BfpgStored *stored, uint64 keys)
{
	uint64		one_by_one = keys * bfpg_question_cost(stored);

	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return one_by_one;
	return Min(one_by_one, bf_shape_bytes(&stored->shape) / COPY_COST + keys * KEY_COST);
}

void
bfpg_chunks_contain(BfpgStored *stored, const uint64 *hashes, int count, uint8 *found)
{
	BfpgChunks	chunks;

	stored->spent += bfpg_chunks_cost(stored, (uint64) count);
	open_chunks(&chunks, stored);
	ask_level(&chunks, 0, hashes, count, found);
	if (stored->shape.levels > 1)
		ask_exact(&chunks, hashes, count, found);
	close_chunks(&chunks);
}
