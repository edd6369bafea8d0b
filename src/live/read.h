/*
 * read.h
 *	  Reading pages of a live filter, and asking them for hashes.
 */
#ifndef BFPG_LIVE_READ_H
#define BFPG_LIVE_READ_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

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
 * level, whether or not the one before had the key.  The caller has looked it up before, which
 * locks the predicate.
 */
extern void bfpg_live_explain(const BfpgLiveTarget *target, uint64 hash, StringInfo lines);

/*
 * The tables, as a list of OIDs, whose rows may have the key of a call in a column of a
 * table: the table itself, or those below it.  The key is the call's argument 2, and the
 * column's name its argument 1.  All of them are locked.  In ask.c.
 */
extern List *bfpg_live_tables_of(FunctionCallInfo fcinfo, Oid table);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_READ_H */
