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
#include "base/report.h"
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

	bfpg_list_check_query(place->schema, name);
	return LockAcquire(&tag, ExclusiveLock, session, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

/* Who has to wait does so without a snapshot, which would hold vacuum back, and without locks of tables. */
void
bfpg_publish_hold(const BfpgPublication *list)
{
	if (lock(&list->place, list->name, true, false))
		return;
	SPI_commit();
	(void) lock(&list->place, list->name, true, true);
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

/* A column of the only row of a result, or what stands for a null. */
static Datum
result(const char *column, Datum null)
{
	bool		is_null;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
									  SPI_fnumber(SPI_tuptable->tupdesc, column), &is_null);

	return is_null ? null : value;
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
				 errhint("As a superuser: UPDATE %sbloom_generation SET serial = 1 WHERE name = %s; CALL %sbloom_set_identity(%s, gen_random_uuid()). Hosts take the list with --allow-older, exporters with an empty folder.",
						 place->prefix, quote_literal_cstr(name), place->prefix, quote_literal_cstr(name))));
	return Max(last->serial + 1, now);
}

/* Reads the row of the current generation, and none of its filters: those may be damaged. */
void
bfpg_publish_last(const BfpgPlace *place, const char *name, BfpgLastList *last)
{
	Datum		key_type;

	memset(last, 0, sizeof(*last));
	bfpg_run_for_list(place, name,
					  "SELECT *, coalesce(next_p, p) AS p_now, "
					  "(SELECT bool_or(tracked) FROM %1$sbloom_generation_part WHERE name = $1 AND back = 0 AND part = 0) AS tracked "
					  "FROM %1$sbloom_generation WHERE name = $1 AND back = 0",
					  SPI_OK_SELECT);
	if (SPI_processed == 0)
		return;
	last->exists = true;
	last->serial = DatumGetInt64(result("serial", 0));
	last->built_at = DatumGetTimestampTz(result("built_at", 0));
	last->n = DatumGetInt64(result("n", 0));
	last->p = DatumGetFloat8(result("p_now", 0));
	last->seed = DatumGetInt64(result("seed", 0));
	last->min_n = DatumGetInt64(result("min_n", 0));
	last->min_parts = DatumGetInt32(result("min_parts", 0));
	last->max_shrink = DatumGetFloat8(result("max_shrink", 0));
	last->rows = DatumGetInt64(result("rows", Int64GetDatum(-1)));
	last->keys = DatumGetFloat8(result("keys", 0));
	key_type = result("key_type", 0);
	last->key_type = key_type == 0 ? NULL : TextDatumGetCString(key_type);
	last->others = DatumGetInt64(result("others", Int64GetDatum(-1)));
	last->planned_others = DatumGetInt64(result("planned_others", Int64GetDatum(-1)));
	last->exact = last->planned_others >= 0;
	last->most_keys = (BfpgMost) {DatumGetFloat8(result("most_keys", 0)), DatumGetTimestampTz(result("most_keys_at", 0))};
	last->most_others = (BfpgMost) {DatumGetFloat8(result("most_others", 0)), DatumGetTimestampTz(result("most_others_at", 0))};
	last->by_table = DatumGetBool(result("by_table", 0));
	last->tracked = DatumGetBool(result("tracked", BoolGetDatum(false)));
}

void
bfpg_publish_find(const BfpgPlace *place, const char *name, BfpgLastList *last)
{
	bfpg_publish_last(place, name, last);
	if (!last->exists)
		bfpg_list_unknown(place->schema, CStringGetTextDatum(name));
}

/* The list's other generation gets this number, BFPG_CURRENT or BFPG_BEFORE; the one that had it goes. */
static void
become(const BfpgPlace *place, const char *name, int back)
{
	const char *tables[] = {"bloom_generation", "bloom_generation_part", "bloom_absorbed"};
	int			i;

	for (i = 0; i < lengthof(tables); i++)
	{
		bfpg_run_for_list(place, name, psprintf("DELETE FROM %%1$s%s WHERE name = $1 AND back = %d", tables[i], back), SPI_OK_DELETE);
		bfpg_run_for_list(place, name, psprintf("UPDATE %%1$s%s SET back = %d WHERE name = $1", tables[i], back), SPI_OK_UPDATE);
	}
}

double
bfpg_publish_bytes(const BfpgPublication *list)
{
	double		bytes = 0;
	int32		part;

	for (part = 0; part < list->made.count; part++)
		bytes += (double) bf_shape_bytes(&list->made.shapes[part]);
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
		errhint("VACUUM (TRUNCATE) %sbloom_generation_part, by a superuser or the database's owner, gives back to its tablespace what earlier generations left. "
				"Free other space first if the disk is full: bloom_drop writes WAL before it frees anything.",
				((const BfpgPublication *) list)->place.prefix);
}

