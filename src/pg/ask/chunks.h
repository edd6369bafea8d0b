/*
 * chunks.h
 *	  Asking a stored filter for many keys at once, without a copy of it.
 */
#ifndef BFPG_CHUNKS_H
#define BFPG_CHUNKS_H

#include "ask/copies.h"

#pragma GCC visibility push(hidden)

/* What asking for so many keys at once costs, as bytes of a copy that take as long. */
extern uint64 bfpg_chunks_cost(const BfpgStored *stored, uint64 keys);

/*
 * Asks for many hashes by slices: found[i] is set to 1 or 0.  Reads each chunk that
 * has a block of theirs once.
 */
extern void bfpg_chunks_contain(BfpgStored *stored, const uint64 *hashes, int count,
								uint8 *found);

/* Asks for one, by a slice of its own. */
extern bool bfpg_slice_contains(BfpgStored *stored, uint64 hash);

#pragma GCC visibility pop

#endif							/* BFPG_CHUNKS_H */
