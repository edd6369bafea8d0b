/*
 * copies.c
 *	  What this process knows of stored filters: their headers, and copies of those
 *	  that are asked often.
 *
 * A stored value is known by its TOAST pointer, all 16 bytes: its relation, its
 * identifier, its sizes.  The address of a Datum says nothing: an expression is handed
 * another row's filter at the same address.
 *
 * A pointer may belong to another value by now.  The identifier is free again once the
 * value was deleted and vacuumed, rolled back or truncated, and PostgreSQL's counter of
 * 32 bits may come round to it.  So a pointer is believed for a second.  After that the
 * header is read again, through the TOAST index, before anything is answered.  The header
 * has checksums of itself and of all blocks, so the same header means the same filter.
 * Another one replaces what was known, and an error leaves the pointer unbelieved.
 * Two pointers never share a copy, though: XXH64 is no cryptographic hash, and a user who
 * may store a filter could make one with the header of another's.
 *
 * A copy is made when the questions about a value have cost as much: whatever follows,
 * that costs at most twice the best choice in hindsight (the ski-rental rule).  Those of
 * earlier transactions don't count: a session of single look-ups shall never copy.  The
 * copy is freed when the transaction ends.  While there is no room for another, the copies that
 * are believed stay, and values without a copy are asked chunk by chunk.  A copy that is not
 * believed any more was not asked for up to a second, and gives way.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "utils/memutils.h"

#include "ask/copies.h"
#include "base/settings.h"

#define BELIEVED_MSECS 1000

/*
 * What a question costs without a copy, and would not with it, in bytes that are copied
 * meanwhile: 0.45 us, where a copy takes 0.9 to 4.5 ns a byte.
 */
#define QUESTION_COST 512

/* Values that are known at a time, and of those the ones kept for the next transaction. */
#define MAX_KNOWN 32768
#define MAX_KEPT 1024

typedef struct BfpgKnown
{
	const struct varatt_external *pointer;	/* the beginning of a BfpgStored */
	uint32		hash;
	char		status;
} BfpgKnown;

/*
 * A call site that asks many filters in turn looks here for each row.  With PostgreSQL's
 * dynamic hash such a join with a thousand filters took 1.1 to 1.3 times as long.
 */
#define SH_PREFIX known
#define SH_ELEMENT_TYPE BfpgKnown
#define SH_KEY_TYPE const struct varatt_external *
#define SH_KEY pointer
#define SH_HASH_KEY(table, key) murmurhash32((key)->va_valueid)
#define SH_EQUAL(table, a, b) (memcmp((a), (b), sizeof(*(a))) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The memory of all this, and the values by pointer; NULL while nothing is known. */
static MemoryContext context = NULL;
static known_hash *known = NULL;

/* Values with a copy, in the order in which they were confirmed, or copied since. */
static dlist_head copied = DLIST_STATIC_INIT(copied);
static uint64 copied_bytes = 0;

static uint64 transaction = 1;

/* What a copy takes of the limit: the filter's bytes and what is around them. */
static uint64
copy_bytes(const BfpgStored *stored)
{
	return bf_shape_bytes(&stored->shape) + 1024;
}

/* Frees a copy: that value is asked chunk by chunk again. */
static void
drop_copy(BfpgStored *stored)
{
	BfpgFilter *copy = stored->copy;

	stored->copy = NULL;
	stored->blocks = NULL;
	stored->spent = 0;
	dlist_delete(&stored->node);
	copied_bytes -= copy_bytes(stored);
	bfpg_epoch++;
	bfpg_filter_free(copy);
}

static void
drop_copies(void)
{
	while (!dlist_is_empty(&copied))
		drop_copy(dlist_head_element(BfpgStored, node, &copied));
}

static void
end_registry(void)
{
	drop_copies();
	bfpg_epoch++;
	MemoryContextDelete(context);
	context = NULL;
	known = NULL;
}

/* Whether copies with so many bytes more are within the limit. */
static bool
has_room(uint64 bytes)
{
	return copied_bytes + bytes <= (uint64) bfpg_cache_size * 1024;
}

/* Gets to know a value, by its header. */
static BfpgStored *
learn(Datum value, const struct varatt_external *pointer)
{
	BfpgStored *stored;
	bf_shape	shape;
	bool		found;

	bfpg_read_shape(value, &shape);
	if (known != NULL && known->members >= MAX_KNOWN)
		end_registry();
	if (context == NULL)
		context = AllocSetContextCreate(TopMemoryContext, "bloomfilter copies", ALLOCSET_DEFAULT_SIZES);
	if (known == NULL)
		known = known_create(context, 64, NULL);
	stored = MemoryContextAllocZero(context, sizeof(BfpgStored));
	stored->pointer = *pointer;
	(void) known_insert(known, &stored->pointer, &found);
	memcpy(stored->value, DatumGetPointer(value), TOAST_POINTER_SIZE);
	stored->shape = shape;
	return stored;
}

