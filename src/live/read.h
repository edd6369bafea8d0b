/*
 * read.h
 *	  Reading pages of a live filter, and asking them for hashes.
 */
#ifndef BFPG_LIVE_READ_H
#define BFPG_LIVE_READ_H

#include "lib/stringinfo.h"

#include "live/target.h"

#pragma GCC visibility push(hidden)

/* Whether a target may have a key with this hash. */
extern bool bfpg_live_contains(BfpgLiveTarget *target, uint64 hash);

/*
 * The same for many hashes: found[i] is set where hash i may be there, and left alone
 * where it is not.
 */
extern void bfpg_live_contains_hashes(const BfpgLiveTarget *target, const uint64 *hashes,
									  int count, uint8 *found);

/*
 * Appends what a look-up of a hash sees of a target that has an index: a page of each
 * level, whether or not the one before had the key.
 */
extern void bfpg_live_explain(const BfpgLiveTarget *target, uint64 hash, StringInfo lines);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_READ_H */
