/*
 * publish.h
 *	  Publishing a list: what is asked for, what was made, and what is done between.
 *
 * publish.c has the functions that users call, limits.c sizes and refuses, build.c runs the
 * user's query, as_owner.c as the list's owner; write.c changes the tables, run.c tells others how it went.
 */
#ifndef BFPG_PUBLISH_H
#define BFPG_PUBLISH_H

#include "datatype/timestamp.h"
#include "nodes/plannodes.h"
#include "utils/array.h"

#include "bf_exact.h"
#include "base/pg_compat.h"
#include "list/owner.h"
#include "list/tables.h"

/* The largest count that a list had for some time, which counts for max_shrink. */
typedef struct BfpgMost
{
	double		count;
	TimestampTz at;
} BfpgMost;

/* What is known of a list that was published before. */
typedef struct BfpgLastList
{
	bool		exists;
	int64		serial;			/* 0: none yet */
	TimestampTz built_at;
	int64		n;
	double		p;
	int64		seed;
	int64		min_n;			/* these two as the caller gave them; 0: never */
	int32		min_parts;
	double		max_shrink;
	int64		rows;			/* that had a key; -1: not known */
	double		keys;			/* different ones, as they were estimated when it was published */
	const char *key_type;		/* NULL: no keys */
	bool		exact;
	int64		others;			/* of an exact list; -1: not known */
	int64		planned_others;
	BfpgMost	most_keys;
	BfpgMost	most_others;
	bool		tracked;
	bool		by_table;
} BfpgLastList;

/* What becomes of keys that a query returns with true and with false. */
typedef enum BfpgOnConflict
{
	BFPG_CONFLICT_ERROR,
	BFPG_CONFLICT_TRUE,
	BFPG_CONFLICT_FALSE
} BfpgOnConflict;

/* Whether changes of the list count from this publish on. */
typedef enum BfpgTracking
{
	BFPG_TRACK_AS_BEFORE,
	BFPG_TRACK,
	BFPG_UNTRACK
} BfpgTracking;

/* Where the extension's objects are. */
typedef struct BfpgPlace
{
	Oid			schema;
	const char *prefix;			/* the schema, quoted, and a dot */
	Oid			type;			/* bloomfilter */
} BfpgPlace;

/* How the caller wants a publish to be, or the definition that was kept. */
typedef struct BfpgAsked
{
	const char *query;			/* NULL: the filters are given */
	ArrayType  *settings;		/* that the query runs with, each as name=value */
	bool		seed_given;
	bool		check;
	bool		allow_empty;
	bool		verbose;
	double		max_shrink;		/* share of its keys that the list may lose */
	bool		allow_shrink;	/* this time more */
	bool		allow_type_change;
	BfpgOnConflict on_conflict;
	BfpgTracking tracking;
} BfpgAsked;

/* What came of it; numbers are -1 where there are none. */
typedef struct BfpgMade
{
	int64		serial;
	int32		count;			/* of filters: all parts */
	Datum	   *filters;		/* of the parts, in their order */
	bf_shape   *shapes;			/* theirs */
	int64		keys;			/* rows with a key, of an exact list members */
	int64		nulls;			/* rows without */
	bool		remote;			/* rows come from another server or engine */
	bool		temporary;		/* the query reads a temporary table */
	struct BfpgBuild *build;	/* how; NULL: not by a query */
	double		build_seconds;
	double		check_seconds;
} BfpgMade;

/* Of an exact list; all -1 of a plain one. */
typedef struct BfpgOthers
{
	int64		planned;		/* for which it is sized */
	int64		count;
	int64		unknown;		/* of these, rows whose boolean is null */
	int64		conflicts;		/* keys that on_conflict decided */
	int64		contradicted;	/* changes that the list says otherwise; -1 where it isn't tracked */
} BfpgOthers;

