/*
 * limits.c
 *	  How large a list is made, and what a publish is refused for.
 *
 * The shape of a filter should be the same from night to night, so that patches for its followers
 * are small, although the number of keys isn't.  So the capacity is a round number, with a fifth of
 * room at least, and kept until that is nearly used up.
 *
 * A half-loaded table gives a list that denies most of its members, and keys of another type a
 * list whose look-ups fail; both look like success.  So a list says what it may lose.
 *
 * A tablespace that gets full is an error that takes everything back.  A full pg_wal ends the
 * server, so whether it has the room is looked at before.
 */
#include "postgres.h"

#include <math.h>
#include <sys/statvfs.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "bf_estimate.h"
#include "bf_key.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "publish/publish.h"

#define MEGABYTE (1024.0 * 1024.0)

/* Round capacities of a decade, each at most an eighth more than the one before. */
static const int64 round_capacities[] = {100, 112, 126, 141, 158, 177, 199, 223, 250, 281, 316, 355, 398, 447, 500, 562, 631, 709, 797, 895};

/* Room to grow that a new capacity leaves. */
#define ROOM 1.2

/* Growth that is expected until the next time, when it is decided to keep n. */
#define NEXT_GROWTH 1.05

/* A list is made smaller when its n is so many times what a new one would get. */
#define TOO_LARGE 4

/* A smaller list may lose what it likes. */
#define LEAST_GUARDED 1000

/* By so much the estimates of keys may be wrong: a list that is just allowed passes. */
#define SLACK 0.01

/* A larger list of so long ago counts, too: one that shrinks each night by what it may would be gone within days. */
#define MOST_DAYS 14

int64
bfpg_round_capacity(double keys)
{
	double		scale = 1;
	int			i;

	for (;;)
	{
		for (i = 0; i < lengthof(round_capacities); i++)
		{
			double		capacity = (double) round_capacities[i] * scale;

			if (capacity >= keys * ROOM || capacity >= (double) BF_MAX_CAPACITY)
				return (int64) Min(capacity, (double) BF_MAX_CAPACITY);
		}
		scale *= 10;
	}
}

int64
bfpg_choose_capacity(int64 last_n, double last_keys, double expected_keys)
{
	bool		known = last_keys >= 0;
	int64		capacity = bfpg_round_capacity(known ? last_keys : expected_keys);

	if (known && last_keys * NEXT_GROWTH <= (double) last_n && last_n / TOO_LARGE <= capacity)
		return last_n;
	return capacity;
}

double
bfpg_estimate_list_keys(const BfpgPublication *list)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < list->made.count; i++)
	{
		if (bf_is_saturated(&list->made.shapes[i].level[0]) && list->made.keys >= 0)
			return (double) list->made.keys;
		sum += bf_estimate_keys(&list->made.shapes[i].level[0]);
	}
	if (list->made.keys >= 0)
		return Min(sum, (double) list->made.keys);
	return sum;
}

uint32
bfpg_publish_kind(const BfpgPublication *list)
{
	uint32		type = BF_KEY_NONE;
	int			i;

	for (i = 0; i < list->made.count && type == BF_KEY_NONE; i++)
		type = list->made.shapes[i].level[0].key_type;
	return type;
}

const char *
bfpg_publish_key_type(const BfpgPublication *list)
{
	return bf_key_type_text(bfpg_publish_kind(list), palloc(BF_KEY_TEXT_BYTES));
}

/* bloom_refresh, bloom_track and bloom_untrack have not all arguments of bloom_publish. */
const char *
bfpg_publish_how_allowed(const BfpgPublication *list, const char *argument)
{
	if (list->deed != BFPG_CHANGES)
		return psprintf("add %s => true", argument);
	if (strcmp(argument, "allow_shrink") != 0)
		return psprintf("CALL bloom_publish with the list's query and %s => true", argument);
	return psprintf("%sCALL %s(%s, allow_shrink => true)", list->asked.tracking == BFPG_TRACK_AS_BEFORE ? "" : "first ",
					bfpg_callable_name(list->place.schema, "bloom_refresh"), quote_literal_cstr(list->name));
}

static void
guard_type(const BfpgPublication *list, const BfpgLastList *last)
{
	const char *type = bfpg_publish_key_type(list);

	if (list->asked.allow_type_change || last->key_type == NULL || strcmp(type, last->key_type) == 0 ||
		strcmp(type, bf_key_type_name(BF_KEY_NONE)) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("list \"%s\" is not published: its keys would no longer be %s, but %s", list->name, last->key_type, type),
			 errdetail("The list of %s stays.", timestamptz_to_str(last->built_at)),
			 errhint("Look-ups of %s keys would fail. If that is meant, %s.", last->key_type, bfpg_publish_how_allowed(list, "allow_type_change"))));
}

