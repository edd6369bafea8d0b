/*
 * publish_write.c
 *	  What publishing changes in the tables, and who may do it at a time.
 *
 * All of it is one transaction, so that readers see the old generation or the new
 * one.  The generation before is made by an update of a small column: the filter's
 * bytes stay where they are.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/async.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "bf_estimate.h"
#include "value/filter.h"
#include "base/activity.h"
#include "list/list.h"
#include "base/pg_compat.h"
#include "list/publish.h"

/* The channel that listeners hear of new generations on. */
#define CHANNEL "bloom_published"

/*
 * Our locks are of PostgreSQL's kind for applications, in a space that its functions
 * don't reach: those have 1 or 2 here.
 */
#define LOCK_SPACE 0xb10f

/* A delta is kept if it is at most this share of its filter. */
#define DELTA_SHARE 2

void
bfpg_publish_lock(const BfpgPlace *place, const char *name, bool wait)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, place->schema,
						 hash_bytes((const unsigned char *) name, (int) strlen(name)), LOCK_SPACE);
	if (LockAcquire(&tag, ExclusiveLock, false, !wait) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("list \"%s\" is being published by another session", name),
				 errhint("In a transaction block the snapshot is there already, so that waiting would be in vain. Try again later, or CALL bloom_publish outside of a transaction block: then it waits.")));
}

/* Runs one of our statements with a search_path of pg_catalog alone. */
static void
run_sql(const char *sql, int count, Oid *types, Datum *values, const char *nulls, int expected)
{
	int			nest = NewGUCNestLevel();
	int			status;

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	status = SPI_execute_with_args(sql, count, types, values, nulls, false, 0);
	AtEOXact_GUC(true, nest);
	if (status != expected)
		elog(ERROR, "SPI_execute_with_args returned %s", SPI_result_code_string(status));
}

/* Runs a statement whose only parameter is the name of a list. */
static void
run_for_name(const char *sql, const char *name, int expected)
{
	Oid			types[1] = {TEXTOID};
	Datum		values[1];

	values[0] = CStringGetTextDatum(name);
	run_sql(sql, 1, types, values, NULL, expected);
}

static Datum
result_column(int column, bool *is_null)
{
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, is_null);
}

/* Tells listeners of the serial and identity in the statement's only row. */
static void
notify_result(const char *name)
{
	bool		is_null;
	int64		serial = DatumGetInt64(result_column(1, &is_null));

	Async_Notify(CHANNEL, psprintf(INT64_FORMAT " %s %s", serial,
								   TextDatumGetCString(result_column(2, &is_null)), name));
}

int64
bfpg_next_serial(const BfpgLastList *last)
{
	int64		now = GetCurrentTimestamp() + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

	return Max(last->serial + 1, now);
}

void
bfpg_publish_last(const BfpgPlace *place, const char *name, BfpgLastList *last)
{
	bool		is_null;

	memset(last, 0, sizeof(*last));
	run_for_name(psprintf("SELECT g.identity, g.serial, g.n, g.seed, "
						  "(SELECT sum(s.cardinality)::float8 FROM %sbloom_generation_part t, %sbloom_stats(t.filter) s "
						  "WHERE t.name = g.name AND t.back = 0) "
						  "FROM %sbloom_generation g WHERE g.name = $1 AND g.back = 0",
						  place->prefix, place->prefix, place->prefix),
				 name, SPI_OK_SELECT);
	if (SPI_processed == 0)
		return;
	last->exists = true;
	last->identity = *DatumGetUUIDP(result_column(1, &is_null));
	last->serial = DatumGetInt64(result_column(2, &is_null));
	last->n = DatumGetInt64(result_column(3, &is_null));
	last->seed = DatumGetInt64(result_column(4, &is_null));
	last->keys = DatumGetFloat8(result_column(5, &is_null));
	if (is_null)
		last->keys = 0;
}

static void
delete_deltas(const BfpgPlace *place, const char *name)
{
	run_for_name(psprintf("DELETE FROM %sbloom_list_delta WHERE name = $1", place->prefix), name, SPI_OK_DELETE);
}

/* The current generation becomes the one before; that one goes. */
static void
move_back(const BfpgPublication *list)
{
	const char *prefix = list->place.prefix;
	const char *tables[] = {"bloom_generation", "bloom_generation_part"};
	int			i;

	for (i = 0; i < lengthof(tables); i++)
	{
		run_for_name(psprintf("DELETE FROM %s%s WHERE name = $1 AND back <> 0", prefix, tables[i]),
					 list->name, SPI_OK_DELETE);
		run_for_name(psprintf("UPDATE %s%s SET back = 1 WHERE name = $1 AND back = 0", prefix, tables[i]),
					 list->name, SPI_OK_UPDATE);
	}
	delete_deltas(&list->place, list->name);
}

