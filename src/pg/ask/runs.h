/*
 * runs.h
 *	  Where the chunks of a stored value lie, as far as arithmetic can tell.
 *
 * PostgreSQL stores a value in chunks of about 2 kB, EXTERN_TUPLES_PER_PAGE to a page of
 * its TOAST relation, and mostly one after the other.  So the place of a chunk follows from
 * the place of another one that the TOAST index has shown.  It is a guess: the reader has to
 * check the tuple that is there.
 */
#ifndef BFPG_RUNS_H
#define BFPG_RUNS_H

#include "access/transam.h"
#include "storage/itemptr.h"

#pragma GCC visibility push(hidden)

/* Runs that are remembered of a value; nearly every value is a single one. */
#define BFPG_RUNS 8

/*
 * Chunks that lie one after the other.  The slots of a relation are numbered through:
 * EXTERN_TUPLES_PER_PAGE for each page.
 */
typedef struct BfpgRun
{
	int64		shift;			/* a chunk's slot less its number */
	int32		first;			/* from the first to the last chunk that the index has shown, */
	int32		last;			/* or fewer, after a wrong guess */
	TransactionId xmin;			/* of the tuples that the index has shown */
} BfpgRun;

typedef struct BfpgRuns
{
	int			count;
	int			next;			/* the one to be replaced when there are too many */
	BfpgRun		runs[BFPG_RUNS];
} BfpgRuns;

/* The run that a chunk is in, or NULL. */
extern BfpgRun *bfpg_runs_find(BfpgRuns *runs, int32 chunk);

/* The place of a chunk of a run. */
extern void bfpg_run_place(const BfpgRun *run, int32 chunk, ItemPointer place);

/* Remembers where the index has found a chunk. */
extern void bfpg_runs_note(BfpgRuns *runs, int32 chunk, const ItemPointerData *place,
						   TransactionId xmin);

/* A chunk of this run was not where it should be: the run ends there. */
extern void bfpg_run_miss(BfpgRun *run, int32 chunk);

#pragma GCC visibility pop

#endif							/* BFPG_RUNS_H */
