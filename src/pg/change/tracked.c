/*
 * tracked.c
 *	  Whether a table's triggers can track a list.
 *
 * A key that is in must never be denied, and with a key whose row goes, or whose boolean becomes
 * false, another row's key may go that has the same bytes.  So what the trigger fires for is looked
 * at, whenever PostgreSQL tells that it may have changed (sql/track.sql):
 *
 * 1. The trigger sees what happened, after all that could stop it: AFTER, FOR EACH ROW, not
 *	  deferrable.  It sees the columns: none is virtual.  (Mutation J5.)
 * 2. There is one row for a key at a time: a unique index of the key alone, on all partitions
 *	  together, that is checked at once, and no rows of inheritance children.  (J6, J7.)
 * 3. No two values of the column have the same bytes, and they are of the list's type.  (J8, J28.)
 * 4. TRUNCATE, which fires no trigger for rows, is refused.  (J10.)
 * 5. Whoever owns the table could change the list by hand.  (J11.)
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "bf_key.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "change/change.h"
#include "list/changes.h"
#include "list/list.h"
#include "list/owner.h"

#define REFUSES_TRUNCATE (TRIGGER_TYPE_STATEMENT | TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_TRUNCATE)

/* Of a list whose generation has no keys, those that are in by changes; NULL: there are none. */
static const char *
type_of_changes(const BfpgTracked *tracked)
{
	uint32		kind;

	PushActiveSnapshot(GetLatestSnapshot());
	kind = bfpg_changes_kind(tracked->schema, TextDatumGetCString(tracked->list));
	PopActiveSnapshot();
	return kind == BF_KEY_NONE ? NULL : bf_key_type_text(kind, palloc(BF_KEY_TEXT_BYTES));
}

void
bfpg_tracked_find_list(BfpgTracked *tracked)
{
	const char *column = "key_type";
	NullableDatum keys;

	tracked->exists = bfpg_list_read(tracked->schema, "bloom_generation", tracked->list, 1, &column, &keys);
	tracked->keys = !tracked->exists ? NULL : keys.isnull ? type_of_changes(tracked) : TextDatumGetCString(keys.value);
}

pg_noreturn static void
refuse_use(const TriggerData *trigger, int code, const char *detail)
{
	ereport(ERROR,
			(errcode(code),
			 errmsg("trigger \"%s\" of table \"%s\" can't track a list", trigger->tg_trigger->tgname, RelationGetRelationName(trigger->tg_relation)),
			 errdetail_internal("%s", detail),
			 errhint("CALL bloom_track with the list's table and columns makes its triggers anew. Drop one that was made otherwise.")));
}

void
bfpg_tracked_check_trigger(const TriggerData *trigger)
{
	int			arguments = trigger->tg_trigger->tgnargs;

	if (!TRIGGER_FIRED_AFTER(trigger->tg_event) || !TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || trigger->tg_trigger->tgdeferrable)
		refuse_use(trigger, ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, "It must be AFTER INSERT OR UPDATE OR DELETE, FOR EACH ROW, and not deferrable, or BEFORE TRUNCATE.");
	if (arguments != BFPG_TRACKED_VALUE && arguments != BFPG_TRACKED_COUNT)
		refuse_use(trigger, ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, "Its arguments must be a list, a column of keys and, where there is one, a boolean column.");
}

static AttrNumber
find_column(const TriggerData *trigger, int argument)
{
	AttrNumber	column = SPI_fnumber(RelationGetDescr(trigger->tg_relation), trigger->tg_trigger->tgargs[argument]);

	if (column <= 0)
		refuse_use(trigger, ERRCODE_UNDEFINED_COLUMN, psprintf("The table has no column \"%s\".", trigger->tg_trigger->tgargs[argument]));
	return column;
}

/* What to do where no trigger can record changes. */
static const char *
by_hand(Oid schema, const char *list)
{
	return psprintf("%s, then %s, and bloom_change for each key",
					bfpg_call_text(schema, "bloom_untrack", list), bfpg_call_text(schema, "bloom_track", list));
}

/* The hint for other keys, an expression, is none here: a trigger's argument is a column. */
static void
refuse_type(const TriggerData *trigger, Oid schema, Form_pg_attribute key)
{
	const char *list = trigger->tg_trigger->tgargs[BFPG_TRACKED_LIST];

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" can't change list \"%s\"", RelationGetRelationName(trigger->tg_relation), list),
			 errdetail("No trigger can record column \"%s\", since its type %s or its collation is none of those that a live index can have.",
					   NameStr(key->attname), format_type_be(key->atttypid)),
			 errhint("%s.", by_hand(schema, list))));
}

