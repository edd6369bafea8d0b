/*
 * change.h
 *	  Changes of published lists by day: recording them.
 *
 * changes.h has the law that they follow.
 */
#ifndef BFPG_CHANGE_H
#define BFPG_CHANGE_H

#include "utils/relcache.h"

#include "base/pg_compat.h"

/*
 * Records that a key, which bfpg_change_key has made, has this answer from now on.  Whether the
 * current role may is the caller's to know.
 */
extern void bfpg_change_record(Oid schema, Datum list, Datum key, bool value);

/* The function that the triggers call. */
extern Oid	bfpg_change_trigger_function(Oid schema);

/* Whether the trigger by which an open table tracks a list is fired; always: as rows of logical replication need it. */
extern bool bfpg_change_fires(Relation table, Oid schema, const char *list, bool always);

/*
 * Throws unless an open table tracks a list as it must, by the triggers that it has.  Returns whether a
 * text of the column could be another key's.
 */
extern bool bfpg_change_check_trigger(Relation table, Oid schema, const char *list);

#endif							/* BFPG_CHANGE_H */