/* Reads the header again, and drops what is known if it is another's. */
static void
confirm(BfpgStored *stored)
{
	BfpgRun		run = stored->run;
	bf_shape	shape;

	/* Should reading it fail, no caller may go on with what is known. */
	stored->believed_until = 0;
	stored->run.xmin = InvalidTransactionId;
	stored->pages_epoch = 0;
	bfpg_read_shape(PointerGetDatum(stored->value), &shape);
	if (!bf_shape_same(&shape, &stored->shape))
	{
		if (stored->copy != NULL)
			drop_copy(stored);
		stored->shape = shape;
		stored->spent = 0;
		return;
	}
	stored->run = run;
	if (stored->copy != NULL)
	{
		dlist_delete(&stored->node);
		dlist_push_tail(&copied, &stored->node);
	}
}

BfpgStored *
bfpg_stored_find(Datum value)
{
	struct varatt_external pointer;
	BfpgKnown  *entry = NULL;
	BfpgStored *stored;
	uint64		now = bfpg_clock();

	/* The limit may have been lowered. */
	while (!has_room(0))
		drop_copy(dlist_tail_element(BfpgStored, node, &copied));
	VARATT_EXTERNAL_GET_POINTER(pointer, (struct varlena *) DatumGetPointer(value));
	if (known != NULL)
		entry = known_lookup(known, &pointer);
	stored = entry == NULL ? NULL : (BfpgStored *) entry->pointer;
	if (stored == NULL)
		stored = learn(value, &pointer);
	else if (now >= stored->believed_until)
		confirm(stored);
	else
		return stored;
	stored->believed_until = now + BELIEVED_MSECS;
	return stored;
}

uint64
bfpg_question_cost(const BfpgStored *stored)
{
	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return bf_shape_bytes(&stored->shape);
	return Max(bf_block_bytes(&stored->shape.level[0]), QUESTION_COST);
}

/* Whether there is room for a copy, when those that are not believed any more are freed. */
static bool
make_room(uint64 bytes)
{
	uint64		now = bfpg_clock();

	while (!has_room(bytes))
	{
		BfpgStored *oldest = dlist_head_element(BfpgStored, node, &copied);

		if (now < oldest->believed_until)
			return false;
		drop_copy(oldest);
	}
	return true;
}

/*
 * The copy is made in the caller's short-lived context and kept only when it is whole,
 * so that an error on the way leaves nothing behind.
 */
static void
make_copy(BfpgStored *stored)
{
	BfpgFilter *copy = bfpg_filter_load(PointerGetDatum(stored->value), CurrentMemoryContext);

	/* The key at hand was hashed with the seed of the header that was read before. */
	if (!bf_shape_same(&copy->shape, &stored->shape))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored bloomfilter has changed while it was read")));
	MemoryContextSetParent(copy->eoh.eoh_context, context);
	stored->copy = copy;
	stored->blocks = copy->blocks;
	dlist_push_tail(&copied, &stored->node);
	copied_bytes += copy_bytes(stored);
	ereport(DEBUG1,
			(errmsg_internal("bloomfilter %u of TOAST relation %u is copied, " UINT64_FORMAT " bytes",
							 stored->pointer.va_valueid, stored->pointer.va_toastrelid,
							 (uint64) bf_shape_bytes(&stored->shape))));
}

void
bfpg_stored_prepare(BfpgStored *stored, uint64 cost)
{
	if (stored->transaction != transaction)
		stored->spent = 0;
	stored->transaction = transaction;
	if (stored->copy != NULL || stored->spent + cost <= bf_shape_bytes(&stored->shape) ||
		copy_bytes(stored) > (uint64) bfpg_cache_size * 1024)
		return;
	if (make_room(copy_bytes(stored)))
		make_copy(stored);
	stored->spent = 0;
}

static void
transaction_ends(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PARALLEL_PRE_COMMIT ||
		event == XACT_EVENT_PRE_PREPARE)
		return;
	transaction++;
	drop_copies();
	if (known != NULL && known->members > MAX_KEPT)
		end_registry();
}

void
bfpg_copies_init(void)
{
	RegisterXactCallback(transaction_ends, NULL);
}