static void
find_columns(const TriggerData *trigger, BfpgTracked *tracked)
{
	Form_pg_attribute key;
	Form_pg_attribute value;

	tracked->key = find_column(trigger, BFPG_TRACKED_KEY);
	key = TupleDescAttr(RelationGetDescr(trigger->tg_relation), tracked->key - 1);
	tracked->type = key->atttypid;
	if (!bfpg_find_column_coder(key->atttypid, key->attcollation, &tracked->coder))
		refuse_type(trigger, tracked->schema, key);
	tracked->value = 0;
	if (trigger->tg_trigger->tgnargs == BFPG_TRACKED_VALUE)
		return;
	tracked->value = find_column(trigger, BFPG_TRACKED_VALUE);
	value = TupleDescAttr(RelationGetDescr(trigger->tg_relation), tracked->value - 1);
	if (getBaseType(value->atttypid) != BOOLOID)
		refuse_use(trigger, ERRCODE_DATATYPE_MISMATCH, psprintf("Column \"%s\" is no boolean.", trigger->tg_trigger->tgargs[BFPG_TRACKED_VALUE]));
	if (value->attgenerated != '\0' && value->attgenerated != ATTRIBUTE_GENERATED_STORED)
		refuse_use(trigger, ERRCODE_FEATURE_NOT_SUPPORTED, psprintf("Column \"%s\" is virtual: no trigger sees it. Generate it STORED.", trigger->tg_trigger->tgargs[BFPG_TRACKED_VALUE]));
}

/* Look-ups of one type don't see changes of keys of another one. */
static void
check_kind(const TriggerData *trigger, const BfpgTracked *tracked)
{
	char		type[BF_KEY_TEXT_BYTES];

	if (tracked->keys == NULL || strcmp(bf_key_type_text(tracked->coder.type, type), tracked->keys) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("table \"%s\" can't change list \"%s\"", RelationGetRelationName(trigger->tg_relation), trigger->tg_trigger->tgargs[BFPG_TRACKED_LIST]),
			 errdetail("The list has %s keys, and column \"%s\" has %s keys.", tracked->keys, trigger->tg_trigger->tgargs[BFPG_TRACKED_KEY], type),
			 errhint("CALL bloom_publish with the list's query and allow_type_change => true, track the column that its query returns, or drop the trigger \"%s\".",
					 trigger->tg_trigger->tgname)));
}

static bool
is_unique_for(Oid index, AttrNumber column)
{
	Relation	relation = index_open(index, AccessShareLock);
	Form_pg_index form = relation->rd_index;
	bool		unique = relation->rd_rel->relam == BTREE_AM_OID &&
		form->indisunique && form->indimmediate && form->indisvalid && form->indislive &&
		form->indnkeyatts == 1 && form->indkey.values[0] == column &&
		heap_attisnull(relation->rd_indextuple, Anum_pg_index_indpred, NULL);

	index_close(relation, NoLock);
	return unique;
}

/* InvalidOid: there is none. */
static Oid
find_unique_index(Relation table, const char *column)
{
	AttrNumber	number = get_attnum(RelationGetRelid(table), column);
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *cell;

	foreach(cell, indexes)
		if (is_unique_for(lfirst_oid(cell), number))
			return lfirst_oid(cell);
	return InvalidOid;
}

/* Inheritance other than by partitions: rows that the table's indexes don't know. */
static bool
is_inherited(Relation table)
{
	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return false;
	return find_inheritance_children(RelationGetRelid(table), NoLock) != NIL || has_superclass(RelationGetRelid(table));
}

/* The trigger of a table for a list that is fired whenever another one is that is enabled so; NULL: there is none. */
static Trigger *
find_trigger(const TriggerDesc *triggers, Oid function, const char *list, int16 type, char enabled)
{
	int			i;

	for (i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (trigger->tgfoid == function && (trigger->tgenabled == TRIGGER_FIRES_ALWAYS || trigger->tgenabled == enabled) &&
			(trigger->tgtype & type) == type && TRIGGER_FOR_ROW(trigger->tgtype) == TRIGGER_FOR_ROW(type) &&
			trigger->tgnargs > 0 && strcmp(trigger->tgargs[BFPG_TRACKED_LIST], list) == 0)
			return trigger;
	}
	return NULL;
}

