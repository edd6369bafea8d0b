/*
 * copies.h
 *	  What this process knows of stored filters: their headers, and copies of those
 *	  that are asked often.
 *
 * One registry for all call sites of the process.  A call site that asks many
 * filters in turn finds each one's copy again, and many call sites that ask one
 * filter share its copy.  Together the copies take at most bloomfilter.cache_size.
 *
 * copies.c knows which value is which, copies_worth.c which are worth a copy.
 */
#ifndef BFPG_COPIES_H
#define BFPG_COPIES_H

#include "fmgr.h"
#include "lib/ilist.h"

#include "bf_filter.h"
#include "value/filter.h"
#include "base/pg_compat.h"

#pragma GCC visibility push(hidden)

/* What a look at a copied value needs is together at the beginning. */
typedef struct BfpgStored
{
	struct varatt_external pointer; /* which value this is */
	TransactionId xmin;			/* this process's, while it holds vacuum off from it */
	SubTransactionId subtransaction;	/* these two: see copies.c */
	uint64		transaction;
	uint64		asked;			/* keys asked of it in this transaction */
	const void *asker;			/* the last call site, or NULL when that is gone */
	const uint8 *blocks;		/* of its copy, or NULL: ask by slices */
	bf_header	header;

	BfpgFilter *copy;
	uint64		seen;			/* microseconds of a clock that is not set */
	uint64		slices;			/* slices in this transaction */
	uint64		fetched;		/* cost of slices since a copy was last decided on */
	uint64		faded;			/* of the keys asked, those that count no more */
	uint64		refused;		/* the last round in which there was no room for it */
	dlist_node	node;			/* in bfpg_copied or bfpg_sliced */
	char		value[TOAST_POINTER_SIZE];	/* a Datum of it */
} BfpgStored;

/*
 * Changes whenever anything goes that a call site may have found here, or a copy
 * comes.  A call site may go on with what it found for as long as this and its
 * own xmin are as they were.
 */
extern uint64 bfpg_copies_generation;

/* All stored values that are known: with a copy, and without. */
extern dlist_head bfpg_copied;
extern dlist_head bfpg_sliced;
extern uint32 bfpg_copied_count;
extern uint64 bfpg_copied_bytes;

/* The memory of copies; exists while a value is known. */
extern MemoryContext bfpg_copies_context;

/* How the filters of this transaction were asked, all together. */
typedef struct BfpgTally
{
	uint64		keys;
	uint64		slices;			/* reads of one chunk or some together */
	uint64		copies;
} BfpgTally;

extern BfpgTally bfpg_tally(void);

/* Asks to be told of transactions and relations, when the module is loaded. */
extern void bfpg_copies_init(void);

/*
 * What is known of a stored value, whose header is read if nothing is.  Good until
 * the call site returns, and then as said at bfpg_copies_generation, if the xmin in
 * it is valid.
 */
extern BfpgStored *bfpg_stored_find(Datum value, const void *asker);

/*
 * Has a call site, whose memory is in this context, forgotten when that goes.  Not to
 * be inlined: JIT would take the address of a function that is not there.
 */
extern pg_noinline void bfpg_stored_watch(const void *asker, MemoryContext context,
										  MemoryContextCallback *leaving);

/*
 * Has a copy of a value of which as much is about to be read as these bytes cost, if
 * that is worth it.  The keys have been counted as asked.
 */
extern void bfpg_stored_prepare(BfpgStored *stored, uint64 cost);

/* Bytes that a slice of one block reads: whole chunks, or all if compressed. */
extern uint64 bfpg_slice_cost(const BfpgStored *stored);

/* What a copy takes of the limit: the filter's bytes and what is around them. */
static inline uint64
bfpg_copy_room(const BfpgStored *stored)
{
	return bf_total_bytes(&stored->header) + 1024;
}

/* Keeps a copy of a value, whose header is then the copy's, checked with all of it. */
extern void bfpg_copy_keep(BfpgStored *stored, BfpgFilter *copy);

/* Frees a copy: that value is asked by slices again. */
extern void bfpg_copy_drop(BfpgStored *stored);

/* Frees copies until the others are within the limit, which may have been lowered. */
extern void bfpg_copies_shrink(void);

#pragma GCC visibility pop

#endif							/* BFPG_COPIES_H */
