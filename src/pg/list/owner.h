/*
 * owner.h
 *	  The role that a list belongs to.
 */
#ifndef BFPG_OWNER_H
#define BFPG_OWNER_H

#include "base/pg_compat.h"

typedef struct BfpgOwner
{
	bool		exists;			/* there is such a list */
	Oid			role;			/* InvalidOid: it has no owner here */
	const char *name;			/* of the owner, as it was kept; NULL: it wasn't */
	bool		gone;			/* it had one, who was dropped or renamed */
} BfpgOwner;

/* What somebody wants to do with a list. */
typedef enum BfpgDeed
{
	BFPG_GIVES_QUERY,			/* to a list, or to a new one; the query runs as the owner */
	BFPG_GIVES_FILTER,			/* the same by a value */
	BFPG_CHANGES,				/* a list that is there, and the keys that it has */
	BFPG_DISPOSES				/* drops it or gives it away, also if it has no owner, or nothing but a run that failed */
} BfpgDeed;

/* The owner of a list, as the newest transaction left it. */
extern void bfpg_owner_find(Oid schema, const char *list, BfpgOwner *owner);

/*
 * Throws unless the current role may do that, and finds the owner: of a list that is to be made,
 * this role.
 */
extern void bfpg_owner_check(Oid schema, const char *list, BfpgDeed deed, BfpgOwner *owner);

/* Writes who owns a list here; InvalidOid: nobody does. */
extern void bfpg_owner_write(Oid schema, const char *list, Oid role);

#endif							/* BFPG_OWNER_H */
