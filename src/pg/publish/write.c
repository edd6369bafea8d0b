/*
 * write.c
 *	  What publishing changes in the tables, and who may do it at a time.
 *
 * All of it is one transaction, so that readers see the old generation or the new
 * one.  The generation before is made by an update of a small column: the filter's
 * bytes stay where they are.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "bf_estimate.h"
#include "bf_key.h"
#include "list/list.h"
#include "base/pg_compat.h"
#include "publish/publish.h"

/*
 * Our locks are of PostgreSQL's kind for applications, in a space that its functions
 * don't reach: those have 1 or 2 here.
 */
#define LOCK_SPACE 0xb10f

/* For the server's log: whoever misses a list's keys looks there.  The transaction may still be rolled back. */
void
bfpg_publish_tell(const char *name, const char *done)
{
	ereport(LOG,
			(errmsg("list \"%s\" is %s by role \"%s\"", name, done, GetUserNameFromId(GetUserId(), false))));
}

/* The view bloom_published looks for this lock, too. */
static LOCKTAG
lock_of(const BfpgPlace *place, const char *name)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, place->schema,
						 hash_bytes((const unsigned char *) name, (int) strlen(name)), LOCK_SPACE);
	return tag;
}

void
bfpg_publish_unlock_session(const BfpgPlace *place, const char *name)
{
	LOCKTAG		tag = lock_of(place, name);

	(void) LockRelease(&tag, ExclusiveLock, true);
}

/* A function of the query is refused, since its own session has the lock. */
static bool
lock(const BfpgPlace *place, const char *name, bool session, bool wait)
{
	LOCKTAG		tag = lock_of(place, name);

	if (bfpg_publishes_in_session(place, name))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("list \"%s\" is being published by this session", name)));
	return LockAcquire(&tag, ExclusiveLock, session, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

bool
bfpg_publish_lock_session(const BfpgPlace *place, const char *name, bool wait)
{
	return lock(place, name, true, wait);
}

void
bfpg_publish_lock(const BfpgPlace *place, const char *name, bool wait)
{
	if (!lock(place, name, false, wait))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("list \"%s\" is being published by another session", name),
				 errhint("In a transaction block the snapshot is there already, so that waiting would be in vain. Try again later, or CALL bloom_publish outside of a transaction block: then it waits.")));
}

void
bfpg_run_for_list(const BfpgPlace *place, const char *name, const char *sql, int expected)
{
	const ParamExternData parameter = bfpg_parameter(TEXTOID, CStringGetTextDatum(name));

	bfpg_run_statement(place->schema, psprintf(sql, place->prefix), 1, &parameter, expected);
}

static Datum
result_column(int column, bool *is_null)
{
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, is_null);
}

int64
bfpg_next_serial(const BfpgPlace *place, const char *name, const BfpgLastList *last)
{
	int64		now = GetCurrentTimestamp() + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

	if (last->serial == PG_INT64_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("list \"%s\" has the last serial that there is, " INT64_FORMAT, name, last->serial),
				 errdetail("A restore or a superuser has written it into %sbloom_generation.", place->prefix),
				 errhint("UPDATE %sbloom_generation SET serial = 1 WHERE name = %s; CALL %sbloom_set_identity(%s, gen_random_uuid()). Followers take the list by its new identity.",
						 place->prefix, quote_literal_cstr(name), place->prefix, quote_literal_cstr(name))));
	return Max(last->serial + 1, now);
}

/* A count, and in the next column when it was. */
static BfpgMost
result_most(int column)
{
	bool		is_null;

	return (BfpgMost) {
		DatumGetFloat8(result_column(column, &is_null)), DatumGetTimestampTz(result_column(column + 1, &is_null))
	};
}

