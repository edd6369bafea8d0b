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
#include "catalog/partition.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "engines/engines.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "change/change.h"
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

/* The tables that a plan reads, also by views and as partitions. */
static List *
tables_read(const PlannedStmt *plan)
{
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, plan->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW)
			tables = list_append_unique_oid(tables, entry->relid);
	}
	return tables;
}

/* A materialized view has a removed key until it is refreshed, a foreign table until its server says so. */
void
bfpg_track_check_plan(const BfpgPublication *list, const PlannedStmt *plan)
{
	ListCell   *cell;
	bool		stale = list->made.remote;

	foreach(cell, tables_read(plan))
	{
		char		kind = get_rel_relkind(lfirst_oid(cell));

		stale |= kind == RELKIND_MATVIEW || kind == RELKIND_FOREIGN_TABLE || bfpg_is_distributed(lfirst_oid(cell));
	}
	if (stale)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("list \"%s\" can't be tracked, since its query reads rows that may be old", list->name),
				 errdetail("A materialized view, a foreign table or another engine may return a key that the table has no more."),
				 errhint("Publish the list by a query of tables in this database, or %s.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

/* Of a row that find_triggers selects. */
enum
{
	TRIGGER_DROP = 1,			/* the statement that drops the trigger */
	TRIGGER_RELATION,
	TRIGGER_OF_ROWS
};

/* Selects each trigger for a list; a partition's copy goes with its original. */
static const SPITupleTable *
find_triggers(const BfpgPlace *place, const char *name)
{
	/* The function by its number: a schema's name may have quotes, and this runs as a superuser. */
	bfpg_run_for_list(place, name,
					  psprintf("SELECT format('DROP TRIGGER %%%%I ON %%%%s', tgname, tgrelid::regclass), tgrelid, tgtype & 1 = 1 FROM pg_trigger "
							   "WHERE tgfoid = '%u' AND tgparentid = 0 "
							   "AND position(convert_to($1, getdatabaseencoding()) || '\\x00' IN tgargs) = 1", bfpg_change_trigger_function(place->schema)),
					  SPI_OK_SELECT);
	return SPI_tuptable;
}

void
bfpg_track_tell_triggers(const BfpgPlace *place, const char *name)
{
	const SPITupleTable *triggers = find_triggers(place, name);
	uint64		i;

	for (i = 0; i < triggers->numvals; i++)
		ereport(NOTICE,
				(errmsg("a table still has a trigger for list \"%s\"", name),
				 errhint("It does nothing without the list: %s.", SPI_getvalue(triggers->vals[i], triggers->tupdesc, TRIGGER_DROP))));
}

static Oid
table_of(const SPITupleTable *triggers, uint64 i)
{
	bool		is_null;

	return DatumGetObjectId(SPI_getbinval(triggers->vals[i], triggers->tupdesc, TRIGGER_RELATION, &is_null));
}

List *
bfpg_track_tables(const BfpgPublication *list)
{
	const SPITupleTable *triggers = find_triggers(&list->place, list->name);
	List	   *tables = NIL;
	bool		is_null;
	uint64		i;

	for (i = 0; i < triggers->numvals; i++)
		if (DatumGetBool(SPI_getbinval(triggers->vals[i], triggers->tupdesc, TRIGGER_OF_ROWS, &is_null)))
			tables = lappend_oid(tables, table_of(triggers, i));
	return tables;
}

/* The search_path stands first in the settings. */
static bool
same_path(ArrayType *a, ArrayType *b)
{
	const int	first = 1;
	bool		is_null;
	Datum		x = array_get_element(PointerGetDatum(a), 1, unconstify(int *, &first), -1, -1, false, TYPALIGN_INT, &is_null);
	Datum		y = array_get_element(PointerGetDatum(b), 1, unconstify(int *, &first), -1, -1, false, TYPALIGN_INT, &is_null);

	return DatumGetBool(DirectFunctionCall2Coll(texteq, C_COLLATION_OID, x, y));
}

void
bfpg_track_check_query(const BfpgPublication *list)
{
	BfpgPublication kept = *list;
	bool		same = false;

	if (list->asked.query != NULL)
	{
		if (!bfpg_definition_find(&kept) || bfpg_track_tables(list) == NIL)
			return;
		same = strcmp(kept.asked.query, list->asked.query) == 0;
		if (same && same_path(kept.asked.settings, list->asked.settings))
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("list \"%s\" is tracked, and this is not its query", list->name),
			 list->asked.query == NULL ? errdetail("A filter doesn't say which changes of the list are in it.")
			 : same ? errdetail("Its query runs with another search_path: that of bloom_published.settings, or the session's default.")
			 : errdetail("Its triggers record the changes of another query's table."),
			 errhint("%s, or %s first. Where that query can't be run any more, drop the table's triggers for the list instead, and call bloom_track afterwards.",
					 bfpg_call_text(list->place.schema, "bloom_refresh", list->name), bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

/* Whether one is a partition of the other, or both are one table. */
static bool
same_rows(Oid a, Oid b)
{
	return list_member_oid(find_all_inheritors(a, NoLock, NULL), b) || list_member_oid(find_all_inheritors(b, NoLock, NULL), a);
}

/* A table was renamed, and another one got its name: the query reads that one, and the triggers stayed with the first. */
static void
tell_unread(const BfpgPublication *list, Oid table)
{
	ereport(WARNING,
			(errmsg("list \"%s\" is tracked by table \"%s\", which its query does not read", list->name, get_rel_name(table)),
			 errdetail("Its trigger records no changes of the tables that the query reads."),
			 errhint("If another table has taken its name, %s, then bloom_track with that one.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

/* A partition that the query reads isn't told of beside its root, unless the tracked table is another partition. */
static bool
is_told_of(Oid other, Oid tracked)
{
	if (same_rows(tracked, other))
		return false;
	return !get_rel_relispartition(other) || same_rows(tracked, llast_oid(get_partition_ancestors(other)));
}

/* Whether a table has its trigger of rows for the list, and that is enabled, or fired always. */
static bool
fires(const BfpgPublication *list, Oid relation, bool always)
{
	Relation	table = table_open(relation, AccessShareLock);
	bool		enabled = bfpg_change_fires(table, list->place.schema, list->name, always);

	table_close(table, NoLock);
	return enabled;
}

/* Somebody has disabled the trigger, or the table has got a child by inheritance, which has none. */
static void
tell_unrecorded(const BfpgPublication *list, Oid tracked)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(tracked, AccessShareLock, NULL))
		if (!fires(list, lfirst_oid(cell), false))
			ereport(WARNING,
					(errmsg("changes of table \"%s\" are not recorded for list \"%s\"", get_rel_name(lfirst_oid(cell)), list->name),
					 errdetail("The trigger by which it would track the list is disabled or not there."),
					 errhint("Enable the trigger, or end the inheritance by ALTER TABLE ... NO INHERIT, then %s.", bfpg_call_text(list->place.schema, "bloom_refresh", list->name))));
}

/* The table was dropped, or its triggers were. */
static void
tell_gone(const BfpgPublication *list)
{
	ereport(WARNING,
			(errmsg("list \"%s\" is tracked, and no table has its triggers any more", list->name),
			 errdetail("Nothing records changes of the tables that its query reads."),
			 errhint("CALL bloom_track with that table, or %s where all are recorded by bloom_change.",
					 bfpg_call_text(list->place.schema, "bloom_track", list->name))));
}

/* A key that the table loses may be in by another one. */
static void
tell_others(const BfpgPublication *list, Oid table, List *tables)
{
	ListCell   *cell;

	foreach(cell, tables)
		if (is_told_of(lfirst_oid(cell), table))
			ereport(WARNING,
					(errmsg("the query of list \"%s\" reads table \"%s\" beside the one that tracks it", list->name, get_rel_name(lfirst_oid(cell))),
					 errdetail("Changes of that table are not recorded, and a key that table \"%s\" loses is out whatever the other one says.", get_rel_name(table)),
					 errhint("Where both say which keys are in, %s, then bloom_track without a table, and bloom_change for each key.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

void
bfpg_track_tell_tables(const BfpgPublication *list)
{
	List	   *tables = tables_read(list->made.build->plan);
	List	   *tracking = bfpg_track_tables(list);
	ListCell   *cell;

	if (list->by_table && tracking == NIL)
		tell_gone(list);
	if (tables == NIL)
		return;
	foreach(cell, tracking)
	{
		if (list_member_oid(tables, lfirst_oid(cell)))
			tell_unrecorded(list, lfirst_oid(cell));
		else
			tell_unread(list, lfirst_oid(cell));
		if (list->asked.tracking == BFPG_TRACK)
			tell_others(list, lfirst_oid(cell), tables);
	}
}

/* One table has one row for a key, two have two. */
static void
check_only_table(const BfpgPublication *list, Oid table)
{
	ListCell   *cell;

	foreach(cell, bfpg_track_tables(list))
		if (!same_rows(table, lfirst_oid(cell)))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("list \"%s\" is tracked by table \"%s\" already", list->name, get_rel_name(lfirst_oid(cell))),
					 errdetail("A key that one of two tables loses may be in by the other."),
					 errhint("%s drops its triggers. Where both tables say which keys are in, then CALL bloom_track without a table, and bloom_change for each key.",
							 bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
}

static void
execute(const char *sql, int expected)
{
	int			status = SPI_execute(sql, false, 0);

	if (status != expected)
		elog(ERROR, "SPI_execute returned %s", SPI_result_code_string(status));
}

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
	execute(psprintf("CREATE OR REPLACE TRIGGER %s %s EXECUTE FUNCTION %s", quote_identifier(name), what, arguments), SPI_OK_UTILITY);
	if (always)
		execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", bfpg_qualified_name(table), quote_identifier(name)), SPI_OK_UTILITY);
}

static void
make_triggers(const BfpgPublication *list, const TrackedTable *tracked)
{
	const char *function = quote_qualified_identifier(get_namespace_name(list->place.schema), "bloom_change_trigger");
	const char *name = quote_literal_cstr(list->name);
	bool		always = fires(list, tracked->relation, true);
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

/* Keys that are in the table must be those that the trigger takes; nobody writes it meanwhile. */
static void
check_rows(const TrackedTable *tracked)
{
	const char *key = quote_identifier(tracked->key);

	execute(psprintf("SELECT FROM %s WHERE pg_catalog.right(%s::pg_catalog.text, 1) OPERATOR(pg_catalog.=) ' ' LIMIT 1",
					 bfpg_qualified_name(tracked->relation), key),
			SPI_OK_SELECT);
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column %s of table \"%s\" has keys that end in a blank", key, get_rel_name(tracked->relation)),
				 errdetail("Keys are compared without the blanks at their end, so that two rows would have one key."),
				 errhint("UPDATE %s SET %s = rtrim(%s) WHERE %s LIKE '%% ', and add a constraint CHECK (%s = rtrim(%s)).",
						 bfpg_qualified_name(tracked->relation), key, key, key, key, key)));
}

static void
track_table(const BfpgPublication *list, const TrackedTable *tracked)
{
	ListCell   *cell;

	check_only_table(list, tracked->relation);
	make_triggers(list, tracked);
	foreach(cell, find_all_inheritors(tracked->relation, NoLock, NULL))
	{
		Relation	table = table_open(lfirst_oid(cell), NoLock);

		if (bfpg_change_check_trigger(table, list->place.schema, list->name) && lfirst_oid(cell) == tracked->relation)
			check_rows(tracked);
		table_close(table, NoLock);
	}
}

static int64
sampled(int column)
{
	bool		is_null;

	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column + 1, &is_null));
}

/* Whether table and columns are those of the list's query nobody can know: so some rows are looked up. */
static void
check_sample(const BfpgPublication *list, const TrackedTable *tracked)
{
	int64		denied;
	int64		taken;
	const Oid	types[] = {TEXTOID, ANYELEMENTOID};
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("bloom_lookup"),
										   PointerGetDatum(buildoidvector(types, lengthof(types))), ObjectIdGetDatum(list->place.schema));

	if (!bfpg_may_execute(function, GetUserId()) || pg_class_aclcheck(tracked->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		return;
	execute(psprintf("SELECT pg_catalog.count(*) FILTER (WHERE v AND NOT found), pg_catalog.count(*) FILTER (WHERE NOT v AND found), pg_catalog.count(*) FILTER (WHERE NOT v) "
					 "FROM (SELECT k, v, %sbloom_lookup(%s, k) AS found FROM (SELECT %s AS k, coalesce(%s, false) AS v FROM %s LIMIT %d) t) l",
					 list->place.prefix, quote_literal_cstr(list->name), quote_identifier(tracked->key),
					 tracked->value == NULL ? "true" : quote_identifier(tracked->value), bfpg_qualified_name(tracked->relation), SAMPLE),
			SPI_OK_SELECT);
	denied = sampled(0);
	taken = sampled(1);
	if (denied > 0)
		ereport(WARNING,
				(errmsg("list \"%s\" denies " INT64_FORMAT " keys that are in table \"%s\"", list->name, denied, get_rel_name(tracked->relation)),
				 errdetail("The query of the list returns other keys than column \"%s\".", tracked->key),
				 errhint("%s, unless that is meant.", bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
	if (!bfpg_absorb_is_by_chance((double) taken, (double) sampled(2) * list->p))
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
	list->asked.tracking = BFPG_TRACK;
	PG_TRY();
	{
		bfpg_publish_run(list, bfpg_publish_refresh);
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

/*
 * Only the owner of a table drops its triggers, which each partition has, too: that is asked before the
 * list is published without them.
 */
static void
check_may_drop(const BfpgPublication *list)
{
	const SPITupleTable *triggers = find_triggers(&list->place, list->name);
	uint64		i;

	for (i = 0; i < triggers->numvals; i++)
	{
		Relation	table = table_open(table_of(triggers, i), AccessShareLock);

		if (!has_privs_of_role(GetUserId(), table->rd_rel->relowner))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("must be owner of table \"%s\"", RelationGetRelationName(table)),
					 errdetail("Its triggers for list \"%s\" would be dropped.", list->name),
					 errhint("The table's owner \"%s\" has the rights of the list's owner, and can %s.",
							 GetUserNameFromId(table->rd_rel->relowner, false), bfpg_call_text(list->place.schema, "bloom_untrack", list->name))));
		table_close(table, NoLock);
	}
}

static void
untrack(BfpgPublication *list, const TrackedTable *none)
{
	const SPITupleTable *triggers;
	uint64		i;

	check_may_drop(list);
	list->asked.tracking = BFPG_UNTRACK;
	bfpg_publish_run(list, bfpg_publish_refresh);
	SPI_commit();
	bfpg_publish_lock(&list->place, list->name, true);
	EnsurePortalSnapshotExists();
	triggers = find_triggers(&list->place, list->name);
	for (i = 0; i < triggers->numvals; i++)
		execute(SPI_getvalue(triggers->vals[i], triggers->tupdesc, TRIGGER_DROP), SPI_OK_UTILITY);
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