typedef struct BfpgPublication
{
	BfpgPlace	place;
	const char *name;
	Oid			caller;
	BfpgDeed	deed;
	BfpgOwner	owner;
	TimestampTz started;

	/* parameters: what was asked for, or is found; numbers are 0 until then */
	double		p;
	int64		n;				/* that it is sized for */
	int64		min_n;			/* of this call or an earlier one; 0: none */
	int32		parts;			/* at least so many; 0: none */
	int64		seed;
	bool		exact;
	bool		tracked;
	bool		by_table;		/* by a table's triggers, which may have gone since bloom_track */

	BfpgAsked	asked;
	BfpgMade	made;
	BfpgOthers	others;
} BfpgPublication;

/* What to do about a full pg_wal. */
#define BFPG_WAL_HINT "Look at pg_replication_slots for a slot that nobody reads and at pg_stat_archiver for an archive_command that fails: both hold WAL. Else give pg_wal more room."

/* A round capacity in which so many keys have room to grow. */
extern int64 bfpg_round_capacity(double keys);

/*
 * The n of a list whose caller gives none: that of the last time, as long as its keys
 * have room in it and it isn't far too large, else a round one.  last_keys: -1 where there was
 * no last time.
 */
extern int64 bfpg_choose_capacity(int64 last_n, double last_keys, double expected_keys);

/* Different keys in the filters, at most the keys that were read, if that is known. */
extern double bfpg_estimate_list_keys(const BfpgPublication *list);

/*
 * Builds the filters by the query, again and larger where they turn out too small, and looks
 * all keys up in them if that was asked for.  Fails on an empty source unless that is allowed.
 * The filters are valid until bfpg_publish_build_done.
 */
extern void bfpg_publish_build(BfpgPublication *list, const BfpgLastList *last);
extern void bfpg_publish_build_done(BfpgPublication *list);

/* The same, as the list's owner, with the settings of the publication. */
extern void bfpg_publish_build_as_owner(BfpgPublication *list, const BfpgLastList *last);

/* Settings that a query is kept with, as they are now. */
extern ArrayType *bfpg_session_settings(void);

/* The search_path among them, which is the first one. */
extern const char *bfpg_settings_path(ArrayType *settings);

/*
 * Throws unless the caller may do to the list what the publication does, and finds its owner.  It is
 * asked before the lock, since who may not must not wait nor hinder others; and again whenever
 * something may have changed.
 */
extern void bfpg_publish_check_owner(BfpgPublication *list);

/*
 * Locks a list against other publishers until the transaction ends.  Where wait is false and somebody
 * has it, that is an error.
 */
extern void bfpg_publish_lock(const BfpgPlace *place, const char *name, bool wait);

/* The same until the session unlocks it.  Waits for it, and may end the transaction for that. */
extern void bfpg_publish_hold(const BfpgPublication *list);
extern void bfpg_publish_unlock_session(const BfpgPlace *place, const char *name);

/* Publishes in transactions of its own, for a procedure that may end them. */
extern void bfpg_publish_run(BfpgPublication *list);

/* Begins what a call does to a list, its first argument, and throws where the caller may not. */
extern void bfpg_publish_begin(FunctionCallInfo fcinfo, BfpgPublication *list, BfpgDeed deed);

/* Whether the caller leaves transactions to the procedure. */
extern bool bfpg_may_end_transaction(FunctionCallInfo fcinfo);

/*
 * Publishes by the query that the caller gives, or by the one that was kept, with the settings of that time:
 * in the transaction that has the snapshot and the lock.
 */
extern void bfpg_publish_query(BfpgPublication *list);

/* Removes changes that the generations of a list have absorbed, or all where the list is dropped. */
extern void bfpg_absorb_prune(const BfpgPlace *place, const char *name);
extern void bfpg_absorb_drop(const BfpgPlace *place, const char *name, bool in_block);

/* Absorbs, into the current generation, the changes that the transaction's snapshot sees. */
extern void bfpg_absorb(const BfpgPublication *list, const BfpgLastList *last);

/* Warns of, and counts, changes whose keys the filters of an exact list, not yet written, answer otherwise. */
extern void bfpg_absorb_tell_differences(BfpgPublication *list);

/* Whether so many strangers may be let in where so many are expected. */
extern bool bfpg_absorb_is_by_chance(double found, double expected);

/* Runs a statement whose parameter is the name of a list; %1$s is the extension's schema and a dot. */
extern void bfpg_run_for_list(const BfpgPlace *place, const char *name, const char *sql, int expected);

