/*
 * batch.h
 *	  Hashes gathered by a build, to be set page by page.
 */
#ifndef BFPG_LIVE_BATCH_H
#define BFPG_LIVE_BATCH_H

#include "live/page.h"

#pragma GCC visibility push(hidden)

typedef struct BfpgLiveBatch
{
	uint64	   *hashes;
	uint64	   *spare;			/* as long, to sort by */
	Size		count;
	Size		room;			/* hashes that fit now */
	Size		most_room;		/* hashes that fit when it has grown */
} BfpgLiveBatch;

/*
 * A batch in the current memory context that may grow to so many bytes, or to the least
 * useful size if that is more.
 */
extern void bfpg_live_batch_init(BfpgLiveBatch *batch, Size bytes);

/* Doubles a full batch's room; returns false if it may not grow, or there is no memory. */
extern bool bfpg_live_batch_grow(BfpgLiveBatch *batch);

extern void bfpg_live_batch_free(BfpgLiveBatch *batch);

/* Drops repeats. */
extern void bfpg_live_batch_unique(BfpgLiveBatch *batch);

/* Sets the bits of all hashes in pages of level 0, without logging them, and empties it. */
extern void bfpg_live_batch_flush(BfpgLiveBatch *batch, Relation index, const BfpgLive *live);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_BATCH_H */
