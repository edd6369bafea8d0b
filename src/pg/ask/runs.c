/*
 * runs.c
 *	  Where the chunks of a stored value lie, as far as arithmetic can tell.
 *
 * Only chunks between two that the index has shown are guessed.  Beyond them lie other
 * values, whose pages may be damaged; and a value's last chunk, which is mostly short, often
 * goes back to an earlier page that has room for it.
 */
#include "postgres.h"

#include "access/heaptoast.h"

#include "ask/runs.h"

BfpgRun *
bfpg_runs_find(BfpgRuns *runs, int32 chunk)
{
	int			i;

	for (i = 0; i < runs->count; i++)
	{
		if (runs->runs[i].first <= chunk && chunk <= runs->runs[i].last)
			return &runs->runs[i];
	}
	return NULL;
}

void
bfpg_run_place(const BfpgRun *run, int32 chunk, ItemPointer place)
{
	int64		slot = run->shift + chunk;

	ItemPointerSet(place, (BlockNumber) (slot / EXTERN_TUPLES_PER_PAGE),
				   (OffsetNumber) (slot % EXTERN_TUPLES_PER_PAGE + 1));
}

void
bfpg_runs_note(BfpgRuns *runs, int32 chunk, const ItemPointerData *place, TransactionId xmin)
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

/* The longer side stays. */
void
bfpg_run_miss(BfpgRun *run, int32 chunk)
{
	if (chunk - run->first > run->last - chunk)
		run->last = chunk - 1;
	else
		run->first = chunk + 1;
}
