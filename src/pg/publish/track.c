/*
 * track.c
 *	  bloom_track and bloom_untrack: a list whose changes count between its publishes.
 *
 * The triggers are there before the snapshot of the publish by which the list becomes tracked: making
 * them waits for whoever has changed the table without them.  So what that snapshot doesn't see is
 * recorded.  The other way round, the list is published as an untracked one before they go.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/pg_compat.h"
#include "base/report.h"
#include "change/change.h"
#include "list/list.h"
#include "publish/build.h"

PG_FUNCTION_INFO_V1(bloomfilter_track);
PG_FUNCTION_INFO_V1(bloomfilter_untrack);

/* Arguments of bloom_track. */
enum
{
	ARG_NAME,
	ARG_RELATION,
	ARG_KEY,
	ARG_VALUE
};

/* Rows of the table that are looked up at the end. */
#define SAMPLE 1000

/* The table that is tracked, its columns quoted. */
typedef struct TrackedTable
{
	Oid			relation;
	const char *key;
	const char *value;			/* NULL: every row's key is in */
} TrackedTable;

/* A name for the triggers of a list, which has as many bytes as a name can have. */
static const char *
trigger_name(const char *list, const char *what)
{
	if (strlen(list) > NAMEDATALEN / 2)
		list = psprintf("%.*s_%08x", pg_mbcliplen(list, (int) strlen(list), 16), list, hash_bytes((const unsigned char *) list, (int) strlen(list)));
	return psprintf("bloom_%s_%s", what, list);
}

/* As the caller, who needs the rights to do so.  One that is fired always stays so when it is made again. */
static void
make_trigger(Oid table, const char *name, const char *what, const char *arguments, bool always)
{
	(void) SPI_execute(psprintf("CREATE OR REPLACE TRIGGER %s %s EXECUTE FUNCTION %s", quote_identifier(name), what, arguments), false, 0);
	if (always)
		(void) SPI_execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", bfpg_qualified_name(table), quote_identifier(name)), false, 0);
}

static void
make_triggers(const BfpgPublication *list, const TrackedTable *tracked)
{
	const char *function = quote_qualified_identifier(get_namespace_name(list->place.schema), "bloom_change_trigger");
	const char *name = quote_literal_cstr(list->name);
	bool		always = bfpg_change_fires(tracked->relation, list->place.schema, list->name, true);
	ListCell   *cell;

	make_trigger(tracked->relation, trigger_name(list->name, "change"),
				 psprintf("AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW", bfpg_qualified_name(tracked->relation)),
				 psprintf("%s(%s, %s%s%s)", function, name, quote_literal_cstr(tracked->key), tracked->value == NULL ? "" : ", ",
						  tracked->value == NULL ? "" : quote_literal_cstr(tracked->value)), always);
	foreach(cell, find_all_inheritors(tracked->relation, ShareRowExclusiveLock, NULL))
		make_trigger(lfirst_oid(cell), trigger_name(list->name, "truncate"),
					 psprintf("BEFORE TRUNCATE ON %s FOR EACH STATEMENT", bfpg_qualified_name(lfirst_oid(cell))),
					 psprintf("%s(%s)", function, name), always);
}

static void
track_table(const BfpgPublication *list, const TrackedTable *tracked)
{
	ListCell   *cell;

	bfpg_track_check_only_table(list, tracked->relation);
	make_triggers(list, tracked);
	foreach(cell, find_all_inheritors(tracked->relation, NoLock, NULL))
	{
		Relation	table = table_open(lfirst_oid(cell), NoLock);

		bfpg_change_check_trigger(table, list->place.schema, list->name);
		table_close(table, NoLock);
	}
}

/* Triggers that were there without the list have recorded nothing: whoever has written their tables ends before the snapshot. */
static void
wait_for_writers(const BfpgPublication *list)
{
	ListCell   *cell;

	foreach(cell, bfpg_track_tables(list))
	{
		LockRelationOid(lfirst_oid(cell), ShareRowExclusiveLock);
		(void) find_all_inheritors(lfirst_oid(cell), ShareRowExclusiveLock, NULL);
	}
}

