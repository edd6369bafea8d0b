/*
 * trigger.c
 *	  bloom_change_trigger: each change of a table is a change of a list.
 *
 * A key that is in must never be denied, and with a key whose row goes, or whose boolean becomes
 * false, another row's key may go that has the same bytes.  So what the trigger fires for is looked
 * at, whenever PostgreSQL tells that it may have changed (sql/track.sql):
 *
 * 1. The trigger sees what happened, after all that could stop it, and in the transaction's order:
 *	  AFTER, FOR EACH ROW, not deferrable.  (Mutation J5.)
 * 2. There is one row for a key at a time: a unique index of the key alone, on all partitions
 *	  together, that is checked at once, and no rows of inheritance children.  (J6, J7.)
 * 3. No two values of the column have the same bytes.  (J8.)
 * 4. TRUNCATE, which fires no trigger for rows, is refused.  (J10.)
 * 5. Whoever owns the table could change the list by hand.  (J11.)
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/epoch.h"
#include "base/pg_compat.h"
#include "change/change.h"
#include "list/changes.h"
#include "list/list.h"
#include "list/owner.h"

PG_FUNCTION_INFO_V1(bloomfilter_change_trigger);

/* Arguments of the trigger. */
enum
{
	ARG_LIST,
	ARG_KEY,
	ARG_VALUE,
	ARG_COUNT
};

#define REFUSES_TRUNCATE (TRIGGER_TYPE_STATEMENT | TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_TRUNCATE)

/* What a trigger keeps between the rows of a statement. */
typedef struct BfpgTracked
{
	uint64		epoch;			/* bfpg_epoch when all was looked at, or 0 */
	Oid			schema;
	bool		exists;			/* there is such a list */
	Datum		list;
	Oid			type;			/* of the key */
	AttrNumber	key;
	AttrNumber	value;			/* 0: every row's key is in */
	BfpgKeyCoder coder;
	StringInfoData old_key;		/* of the row at hand */
	StringInfoData new_key;
} BfpgTracked;

/* A key of a row, as bloom_change has it, and whether it is in. */
typedef struct RowKey
{
	bool		is_null;
	Datum		key;
	bool		value;
} RowKey;

static bool
list_exists(Oid schema, Datum list)
{
	Relation	table = table_open(bfpg_list_relation(schema, "bloom_generation"), AccessShareLock);
	SysScanDesc scan;
	bool		exists = bfpg_list_newest_row(table, list, &scan) != NULL;

	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return exists;
}

pg_noreturn static void
refuse_use(const TriggerData *trigger, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("trigger \"%s\" of table \"%s\" can't track a list", trigger->tg_trigger->tgname, RelationGetRelationName(trigger->tg_relation)),
			 errdetail_internal("%s", detail),
			 errhint("Drop it. CALL bloom_track makes the triggers that a list needs.")));
}

static void
check_trigger(const TriggerData *trigger)
{
	int			arguments = trigger->tg_trigger->tgnargs;

	if (!TRIGGER_FIRED_AFTER(trigger->tg_event) || !TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || trigger->tg_trigger->tgdeferrable)
		refuse_use(trigger, "It must be AFTER INSERT OR UPDATE OR DELETE, FOR EACH ROW, and not deferrable, or BEFORE TRUNCATE.");
	if (arguments != ARG_VALUE && arguments != ARG_COUNT)
		refuse_use(trigger, "Its arguments must be a list, a column of keys and, where there is one, a boolean column.");
}

static AttrNumber
find_column(const TriggerData *trigger, int argument)
{
	AttrNumber	column = SPI_fnumber(RelationGetDescr(trigger->tg_relation), trigger->tg_trigger->tgargs[argument]);

	if (column <= 0)
		refuse_use(trigger, psprintf("The table has no column \"%s\".", trigger->tg_trigger->tgargs[argument]));
	return column;
}

static void
find_columns(const TriggerData *trigger, BfpgTracked *tracked)
{
	Form_pg_attribute key;

	tracked->key = find_column(trigger, ARG_KEY);
	key = TupleDescAttr(RelationGetDescr(trigger->tg_relation), tracked->key - 1);
	tracked->type = key->atttypid;
	bfpg_column_coder(key->atttypid, key->attcollation, &tracked->coder);
	tracked->value = 0;
	if (trigger->tg_trigger->tgnargs == ARG_VALUE)
		return;
	tracked->value = find_column(trigger, ARG_VALUE);
	if (getBaseType(TupleDescAttr(RelationGetDescr(trigger->tg_relation), tracked->value - 1)->atttypid) != BOOLOID)
		refuse_use(trigger, psprintf("Column \"%s\" is no boolean.", trigger->tg_trigger->tgargs[ARG_VALUE]));
}

/* Whether an index allows one row for each value of a column. */
static bool
is_unique_for(Oid index, AttrNumber column)
{
	Relation	relation = index_open(index, AccessShareLock);
	Form_pg_index form = relation->rd_index;
	bool		unique = form->indisunique && form->indimmediate && form->indisvalid && form->indislive &&
		form->indnkeyatts == 1 && form->indkey.values[0] == column &&
		heap_attisnull(relation->rd_indextuple, Anum_pg_index_indpred, NULL);

	index_close(relation, NoLock);
	return unique;
}

