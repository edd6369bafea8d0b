/*
 * question_cache.h
 *	  What a backend found in the catalogs for a question, kept from statement to statement.
 */
#ifndef BFPG_LIVE_QUESTION_CACHE_H
#define BFPG_LIVE_QUESTION_CACHE_H

#include "live/target.h"

#pragma GCC visibility push(hidden)

/* Incremented by each relcache invalidation and by each change of roles. */
extern uint64 bfpg_live_catalog_epoch;

/* Incremented by each subtransaction that is rolled back: its locks may be gone. */
extern uint64 bfpg_live_rollbacks;

/* To be called once, from _PG_init. */
extern void bfpg_live_question_cache_init(void);

/* A question about one index, and what was found for it. */
typedef struct BfpgLiveCachedQuestion
{
	Oid			relation;		/* InvalidOid: the slot is empty */
	bool		by_column;
	NameData	column;
	Oid			user;
	uint64		epoch;			/* bfpg_live_catalog_epoch when it was found */
	uint32		key_type;
	Oid			column_type;
	BfpgLiveTarget target;
} BfpgLiveCachedQuestion;

/*
 * Looks a question of the current user up; returns NULL if it is not cached.  The caller
 * must then call bfpg_live_question_cache_lock.  The entry is valid until the next
 * bfpg_live_question_cache_add.
 */
extern const BfpgLiveCachedQuestion *bfpg_live_question_cache_find(Oid relation,
																   const NameData *column);

/* Locks an entry's table and index; returns whether the entry is still right after that. */
extern bool bfpg_live_question_cache_lock(const BfpgLiveCachedQuestion *entry);

/* Keeps the targets of a question that were found just now, if they may be kept. */
extern void bfpg_live_question_cache_add(const BfpgLiveTargets *targets);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_QUESTION_CACHE_H */
