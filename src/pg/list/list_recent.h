/*
 * list_recent.h
 *	  Where rows were found the last time, so that most look-ups need no index.
 */
#ifndef BFPG_LIST_RECENT_H
#define BFPG_LIST_RECENT_H

#include "access/htup.h"
#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#pragma GCC visibility push(hidden)

/*
 * Looks at the place where the row of this number was found.  If there is a row that
 * the snapshot sees, *tuple is it, until the caller releases *buffer.  It may be
 * another row than that one: the caller compares.
 */
extern bool bfpg_recent_read(Relation table, uint64 number, Snapshot snapshot,
							 HeapTuple tuple, Buffer *buffer);

/* Remembers the place of the row of this number, which a scan has in the slot. */
extern void bfpg_recent_note(Relation table, uint64 number, TupleTableSlot *slot);

#pragma GCC visibility pop

#endif							/* BFPG_LIST_RECENT_H */