static void
write_part(const BfpgPublication *list, int32 part)
{
	Oid			types[3] = {TEXTOID, INT4OID, list->place.type};
	Datum		values[3];

	values[0] = CStringGetTextDatum(list->name);
	values[1] = Int32GetDatum(part);
	values[2] = list->filters[part];
	run_sql(psprintf("INSERT INTO %sbloom_generation_part (name, back, part, filter) VALUES ($1, 0, $2, $3)",
					 list->place.prefix),
			3, types, values, NULL, SPI_OK_INSERT);
}

/*
 * Keeps what leads from the part before to this one, where both have the same shape
 * and it is much smaller than the part.
 */
static void
write_delta(const BfpgPublication *list, int32 part)
{
	Oid			types[4] = {TEXTOID, INT4OID, INT8OID, INT8OID};
	Datum		values[4];
	const char *prefix = list->place.prefix;

	values[0] = CStringGetTextDatum(list->name);
	values[1] = Int32GetDatum(part);
	values[2] = Int64GetDatum(list->serial);
	values[3] = Int64GetDatum((int64) bf_total_bytes(&list->headers[part]) / DELTA_SHARE);
	run_sql(psprintf("INSERT INTO %sbloom_list_delta (name, part, serial, delta) "
					 "SELECT $1, $2, $3, d.delta "
					 "FROM (SELECT %sbloom_diff(b.filter, c.filter) AS delta "
					 "FROM %sbloom_generation_part b, %sbloom_generation_part c "
					 "WHERE b.name = $1 AND b.back = 1 AND b.part = $2 "
					 "AND c.name = $1 AND c.back = 0 AND c.part = $2 OFFSET 0) AS d "
					 "WHERE pg_catalog.octet_length(d.delta) <= $4",
					 prefix, prefix, prefix, prefix),
			4, types, values, NULL, SPI_OK_INSERT);
}

/* The parts before that a delta could lead from: true for those of the same shape. */
static bool *
comparable_parts(const BfpgPublication *list)
{
	bool	   *comparable = palloc0(list->count * sizeof(bool));
#ifdef BLOOMFILTER_ZSTD
	Datum		name = CStringGetTextDatum(list->name);
	BfpgListTable table;
	bf_header	before;
	Datum		filter;
	int32		part;

	/* Newer than the calling query's, should the lock have been waited for. */
	PushActiveSnapshot(GetTransactionSnapshot());
	bfpg_list_open(list->place.schema, &table);
	for (part = 0; part < list->count; part++)
	{
		if (!bfpg_list_part(&table, name, part, &filter))
			break;
		bfpg_read_header(filter, &before);
		bfpg_list_done(&table);
		comparable[part] = bf_compatible(&before, &list->headers[part]);
	}
	bfpg_list_close(&table);
	PopActiveSnapshot();
#endif
	return comparable;
}

void
bfpg_publish_write_parts(BfpgPublication *list)
{
	bool	   *comparable = comparable_parts(list);
	int32		part;

	bfpg_activity_phase("writing parts", list->count);
	move_back(list);
	for (part = 0; part < list->count; part++)
	{
		write_part(list, part);
		if (comparable[part])
			write_delta(list, part);
		bfpg_activity_rows((uint64) part + 1);
	}
	pfree(comparable);
}

/* Too high a rate is told, and published: the other way round members were denied. */
static void
warn_of_rate(const BfpgPublication *list)
{
	double		rate = 0;
	int32		part;

	for (part = 0; part < list->count; part++)
		if (bf_over_capacity(&list->headers[part]))
			rate = Max(rate, bf_estimate_rate(&list->headers[part]));
	if (rate > 0)
		ereport(WARNING,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("list \"%s\" is published with a rate of %.3g, and %.3g was asked for",
						list->name, rate, list->p),
				 errdetail("It holds about %.0f keys and was sized for " INT64_FORMAT ".",
						   bfpg_estimate_list_keys(list), list->n),
				 errhint("Nobody is denied. Publish it again with a larger n, or by its query without n.")));
}

static Datum
or_null(double value, char *null)
{
	*null = value < 0 ? 'n' : ' ';
	return Float8GetDatum(value);
}

