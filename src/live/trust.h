/*
 * trust.h
 *	  For which snapshots a live filter may say that a key is not there.
 */
#ifndef BFPG_LIVE_TRUST_H
#define BFPG_LIVE_TRUST_H

#include "utils/rel.h"

#pragma GCC visibility push(hidden)

/*
 * The transactions that made an index what it is: one made its row in pg_index, at the latest
 * when it became valid, the other its row in pg_class, at the latest with its present file.
 */
typedef struct BfpgLiveMakers
{
	bool		matter;			/* there are snapshots of a standby */
	TransactionId index;
	TransactionId file;
} BfpgLiveMakers;

/* Whether an open index may answer for its table at all: it is valid, and can be read here. */
extern bool bfpg_live_usable(Relation index);

/* The transactions that made an open index. */
extern BfpgLiveMakers bfpg_live_makers(Relation index);

/*
 * One that made the index and that not all snapshots see by which this backend reads rows:
 * look-ups must return true.  InvalidTransactionId if there is none.
 */
extern TransactionId bfpg_live_unseen_maker(const BfpgLiveMakers *makers);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_TRUST_H */
