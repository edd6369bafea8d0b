/*
 * access.c
 *	  Asking a filter that may be anywhere, at the price of the one block asked.
 *
 * A stored value is recognized by its TOAST pointer, which no other value of its
 * table can have while a snapshot that sees it is held.  That is the query's, but
 * an expression of PL/pgSQL keeps its state until the transaction ends, and at READ
 * COMMITTED there may be no snapshot between two statements.  Then the value may
 * have been vacuumed, and its pointer be another's; the xmin by which this process
 * holds vacuum off shows it, since a value that was visible is vacuumed only after
 * that has moved on.  The address says nothing: the same expression is handed
 * another row's filter, or another variable's, at the same place.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "access.h"
#include "header_cache.h"
#include "settings.h"

void
bfpg_access_init(BfpgAccess *access, MemoryContext context)
{
	memset(access, 0, sizeof(*access));
	access->context = context;
}

/* Forgets the stored value, before anything of the next one is read. */
static void
forget_stored(BfpgAccess *access)
{
	BfpgFilter   *copy = access->copy;

	access->has_stored = false;
	access->copy = NULL;
	access->fetched = 0;
	if (copy != NULL)
		bfpg_filter_free(copy);
}

static void
open_stored(BfpgAccess *access, Datum value)
{
	struct varatt_external pointer;

	VARATT_EXTERNAL_GET_POINTER(pointer, (struct varlena *) DatumGetPointer(value));
	if (!access->has_stored || access->xmin != bfpg_own_xmin() ||
		memcmp(&pointer, &access->stored, sizeof(pointer)) != 0)
	{
		forget_stored(access);
		bfpg_stored_header(value, &pointer, &access->header);
		access->stored = pointer;
		access->xmin = bfpg_own_xmin();
		access->has_stored = true;
	}
	access->value = value;
	access->blocks = access->copy != NULL ? access->copy->blocks : NULL;
}

/* A value within its row, or behind an indirect pointer, is detoasted for the call. */
static void
open_inline(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);
	struct varlena *flat = pg_detoast_datum_packed(attr);
	uint64		total = VARSIZE_ANY_EXHDR(flat);
	bf_status	status;

	forget_stored(access);
	status = bf_header_read(VARDATA_ANY(flat), total, &access->header);
	if (status != BF_OK)
		bfpg_report_invalid(status, VARDATA_ANY(flat), BFPG_DOOR_STORED, NULL);
	access->blocks = (const uint8 *) VARDATA_ANY(flat) + BF_HEADER_BYTES;
	if (flat != attr)
		access->detoasted = flat;
}

static void
open_expanded(BfpgAccess *access, const BfpgFilter *filter)
{
	forget_stored(access);
	access->header = filter->header;
	access->blocks = filter->blocks;
}

void
bfpg_access_look(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);

	access->detoasted = NULL;
	if (VARATT_IS_EXTERNAL_ONDISK(attr))
		open_stored(access, value);
	else if (VARATT_IS_EXTERNAL_EXPANDED(attr))
		open_expanded(access, bfpg_filter_expanded(value));
	else
		open_inline(access, value);
}

/* Bytes that a slice of one block reads: whole chunks, or all if compressed. */
static uint64
slice_cost(const BfpgAccess *access)
{
	if (VARATT_EXTERNAL_IS_COMPRESSED(access->stored))
		return bf_total_bytes(&access->header);
	return Max(bf_block_bytes(&access->header), TOAST_MAX_CHUNK_SIZE);
}

/*
 * Whether a stored value's slices, with those for so many more keys, cost as much as
 * a copy of it, which is allowed to be so large.
 */
static bool
is_copy_worth_it(const BfpgAccess *access, uint64 keys)
{
	uint64		total = bf_total_bytes(&access->header);

	return access->fetched + keys * slice_cost(access) > total &&
		total <= (uint64) bfpg_cache_size * 1024;
}

/*
 * Copies a stored value.  The copy is made in the caller's short-lived context and
 * kept only when it is whole, so that an error on the way leaves nothing behind.
 */
static void
copy_stored(BfpgAccess *access)
{
	BfpgFilter   *copy = bfpg_filter_copy(access->value, CurrentMemoryContext);

	MemoryContextSetParent(copy->eoh.eoh_context, access->context);
	access->copy = copy;
	access->blocks = copy->blocks;
}

/* Asks a stored value by a slice: its one block. */
static bool
slice_contains(BfpgAccess *access, uint64 hash)
{
	const bf_header *header = &access->header;
	struct varlena *block;
	bool		found;

	access->fetched += slice_cost(access);
	block = bfpg_read_slice(access->value,
							BF_HEADER_BYTES + bf_block_offset(header, hash),
							bf_block_bytes(header));
	found = bf_block_contains((const uint8 *) VARDATA_ANY(block),
							  header->log2_block_bits, header->probes, hash);
	pfree(block);
	return found;
}

bool
bfpg_access_slice_contains(BfpgAccess *access, uint64 hash)
{
	if (is_copy_worth_it(access, 1))
	{
		copy_stored(access);
		return bf_contains(&access->header, access->blocks, hash);
	}
	return slice_contains(access, hash);
}

void
bfpg_access_contains_hashes(BfpgAccess *access, const uint64 *hashes, int count,
							uint8 *found)
{
	int			i;
	int			length;

	if (access->blocks == NULL && is_copy_worth_it(access, (uint64) count))
		copy_stored(access);
	if (access->blocks == NULL)
	{
		for (i = 0; i < count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			found[i] = slice_contains(access, hashes[i]);
		}
		return;
	}
	for (i = 0; i < count; i += length)
	{
		CHECK_FOR_INTERRUPTS();
		length = Min(count - i, HASHES_BETWEEN_CHECKS);
		bf_contains_hashes(&access->header, access->blocks, hashes + i, length, found + i);
	}
}
