/*
 * chunks.c
 *	  Asking a stored filter for many keys at once, without a copy of it.
 *
 * PostgreSQL stores a value in chunks of about 2 kB, as rows of a TOAST relation.
 * detoast_attr_slice opens that relation and its index for each slice, and looks up
 * the index for it.  Here that is done once for all keys of a call, whose blocks are
 * taken in the order in which they are stored: those in one chunk are read together,
 * and so are chunks that are near each other.
 *
 * What is read is checked as detoast_attr_slice does it: each chunk must be there,
 * once, in its place, and have the size that it must have.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "ask/chunks.h"

/*
 * Chunks between two that are needed that are read with them, since that is cheaper
 * than to look up the index again.
 */
#define MAX_GAP 3

/* Chunks read at a time. */
#define MAX_RUN 32

/*
 * Where a call's keys are in most of the chunks, reading these costs a quarter of what a
 * copy does, which has to find memory and to count bits, and sorting each key as much as
 * so many bytes of it.
 */
#define COPY_COST 4
#define KEY_COST 128

/* One stored value's chunks, opened to be read. */
typedef struct BfpgChunks
{
	const BfpgStored *stored;
	Relation	relation;
	Relation   *indexes;
	int			index_count;
	int			valid_index;
	Snapshot	snapshot;
	SnapshotData snapshot_room;
	int32		size;			/* bytes of the value */
	int32		first;			/* chunks in bytes: from here, to here */
	int32		last;
	char		bytes[MAX_RUN * TOAST_MAX_CHUNK_SIZE];
} BfpgChunks;

uint64
bfpg_chunks_cost(const BfpgStored *stored, uint64 keys)
{
	uint64		one_by_one = keys * bfpg_slice_cost(stored);

	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return one_by_one;
	return Min(one_by_one, bf_total_bytes(&stored->header) / COPY_COST + keys * KEY_COST);
}

bool
bfpg_slice_contains(BfpgStored *stored, uint64 hash)
{
	const bf_header *header = &stored->header;
	struct varlena *block;
	bool		found;

	stored->fetched += bfpg_slice_cost(stored);
	block = bfpg_read_slice(PointerGetDatum(stored->value),
							BF_HEADER_BYTES + bf_block_offset(header, hash),
							bf_block_bytes(header));
	found = bf_block_contains((const uint8 *) VARDATA_ANY(block),
							  header->log2_block_bits, header->probes, hash);
	pfree(block);
	return found;
}

/* NULL if the value's chunks are stored in another way than these here. */
static BfpgChunks *
open_chunks(const BfpgStored *stored)
{
	BfpgChunks *chunks;
	Relation	relation;

	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return NULL;
	relation = table_open(stored->pointer.va_toastrelid, AccessShareLock);
	if (relation->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		table_close(relation, AccessShareLock);
		return NULL;
	}
	chunks = palloc(sizeof(BfpgChunks));
	chunks->stored = stored;
	chunks->relation = relation;
	chunks->valid_index = toast_open_indexes(relation, AccessShareLock,
											 &chunks->indexes, &chunks->index_count);
	chunks->snapshot = bfpg_toast_snapshot(&chunks->snapshot_room);
	chunks->size = stored->pointer.va_rawsize - VARHDRSZ;
	chunks->first = 0;
	chunks->last = -1;
	return chunks;
}

static void
close_chunks(BfpgChunks *chunks)
{
	toast_close_indexes(chunks->indexes, chunks->index_count, AccessShareLock);
	table_close(chunks->relation, AccessShareLock);
	pfree(chunks);
}

static void
refuse_chunk(void)
{
	bfpg_report_invalid(BF_BAD_SIZE, NULL, BFPG_DOOR_STORED, NULL);
}