/* Reads the row of the current generation, and none of its filters: those may be damaged. */
void
bfpg_publish_last(const BfpgPlace *place, const char *name, BfpgLastList *last)
{
	bool		is_null;
	Datum		key_type;

	memset(last, 0, sizeof(*last));
	bfpg_run_for_list(place, name,
					  "SELECT serial, built_at, n, coalesce(next_p, p), seed, coalesce(min_n, 0), coalesce(min_parts, 0), "
					  "max_shrink, coalesce(rows, -1), keys, key_type, coalesce(others, -1), planned_others, "
					  "most_keys, most_keys_at, most_others, most_others_at, "
					  "(SELECT bool_or(tracked) FROM %1$sbloom_generation_part WHERE name = $1 AND back = 0 AND part = 0) "
					  "FROM %1$sbloom_generation WHERE name = $1 AND back = 0",
					  SPI_OK_SELECT);
	if (SPI_processed == 0)
		return;
	last->exists = true;
	last->serial = DatumGetInt64(result_column(1, &is_null));
	last->built_at = DatumGetTimestampTz(result_column(2, &is_null));
	last->n = DatumGetInt64(result_column(3, &is_null));
	last->p = DatumGetFloat8(result_column(4, &is_null));
	last->seed = DatumGetInt64(result_column(5, &is_null));
	last->min_n = DatumGetInt64(result_column(6, &is_null));
	last->min_parts = DatumGetInt32(result_column(7, &is_null));
	last->max_shrink = DatumGetFloat8(result_column(8, &is_null));
	last->rows = DatumGetInt64(result_column(9, &is_null));
	last->keys = DatumGetFloat8(result_column(10, &is_null));
	key_type = result_column(11, &is_null);
	last->key_type = is_null ? NULL : TextDatumGetCString(key_type);
	last->others = DatumGetInt64(result_column(12, &is_null));
	last->planned_others = DatumGetInt64(result_column(13, &is_null));
	last->exact = !is_null;
	last->most_keys = result_most(14);
	last->most_others = result_most(16);
	last->tracked = DatumGetBool(result_column(18, &is_null)) && !is_null;
}

void
bfpg_publish_find(const BfpgPlace *place, const char *name, BfpgLastList *last)
{
	bfpg_publish_last(place, name, last);
	if (!last->exists)
		bfpg_list_unknown(CStringGetTextDatum(name));
}

/* The current generation becomes the one before; that one goes. */
static void
move_back(const BfpgPublication *list)
{
	const char *tables[] = {"bloom_generation", "bloom_generation_part", "bloom_absorbed"};
	int			i;

	for (i = 0; i < lengthof(tables); i++)
	{
		bfpg_run_for_list(&list->place, list->name, psprintf("DELETE FROM %%1$s%s WHERE name = $1 AND back <> 0", tables[i]), SPI_OK_DELETE);
		bfpg_run_for_list(&list->place, list->name, psprintf("UPDATE %%1$s%s SET back = 1 WHERE name = $1 AND back = 0", tables[i]), SPI_OK_UPDATE);
	}
}

double
bfpg_publish_bytes(const BfpgPublication *list)
{
	double		bytes = 0;
	int32		part;

	for (part = 0; part < list->count; part++)
		bytes += (double) bf_exact_bytes(&list->shapes[part]);
	return bytes;
}

/*
 * A tablespace that gets full has dead rows on it, which a failed write can't take along.  WAL is
 * written in critical sections, and nothing else is that needs new room.
 */
static void
hint_at_room(void *list)
{
	if (geterrcode() != ERRCODE_DISK_FULL)
		return;
	if (CritSectionCount > 0)
		errhint(BFPG_WAL_HINT);
	else
		errhint("VACUUM (TRUNCATE) %sbloom_generation_part gives back to its tablespace what earlier generations left. "
				"Free other space first if the disk is full: bloom_drop writes WAL before it frees anything.",
				((const BfpgPublication *) list)->place.prefix);
}

static void
write_parts(BfpgPublication *list)
{
	ErrorContextCallback callback = {error_context_stack, hint_at_room, list};
	int32		part;

	bfpg_publish_check_room(list);
	error_context_stack = &callback;
	move_back(list);
	for (part = 0; part < list->count; part++)
	{
		const ParamExternData row[] = {
			bfpg_parameter(TEXTOID, CStringGetTextDatum(list->name)),
			bfpg_parameter(INT4OID, Int32GetDatum(part)),
			bfpg_parameter(list->place.type, list->filters[part]),
			bfpg_parameter(BOOLOID, BoolGetDatum(list->tracked)),
		};

		bfpg_run_statement(list->place.schema, psprintf("INSERT INTO %sbloom_generation_part (name, back, part, filter, tracked) VALUES ($1, 0, $2, $3, $4)",
									list->place.prefix),
						   lengthof(row), row, SPI_OK_INSERT);
	}
	error_context_stack = callback.previous;
}

