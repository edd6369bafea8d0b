/*
 * live_known.h
 *	  What this process found of questions, kept from statement to statement.
 *
 * Who may ask which index was found in the catalogs, and PostgreSQL tells each process
 * what changes there.  So an answer holds until it is told of a change, and it is told
 * of all that were before when it gets a lock.
 */
#ifndef BFPG_LIVE_KNOWN_H
#define BFPG_LIVE_KNOWN_H

#include "live_target.h"

#pragma GCC visibility push(hidden)

/* Moves with each change that this process is told of: of relations, or of who is whom. */
extern uint64 bfpg_live_generation;

/* Once, when the library is loaded. */
extern void bfpg_live_known_init(void);

/*
 * Takes the locks of a question that was asked before, and fills in its targets if they
 * are still right for the current user and the snapshot.
 */
extern bool bfpg_live_recall(BfpgLiveTargets *targets);

/* Keeps the targets of a question that were found just now, if they may be kept. */
extern void bfpg_live_remember(const BfpgLiveTargets *targets);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_KNOWN_H */
