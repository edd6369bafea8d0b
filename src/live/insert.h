/*
 * insert.h
 *	  Adding keys to a live filter, one at a time or many while it is built.
 */
#ifndef BFPG_LIVE_INSERT_H
#define BFPG_LIVE_INSERT_H

#include "access/amapi.h"
#include "nodes/execnodes.h"

#include "key/key.h"
#include "live/compat.h"
#include "live/page.h"

#pragma GCC visibility push(hidden)

/* aminsert. */
extern bool bfpg_live_insert(Relation index, Datum *values, bool *isnull,
							 ItemPointer row, Relation heap, IndexUniqueCheck unique,
							 bool unchanged, IndexInfo *info);

/* The coder for an index's column.  Throws if its values can't be keys. */
extern void bfpg_live_key_coder(Relation index, BfpgKeyCoder *coder);

/*
 * Gives the full page in an exclusively locked buffer its overflow pages, and
 * returns the first of them.
 */
extern BlockNumber bfpg_live_grow(Relation index, Buffer full, unsigned level);

/* A new page at the end of a fork, locked; the caller holds the extension lock. */
extern Buffer bfpg_live_extend(Relation index, ForkNumber fork);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_INSERT_H */