static bool
has_unique_index(Relation table, const char *column)
{
	AttrNumber	number = get_attnum(RelationGetRelid(table), column);
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *cell;

	foreach(cell, indexes)
		if (is_unique_for(lfirst_oid(cell), number))
			return true;
	return false;
}

/* Inheritance other than by partitions: rows that the table's indexes don't know. */
static bool
is_inherited(Relation table)
{
	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return false;
	return find_inheritance_children(RelationGetRelid(table), NoLock) != NIL || has_superclass(RelationGetRelid(table));
}

/* The enabled trigger by which a table tracks a list, or the one that refuses TRUNCATE; NULL: there is none. */
static Trigger *
find_trigger(Relation table, Oid function, const char *list, int16 type)
{
	int			i;

	for (i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid == function && trigger->tgenabled != TRIGGER_DISABLED && (trigger->tgtype & type) == type &&
			TRIGGER_FOR_ROW(trigger->tgtype) == TRIGGER_FOR_ROW(type) && trigger->tgnargs > 0 && strcmp(trigger->tgargs[ARG_LIST], list) == 0)
			return trigger;
	}
	return NULL;
}

/* The table that all partitions are of, or the table itself. */
static Relation
open_root(Relation table)
{
	Oid			root = RelationGetRelid(table);

	if (table->rd_rel->relispartition)
		root = llast_oid(get_partition_ancestors(root));
	return table_open(root, AccessShareLock);
}

static void
check_rows(Relation root, const char *list, const char *key)
{
	if (!has_unique_index(root, key))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" can't change list \"%s\"", RelationGetRelationName(root), list),
				 errdetail("It has no unique index of column \"%s\" alone that is valid, not partial and not deferrable.", key),
				 errhint("CREATE UNIQUE INDEX ON %s (%s). Where that can't be, CALL bloom_track(%s), and bloom_change for each key.",
						 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(root)), RelationGetRelationName(root)),
						 quote_identifier(key), quote_literal_cstr(list))));
	if (is_inherited(root))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" can't change list \"%s\"", RelationGetRelationName(root), list),
				 errdetail("It inherits or is inherited from: its unique index doesn't know all rows."),
				 errhint("CALL bloom_track(%s), and bloom_change for each key.", quote_literal_cstr(list))));
}

static void
check_table(const TriggerData *trigger)
{
	const char *list = trigger->tg_trigger->tgargs[ARG_LIST];
	Relation	root = open_root(trigger->tg_relation);

	check_rows(root, list, trigger->tg_trigger->tgargs[ARG_KEY]);
	if (find_trigger(trigger->tg_relation, trigger->tg_trigger->tgfoid, list, REFUSES_TRUNCATE) == NULL ||
		find_trigger(root, trigger->tg_trigger->tgfoid, list, REFUSES_TRUNCATE) == NULL)
		refuse_use(trigger, psprintf("It needs a trigger BEFORE TRUNCATE of the same list beside it, which table \"%s\" or its partition lacks.", RelationGetRelationName(root)));
	table_close(root, AccessShareLock);
}

/* The trigger acts for whoever writes the table, so the table's owner answers for it. */
static void
check_owner(const TriggerData *trigger, Oid schema)
{
	const char *list = trigger->tg_trigger->tgargs[ARG_LIST];
	Oid			writer = trigger->tg_relation->rd_rel->relowner;
	BfpgOwner	owner;

	bfpg_owner_find(schema, list, &owner);
	if (superuser_arg(writer) || (OidIsValid(owner.role) && has_privs_of_role(writer, owner.role)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("table \"%s\" can't change list \"%s\"", RelationGetRelationName(trigger->tg_relation), list),
			 OidIsValid(owner.role)
			 ? errdetail("Its owner \"%s\" has not the rights of the list's owner \"%s\".", GetUserNameFromId(writer, false), owner.name)
			 : errdetail("The list has no owner here."),
			 errhint("CALL bloom_alter(%s, owner => %s), or drop the trigger \"%s\".", quote_literal_cstr(list),
					 quote_literal_cstr(GetUserNameFromId(writer, false)), trigger->tg_trigger->tgname)));
}

/* Looks at all that the promise needs. */
static void
check_all(const TriggerData *trigger, BfpgTracked *tracked)
{
	check_trigger(trigger);
	find_columns(trigger, tracked);
	check_table(trigger);
	check_owner(trigger, tracked->schema);
}

/* Looks the first time, and when what was seen may have changed. */
static BfpgTracked *
find_tracked(FunctionCallInfo fcinfo)
{
	const TriggerData *trigger = (TriggerData *) fcinfo->context;
	BfpgTracked *tracked = fcinfo->flinfo->fn_extra;
	MemoryContext old;

	if (tracked != NULL && tracked->epoch == bfpg_epoch)
		return tracked;
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	if (tracked == NULL)
	{
		check_trigger(trigger);
		tracked = palloc0(sizeof(BfpgTracked));
		tracked->list = CStringGetTextDatum(trigger->tg_trigger->tgargs[ARG_LIST]);
		tracked->schema = bfpg_extension_schema(fcinfo->flinfo->fn_oid);
		initStringInfo(&tracked->old_key);
		initStringInfo(&tracked->new_key);
		fcinfo->flinfo->fn_extra = tracked;
	}
	tracked->epoch = 0;
	tracked->exists = list_exists(tracked->schema, tracked->list);
	if (tracked->exists)
		check_all(trigger, tracked);
	MemoryContextSwitchTo(old);
	tracked->epoch = bfpg_epoch;
	return tracked;
}

