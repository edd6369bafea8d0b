/*
 * known.h
 *	  What this process found of questions, kept from statement to statement.
 *
 * Who may ask which index was found in the catalogs, and PostgreSQL tells each process
 * what changes there.  So an answer holds until it is told of a change, and it is told
 * of all that were before when it gets a lock.
 */
#ifndef BFPG_LIVE_KNOWN_H
#define BFPG_LIVE_KNOWN_H

#include "live/target.h"

#pragma GCC visibility push(hidden)

/* Moves with each change that this process is told of: of relations, or of who is whom. */
extern uint64 bfpg_live_generation;

/* Moves with each subtransaction that is rolled back: locks may be gone, as a failed portal's. */
extern uint64 bfpg_live_rollbacks;

/* Once, when the library is loaded. */
extern void bfpg_live_known_init(void);

/* A question about one index that was asked before. */
typedef struct BfpgLiveKnown
{
	Oid			relation;		/* InvalidOid: there is none */
	bool		by_column;
	NameData	column;
	Oid			user;
	uint64		generation;
	uint32		key_type;
	BfpgLiveTarget target;
} BfpgLiveKnown;

/*
 * What is known of a question that the current user asks, as far as this process has
 * been told; NULL if nothing is.  Nothing is locked.  It stays until another question is
 * remembered.
 */
extern const BfpgLiveKnown *bfpg_live_known(Oid relation, const NameData *column);

/* Takes a question's locks for this transaction; returns whether what is known is still right. */
extern bool bfpg_live_lock_known(const BfpgLiveKnown *known);

/*
 * The same for a single question: see the head of known.c.  If it returns true,
 * bfpg_live_end_single must follow, which unlocks what isn't kept.
 */
extern bool bfpg_live_begin_single(const BfpgLiveKnown *known);
extern void bfpg_live_end_single(const BfpgLiveKnown *known);

/* What this transaction has asked a single question about, InvalidOid if it has not. */
extern Oid	bfpg_live_single(void);

/* Keeps the targets of a question that were found just now, if they may be kept. */
extern void bfpg_live_remember(const BfpgLiveTargets *targets);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_KNOWN_H */
