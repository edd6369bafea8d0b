/*
 * elsewhere.h
 *	  Tables whose rows PostgreSQL's heap doesn't have: another engine keeps them.
 *
 * An engine that keeps rows of a table in other tables, on other nodes or in a storage of
 * its own doesn't tell the table's indexes of them, and the table's own file lacks them.
 * Whoever concludes from an index or a file of ours that a row isn't there asks here first.
 */
#ifndef BFPG_ELSEWHERE_H
#define BFPG_ELSEWHERE_H

#include "utils/relcache.h"
#include "utils/snapshot.h"

#pragma GCC visibility push(hidden)

/*
 * Throws unless the rows of a table are kept in its own heap.  Returns whether that holds
 * until PostgreSQL tells of a change: of a chunk it holds for the snapshot only.
 */
extern bool bfpg_check_kept_here(Oid table);

/* Whether Citus keeps a table's rows on other nodes, and not on this one, too. */
extern bool bfpg_is_distributed(Oid table);

/*
 * Throws where Citus has put shards on a node since a snapshot was taken.  The transaction may
 * have a snapshot there that is older than the shards' rows, which it would read as none.
 */
extern void bfpg_check_placements(Snapshot snapshot);

/* Whether a table is a chunk that TimescaleDB has compressed, wholly or in part. */
extern bool bfpg_is_compressed(Oid table);

/* Whether TimescaleDB has moved the rows of a chunk to where a snapshot doesn't see them. */
extern bool bfpg_has_moved(Oid table, Snapshot snapshot);

/*
 * Throws on a worker of Citus, where a list of the coordinator isn't, and another one of its
 * name may be.  The error says that lists are not done so there.
 */
extern void bfpg_check_coordinator(const char *done);

/* Throws on a worker of Citus, and where Citus keeps the rows of the table of lists. */
extern void bfpg_check_list_table(Oid table);

/* Throws unless the access method of an open table is heap, also by another name. */
extern void bfpg_check_heap(Relation table);

#pragma GCC visibility pop

#endif							/* BFPG_ELSEWHERE_H */
