/*
 * copies_worth.c
 *	  Which stored filters are worth a copy, and whose copy makes room for another's.
 *
 * A value is worth a copy when the slices read of it, with what a call for many keys
 * is about to read, cost about as much as reading all of it: whatever follows, that
 * costs at most twice the best choice in hindsight (the ski-rental rule).
 *
 * When all copies and the new one are more than bloomfilter.cache_size, those give
 * way that nobody asks any more, as their queries have ended; then those that are the
 * least useful for their size, but only if the new one has lately been asked more than
 * twice as much for its size, and its whole size more.  So among filters that are all
 * asked alike some keep their copies and the rest is asked by slices, instead of each
 * pushing out the next one before that has paid for itself; and chance, which lets one
 * of them be asked a few times more than another, pushes nothing out.
 *
 * "Lately" are about the last two rounds; a round ends when some value finds no room a
 * second time.  Then what was asked before counts half, and at most once the size, so
 * that a filter that nobody asks now gives way after a few rounds, however much it was
 * asked before.
 */
#include "postgres.h"

#include <float.h>

#include "access/heaptoast.h"
#include "utils/memutils.h"

#include "ask/copies.h"
#include "base/settings.h"

/* Copies at a time: what is known without a copy shall find a place, too. */
#define MAX_COPIES 16384

/* The usefulness of a copy that nobody asks any more. */
#define UNASKED (-1.0)

/* Keys that one value may be asked more than another by chance. */
#define CHANCE 16

/* Counts rounds; see above. */
static uint64 round_number = 1;

/*
 * No copy is less useful than this.  It saves looking at all of them for each value
 * that finds no room: between two rounds a copy's usefulness only grows.
 */
static double least_useful = UNASKED;

uint64
bfpg_slice_cost(const BfpgStored *stored)
{
	if (VARATT_EXTERNAL_IS_COMPRESSED(stored->pointer))
		return bf_total_bytes(&stored->header);
	return Max(bf_block_bytes(&stored->header), TOAST_MAX_CHUNK_SIZE);
}

/* What slices for so many keys would read, in sizes of the filter. */
static double
in_sizes(const BfpgStored *stored, uint64 keys)
{
	return (double) keys * (double) bfpg_slice_cost(stored) /
		(double) bf_total_bytes(&stored->header);
}

/* How useful a copy has lately been, or would have been, for its size. */
static double
usefulness(const BfpgStored *stored)
{
	if (stored->asker == NULL)
		return UNASKED;
	return in_sizes(stored, stored->asked - stored->faded);
}

static int
by_usefulness(const void *a, const void *b)
{
	const BfpgStored *x = *(BfpgStored *const *) a;
	const BfpgStored *y = *(BfpgStored *const *) b;
	double		of_x = usefulness(x);
	double		of_y = usefulness(y);

	return of_x < of_y ? -1 : of_x > of_y;
}

/* Whether a copy of this usefulness gives way to another value. */
static bool
gives_way(double useful, const BfpgStored *to)
{
	return useful == UNASKED ||
		usefulness(to) >= 2 * useful + 1 + in_sizes(to, CHANCE);
}

static bool
fits(uint64 bytes)
{
	return bfpg_copied_count < MAX_COPIES &&
		bfpg_copied_bytes + bytes <= (uint64) bfpg_cache_size * 1024;
}

/*
 * Frees the least useful copies until one more has room, or none if those that would
 * give way are not enough.
 */
static bool
make_room(const BfpgStored *to)
{
	uint64		bytes = bfpg_copy_room(to);
	uint64		limit = (uint64) bfpg_cache_size * 1024;
	uint64		staying = 0;
	uint32		count = 0;
	BfpgStored **candidates;
	dlist_iter	each;
	uint32		i;

	if (fits(bytes))
		return true;
	if (!gives_way(least_useful, to))
		return false;
	least_useful = DBL_MAX;
	candidates = palloc(Max(bfpg_copied_count, 1) * sizeof(*candidates));
	dlist_foreach(each, &bfpg_copied)
	{
		BfpgStored *copied = dlist_container(BfpgStored, node, each.cur);

		least_useful = Min(least_useful, usefulness(copied));
		if (gives_way(usefulness(copied), to))
			candidates[count++] = copied;
		else
			staying += bfpg_copy_room(copied);
	}
	if (staying + bytes > limit)
		count = 0;
	qsort(candidates, count, sizeof(*candidates), by_usefulness);
	for (i = 0; i < count && !fits(bytes); i++)
		bfpg_copy_drop(candidates[i]);
	pfree(candidates);
	return fits(bytes);
}

static void
fade_list(dlist_head *list)
{
	dlist_iter	each;

	dlist_foreach(each, list)
	{
		BfpgStored *stored = dlist_container(BfpgStored, node, each.cur);
		uint64		lately = stored->asked - stored->faded;
		uint64		once = bf_total_bytes(&stored->header) / bfpg_slice_cost(stored) + 1;

		stored->faded = stored->asked - Min(lately / 2, once);
	}
}

/* There is no room for a copy of it: not before as much has been read again. */
static void
refuse_room(BfpgStored *stored)
{
	stored->fetched = 0;
	if (stored->refused == round_number)
	{
		fade_list(&bfpg_copied);
		fade_list(&bfpg_sliced);
		round_number++;
		least_useful = UNASKED;
	}
	stored->refused = round_number;
}

/*
 * The copy is made in the caller's short-lived context and kept only when it is whole,
 * so that an error on the way leaves nothing behind.
 */
static void
make_copy(BfpgStored *stored)
{
	BfpgFilter *copy = bfpg_filter_copy(PointerGetDatum(stored->value), CurrentMemoryContext);

	MemoryContextSetParent(copy->eoh.eoh_context, bfpg_copies_context);
	stored->refused = 0;
	least_useful = Min(least_useful, usefulness(stored));
	bfpg_copy_keep(stored, copy);
}

void
bfpg_stored_prepare(BfpgStored *stored, uint64 cost)
{
	uint64		due = bf_total_bytes(&stored->header);

	/* Looking for room shall not cost much beside the slices. */
	if (stored->refused != 0)
		due = Max(due, CHANCE * bfpg_slice_cost(stored));
	if (stored->copy != NULL || stored->fetched + cost <= due ||
		bfpg_copy_room(stored) > (uint64) bfpg_cache_size * 1024)
		return;
	if (make_room(stored))
		make_copy(stored);
	else
		refuse_room(stored);
}

void
bfpg_copies_shrink(void)
{
	while (bfpg_copied_bytes > (uint64) bfpg_cache_size * 1024)
		bfpg_copy_drop(dlist_tail_element(BfpgStored, node, &bfpg_copied));
}

/* A call site's memory goes: its query has ended. */
static void
leave(void *asker)
{
	dlist_iter	each;

	dlist_foreach(each, &bfpg_copied)
	{
		BfpgStored *stored = dlist_container(BfpgStored, node, each.cur);

		if (stored->asker == asker)
		{
			stored->asker = NULL;
			least_useful = UNASKED;
		}
	}
}

void
bfpg_stored_watch(const void *asker, MemoryContext context, MemoryContextCallback *leaving)
{
	leaving->func = leave;
	leaving->arg = (void *) asker;
	MemoryContextRegisterResetCallback(context, leaving);
}