/* The table that all partitions are of, or the table itself. */
static Oid
root_of(Relation table)
{
	return table->rd_rel->relispartition ? llast_oid(get_partition_ancestors(RelationGetRelid(table))) : RelationGetRelid(table);
}

static void
check_rows(Relation root, Oid schema, const char *list, const char *key)
{
	bool		unique = OidIsValid(find_unique_index(root, key));

	if (unique && !is_inherited(root))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" can't change list \"%s\"", RelationGetRelationName(root), list),
			 unique ? errdetail("It inherits or is inherited from: its unique index doesn't know all rows.")
			 : errdetail("It has no unique index of column \"%s\" alone that is valid, not partial and not deferrable.", key),
			 errhint("%s%s.",
					 unique ? "" : psprintf("CREATE UNIQUE INDEX ON %s (%s). Where that can't be, ", bfpg_qualified_name(RelationGetRelid(root)), quote_identifier(key)),
					 by_hand(schema, list))));
}

static void
check_table(const TriggerData *trigger, Oid schema)
{
	const Trigger *of_rows = trigger->tg_trigger;
	const char *list = of_rows->tgargs[BFPG_TRACKED_LIST];
	Relation	root = table_open(root_of(trigger->tg_relation), AccessShareLock);

	check_rows(root, schema, list, of_rows->tgargs[BFPG_TRACKED_KEY]);
	if (find_trigger(trigger->tg_relation->trigdesc, of_rows->tgfoid, list, REFUSES_TRUNCATE, of_rows->tgenabled) == NULL ||
		find_trigger(root->trigdesc, of_rows->tgfoid, list, REFUSES_TRUNCATE, of_rows->tgenabled) == NULL)
		refuse_use(trigger, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, psprintf("It needs a trigger BEFORE TRUNCATE of the same list beside it, enabled as it is itself. Table \"%s\" or its partition lacks one.", RelationGetRelationName(root)));
	table_close(root, AccessShareLock);
}

/* How a key's row is found.  A partition has its part of the index that all of them have together. */
static void
find_index(const TriggerData *trigger, BfpgTracked *tracked)
{
	Relation	index;

	tracked->index = find_unique_index(trigger->tg_relation, trigger->tg_trigger->tgargs[BFPG_TRACKED_KEY]);
	index = index_open(tracked->index, AccessShareLock);
	ScanKeyEntryInitialize(&tracked->row, 0, tracked->key, BTEqualStrategyNumber, InvalidOid, index->rd_indcollation[0],
						   get_opcode(get_opfamily_member(index->rd_opfamily[0], index->rd_opcintype[0], index->rd_opcintype[0], BTEqualStrategyNumber)), 0);
	index_close(index, NoLock);
}

/* The trigger acts for whoever writes the table, so the table's owner answers for it. */
static void
check_owner(const TriggerData *trigger, Oid schema)
{
	const char *list = trigger->tg_trigger->tgargs[BFPG_TRACKED_LIST];
	Oid			writer = trigger->tg_relation->rd_rel->relowner;
	BfpgOwner	owner;
	const char *give;

	bfpg_owner_find(schema, list, &owner);
	if (superuser_arg(writer) || (OidIsValid(owner.role) && has_privs_of_role(writer, owner.role)))
		return;
	give = psprintf("CALL %s(%s, owner => %s)", bfpg_callable_name(schema, "bloom_alter"), quote_literal_cstr(list), quote_literal_cstr(GetUserNameFromId(writer, false)));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("table \"%s\" can't change list \"%s\"", RelationGetRelationName(trigger->tg_relation), list),
			 OidIsValid(owner.role)
			 ? errdetail("Its owner \"%s\" has not the rights of the list's owner \"%s\".", GetUserNameFromId(writer, false), owner.name)
			 : errdetail("The list has no owner here."),
			 OidIsValid(owner.role)
			 ? errhint("GRANT %s TO %s, which must inherit its rights, or %s, which takes the list from its owner, or drop the trigger \"%s\".",
					   quote_identifier(owner.name), quote_identifier(GetUserNameFromId(writer, false)), give, trigger->tg_trigger->tgname)
			 : errhint("%s, or drop the trigger \"%s\".", give, trigger->tg_trigger->tgname)));
}

