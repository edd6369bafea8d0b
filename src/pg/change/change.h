/*
 * change.h
 *	  Changes of published lists by day: recording them, and what publishes do with them.
 *
 * changes.h has the law that they follow.
 */
#ifndef BFPG_CHANGE_H
#define BFPG_CHANGE_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "base/pg_compat.h"

#pragma GCC visibility push(hidden)

/*
 * Records that a key, which bfpg_change_key has made, has this answer from now on.  Whether the
 * current role may is the caller's to know.
 */
extern void bfpg_change_record(Oid schema, Datum list, Datum key, bool value);

/*
 * Removes changes that the generations of a list have taken up.  In a transaction that has one
 * snapshot for all of its statements nothing is done.
 */
extern void bfpg_change_prune(Oid schema, const char *list);

/* Takes up, into the current generation, what the transaction's snapshot sees, and returns how many. */
extern uint64 bfpg_change_absorb(Oid schema, const char *list);

/* Removes all that is known of a list's changes. */
extern void bfpg_change_drop(Oid schema, const char *list);

/* Whether a change is in force, as of now, whose key is not of this kind. */
extern bool bfpg_change_has_other_kind(Oid schema, const char *list, uint32 kind);

/* A trigger that tracks a list, other than a partition's copy of one. */
typedef struct BfpgListTrigger
{
	Oid			table;
	const char *name;
} BfpgListTrigger;

/* The trigger function, and the triggers that call it for a list. */
extern Oid	bfpg_change_function(Oid schema);
extern List *bfpg_change_triggers(Oid schema, const char *list);

/*
 * Throws unless the triggers of an open table track a list as they must.  Returns the kind of its keys,
 * and whether a text of the column could be another key's.
 */
extern uint32 bfpg_change_check_triggers(Relation table, Oid schema, const char *list, bool *blanks);

#pragma GCC visibility pop

#endif							/* BFPG_CHANGE_H */