/* Whether table and columns are those of the list's query nobody can know: so some rows are looked up. */
static void
check_sample(const BfpgPublication *list, const TrackedTable *tracked)
{
	int64		denied;
	int64		taken;
	const Oid	types[] = {TEXTOID, ANYELEMENTOID};

	if (!bfpg_may_execute(bfpg_extension_function(list->place.schema, "bloom_lookup", lengthof(types), types), GetUserId()) || pg_class_aclcheck(tracked->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		return;
	(void) SPI_execute(psprintf("SELECT pg_catalog.count(*) FILTER (WHERE v AND NOT found), pg_catalog.count(*) FILTER (WHERE NOT v AND found), pg_catalog.count(*) FILTER (WHERE NOT v) "
								"FROM (SELECT k, v, %sbloom_lookup(%s, k) AS found FROM (SELECT %s AS k, coalesce(%s, false) AS v FROM %s LIMIT %d) t) l",
								list->place.prefix, quote_literal_cstr(list->name), quote_identifier(tracked->key),
								tracked->value == NULL ? "true" : quote_identifier(tracked->value), bfpg_qualified_name(tracked->relation), SAMPLE),
					   false, 0);
	denied = DatumGetInt64(bfpg_result(SPI_tuptable, 0, 1));
	taken = DatumGetInt64(bfpg_result(SPI_tuptable, 0, 2));
	if (denied > 0)
		ereport(WARNING,
				(errmsg("list \"%s\" denies " INT64_FORMAT " keys that are in table \"%s\"", list->name, denied, get_rel_name(tracked->relation)),
				 errdetail("The query of the list returns other keys than column \"%s\".", tracked->key),
				 errhint("%s, unless that is meant.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
	if (!bfpg_absorb_is_by_chance((double) taken, (double) DatumGetInt64(bfpg_result(SPI_tuptable, 0, 3)) * list->p))
		ereport(WARNING,
				(errmsg("list \"%s\" has " INT64_FORMAT " keys of table \"%s\" whose column \"%s\" is not true", list->name, taken, get_rel_name(tracked->relation), tracked->value),
				 errdetail("The query of the list returns keys whatever that column says. A change of the column takes such a key out."),
				 errhint("%s, then bloom_track with the column that the query asks, or with none.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

static void
begin(FunctionCallInfo fcinfo, const char *procedure, BfpgPublication *list)
{
	if (!bfpg_may_end_transaction(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("CALL %s cannot run inside a transaction block, nor be executed from a function", procedure),
				 errhint("CALL it by itself: it ends transactions.")));
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	bfpg_publish_begin(fcinfo, list, BFPG_CHANGES);
}

/* Whether there is one; whether it has such columns, its triggers say. */
static bool
read_table(FunctionCallInfo fcinfo, TrackedTable *tracked)
{
	if (PG_ARGISNULL(ARG_RELATION))
		return false;
	if (PG_ARGISNULL(ARG_KEY))
		bfpg_refuse_null("column of keys");
	tracked->relation = PG_GETARG_OID(ARG_RELATION);
	tracked->key = pstrdup(NameStr(*PG_GETARG_NAME(ARG_KEY)));
	tracked->value = PG_ARGISNULL(ARG_VALUE) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(ARG_VALUE)));
	return true;
}

/* Makes the list tracked; by a table unless that is NULL. */
static void
track(BfpgPublication *list, const TrackedTable *tracked)
{
	BfpgLastList last;

	bfpg_publish_find(&list->place, list->name, &last);
	if (tracked != NULL)
		track_table(list, tracked);
	else
		wait_for_writers(list);
	list->asked.tracking = BFPG_TRACK;
	PG_TRY();
	{
		bfpg_publish_run(list);
	}
	PG_CATCH();
	{
		if (tracked != NULL)
			errcontext("list \"%s\" has its triggers, and is not tracked until CALL bloom_track ends", list->name);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (tracked != NULL)
		check_sample(list, tracked);
}

static void
untrack(BfpgPublication *list, const TrackedTable *none)
{
	bfpg_track_check_may_drop(list);
	list->asked.tracking = BFPG_UNTRACK;
	bfpg_publish_run(list);
	SPI_commit();
	bfpg_publish_lock(&list->place, list->name, true);
	EnsurePortalSnapshotExists();
	bfpg_track_drop_triggers(list);
}

/*
 * Nobody else publishes, tracks or untracks the list from before its triggers are looked at until they and
 * the list are what they shall be: else one makes triggers that another one drops (t/090_tracked.pl).
 */
static void
run_alone(BfpgPublication *list, void (*act) (BfpgPublication *list, const TrackedTable *table), const TrackedTable *table)
{
	bfpg_publish_hold(list);
	PG_TRY();
	{
		/* A snapshot from behind the lock. */
		SPI_commit();
		EnsurePortalSnapshotExists();
		act(list, table);
	}
	PG_FINALLY();
	{
		bfpg_publish_unlock_session(&list->place, list->name);
	}
	PG_END_TRY();
}

Datum
bloomfilter_track(PG_FUNCTION_ARGS)
{
	BfpgPublication list;
	TrackedTable tracked;

	begin(fcinfo, "bloom_track", &list);
	run_alone(&list, track, read_table(fcinfo, &tracked) ? &tracked : NULL);
	SPI_finish();
	PG_RETURN_VOID();
}

Datum
bloomfilter_untrack(PG_FUNCTION_ARGS)
{
	BfpgPublication list;

	begin(fcinfo, "bloom_untrack", &list);
	run_alone(&list, untrack, NULL);
	SPI_finish();
	PG_RETURN_VOID();
}
