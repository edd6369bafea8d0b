/*
 * chunks.h
 *	  Asking a stored filter for keys without a copy of it: one chunk of the value a key.
 */
#ifndef BFPG_CHUNKS_H
#define BFPG_CHUNKS_H

#include "ask/copies.h"

#pragma GCC visibility push(hidden)

/* What a call for so many keys costs, in bytes that a copy reads in the same time. */
extern uint64 bfpg_chunks_cost(const BfpgStored *stored, uint64 keys);

/* Asks for many hashes: found[i] is set to 1 or 0. */
extern void bfpg_chunks_contain(BfpgStored *stored, const uint64 *hashes, int count,
								uint8 *found);

#pragma GCC visibility pop

#endif							/* BFPG_CHUNKS_H */
