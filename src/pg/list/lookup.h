/*
 * lookup.h
 *	  A call site whose calls name a list and a key of it.
 */
#ifndef BFPG_LOOKUP_H
#define BFPG_LOOKUP_H

#include "ask/access.h"
#include "base/pg_compat.h"
#include "base/epoch.h"
#include "list/changes.h"
#include "list/list.h"

/* One part of the list: its row, and how its filter is asked. */
typedef struct BfpgLookupPart
{
	BfpgListPart row;
	BfpgAccess	access;
} BfpgLookupPart;

/* What a call site keeps between calls. */
typedef struct BfpgLookup
{
	BfpgKeyCoder coder;
	Oid			schema;
	MemoryContext context;		/* of all below, for one list under one snapshot */
	text	   *name;
	BfpgSnapshotMark mark;
	bf_header	header;			/* of part 0, with the kind of keys that the list has */
	Oid			changer;		/* a role that may change the list, or 0 */
	BfpgChanges *changes;		/* NULL: the list isn't tracked */
	StringInfoData key;			/* of the key that is looked for in them */
	BfpgLookupPart **parts;		/* NULL: no list yet; of them, where no key of it came yet */
	ErrorContextCallback callback;	/* names the list in errors of this call */
} BfpgLookup;

/*
 * A call's look-up, whose first arguments are the name of a list and a key, or an array of them.
 * Errors name the list until the end.
 */
extern BfpgLookup *bfpg_lookup_begin(FunctionCallInfo fcinfo, bool array);

/* A key of the call as bloom_change has it; valid until the next one. */
extern Datum bfpg_lookup_key(BfpgLookup *lookup, Datum key);

static inline void
bfpg_lookup_end(BfpgLookup *lookup)
{
	error_context_stack = lookup->callback.previous;
}

#endif							/* BFPG_LOOKUP_H */