/* A value that is written, or an expression instead. */
typedef struct Column
{
	const char *name;
	ParamExternData value;
	const char *expression;
} Column;

static Column
column(const char *name, Oid type, Datum value)
{
	return (Column) {name, {.value = value, .ptype = type}};
}

/* Null where it is less than the least that there can be. */
static Column
number(const char *name, int64 value, int64 least)
{
	return (Column) {name, {.value = Int64GetDatum(value), .isnull = value < least, .ptype = INT8OID}};
}

static Column
real(const char *name, double value)
{
	return (Column) {name, {.value = Float8GetDatum(value), .isnull = value < 0, .ptype = FLOAT8OID}};
}

static void
insert(const BfpgPublication *list, const char *table, const Column *row, int count)
{
	ParamExternData *parameters = palloc(count * sizeof(ParamExternData));
	StringInfoData names;
	StringInfoData values;
	int			i;

	initStringInfo(&names);
	initStringInfo(&values);
	for (i = 0; i < count; i++)
	{
		parameters[i] = row[i].value;
		appendStringInfo(&names, "%s%s", i == 0 ? "" : ", ", row[i].name);
		appendStringInfo(&values, "%s%s", i == 0 ? "" : ", ", row[i].expression != NULL ? row[i].expression : psprintf("$%d", i + 1));
	}
	bfpg_run_statement(list->place.schema, psprintf("INSERT INTO %s%s (%s) VALUES (%s)", list->place.prefix, table, names.data, values.data),
					   count, parameters, SPI_OK_INSERT);
}

static void
write_parts(BfpgPublication *list)
{
	ErrorContextCallback callback = {error_context_stack, hint_at_room, list};
	int32		part;

	bfpg_publish_check_room(list);
	error_context_stack = &callback;
	become(&list->place, list->name, BFPG_BEFORE);
	for (part = 0; part < list->made.count; part++)
	{
		const Column row[] = {
			column("name", TEXTOID, CStringGetTextDatum(list->name)),
			column("back", INT2OID, Int16GetDatum(BFPG_CURRENT)),
			column("part", INT4OID, Int32GetDatum(part)),
			column("filter", list->place.type, list->made.filters[part]),
			column("tracked", BOOLOID, BoolGetDatum(list->tracked)),
		};

		insert(list, "bloom_generation_part", row, lengthof(row));
	}
	error_context_stack = callback.previous;
}

/*
 * Of the fullest part: its rate, and its keys as a share of what it is sized for.  Warns where a
 * part has more; an error would keep a list that lacks the new keys.
 */
static double
judge_fullest(const BfpgPublication *list, double *fullest)
{
	double		rate = 0;
	bool		overfull = false;
	bool		saturated = false;
	int32		part;

	*fullest = 0;
	for (part = 0; part < list->made.count; part++)
	{
		const bf_header *header = &list->made.shapes[part].level[0];

		rate = Max(rate, bf_estimate_rate(header));
		*fullest = Max(*fullest, bf_estimate_keys(header) / (double) header->capacity);
		overfull |= bf_over_capacity(header);
		saturated |= bf_is_saturated(header) && list->made.keys < 0;
	}
	if (overfull)
		ereport(WARNING,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("list \"%s\" is published with a rate of %.3g, and %.3g was asked for",
						list->name, rate, list->p),
				 errdetail("It holds %s %.0f keys and was sized for " INT64_FORMAT ".",
						   saturated ? "more than" : "about", bfpg_estimate_list_keys(list), list->n),
				 errhint("Members are found all the same. Publish it again with a larger n, or by its query without n.")));
	return rate;
}

/* The largest count of the last weeks, or the one of a run that was allowed to lose what it liked. */
static BfpgMost
larger(const BfpgPublication *list, BfpgMost most, double count)
{
	return count < most.count && !list->asked.allow_shrink ? most : (BfpgMost) {count, GetCurrentTransactionStartTimestamp()};
}