static ParamExternData
number_or_null(int64 value, int64 null)
{
	return (ParamExternData) {.value = Int64GetDatum(value), .isnull = value == null, .ptype = INT8OID};
}

static ParamExternData
real_or_null(double value)
{
	return (ParamExternData) {.value = Float8GetDatum(value), .isnull = value < 0, .ptype = FLOAT8OID};
}

/*
 * Of the fullest part: its rate, and its keys as a share of what it is sized for.  Warns where a
 * part has more; an error would keep a list that lacks the new keys.
 */
static void
judge_fullest(const BfpgPublication *list, double *rate, double *fullest)
{
	bool		overfull = false;
	bool		saturated = false;
	int32		part;

	*rate = *fullest = 0;
	for (part = 0; part < list->count; part++)
	{
		const bf_header *header = &list->shapes[part].level[0];

		*rate = Max(*rate, bf_estimate_rate(header));
		*fullest = Max(*fullest, bf_estimate_keys(header) / (double) header->capacity);
		overfull |= bf_over_capacity(header);
		saturated |= bf_is_saturated(header) && list->keys < 0;
	}
	if (overfull)
		ereport(WARNING,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("list \"%s\" is published with a rate of %.3g, and %.3g was asked for",
						list->name, *rate, list->p),
				 errdetail("It holds %s %.0f keys and was sized for " INT64_FORMAT ".",
						   saturated ? "more than" : "about", bfpg_estimate_list_keys(list), list->n),
				 errhint("Members are found all the same. Publish it again with a larger n, or by its query without n.")));
}

/* The largest count of the last weeks, or the one of a run that was allowed to lose what it liked. */
static BfpgMost
larger(const BfpgPublication *list, BfpgMost most, double count)
{
	return count < most.count && !list->allow_shrink ? most : (BfpgMost) {count, GetCurrentTransactionStartTimestamp()};
}

