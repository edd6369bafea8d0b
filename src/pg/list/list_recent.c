/*
 * list_recent.c
 *	  Where rows were found the last time, so that most look-ups need no index.
 *
 * A place is a guess and never an answer.  What is found there counts only if the
 * snapshot sees it and if it has the key that is asked; then it is what the index
 * would lead to, since of all rows with a primary key a snapshot sees one at most.
 * So nothing has to be told that a row was deleted, moved, rolled back or vacuumed,
 * nor for how long a place may be remembered.
 *
 * The page is looked for in the buffer that it was in.  A page that was cut off or is
 * of a file that was replaced is not in a buffer under its old name, where reading it
 * anew would be an error.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "list/list_recent.h"
#include "base/pg_compat.h"

/* A power of two; a row that comes to another one's place takes it. */
#define PLACES 512

typedef struct BfpgRecent
{
	uint64		number;
	BfpgFileLocator locator;
	ItemPointerData tid;
	Buffer		buffer;			/* 0: none yet */
} BfpgRecent;

static BfpgRecent places[PLACES];

/* The row at a place of a page that is pinned and locked. */
static bool
row_at(Relation table, const BfpgRecent *place, Snapshot snapshot, HeapTuple tuple)
{
	Page		page = BufferGetPage(place->buffer);
	OffsetNumber offset = ItemPointerGetOffsetNumber(&place->tid);
	ItemId		item;

	if (offset > PageGetMaxOffsetNumber(page))
		return false;
	item = PageGetItemId(page, offset);
	if (!ItemIdIsNormal(item))
		return false;
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(table);
	tuple->t_self = place->tid;
	return HeapTupleSatisfiesVisibility(tuple, snapshot, place->buffer);
}

bool
bfpg_recent_read(Relation table, uint64 number, Snapshot snapshot,
				 HeapTuple tuple, Buffer *buffer)
{
	const BfpgRecent *place = &places[number % PLACES];
	bool		found;

	/* A serializable transaction has to lock what the index is asked. */
	if (place->buffer == InvalidBuffer || place->number != number ||
		!BFPG_SAME_LOCATOR(place->locator, BFPG_LOCATOR(table)) ||
		snapshot->snapshot_type != SNAPSHOT_MVCC || IsolationIsSerializable() ||
		!bfpg_read_recent_buffer(place->locator, ItemPointerGetBlockNumber(&place->tid), place->buffer))
		return false;
	LockBuffer(place->buffer, BUFFER_LOCK_SHARE);
	found = row_at(table, place, snapshot, tuple);
	LockBuffer(place->buffer, BUFFER_LOCK_UNLOCK);
	if (found)
		*buffer = place->buffer;
	else
		ReleaseBuffer(place->buffer);
	return found;
}

void
bfpg_recent_note(Relation table, uint64 number, TupleTableSlot *slot)
{
	BfpgRecent *place = &places[number % PLACES];

	/* A table of another access method has no places that mean something here. */
	if (!TTS_IS_BUFFERTUPLE(slot))
		return;
	place->number = number;
	place->locator = BFPG_LOCATOR(table);
	place->tid = slot->tts_tid;
	place->buffer = ((BufferHeapTupleTableSlot *) slot)->buffer;
}