void
bfpg_tracked_check(const TriggerData *trigger, BfpgTracked *tracked)
{
	bfpg_tracked_check_trigger(trigger);
	find_columns(trigger, tracked);
	check_table(trigger, tracked->schema);
	check_kind(trigger, tracked);
	find_index(trigger, tracked);
	check_owner(trigger, tracked->schema);
}

Oid
bfpg_change_trigger_function(Oid schema)
{
	return bfpg_extension_function(schema, "bloom_change_trigger", 0, NULL);
}

bool
bfpg_change_fires(Oid relation, Oid schema, const char *list, bool always)
{
	Relation	table = table_open(relation, AccessShareLock);
	bool		fires = find_trigger(table->trigdesc, bfpg_change_trigger_function(schema), list, TRIGGER_TYPE_ROW, always ? TRIGGER_FIRES_ALWAYS : TRIGGER_FIRES_ON_ORIGIN) != NULL;

	table_close(table, NoLock);
	return fires;
}

void
bfpg_tracked_check_key(const TriggerData *trigger, const BfpgTracked *tracked, Datum key)
{
	const char *list = trigger->tg_trigger->tgargs[BFPG_TRACKED_LIST];
	const char *column;
	const char *stored;

	if (bfpg_key_stands_alone(tracked->type, key))
		return;
	column = quote_identifier(trigger->tg_trigger->tgargs[BFPG_TRACKED_KEY]);
	stored = psprintf(GetDatabaseEncoding() == PG_UTF8 ? "rtrim(%s)" : "rtrim(convert_from(convert_to(%s, 'UTF8'), 'UTF8'))", column);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a key of list \"%s\" can't be told from another one", list),
			 errdetail("Keys are compared as UTF-8, without the blanks at their end, and times beyond the year 294246 are not told from infinity."),
			 !OidIsValid(get_typcollation(tracked->type))
			 ? errhint("Store an earlier time. Of rows that are there: first %s, then DELETE FROM %s WHERE isfinite(%s) AND %s > '294246-12-31'.",
					   bfpg_call_text(tracked->schema, "bloom_untrack", list), bfpg_qualified_name(root_of(trigger->tg_relation)), column, column)
			 : errhint("Store it without blanks at its end, by a constraint CHECK (%s = %s). Of rows that are there: first %s, then UPDATE %s SET %s = %s WHERE %s <> %s.",
					   column, stored, bfpg_call_text(tracked->schema, "bloom_untrack", list), bfpg_qualified_name(root_of(trigger->tg_relation)), column, stored, column, stored)));
}

/* Nobody writes meanwhile.  A query would lack what a policy hides from the caller, and what a snapshot of before the lock doesn't see. */
static void
check_keys(const TriggerData *trigger, const BfpgTracked *tracked)
{
	SysScanDesc scan = systable_beginscan(trigger->tg_relation, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		bool		is_null;
		Datum		key = heap_getattr(tuple, tracked->key, RelationGetDescr(trigger->tg_relation), &is_null);

		if (!is_null)
			bfpg_tracked_check_key(trigger, tracked, key);
	}
	systable_endscan(scan);
}

void
bfpg_change_check_trigger(Relation table, Oid schema, const char *list)
{
	/* the relation cache's own goes when others change the table, such as its rights, while rows are read */
	TriggerDesc *triggers = CopyTriggerDesc(table->trigdesc);
	TriggerData trigger = {
		.type = T_TriggerData, .tg_event = TRIGGER_EVENT_ROW | TRIGGER_EVENT_AFTER, .tg_relation = table,
		.tg_trigger = find_trigger(triggers, bfpg_change_trigger_function(schema), list, TRIGGER_TYPE_ROW, TRIGGER_FIRES_ON_ORIGIN)
	};
	BfpgTracked tracked = {.schema = schema, .list = CStringGetTextDatum(list)};

	if (trigger.tg_trigger == NULL)
		elog(ERROR, "table \"%s\" has no trigger that tracks list \"%s\"", RelationGetRelationName(table), list);
	bfpg_tracked_find_list(&tracked);
	bfpg_tracked_check(&trigger, &tracked);
	if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE && !bfpg_keys_stand_alone(tracked.type))
		check_keys(&trigger, &tracked);
}