/* All that is told of the filters stands in the row, so that a damaged filter hinders nobody who reads it. */
static void
write_row(const BfpgPublication *list, const BfpgLastList *last)
{
	bool		by_query = list->query != NULL;
	const char *key_type = bfpg_publish_key_type(list);
	bool		no_keys = strcmp(key_type, bf_key_type_name(BF_KEY_NONE)) == 0;
	BfpgMost	keys = larger(list, last->most_keys, bfpg_estimate_list_keys(list));
	BfpgMost	others = larger(list, last->most_others, (double) list->others);
	double		rate;
	double		fullest;

	judge_fullest(list, &rate, &fullest);
	{
		const ParamExternData row[] = {
			bfpg_parameter(TEXTOID, CStringGetTextDatum(list->name)),
			bfpg_parameter(INT8OID, Int64GetDatum(list->serial)),
			bfpg_parameter(TIMESTAMPTZOID, TimestampTzGetDatum(GetCurrentTransactionStartTimestamp())),
			bfpg_parameter(INT8OID, Int64GetDatum(list->n)),
			bfpg_parameter(FLOAT8OID, Float8GetDatum(list->p)),
			bfpg_parameter(INT8OID, Int64GetDatum(list->seed)),
			bfpg_parameter(INT4OID, Int32GetDatum(list->count)),
			number_or_null(list->keys, -1),
			number_or_null(by_query ? list->nulls : -1, -1),
			real_or_null(list->build_seconds),
			real_or_null(list->check_seconds),
			number_or_null(list->min_n, 0),
			number_or_null(list->parts, 0),
			bfpg_parameter(FLOAT8OID, Float8GetDatum(list->max_shrink)),
			bfpg_parameter(FLOAT8OID, Float8GetDatum(bfpg_estimate_list_keys(list))),
			bfpg_parameter(FLOAT8OID, Float8GetDatum(rate)),
			bfpg_parameter(FLOAT8OID, Float8GetDatum(fullest)),
			bfpg_parameter(INT8OID, Int64GetDatum((int64) bfpg_publish_bytes(list))),
			{.value = CStringGetTextDatum(key_type), .isnull = no_keys, .ptype = TEXTOID},
			number_or_null(list->others, -1),
			number_or_null(list->planned_others, -1),
			number_or_null(list->unknown, -1),
			number_or_null(list->conflicts, -1),
			bfpg_parameter(FLOAT8OID, Float8GetDatum(keys.count)),
			bfpg_parameter(TIMESTAMPTZOID, TimestampTzGetDatum(keys.at)),
			bfpg_parameter(FLOAT8OID, Float8GetDatum(others.count)),
			bfpg_parameter(TIMESTAMPTZOID, TimestampTzGetDatum(others.at)),
			bfpg_parameter(NAMEOID, CStringGetDatum(GetUserNameFromId(list->caller, false))),
			bfpg_parameter(TIMESTAMPTZOID, TimestampTzGetDatum(GetCurrentTimestamp())),
		};

		/* Transactions of another node have numbers of its own. */
		bfpg_run_statement(list->place.schema, psprintf("INSERT INTO %sbloom_generation (name, back, serial, built_at, n, p, seed, parts, rows, nulls, "
									"build_seconds, check_seconds, min_n, min_parts, max_shrink, "
									"keys, rate, fullest_part, bytes, key_type, identity, others, planned_others, unknown, conflicts, "
									"most_keys, most_keys_at, most_others, most_others_at, published_by, published_at, built_xmin) "
									"VALUES ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, "
									"coalesce((SELECT identity FROM %sbloom_generation WHERE name = $1 AND back = 1), gen_random_uuid()), "
									"$20, $21, $22, $23, $24, $25, $26, $27, $28, $29, %s)",
									list->place.prefix, list->place.prefix,
									by_query && !list->remote ? "pg_snapshot_xmin(pg_current_snapshot())" : "NULL"),
						   lengthof(row), row, SPI_OK_INSERT);
	}
}

void
bfpg_publish_write(BfpgPublication *list, const BfpgLastList *last)
{
	bfpg_publish_guard(list, last);
	bfpg_absorb_tell_differences(list);
	write_parts(list);
	write_row(list, last);
	bfpg_definition_write(list);
	if (last->exists)
		bfpg_publish_tell(list->name, "replaced");
	if (list->query != NULL)
		bfpg_absorb(list, last);
	bfpg_publish_write_run(list, true, NULL);
}

void
bfpg_publish_rollback(const BfpgPlace *place, const char *name)
{
	BfpgLastList last;
	BfpgLastList now;
	int64		serial;

	bfpg_publish_find(place, name, &last);
	serial = bfpg_next_serial(place, name, &last);
	bfpg_run_for_list(place, name,
					  "DELETE FROM %1$sbloom_generation g WHERE name = $1 AND back = 0 "
					  "AND EXISTS (SELECT FROM %1$sbloom_generation b WHERE b.name = g.name AND b.back = 1)",
					  SPI_OK_DELETE);
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("list \"%s\" has no version before the current one", name),
				 errhint("CALL bloom_rollback goes back by one. Publish the list again.")));
	bfpg_run_for_list(place, name, "DELETE FROM %1$sbloom_generation_part WHERE name = $1 AND back = 0", SPI_OK_DELETE);
	bfpg_run_for_list(place, name,
					  last.tracked ? "UPDATE %1$sbloom_generation_part SET back = 0, tracked = true WHERE name = $1"
					  : "UPDATE %1$sbloom_generation_part SET back = 0 WHERE name = $1",
					  SPI_OK_UPDATE);
	bfpg_run_for_list(place, name, "DELETE FROM %1$sbloom_absorbed WHERE name = $1 AND back = 0", SPI_OK_DELETE);
	bfpg_run_for_list(place, name, "UPDATE %1$sbloom_absorbed SET back = 0 WHERE name = $1", SPI_OK_UPDATE);
	bfpg_run_for_list(place, name,
					  psprintf("UPDATE %%1$sbloom_generation SET back = 0, serial = '" INT64_FORMAT "' WHERE name = $1", serial),
					  SPI_OK_UPDATE);
	bfpg_definition_roll_back(place, name);
	bfpg_publish_tell(name, "rolled back");
	bfpg_publish_last(place, name, &now);
	if (now.tracked && !last.tracked)
		ereport(NOTICE,
				(errmsg("list \"%s\" is tracked again, and no trigger may record its changes", name),
				 errhint("CALL bloom_track makes the triggers again, bloom_untrack ends it.")));
	if (now.exact != last.exact)
		ereport(NOTICE,
				(errmsg("list \"%s\" is %s again", name, now.exact ? "exact" : "plain"),
				 errhint("Hosts that read plain lists alone keep the one that they have while a list is exact.")));
}

