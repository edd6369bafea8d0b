/*
 * copies.h
 *	  What this process knows of stored filters: their headers, and copies of those
 *	  that are asked often.
 *
 * One registry for all call sites of the process.  A call site that asks many
 * filters in turn finds each one's copy again, and many call sites that ask one
 * filter share its copy.  Together the copies take at most bloomfilter.cache_size.
 */
#ifndef BFPG_COPIES_H
#define BFPG_COPIES_H

#include <time.h>

#include "access/transam.h"
#include "fmgr.h"
#include "lib/ilist.h"

#include "bf_filter.h"
#include "base/epoch.h"
#include "base/pg_compat.h"
#include "value/filter.h"

/*
 * Where the chunks of a stored value lie, as far as arithmetic can tell.
 *
 * PostgreSQL stores a value in chunks of about 2 kB, EXTERN_TUPLES_PER_PAGE to a page of its TOAST
 * relation, and mostly one after the other.  So the place of a chunk follows from that of another
 * one that the TOAST index has shown.  It is a guess: chunks.c checks the tuple that is there.
 */

/*
 * Chunks that lie one after the other, as nearly all of a value do.  The slots of a relation are
 * numbered through: EXTERN_TUPLES_PER_PAGE for each page.
 */
typedef struct BfpgRun
{
	int64		shift;			/* a chunk's slot less its number */
	int32		first;			/* from the first to the last chunk that the index has shown, */
	int32		last;			/* or fewer, after a wrong guess */
	TransactionId xmin;			/* of the tuples that the index has shown; invalid: there is no run */
} BfpgRun;

typedef struct BfpgStored
{
	struct varatt_external pointer; /* which value this is */
	uint64		believed_until; /* bfpg_clock() from which the header is read again */
	const uint8 *blocks;		/* of its copy, or NULL: ask chunk by chunk */
	bf_shape	shape;
	BfpgFilter *copy;
	uint64		transaction;	/* the last one that asked */
	uint64		spent;			/* what its questions have cost, since a copy was last decided on */
	dlist_node	node;			/* in the list of copies, while there is one */
	char		value[TOAST_POINTER_SIZE];	/* a Datum of it */
	BfpgRun		run;			/* where its chunks lie */
	BlockNumber pages;			/* of the file, see pin.h */
	uint64		pages_epoch;	/* bfpg_epoch for which this counts */
} BfpgStored;

/*
 * Milliseconds of a clock that nobody sets.  Linux has one that costs 5 ns, which is what a scan
 * can pay for each row, where the exact one costs 25.
 */
static inline uint64
bfpg_clock(void)
{
	struct timespec now;

#ifdef CLOCK_MONOTONIC_COARSE
	(void) clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
	(void) clock_gettime(CLOCK_MONOTONIC, &now);
#endif
	return (uint64) now.tv_sec * 1000 + (uint64) now.tv_nsec / 1000000;
}

/* Registers the end of transactions, when the module is loaded. */
extern void bfpg_copies_init(void);

/*
 * What is known of a stored value; its header is read if nothing is, or if that was
 * confirmed more than a second ago.  A call site may keep the pointer, and go on with it
 * while bfpg_epoch stands still and believed_until has not come.
 */
extern BfpgStored *bfpg_stored_find(Datum value);

/* Makes a copy of a value if that is worth it, before questions that cost so much. */
extern void bfpg_stored_prepare(BfpgStored *stored, uint64 cost);

/* What a question costs without a copy, in bytes that a copy would read. */
extern uint64 bfpg_question_cost(const BfpgStored *stored);

/* What a call for so many keys costs without one; chunks.c has this and the next. */
extern uint64 bfpg_chunks_cost(const BfpgStored *stored, uint64 keys);

/* Asks for many hashes without a copy: found[i] is set to 1 or 0. */
extern void bfpg_chunks_contain(BfpgStored *stored, const uint64 *hashes, int count, uint8 *found);

#endif							/* BFPG_COPIES_H */
