/*
 * ask.h
 *	  Whether a live filter may contain keys.
 */
#ifndef BFPG_LIVE_ASK_H
#define BFPG_LIVE_ASK_H

#include "fmgr.h"
#include "nodes/pg_list.h"

#pragma GCC visibility push(hidden)

/*
 * The tables, as a list of OIDs, whose rows may have the key of a call in a column of a
 * table: the table itself, or those below it.  The key is the call's argument 2, and the
 * column's name its argument 1.  All of them are locked.
 */
extern List *bfpg_live_tables_of(FunctionCallInfo fcinfo, Oid table);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_ASK_H */
