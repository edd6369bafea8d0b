/*
 * kept.h
 *	  What the engines tell of where the rows of a table are, for this room alone.
 */
#ifndef BFPG_KEPT_H
#define BFPG_KEPT_H

#include "base/pg_compat.h"

/* Throws: rows of a table are elsewhere. */
extern void pg_noreturn bfpg_refuse_kept(const char *table, const char *reason, const char *hint);

/* Each throws unless the rows of a table are in it, and returns whether that lasts: see bfpg_check_kept_here. */
extern bool bfpg_check_shard(Oid table);
extern bool bfpg_check_chunk(Oid table);

/* The transaction that made a chunk what it is, invalid if the table is none. */
extern TransactionId bfpg_chunk_maker(Oid table);

#endif							/* BFPG_KEPT_H */
