/*
 * change.h
 *	  Changes of published lists by day: recording them.
 *
 * changes.h has the law that they follow.
 */
#ifndef BFPG_CHANGE_H
#define BFPG_CHANGE_H

#include "access/skey.h"
#include "commands/trigger.h"
#include "lib/stringinfo.h"

#include "key/key.h"

/*
 * Records that a key, which bfpg_change_key has made, has this answer from now on.  Whether the
 * current role may is the caller's to know.
 */
extern void bfpg_change_record(Oid schema, Datum list, Datum key, bool value);

extern Oid	bfpg_change_trigger_function(Oid schema);

/* Whether the trigger by which a table tracks a list is fired; always: as rows of logical replication need it. */
extern bool bfpg_change_fires(Oid relation, Oid schema, const char *list, bool always);

/* Throws unless an open table tracks a list as it must, by the triggers and the rows that it has. */
extern void bfpg_change_check_trigger(Relation table, Oid schema, const char *list);

/* tracked.c: a table that tracks a list, as its trigger sees it. */

/* Arguments of the trigger. */
enum
{
	BFPG_TRACKED_LIST,
	BFPG_TRACKED_KEY,
	BFPG_TRACKED_VALUE,
	BFPG_TRACKED_COUNT
};

/* What a trigger keeps between the rows of a statement. */
typedef struct BfpgTracked
{
	uint64		epoch;			/* bfpg_epoch when all was looked at, or 0 */
	Oid			schema;
	Datum		list;
	bool		exists;			/* there is such a list */
	const char *keys;			/* their type in the list; NULL: it has none */
	Oid			type;			/* of the column */
	AttrNumber	key;
	AttrNumber	value;			/* 0: every row's key is in */
	BfpgKeyCoder coder;
	Oid			index;			/* by which a key's row is found */
	ScanKeyData row;			/* but for the key */
	StringInfoData old_key;		/* of the row at hand */
	StringInfoData new_key;
	StringInfoData now_key;
} BfpgTracked;

/* Throws unless the trigger is one that can track, and has its arguments. */
extern void bfpg_tracked_check_trigger(const TriggerData *trigger);

/* What there is of the list now: exists and keys, by schema and list. */
extern void bfpg_tracked_find_list(BfpgTracked *tracked);

/* Throws if another value than this of the column could have the same bytes. */
extern void bfpg_tracked_check_key(const TriggerData *trigger, const BfpgTracked *tracked, Datum key);

/* Throws unless table and trigger are what the promise needs.  Finds the columns, and how a key's row is found. */
extern void bfpg_tracked_check(const TriggerData *trigger, BfpgTracked *tracked);

#endif							/* BFPG_CHANGE_H */
