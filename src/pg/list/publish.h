/*
 * publish.h
 *	  Publishing a list: what is asked for, what was made, and the steps between.
 *
 * publish.c has the functions that users call, publish_plan.c sizes, publish_build.c
 * runs the user's query, publish_write.c changes the tables.  All statements run with
 * the rights of whoever calls.
 */
#ifndef BFPG_PUBLISH_H
#define BFPG_PUBLISH_H

#include "datatype/timestamp.h"
#include "utils/uuid.h"

#include "bf_format.h"
#include "base/pg_compat.h"

#pragma GCC visibility push(hidden)

/* What is known of a list that was published before. */
typedef struct BfpgLastList
{
	bool		exists;
	pg_uuid_t	identity;
	int64		serial;			/* 0: none yet */
	TimestampTz built_at;
	int64		n;
	double		p;
	int64		seed;
	int64		min_n;			/* these two as the caller gave them; 0: never */
	int32		min_parts;
	double		max_shrink;
	int64		rows;			/* that had a key; -1: not known */
	double		keys;			/* different ones, by the filters' estimate */
	const char *key_type;		/* NULL: no keys */
	bool		damaged;		/* a filter's header: keys is only a bound, and key_type may be NULL */
} BfpgLastList;

/* Where the extension's objects are. */
typedef struct BfpgPlace
{
	Oid			schema;
	const char *prefix;			/* the schema, quoted, and a dot */
	Oid			type;			/* bloomfilter */
} BfpgPlace;

typedef struct BfpgPublication
{
	BfpgPlace	place;
	const char *name;

	/* asked for */
	const char *query;
	double		p;
	int64		n;				/* 0: to be found; then what it is sized for */
	int64		min_n;			/* of this call or an earlier one; 0: none */
	int32		parts;			/* at least so many; 0: none */
	int64		seed;
	bool		check;
	bool		allow_empty;
	double		max_shrink;		/* share of its keys that the list may lose */
	bool		allow_type_change;
	bool		may_end;		/* the procedure may end transactions */

	/* made */
	int64		serial;
	int32		count;			/* of filters: all parts */
	Datum	   *filters;		/* of the parts, in their order */
	bf_header  *headers;		/* theirs */
	int64		keys;			/* rows with a key; -1: not known */
	int64		nulls;			/* rows without */
	bool		remote;			/* rows come from another server or engine */
	struct BfpgBuild *build;	/* how; NULL: not by a query */
	double		build_seconds;	/* these three: -1 where there was none */
	double		check_seconds;
	double		measured_rate;
} BfpgPublication;

/* Keys to plan for so that so many have room to grow, in steps. */
extern int64 bfpg_plan_step(double keys);

/*
 * The n of a list whose caller gives none: that of the last time, as long as its keys
 * have room in it and it isn't far too large, else a step.
 */
extern int64 bfpg_plan_capacity(const BfpgLastList *last, double expected_keys);

/* The fewest parts that n keys at rate p fit in. */
extern int32 bfpg_plan_parts(int64 n, double p);

/* Different keys in the filters, at most the keys that were read, if that is known. */
extern double bfpg_estimate_list_keys(const BfpgPublication *list);

/*
 * Builds the filters by the query, again and larger where they turn out too small, and looks
 * all keys up in them where that can be done before they are written.  Fails on an empty
 * source unless that is allowed.  The filters are valid until bfpg_publish_build_done.
 */
extern void bfpg_publish_build(BfpgPublication *list, const BfpgLastList *last);
extern void bfpg_publish_build_done(BfpgPublication *list);

/*
 * Compares what was written with what was built, and looks all keys of the query up where
 * that was not done yet.  Throws where a key is missing or a byte is another.
 */
extern void bfpg_publish_check(BfpgPublication *list);

/*
 * Locks a list against other publishers until the transaction ends.  Where wait is
 * false and somebody has it, that is an error.
 */
extern void bfpg_publish_lock(const BfpgPlace *place, const char *name, bool wait);

/* The same; false where somebody has it. */
extern bool bfpg_publish_try_lock(const BfpgPlace *place, const char *name);

/*
 * Throws where the current role has not the rights that every publisher needs, or would run
 * another role's trigger.  Locks the tables, so that no trigger comes until the transaction ends.
 */
extern void bfpg_publish_check_rights(const BfpgPlace *place);

/* What the tables know of a list. */
extern void bfpg_publish_last(const BfpgPlace *place, const char *name, BfpgLastList *last);

/* The type of a list's keys, as bloom_stats shows it. */
extern const char *bfpg_publish_key_type(const BfpgPublication *list);

/*
 * Throws where the filters that were built have lost too many keys, or hold keys of another
 * type than the list.
 */
extern void bfpg_publish_guard(const BfpgPublication *list, const BfpgLastList *last);

/*
 * Throws, and keeps the message in the list's row if the procedure may end transactions; all
 * else that it did is rolled back.
 */
pg_noreturn extern void bfpg_publish_refuse(const BfpgPublication *list, int sqlstate, const char *message,
											const char *detail, const char *hint);

/* Keeps a refusal in the list's row.  For bfpg_publish_refuse. */
extern void bfpg_publish_write_refusal(const BfpgPlace *place, const char *name, const char *message);

/*
 * Throws where so many bytes of filters can't be written: the disk of the table, or that of
 * WAL, has not the room.
 */
extern void bfpg_publish_check_room(const BfpgPublication *list, double bytes);

/* The same before the filters are built, where n is known. */
extern void bfpg_publish_expect_room(const BfpgPublication *list, const BfpgLastList *last);

/* What to do about a full disk. */
extern const char *bfpg_publish_room_hint(const BfpgPlace *place);

/* Bytes of all filters. */
extern double bfpg_publish_bytes(const BfpgPublication *list);

/* Makes the current generation the one before, and these filters the current one. */
extern void bfpg_publish_write_parts(BfpgPublication *list);

/*
 * The serial of what is published next: greater than the last one, and the microseconds
 * since 1970, so that it is also greater than those of rows that were lost.
 */
extern int64 bfpg_next_serial(const BfpgPlace *place, const char *name, const BfpgLastList *last);

/* The row of the list, with what its build and its check took, and the notification. */
extern void bfpg_publish_finish(const BfpgPublication *list, const BfpgLastList *last);

/* Changes of a list that is there; the lock is held.  Two return its new serial. */
extern int64 bfpg_publish_rollback(const BfpgPlace *place, const char *name);
extern int64 bfpg_publish_identify(const BfpgPlace *place, const char *name, Datum identity);
extern void bfpg_publish_drop(const BfpgPlace *place, const char *name);

#pragma GCC visibility pop

#endif							/* BFPG_PUBLISH_H */