/* Another max_shrink counts from the keys on that the list has now. */
void
bfpg_publish_set_next(const BfpgPlace *place, const char *name, const NullableDatum *n, const NullableDatum *p, const NullableDatum *max_shrink)
{
	const ParamExternData parameters[] = {
		bfpg_parameter(TEXTOID, CStringGetTextDatum(name)),
		{.value = n->value, .isnull = n->isnull, .ptype = INT8OID},
		{.value = p->value, .isnull = p->isnull, .ptype = FLOAT8OID},
		{.value = max_shrink->value, .isnull = max_shrink->isnull, .ptype = FLOAT8OID},
	};

	bfpg_run_statement(place->schema, psprintf("UPDATE %sbloom_generation SET min_n = coalesce($2, min_n), next_p = coalesce($3, next_p), "
											   "max_shrink = coalesce($4, max_shrink), "
											   "most_keys = CASE WHEN $4 <> max_shrink THEN keys ELSE most_keys END, "
											   "most_keys_at = CASE WHEN $4 <> max_shrink THEN built_at ELSE most_keys_at END, "
											   "most_others = CASE WHEN $4 <> max_shrink THEN coalesce(others, -1) ELSE most_others END, "
											   "most_others_at = CASE WHEN $4 <> max_shrink THEN built_at ELSE most_others_at END "
											   "WHERE name = $1 AND back = 0", place->prefix),
					   lengthof(parameters), parameters, SPI_OK_UPDATE);
}

/*
 * The serial is new, since followers of this identity may have one that is greater than
 * that of the row.
 */
void
bfpg_publish_identify(const BfpgPlace *place, const char *name, Datum identity)
{
	BfpgLastList last;
	ParamExternData parameters[3];

	bfpg_publish_find(place, name, &last);
	parameters[0] = bfpg_parameter(TEXTOID, CStringGetTextDatum(name));
	parameters[1] = bfpg_parameter(INT8OID, Int64GetDatum(bfpg_next_serial(place, name, &last)));
	parameters[2] = bfpg_parameter(UUIDOID, identity);
	bfpg_run_statement(place->schema, psprintf("WITH before AS (UPDATE %sbloom_generation SET identity = $3 WHERE name = $1 AND back = 1) "
								"UPDATE %sbloom_generation SET identity = $3, serial = $2 WHERE name = $1 AND back = 0",
								place->prefix, place->prefix),
					   lengthof(parameters), parameters, SPI_OK_UPDATE);
}

/* Also a name of which all that is known is a run that failed. */
void
bfpg_publish_drop(const BfpgPlace *place, const char *name, bool in_block)
{
	const char *tables[] = {"bloom_run", "bloom_generation_part", "bloom_generation"};
	bool		known = false;
	int			i;

	for (i = 0; i < lengthof(tables); i++)
	{
		bfpg_run_for_list(place, name, psprintf("DELETE FROM %%1$s%s WHERE name = $1", tables[i]), SPI_OK_DELETE);
		known |= SPI_processed > 0;
	}
	if (!known)
		bfpg_list_unknown(CStringGetTextDatum(name));
	bfpg_absorb_drop(place, name, in_block);
	bfpg_track_tell_triggers(place, name);
	bfpg_definition_drop(place, name);
	bfpg_publish_tell(name, "dropped");
}
