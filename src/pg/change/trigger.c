/*
 * trigger.c
 *	  bloom_change_trigger: each change of a table is a change of a list.
 *
 * What is recorded is what the table says of a key when the trigger fires, and not what the event
 * says: a statement's triggers fire at its end, and by then a function or another trigger may have
 * changed the row again, or made another one of the same key, whose trigger has fired before.  Whoever
 * changes a key last fires last.  (Mutations J26, J27; sql/track.sql.)
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/rel.h"

#include "base/epoch.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "change/change.h"
#include "list/changes.h"
#include "list/list.h"

PG_FUNCTION_INFO_V1(bloomfilter_change_trigger);

/* A key of a row, as it is there and as bloom_change has it, and whether it is in. */
typedef struct RowKey
{
	bool		is_null;
	Datum		column;
	Datum		key;
	bool		value;
} RowKey;

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
		bfpg_tracked_check_trigger(trigger);
		tracked = palloc0(sizeof(BfpgTracked));
		tracked->list = CStringGetTextDatum(trigger->tg_trigger->tgargs[BFPG_TRACKED_LIST]);
		tracked->schema = bfpg_extension_schema(fcinfo->flinfo->fn_oid);
		initStringInfo(&tracked->old_key);
		initStringInfo(&tracked->new_key);
		initStringInfo(&tracked->now_key);
		fcinfo->flinfo->fn_extra = tracked;
	}
	tracked->epoch = 0;
	bfpg_tracked_find_list(tracked);
	if (tracked->exists)
		bfpg_tracked_check(trigger, tracked);
	MemoryContextSwitchTo(old);
	tracked->epoch = bfpg_epoch;
	return tracked;
}

/* The key of a row; null where there is no row. */
static RowKey
key_of(BfpgTracked *tracked, const TriggerData *trigger, HeapTuple tuple, StringInfo buffer)
{
	TupleDesc	columns = RelationGetDescr(trigger->tg_relation);
	RowKey		key = {true};
	bool		is_null;

	if (tuple == NULL)
		return key;
	key.column = heap_getattr(tuple, tracked->key, columns, &key.is_null);
	if (key.is_null)
		return key;
	bfpg_tracked_check_key(trigger, tracked, key.column);
	key.key = bfpg_change_key(&tracked->coder, key.column, buffer);
	key.value = tracked->value == 0 || (DatumGetBool(heap_getattr(tuple, tracked->value, columns, &is_null)) && !is_null);
	return key;
}

static bool
same_key(const RowKey *a, const RowKey *b)
{
	return !a->is_null && !b->is_null && datumIsEqual(a->key, b->key, false, -1);
}

/* Whether a key is in by the row that has it now, after all that this transaction has done. */
static bool
is_in_now(BfpgTracked *tracked, const TriggerData *trigger, const RowKey *key)
{
	ScanKeyData row = tracked->row;
	SysScanDesc scan;
	RowKey		now;

	row.sk_argument = key->column;
	scan = systable_beginscan(trigger->tg_relation, tracked->index, true, SnapshotSelf, 1, &row);
	now = key_of(tracked, trigger, systable_getnext(scan), &tracked->now_key);
	systable_endscan(scan);
	return same_key(&now, key) && now.value;
}

/* Of a row that is still as it is here the table needn't be asked. */
static void
record(BfpgTracked *tracked, const TriggerData *trigger, const RowKey *key, TupleTableSlot *row)
{
	bool		value;

	if (key->is_null)
		return;
	if (row != NULL && table_tuple_satisfies_snapshot(trigger->tg_relation, row, SnapshotSelf))
		value = key->value;
	else
		value = is_in_now(tracked, trigger, key);
	bfpg_change_record(tracked->schema, tracked->list, key->key, value);
}

static void
change_row(BfpgTracked *tracked, const TriggerData *trigger)
{
	bool		inserts = TRIGGER_FIRED_BY_INSERT(trigger->tg_event);
	bool		updates = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event);
	HeapTuple	before = inserts ? NULL : trigger->tg_trigtuple;
	HeapTuple	after = inserts ? trigger->tg_trigtuple : updates ? trigger->tg_newtuple : NULL;
	TupleTableSlot *row = inserts ? trigger->tg_trigslot : trigger->tg_newslot;
	RowKey		old_key = key_of(tracked, trigger, before, &tracked->old_key);
	RowKey		new_key = key_of(tracked, trigger, after, &tracked->new_key);

	if (same_key(&old_key, &new_key))
	{
		if (old_key.value != new_key.value)
			record(tracked, trigger, &new_key, row);
		return;
	}
	record(tracked, trigger, &old_key, NULL);
	record(tracked, trigger, &new_key, row);
}

static void
refuse_truncate(const TriggerData *trigger, Oid schema)
{
	const char *list = trigger->tg_trigger->tgargs[BFPG_TRACKED_LIST];
	BfpgTracked tracked = {.schema = schema, .list = CStringGetTextDatum(list)};

	bfpg_tracked_find_list(&tracked);
	if (tracked.exists)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" can't be truncated, since its keys are tracked by list \"%s\"",
						RelationGetRelationName(trigger->tg_relation), list),
				 errhint("DELETE the rows, or %s first.", bfpg_call_text(schema, "bloom_untrack", list))));
}

Datum
bloomfilter_change_trigger(PG_FUNCTION_ARGS)
{
	const TriggerData *trigger = bfpg_trigger_data(fcinfo);
	BfpgTracked *tracked;

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
