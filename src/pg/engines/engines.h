/*
 * engines.h
 *	  Tables whose rows PostgreSQL's heap doesn't have: another engine keeps them.
 *
 * An engine that keeps rows of a table in other tables, on other nodes or in a storage of
 * its own doesn't tell the table's indexes of them, and the table's own file lacks them.
 * Whoever concludes from an index or a file of ours that a row isn't there asks here first.
 * Nothing else in src knows what another engine is called, or what its catalogs are.
 */
#ifndef BFPG_ENGINES_H
#define BFPG_ENGINES_H

#include "nodes/plannodes.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "base/pg_compat.h"

/* seen.c */

/*
 * Throws unless the rows of a table are kept in its own heap.  Returns whether that holds
 * until PostgreSQL tells of a change: of a chunk or a shard it holds for the snapshot only.
 */
extern bool bfpg_check_kept_here(Oid table);

/* Throws unless the access method of an open table is heap, also by another name. */
extern void bfpg_check_heap(Relation table);

/*
 * Throws where a table of a plan, or one below it, changed or went away after the snapshot was
 * taken, which may see its rows neither there nor where they are now.  The tables are locked since
 * they were planned, so nothing changes from here on.
 */
extern void bfpg_check_seen(const PlannedStmt *plan, Snapshot snapshot);

/* The same of what is below a table, but for tables that came since: they have rows that came, too. */
extern void bfpg_check_seen_below(Oid table, Snapshot snapshot);

/*
 * Throws if a locked table is a chunk that changed after the active snapshot was taken: who has
 * asked the engine for its chunks before may miss those which have its rows now.
 */
extern void bfpg_check_seen_chunk(Oid table);

/* citus.c */

/* Whether a table's rows are on other nodes, and not on this one, too. */
extern bool bfpg_is_distributed(Oid table);

/* Throws: a distributed table is joined with the filters of lists. */
pg_noreturn extern void bfpg_refuse_join(void);

/*
 * Throws where shards were put on a node since a snapshot was taken.  The transaction may
 * have a snapshot there that is older than the shards' rows, which it would read as none.
 */
extern void bfpg_check_placements(Snapshot snapshot);

/*
 * Throws on a worker, where a list of the coordinator isn't, and another one of its
 * name may be.  The error says that lists are not done so there.
 */
extern void bfpg_check_coordinator(const char *done);

/*
 * Until the level of settings ends, our aggregates are split among nodes by their own state alone, and not
 * by the functions that PostgreSQL's workers have.
 */
extern void bfpg_keep_aggregates_whole(void);

/* Throws on a worker, and where the rows of the table of lists are not in it. */
extern void bfpg_check_list_table(Oid table);

/* timescale.c */

/* Whether a table is a chunk that is compressed, wholly or in part. */
extern bool bfpg_is_compressed(Oid table);

/* Throws: a table has compressed chunks. */
pg_noreturn extern void bfpg_refuse_compressed(Oid table);

#endif							/* BFPG_ENGINES_H */
