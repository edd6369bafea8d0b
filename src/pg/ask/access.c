/*
 * access.c
 *	  Asking a filter that may be anywhere, at the price of the one block asked.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "ask/access.h"

static void
open_stored(BfpgAccess *access, Datum value)
{
	BfpgStored *stored = bfpg_stored_find(value);

	access->stored = stored;
	access->shape = &stored->shape;
	access->blocks = stored->blocks;
	access->epoch = bfpg_epoch;
}

/* A value within its row, or behind an indirect pointer, is detoasted for the call. */
static void
open_inline(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);
	struct varlena *flat = pg_detoast_datum_packed(attr);
	uint64		total = VARSIZE_ANY_EXHDR(flat);
	bf_status	status = bf_any_read(VARDATA_ANY(flat), total, &access->own_shape);

	if (status != BF_OK)
		bfpg_report_invalid(status, VARDATA_ANY(flat), BFPG_DOOR_STORED, NULL);
	access->shape = &access->own_shape;
	access->blocks = (const uint8 *) VARDATA_ANY(flat) + bf_shape_front(access->shape);
	if (flat != attr)
		access->detoasted = flat;
}

void
bfpg_access_look(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);
	const BfpgFilter *expanded = bfpg_filter_expanded(value);

	access->epoch = 0;
	access->stored = NULL;
	access->detoasted = NULL;
	if (VARATT_IS_EXTERNAL_ONDISK(attr))
		open_stored(access, value);
	else if (expanded != NULL)
	{
		access->shape = &expanded->shape;
		access->blocks = expanded->blocks;
	}
	else
		open_inline(access, value);
}

void
bfpg_access_contains_hashes(BfpgAccess *access, const uint64 *hashes, int count,
							uint8 *found)
{
	int			i;
	int			length;

	if (access->blocks == NULL)
	{
		bfpg_stored_prepare(access->stored, bfpg_chunks_cost(access->stored, (uint64) count));
		access->blocks = access->stored->blocks;
	}
	if (access->blocks == NULL)
	{
		bfpg_chunks_contain(access->stored, hashes, count, found);
		return;
	}
	for (i = 0; i < count; i += length)
	{
		CHECK_FOR_INTERRUPTS();
		length = Min(count - i, HASHES_BETWEEN_CHECKS);
		bf_shape_contains_hashes(access->shape, access->blocks, hashes + i, length, found + i);
	}
}