/* All that is told of the filters stands in the row, so that a damaged filter hinders nobody who reads it. */
static void
write_row(const BfpgPublication *list, const BfpgLastList *last)
{
	bool		by_query = list->asked.query != NULL;
	const char *key_type = bfpg_publish_key_type(list);
	bool		no_keys = strcmp(key_type, bf_key_type_name(BF_KEY_NONE)) == 0;
	BfpgMost	keys = larger(list, last->most_keys, bfpg_estimate_list_keys(list));
	BfpgMost	others = larger(list, last->most_others, (double) list->others.count);
	double		fullest;
	double		rate = judge_fullest(list, &fullest);
	const Column row[] = {
		column("name", TEXTOID, CStringGetTextDatum(list->name)),
		column("back", INT2OID, Int16GetDatum(BFPG_CURRENT)),
		column("serial", INT8OID, Int64GetDatum(list->made.serial)),
		column("built_at", TIMESTAMPTZOID, TimestampTzGetDatum(GetCurrentTransactionStartTimestamp())),
		column("n", INT8OID, Int64GetDatum(list->n)),
		real("p", list->p),
		column("seed", INT8OID, Int64GetDatum(list->seed)),
		column("parts", INT4OID, Int32GetDatum(list->made.count)),
		number("rows", list->made.keys, 0),
		number("nulls", list->made.nulls, 0),
		real("build_seconds", list->made.build_seconds),
		real("check_seconds", list->made.check_seconds),
		number("min_n", list->min_n, 1),
		number("min_parts", list->parts, 1),
		real("max_shrink", list->asked.max_shrink),
		real("keys", bfpg_estimate_list_keys(list)),
		real("rate", rate),
		real("fullest_part", fullest),
		number("bytes", (int64) bfpg_publish_bytes(list), 0),
		{"key_type", {.value = CStringGetTextDatum(key_type), .isnull = no_keys, .ptype = TEXTOID}},
		number("others", list->others.count, 0),
		number("planned_others", list->others.planned, 0),
		number("unknown", list->others.unknown, 0),
		number("conflicts", list->others.conflicts, 0),
		number("contradicted", list->others.contradicted, 0),
		column("most_keys", FLOAT8OID, Float8GetDatum(keys.count)),
		column("most_keys_at", TIMESTAMPTZOID, TimestampTzGetDatum(keys.at)),
		column("most_others", FLOAT8OID, Float8GetDatum(others.count)),
		column("most_others_at", TIMESTAMPTZOID, TimestampTzGetDatum(others.at)),
		column("by_table", BOOLOID, BoolGetDatum(list->by_table)),
		column("published_by", TEXTOID, CStringGetTextDatum(GetUserNameFromId(list->caller, false))),
		column("published_at", TIMESTAMPTZOID, TimestampTzGetDatum(GetCurrentTimestamp())),
		{"identity", {.isnull = true, .ptype = UUIDOID}, psprintf("coalesce((SELECT identity FROM %sbloom_generation WHERE name = $1 AND back = 1), gen_random_uuid())", list->place.prefix)},
		/* Transactions of another node have numbers of its own. */
		{"built_xmin", {.isnull = true, .ptype = XID8OID}, by_query && !list->made.remote ? "pg_snapshot_xmin(pg_current_snapshot())" : NULL},
	};

	insert(list, "bloom_generation", row, lengthof(row));
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
	if (list->asked.query != NULL)
		bfpg_absorb(list, last);
	bfpg_publish_write_run(list, true, NULL);
}

/*
 * A tracked list stays so: else removed keys came back.  What changed before bloom_track no trigger has recorded:
 * so the generation gets the row of the empty key, which no key has, by which the next rollback to it knows that.
 */
static void
go_on_tracking(const BfpgPlace *place, const char *name)
{
	bfpg_run_for_list(place, name, "UPDATE %1$sbloom_generation_part SET tracked = true WHERE name = $1 AND NOT tracked", SPI_OK_UPDATE);
	if (SPI_processed > 0)
		bfpg_run_for_list(place, name, "INSERT INTO %1$sbloom_absorbed VALUES ($1, 0, '', 0)", SPI_OK_INSERT);
	bfpg_run_for_list(place, name, "SELECT FROM %1$sbloom_absorbed WHERE name = $1 AND back = 0 AND key = ''", SPI_OK_SELECT);
	if (SPI_processed > 0)
		ereport(WARNING,
				(errmsg("list \"%s\" is rolled back to a version from before it was tracked", name),
				 errdetail("Keys that came or went between that version and CALL bloom_track are as they were before."),
				 errhint("%s takes them up.", bfpg_call_text(place->schema, "bloom_refresh", name))));
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
					  psprintf("UPDATE %%1$sbloom_generation SET serial = '" INT64_FORMAT "', by_table = %s WHERE name = $1 AND back <> 0", serial,
							   !last.tracked ? "by_table" : last.by_table ? "true" : "false"),
					  SPI_OK_UPDATE);
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("list \"%s\" has no version before the current one", name),
				 errhint("CALL bloom_rollback goes back by one. Publish the list again.")));
	become(place, name, BFPG_CURRENT);
	if (last.tracked)
		go_on_tracking(place, name);
	bfpg_definition_roll_back(place, name);
	bfpg_publish_tell(name, "rolled back");
	bfpg_publish_last(place, name, &now);
	if (now.tracked && !last.tracked)
		ereport(NOTICE,
				(errmsg("list \"%s\" is tracked again, and no trigger may record its changes", name),
				 errhint("CALL bloom_track with its table makes the triggers again, bloom_untrack ends it.")));
	if (now.exact != last.exact)
		ereport(NOTICE,
				(errmsg("list \"%s\" is %s again", name, now.exact ? "exact" : "plain"),
				 errhint("Hosts that read plain lists alone keep the one that they have while a list is exact.")));
}