uint32
bfpg_change_check_trigger(Relation table, Oid schema, const char *list, bool *blanks)
{
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("bloom_change_trigger"),
										   PointerGetDatum(buildoidvector(NULL, 0)), ObjectIdGetDatum(schema));
	TriggerData trigger = {
		.type = T_TriggerData, .tg_event = TRIGGER_EVENT_ROW | TRIGGER_EVENT_AFTER, .tg_relation = table,
		.tg_trigger = find_trigger(table, function, list, TRIGGER_TYPE_ROW)
	};
	BfpgTracked tracked = {.schema = schema};

	if (trigger.tg_trigger == NULL)
		elog(ERROR, "table \"%s\" has no trigger that tracks list \"%s\"", RelationGetRelationName(table), list);
	check_all(&trigger, &tracked);
	*blanks = tracked.coder.type == BF_KEY_TEXT && getBaseType(tracked.type) != BPCHAROID;
	return tracked.coder.type;
}

/* The key of a row; null where there is no row. */
static RowKey
key_of(BfpgTracked *tracked, const TriggerData *trigger, HeapTuple tuple, StringInfo buffer)
{
	TupleDesc	columns = RelationGetDescr(trigger->tg_relation);
	RowKey		key = {true};
	Datum		value;
	bool		is_null;

	if (tuple == NULL)
		return key;
	value = heap_getattr(tuple, tracked->key, columns, &key.is_null);
	if (key.is_null)
		return key;
	if (!bfpg_key_stands_alone(tracked->type, value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a key of list \"%s\" can't be told from another one", trigger->tg_trigger->tgargs[ARG_LIST]),
				 errdetail("Keys are compared without the blanks at their end, and times beyond the year 294246 are not told from infinity."),
				 errhint("Of text: store it without blanks at its end, by a constraint CHECK (%s = rtrim(%s)).",
						 quote_identifier(trigger->tg_trigger->tgargs[ARG_KEY]), quote_identifier(trigger->tg_trigger->tgargs[ARG_KEY]))));
	key.key = bfpg_change_key(&tracked->coder, value, buffer);
	key.value = true;
	if (tracked->value != 0)
	{
		key.value = DatumGetBool(heap_getattr(tuple, tracked->value, columns, &is_null));
		key.value = key.value && !is_null;
	}
	return key;
}

static bool
same_key(const RowKey *a, const RowKey *b)
{
	return !a->is_null && !b->is_null && datumIsEqual(a->key, b->key, false, -1);
}

static void
record(const BfpgTracked *tracked, const RowKey *key, bool value)
{
	if (!key->is_null)
		bfpg_change_record(tracked->schema, tracked->list, key->key, value);
}

static void
change_row(BfpgTracked *tracked, const TriggerData *trigger)
{
	bool		inserts = TRIGGER_FIRED_BY_INSERT(trigger->tg_event);
	HeapTuple	before = inserts ? NULL : trigger->tg_trigtuple;
	HeapTuple	after = inserts ? trigger->tg_trigtuple : TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : NULL;
	RowKey		old_key = key_of(tracked, trigger, before, &tracked->old_key);
	RowKey		new_key = key_of(tracked, trigger, after, &tracked->new_key);

	if (same_key(&old_key, &new_key))
	{
		if (old_key.value != new_key.value)
			record(tracked, &new_key, new_key.value);
		return;
	}
	record(tracked, &old_key, false);
	record(tracked, &new_key, new_key.value);
}

static void
refuse_truncate(const TriggerData *trigger, Oid schema)
{
	const char *list = trigger->tg_trigger->tgargs[ARG_LIST];

	if (list_exists(schema, CStringGetTextDatum(list)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" can't be truncated, since its keys are tracked by list \"%s\"",
						RelationGetRelationName(trigger->tg_relation), list),
				 errhint("DELETE the rows, or CALL bloom_untrack(%s) first.", quote_literal_cstr(list))));
}

Datum
bloomfilter_change_trigger(PG_FUNCTION_ARGS)
{
	const TriggerData *trigger = (TriggerData *) fcinfo->context;
	BfpgTracked *tracked;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bloom_change_trigger was called outside of a trigger")));
	if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event) && TRIGGER_FIRED_BEFORE(trigger->tg_event) && trigger->tg_trigger->tgnargs == 1)
	{
		refuse_truncate(trigger, bfpg_extension_schema(fcinfo->flinfo->fn_oid));
		return PointerGetDatum(NULL);
	}
	tracked = find_tracked(fcinfo);
	if (tracked->exists)
		change_row(tracked, trigger);
	return PointerGetDatum(NULL);
}