void
bfpg_publish_finish(const BfpgPublication *list, const BfpgLastList *last)
{
	Oid			types[12] = {TEXTOID, INT8OID, TIMESTAMPTZOID, INT8OID, FLOAT8OID, INT8OID,
	INT4OID, INT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, UUIDOID};
	Datum		values[12];
	char		nulls[] = "            ";

	values[0] = CStringGetTextDatum(list->name);
	values[1] = Int64GetDatum(list->serial);
	values[2] = TimestampTzGetDatum(GetCurrentTransactionStartTimestamp());
	values[3] = Int64GetDatum(list->n);
	values[4] = Float8GetDatum(list->p);
	values[5] = Int64GetDatum(list->seed);
	values[6] = Int32GetDatum(list->count);
	values[7] = Int64GetDatum(list->keys);
	nulls[7] = list->keys < 0 ? 'n' : ' ';
	values[8] = or_null(list->build_seconds, &nulls[8]);
	values[9] = or_null(list->check_seconds, &nulls[9]);
	values[10] = or_null(list->measured_rate, &nulls[10]);
	values[11] = UUIDPGetDatum(&last->identity);
	nulls[11] = last->exists ? ' ' : 'n';
	run_sql(psprintf("INSERT INTO %sbloom_generation (name, back, serial, built_at, n, p, seed, parts, keys, "
					 "build_seconds, check_seconds, measured_rate, identity, built_xmin) "
					 "VALUES ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, gen_random_uuid()), %s) "
					 "RETURNING serial, identity::text",
					 list->place.prefix,
					 list->query != NULL ? "pg_snapshot_xmin(pg_current_snapshot())" : "NULL"),
			lengthof(types), types, values, nulls, SPI_OK_INSERT_RETURNING);
	notify_result(list->name);
	warn_of_rate(list);
}

/* Fails for a list that isn't there. */
static void
find_list(const BfpgPlace *place, const char *name, BfpgLastList *last)
{
	bfpg_publish_last(place, name, last);
	if (!last->exists)
		bfpg_list_unknown(CStringGetTextDatum(name));
}

int64
bfpg_publish_rollback(const BfpgPlace *place, const char *name)
{
	BfpgLastList last;
	const char *prefix = place->prefix;
	int64		serial;

	find_list(place, name, &last);
	serial = bfpg_next_serial(&last);
	run_for_name(psprintf("DELETE FROM %sbloom_generation g WHERE name = $1 AND back = 0 "
						  "AND EXISTS (SELECT FROM %sbloom_generation b WHERE b.name = g.name AND b.back = 1)",
						  prefix, prefix),
				 name, SPI_OK_DELETE);
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("list \"%s\" has no generation before the current one", name),
				 errhint("bloom_rollback goes back one step. Publish the list again.")));
	run_for_name(psprintf("DELETE FROM %sbloom_generation_part WHERE name = $1 AND back = 0", prefix), name, SPI_OK_DELETE);
	run_for_name(psprintf("UPDATE %sbloom_generation_part SET back = 0 WHERE name = $1", prefix), name, SPI_OK_UPDATE);
	delete_deltas(place, name);
	run_for_name(psprintf("UPDATE %sbloom_generation SET back = 0, serial = '" INT64_FORMAT "' "
						  "WHERE name = $1 RETURNING serial, identity::text",
						  prefix, serial),
				 name, SPI_OK_UPDATE_RETURNING);
	notify_result(name);
	return serial;
}

/*
 * The serial is new, since followers of this identity may have one that is greater than
 * that of the row.  Deltas name the serial that they lead to, so they go.
 */
int64
bfpg_publish_identify(const BfpgPlace *place, const char *name, Datum identity)
{
	BfpgLastList last;
	Oid			types[3] = {TEXTOID, INT8OID, UUIDOID};
	Datum		values[3];

	find_list(place, name, &last);
	delete_deltas(place, name);
	values[0] = CStringGetTextDatum(name);
	values[1] = Int64GetDatum(bfpg_next_serial(&last));
	values[2] = identity;
	run_sql(psprintf("WITH before AS (UPDATE %sbloom_generation SET identity = $3 WHERE name = $1 AND back = 1) "
					 "UPDATE %sbloom_generation SET identity = $3, serial = $2 WHERE name = $1 AND back = 0 "
					 "RETURNING serial, identity::text",
					 place->prefix, place->prefix),
			lengthof(types), types, values, NULL, SPI_OK_UPDATE_RETURNING);
	notify_result(name);
	return DatumGetInt64(values[1]);
}

void
bfpg_publish_drop(const BfpgPlace *place, const char *name)
{
	BfpgLastList last;
	const char *prefix = place->prefix;

	find_list(place, name, &last);
	run_for_name(psprintf("DELETE FROM %sbloom_generation_part WHERE name = $1", prefix), name, SPI_OK_DELETE);
	delete_deltas(place, name);
	run_for_name(psprintf("DELETE FROM %sbloom_generation WHERE name = $1 AND back = 1", prefix), name, SPI_OK_DELETE);
	run_for_name(psprintf("DELETE FROM %sbloom_generation WHERE name = $1 RETURNING serial, identity::text", prefix),
				 name, SPI_OK_DELETE_RETURNING);
	notify_result(name);
}