/* Takes a chunk's bytes to their place; number is the one that must come. */
static void
take_chunk(BfpgChunks *chunks, HeapTuple row, int32 number)
{
	TupleDesc	desc = RelationGetDescr(chunks->relation);
	int32		size = Min(TOAST_MAX_CHUNK_SIZE, chunks->size - number * TOAST_MAX_CHUNK_SIZE);
	bool		no_number;
	bool		no_bytes;
	Datum		found = fastgetattr(row, 2, desc, &no_number);
	struct varlena *bytes = (struct varlena *) DatumGetPointer(fastgetattr(row, 3, desc, &no_bytes));

	if (no_number || no_bytes || number > chunks->last || DatumGetInt32(found) != number ||
		VARATT_IS_EXTERNAL(bytes) || VARATT_IS_COMPRESSED(bytes) ||
		VARSIZE_ANY_EXHDR(bytes) != (Size) size)
		refuse_chunk();
	memcpy(chunks->bytes + (number - chunks->first) * TOAST_MAX_CHUNK_SIZE,
		   VARDATA_ANY(bytes), size);
}

/* Reads a run of chunks. */
static void
read_chunks(BfpgChunks *chunks, int32 first, int32 last)
{
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	row;
	int32		next = first;

	CHECK_FOR_INTERRUPTS();
	chunks->first = first;
	chunks->last = last;
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(chunks->stored->pointer.va_valueid));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT4GE, Int32GetDatum(first));
	ScanKeyInit(&keys[2], 2, BTLessEqualStrategyNumber, F_INT4LE, Int32GetDatum(last));
	scan = systable_beginscan_ordered(chunks->relation, chunks->indexes[chunks->valid_index],
									  chunks->snapshot, lengthof(keys), keys);
	while ((row = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
		take_chunk(chunks, row, next++);
	systable_endscan_ordered(scan);
	if (next != last + 1)
		refuse_chunk();
}

/* Blocks in the order in which they are stored, each with its hash's number. */
static int
by_block(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

static uint64 *
sort_by_block(const bf_header *header, const uint64 *hashes, int count)
{
	uint64	   *order = palloc(count * sizeof(uint64));
	int			i;

	for (i = 0; i < count; i++)
		order[i] = (uint64) bf_block_of(hashes[i], header->blocks) << 32 | (uint32) i;
	qsort(order, count, sizeof(uint64), by_block);
	return order;
}

static int32
first_byte(const bf_header *header, uint64 in_order)
{
	return (int32) (BF_HEADER_BYTES + (in_order >> 32) * bf_block_bytes(header));
}

static int32
first_chunk(const bf_header *header, uint64 in_order)
{
	return first_byte(header, in_order) / TOAST_MAX_CHUNK_SIZE;
}

static int32
last_chunk(const bf_header *header, uint64 in_order)
{
	return (first_byte(header, in_order) + (int32) bf_block_bytes(header) - 1) / TOAST_MAX_CHUNK_SIZE;
}

/* How many blocks from the first are in chunks that are read together. */
static int
run_length(const bf_header *header, const uint64 *order, int count)
{
	int32		first = first_chunk(header, order[0]);
	int			i;

	for (i = 1; i < count; i++)
	{
		if (first_chunk(header, order[i]) > last_chunk(header, order[i - 1]) + 1 + MAX_GAP ||
			last_chunk(header, order[i]) >= first + MAX_RUN)
			break;
	}
	return i;
}

void
bfpg_chunks_contain(BfpgStored *stored, const uint64 *hashes, int count, uint8 *found)
{
	const bf_header *header = &stored->header;
	BfpgChunks *chunks = open_chunks(stored);
	uint64	   *order;
	int			at;
	int			end;

	if (chunks == NULL)
	{
		for (at = 0; at < count; at++)
		{
			CHECK_FOR_INTERRUPTS();
			found[at] = bfpg_slice_contains(stored, hashes[at]);
		}
		return;
	}
	stored->fetched += bfpg_chunks_cost(stored, (uint64) count);
	order = sort_by_block(header, hashes, count);
	for (at = 0; at < count; at = end)
	{
		end = at + run_length(header, order + at, count - at);
		read_chunks(chunks, first_chunk(header, order[at]), last_chunk(header, order[end - 1]));
			for (; at < end; at++)
		{
			uint64		hash = hashes[(uint32) order[at]];
			int32		offset = first_byte(header, order[at]) - chunks->first * TOAST_MAX_CHUNK_SIZE;

			found[(uint32) order[at]] = bf_block_contains((const uint8 *) chunks->bytes + offset,
														  header->log2_block_bits, header->probes, hash);
		}
	}
	pfree(order);
	close_chunks(chunks);
}
