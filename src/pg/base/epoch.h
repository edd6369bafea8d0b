/*
 * epoch.h
 *	  The one counter by which caches of this process notice that they may be stale.
 *
 * A cache notes bfpg_epoch when it is filled, and looks again when that has moved.
 * The counter moves with every invalidation of a relation, of a role, its memberships or the
 * database's owner, with every rollback of a subtransaction, and when some module frees what
 * others may point to.
 */
#ifndef BFPG_EPOCH_H
#define BFPG_EPOCH_H

/* Never 0, which a cache can take for "not filled". */
extern uint64 bfpg_epoch;

/* Registers the callbacks, when the module is loaded. */
extern void bfpg_epoch_init(void);

#endif							/* BFPG_EPOCH_H */