static void
forget_most(BfpgMost *most, double count, TimestampTz built_at)
{
	if (most->at < GetCurrentTransactionStartTimestamp() - MOST_DAYS * USECS_PER_DAY)
		*most = (BfpgMost) {count, built_at};
}

void
bfpg_publish_forget_most(BfpgLastList *last)
{
	forget_most(&last->most_keys, last->keys, last->built_at);
	forget_most(&last->most_others, (double) last->others, last->built_at);
}

/* Of keys, or of an exact list's others: one that is gone is a stranger, which the list lets in by its rate. */
static void
guard_count(const BfpgPublication *list, const BfpgLastList *last, const char *what, double now, BfpgMost most)
{
	if (list->asked.allow_shrink || now >= most.count * (1 - list->asked.max_shrink) * (1 - SLACK))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("list \"%s\" is not published: it would have about %.0f %s instead of about %.0f", list->name, now, what, most.count),
			 errdetail("It had so many on %s and may lose a share of %g within %d days, its max_shrink. The list of %s stays.",
					   pstrdup(timestamptz_to_str(most.at)), list->asked.max_shrink, MOST_DAYS, pstrdup(timestamptz_to_str(last->built_at))),
			 errhint("Look what the query returns. If that is meant, %s.", bfpg_publish_how_allowed(list, "allow_shrink"))));
}

static void
guard_counts(const BfpgPublication *list, const BfpgLastList *last)
{
	double		most = last->most_keys.count;
	bool		few = most < LEAST_GUARDED * (1 - SLACK) || (last->rows >= 0 && Max((double) last->rows, most) < LEAST_GUARDED);

	if (list->others.count >= 0 && last->most_others.count >= LEAST_GUARDED)
		guard_count(list, last, "others", (double) list->others.count, last->most_others);
	if (!few)
		guard_count(list, last, "keys", bfpg_estimate_list_keys(list), last->most_keys);
}

/* Hosts that know plain lists alone keep the one that they have. */
static void
guard_exact(const BfpgPublication *list, const BfpgLastList *last)
{
	if (list->exact == last->exact || list->asked.allow_type_change)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("list \"%s\" is not published: it would no longer be %s", list->name, last->exact ? "exact" : "plain"),
			 errdetail("The query returns %s. The list of %s stays.",
					   list->exact ? "a boolean beside each key" : "keys without a boolean", timestamptz_to_str(last->built_at)),
			 errhint("If that is meant, %s%s.", list->exact ? "update the hosts first, which may not read exact lists, then " : "", bfpg_publish_how_allowed(list, "allow_type_change"))));
}

void
bfpg_publish_guard(const BfpgPublication *list, const BfpgLastList *last)
{
	if (!last->exists)
		return;
	guard_exact(list, last);
	guard_type(list, last);
	guard_counts(list, last);
}

/*
 * What so many bytes of WAL take more of its file system.  Beyond max_wal_size its files are used again,
 * unless they are held: by a slot that nobody reads, by an archiver that fails, or where more is there.
 */
static double
wal_needed(Oid schema, double bytes)
{
	const ParamExternData parameters[] = {
		bfpg_parameter(FLOAT8OID, Float8GetDatum(bytes)),
		bfpg_parameter(FLOAT8OID, Float8GetDatum(max_wal_size_mb * MEGABYTE)),
		bfpg_parameter(BOOLOID, BoolGetDatum(XLogArchivingActive())),
	};

	bfpg_run_statement(schema, "SELECT CASE WHEN sum(size)::float8 > $2 "
					   "OR EXISTS (SELECT FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL) "
					   "OR EXISTS (SELECT FROM pg_stat_archiver WHERE $3 AND last_failed_time > coalesce(last_archived_time, '-infinity')) "
					   "THEN $1 ELSE greatest(least($1, $2) - sum(size)::float8, 0) END FROM pg_ls_waldir()",
					   lengthof(parameters), parameters, SPI_OK_SELECT);
	return DatumGetFloat8(bfpg_result(SPI_tuptable, 0, 1));
}

double
bfpg_free_bytes(const char *folder)
{
	struct statvfs space;

	return statvfs(folder, &space) == 0 ? (double) space.f_bavail * (double) space.f_frsize : HUGE_VAL;
}

void
bfpg_publish_check_room(const BfpgPublication *list)
{
	double		needed = wal_needed(list->place.schema, bfpg_publish_bytes(list));
	double		free_bytes = bfpg_free_bytes(XLOGDIR);

	if (free_bytes < needed)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("list \"%s\" is not published: it needs %.1f MB in %s, where %.1f MB are free",
						list->name, needed / MEGABYTE, XLOGDIR, free_bytes / MEGABYTE),
				 errdetail("Nothing was written."),
				 errhint(BFPG_WAL_HINT)));
}