/* Throws where the caller gives another query to a list that a table's triggers track, or a filter to a tracked list. */
extern void bfpg_track_check_query(const BfpgPublication *list);

/* Tells of a list that goes which tables still have triggers for it. */
extern void bfpg_track_tell_triggers(const BfpgPlace *place, const char *name);

/* The tables whose rows' triggers are for a list. */
extern List *bfpg_track_tables(const BfpgPublication *list);

/* Tells where the list's triggers are not those of the table that its query, which was run, reads. */
extern void bfpg_track_tell_tables(const BfpgPublication *list);

/* Throws where another table tracks the list: one table has one row for a key, two have two. */
extern void bfpg_track_check_only_table(const BfpgPublication *list, Oid table);

/*
 * Drops the list's triggers.  Only the owner of a table may, and each partition has them, too: that is
 * checked before the list is published without them.
 */
extern void bfpg_track_check_may_drop(const BfpgPublication *list);
extern void bfpg_track_drop_triggers(const BfpgPublication *list);

/* Throws where a plan reads rows that may be older than its snapshot. */
extern void bfpg_track_check_plan(const BfpgPublication *list, const PlannedStmt *plan);

/* Writes that the run of this publication has started, or ended, with an error unless that is NULL. */
extern void bfpg_publish_write_run(const BfpgPublication *list, bool ended, const char *error);

/* What the tables know of a list; find throws where there is none. */
extern void bfpg_publish_last(const BfpgPlace *place, const char *name, BfpgLastList *last);
extern void bfpg_publish_find(const BfpgPlace *place, const char *name, BfpgLastList *last);

/* The type of a list's keys, and as bloom_stats shows it. */
extern uint32 bfpg_publish_kind(const BfpgPublication *list);
extern const char *bfpg_publish_key_type(const BfpgPublication *list);

/* How the caller gets what a guard refuses, by an argument of bloom_publish: for a hint. */
extern const char *bfpg_publish_how_allowed(const BfpgPublication *list, const char *argument);

/* Leaves of the largest counts only what a publish is held against. */
extern void bfpg_publish_forget_most(BfpgLastList *last);

/*
 * Throws where the filters that were built have lost too many keys, or hold keys of another
 * type than the list.
 */
extern void bfpg_publish_guard(const BfpgPublication *list, const BfpgLastList *last);

/* Throws where the disk of pg_wal has not the room for what writing the filters logs. */
extern void bfpg_publish_check_room(const BfpgPublication *list);

extern double bfpg_publish_bytes(const BfpgPublication *list);

/* That are free in the file system of a folder; infinitely many where it doesn't tell. */
extern double bfpg_free_bytes(const char *folder);

/*
 * The serial of what is published next: greater than the last one, and the microseconds
 * since 1970, so that it is also greater than those of rows that were lost.
 */
extern int64 bfpg_next_serial(const BfpgPlace *place, const char *name, const BfpgLastList *last);

/* Makes the current generation the one before, and these filters the current one, unless a guard throws. */
extern void bfpg_publish_write(BfpgPublication *list, const BfpgLastList *last);

/*
 * By which query a list was published, and how, so that bloom_refresh can do it again.  What is
 * read is put into the publication; read throws where there is no query.  What is written becomes the
 * current generation's, and that of the generation before is kept, for roll_back.
 */
extern void bfpg_definition_read(BfpgPublication *list);
extern bool bfpg_definition_find(BfpgPublication *list);
extern void bfpg_definition_write(const BfpgPublication *list);
extern void bfpg_definition_roll_back(const BfpgPlace *place, const char *name);

/* Gives a list to a role, with its query, and without that of the generation before, at which nobody has looked. */
extern void bfpg_definition_give(const BfpgPlace *place, const char *name, Oid role);
extern void bfpg_definition_drop(const BfpgPlace *place, const char *name);

/* Makes the generation before the current one; the lock is held. */
extern void bfpg_publish_rollback(const BfpgPlace *place, const char *name);

/* Tells the server's log what somebody has done to a list. */
extern void bfpg_publish_tell(const char *name, const char *done);

#endif							/* BFPG_PUBLISH_H */
