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
