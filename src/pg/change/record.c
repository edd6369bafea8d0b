/*
 * record.c
 *	  Recording a change of a list: for the trigger, and bloom_change for whoever has no table.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "base/pg_compat.h"
#include "base/report.h"
#include "change/change.h"
#include "list/lookup.h"
#include "list/owner.h"
#include "list/tables.h"

PG_FUNCTION_INFO_V1(bloomfilter_change);
PG_FUNCTION_INFO_V1(bloomfilter_change_kind);

/*
 * The version is greater than that of all earlier changes of this key: the row is locked, and who
 * has waited for it adds one to what is there.  The clock keeps it greater than those of a row that
 * was pruned, or lost, unless it was set back.
 */
static const char *const statement =
"INSERT INTO %s.bloom_change AS c (name, key, value, version) VALUES ($1, $2, $3, $4) "
"ON CONFLICT (name, key) DO UPDATE SET value = excluded.value, "
"version = greatest(c.version OPERATOR(pg_catalog.+) 1, excluded.version)";

/* The statement's plan is kept for the schema that it names. */
static SPIPlanPtr
plan_in(const char *schema)
{
	static SPIPlanPtr plan = NULL;
	static NameData planned;
	SPIPlanPtr	made;
	Oid			types[] = {TEXTOID, BYTEAOID, BOOLOID, INT8OID};

	if (plan != NULL && namestrcmp(&planned, schema) == 0)
		return plan;
	if (plan != NULL)
		SPI_freeplan(plan);
	plan = NULL;
	made = SPI_prepare(psprintf(statement, quote_identifier(schema)), lengthof(types), types);
	SPI_keepplan(made);
	namestrcpy(&planned, schema);
	return plan = made;
}

/* A third of a page, which is the most that a row of an index can take; keys of so many bytes are measured. */
#define MOST_INDEX_BYTES (BLCKSZ / 3 - 24)
#define LONG_KEY_BYTES (BLCKSZ / 4)

/*
 * The index of bloom_absorbed has one column more than that of bloom_change: a key that it refuses, and the
 * other takes, would make each publish fail.
 */
static void
check_length(Oid schema, Datum list, Datum key)
{
	Datum		row[] = {list, Int16GetDatum(BFPG_CURRENT), key};
	bool		nulls[lengthof(row)] = {false};
	Relation	index;

	if (VARSIZE_ANY(DatumGetPointer(key)) < LONG_KEY_BYTES)
		return;
	index = index_open(bfpg_list_relation(schema, "bloom_absorbed_pkey"), AccessShareLock);
	if (IndexTupleSize(index_form_tuple(RelationGetDescr(index), row, nulls)) > MOST_INDEX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a key of list \"%s\" is too long to be changed", TextDatumGetCString(list)),
				 errhint("Store keys of at most 2,400 bytes, or %s.", bfpg_call_text(schema, "bloom_untrack", TextDatumGetCString(list)))));
	index_close(index, NoLock);
}

void
bfpg_change_record(Oid schema, Datum list, Datum key, bool value)
{
	const ParamExternData row[] = {
		bfpg_parameter(TEXTOID, list),
		bfpg_parameter(BYTEAOID, key),
		bfpg_parameter(BOOLOID, BoolGetDatum(value)),
		bfpg_parameter(INT8OID, Int64GetDatum(GetCurrentTimestamp() + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY))
	};
	Relation	table;

	if (bfpg_list_queries != NULL)
		bfpg_list_check_query(schema, TextDatumGetCString(list));
	check_length(schema, list, key);
	table = table_open(bfpg_list_relation(schema, "bloom_change"), RowExclusiveLock);

	SPI_connect();
	bfpg_run_plan(table, plan_in(get_namespace_name(schema)), bfpg_parameters(lengthof(row), row), SPI_OK_INSERT);
	SPI_finish();
	table_close(table, NoLock);
}

/* Throws unless the current role may change this list by hand. */
static void
check_list(BfpgLookup *lookup)
{
	const char *name = text_to_cstring(lookup->name);
	BfpgOwner	owner;

	bfpg_owner_check(lookup->schema, name, BFPG_CHANGES, &owner);
	if (lookup->changes == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("list \"%s\" is not tracked", name),
				 errdetail("Look-ups in it don't ask for changes."),
				 errhint("%s.", bfpg_call_text(lookup->schema, "bloom_track", name))));
	if (lookup->header.key_type == BF_KEY_NONE && lookup->coder.untyped)
		bfpg_refuse_untyped("the key");
	lookup->changer = GetUserId();
}

Datum
bloomfilter_change(PG_FUNCTION_ARGS)
{
	BfpgLookup *lookup = bfpg_lookup_begin(fcinfo, false);

	PreventCommandIfReadOnly("changing a list");
	if (lookup->changer != GetUserId())
		check_list(lookup);
	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("value of a key must not be null"),
				 errhint("It is what look-ups of the key answer.")));
	if (!PG_ARGISNULL(1))
		bfpg_change_record(lookup->schema, PointerGetDatum(lookup->name),
						   bfpg_lookup_key(lookup, PG_GETARG_DATUM(1)), PG_GETARG_BOOL(2));
	bfpg_lookup_end(lookup);
	PG_RETURN_VOID();
}

/* The type that stands before the bytes of a key, as bloom_stats shows it. */
Datum
bloomfilter_change_kind(PG_FUNCTION_ARGS)
{
	const bytea *key = PG_GETARG_BYTEA_PP(0);
	char		name[BF_KEY_TEXT_BYTES];
	uint32		kind = BF_KEY_NONE;

	if (VARSIZE_ANY_EXHDR(key) >= BFPG_KIND_BYTES)
		kind = (uint32) bf_load_le((const uint8 *) VARDATA_ANY(key), BFPG_KIND_BYTES);
	if (bf_key_type_name(kind) == NULL || !bf_key_columns_valid(kind))
		kind = BF_KEY_NONE;
	PG_RETURN_TEXT_P(cstring_to_text(bf_key_type_text(kind, name)));
}
