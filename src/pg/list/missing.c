/*
 * missing.c
 *	  bloom_missing: how many of a query's keys a published list denies.
 *
 * One pass over the keys, whatever the number of parts.  Each process has a copy of
 * all parts, read from the tables and checked whole, and gathers a batch of hashes
 * for each, so that their cache misses overlap.  It is the check of bloom_publish,
 * and asks what was stored rather than what was in memory.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "bf_bytes.h"
#include "bf_filter.h"
#include "value/filter.h"
#include "key/key.h"
#include "list/list.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_missing_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_missing_combine);
PG_FUNCTION_INFO_V1(bloomfilter_missing_serialize);
PG_FUNCTION_INFO_V1(bloomfilter_missing_deserialize);
PG_FUNCTION_INFO_V1(bloomfilter_missing_finalfn);

/* One part, and the hashes that it has not yet been asked for. */
typedef struct BfpgMissingPart
{
	BfpgFilter *filter;
	int			count;
	uint64		hashes[BF_BATCH];
} BfpgMissingPart;

typedef struct BfpgMissing
{
	text	   *name;			/* NULL in a state that came from a worker */
	bf_header	kind;			/* of the first part that has keys, else of part 0 */
	uint32		parts;
	uint64		seed;
	BfpgMissingPart **part;
	int64		missing;
} BfpgMissing;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "bloom_missing support function called in non-aggregate context");
	return context;
}

/* It reads whole filters, as its caller might. */
static void
check_may_read(Oid schema)
{
	Oid			table = bfpg_list_table(schema);

	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
}

static text *
copy_name(const text *name, MemoryContext context)
{
	Size		size = VARSIZE_ANY(name);
	text	   *copy = MemoryContextAlloc(context, size);

	memcpy(copy, name, size);
	return copy;
}

/* Copies one part; false if it is not there. */
static bool
load_part(BfpgMissing *state, BfpgListTable *table, uint32 number,
		  MemoryContext context)
{
	BfpgMissingPart *part;
	Datum		filter;

	if (!bfpg_list_part(table, PointerGetDatum(state->name), (int32) number, &filter))
		return false;
	part = MemoryContextAlloc(context, sizeof(BfpgMissingPart));
	part->count = 0;
	part->filter = bfpg_filter_copy(filter, context);
	bfpg_list_done(table);
	if (number == 0 || state->kind.key_type == BF_KEY_NONE)
		state->kind = part->filter->header;
	else if (part->filter->header.key_type != BF_KEY_NONE &&
			 part->filter->header.key_type != state->kind.key_type)
		bfpg_refuse_key_type(part->filter->header.key_type, state->kind.key_type);
	if (number == 0)
	{
		state->parts = part->filter->header.parts;
		state->seed = part->filter->header.seed;
		state->part = MemoryContextAllocZero(context, state->parts * sizeof(BfpgMissingPart *));
	}
	state->part[number] = part;
	return true;
}

/* A state with copies of all parts of the list. */
static BfpgMissing *
load_list(FunctionCallInfo fcinfo)
{
	MemoryContext context = aggregate_context(fcinfo);
	BfpgMissing *state = MemoryContextAllocZero(context, sizeof(BfpgMissing));
	Oid			schema = bfpg_extension_schema(fcinfo->flinfo->fn_oid);
	BfpgListTable table;
	uint32		i;

	check_may_read(schema);
	state->name = copy_name(PG_GETARG_TEXT_PP(1), context);
	bfpg_list_open(schema, &table);
	if (!load_part(state, &table, 0, context))
		bfpg_list_unknown(PointerGetDatum(state->name));
	for (i = 1; i < state->parts; i++)
		if (!load_part(state, &table, i, context))
			bfpg_list_damaged(PointerGetDatum(state->name), i, state->parts);
	bfpg_list_close(&table);
	return state;
}

/* The list must be one and the same in all rows of a group. */
static void
check_name(FunctionCallInfo fcinfo, const BfpgMissing *state)
{
	text	   *name = PG_GETARG_TEXT_PP(1);

	if (VARSIZE_ANY_EXHDR(name) != VARSIZE_ANY_EXHDR(state->name) ||
		memcmp(VARDATA_ANY(name), VARDATA_ANY(state->name), VARSIZE_ANY_EXHDR(name)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the list that bloom_missing asks must not change within a group")));
}

/* Asks a part for the hashes that were gathered for it. */
static void
ask_part(BfpgMissing *state, BfpgMissingPart *part)
{
	uint8		found[BF_BATCH];
	int			i;

	CHECK_FOR_INTERRUPTS();
	bf_contains_hashes(&part->filter->header, part->filter->blocks,
					   part->hashes, part->count, found);
	for (i = 0; i < part->count; i++)
		state->missing += found[i] == 0;
	part->count = 0;
}

static void
ask_rest(BfpgMissing *state)
{
	uint32		i;

	for (i = 0; i < state->parts; i++)
		if (state->part[i]->count > 0)
			ask_part(state, state->part[i]);
}

Datum
bloomfilter_missing_transfn(PG_FUNCTION_ARGS)
{
	BfpgMissing *state = PG_ARGISNULL(0) ? NULL : (BfpgMissing *) PG_GETARG_POINTER(0);
	BfpgKeyCoder *coder;
	BfpgMissingPart *part;
	uint64		hash;

	/* Asked in full only where it would throw, since this is for each row. */
	if (fcinfo->context == NULL || !(IsA(fcinfo->context, AggState) || IsA(fcinfo->context, WindowAggState)))
		(void) aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("name of a list must not be null")));
	coder = bfpg_call_coder(fcinfo, 2, false);
	if (state == NULL)
		state = load_list(fcinfo);
	check_name(fcinfo, state);
	/* For each row: groups of other lists may come between, and take the coder. */
	bfpg_check_key_type(coder, &state->kind);
	if (!PG_ARGISNULL(2))
	{
		hash = bfpg_hash_key(coder, PG_GETARG_DATUM(2), state->seed);
		part = state->part[state->parts > 1 ? bf_part_of(hash, state->parts) : 0];
		part->hashes[part->count++] = hash;
		if (part->count == BF_BATCH)
			ask_part(state, part);
	}
	PG_RETURN_POINTER(state);
}

/* Only the numbers of processes are added up; each has asked its own keys. */
Datum
bloomfilter_missing_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	BfpgMissing *state = PG_ARGISNULL(0) ? NULL : (BfpgMissing *) PG_GETARG_POINTER(0);

	if (state == NULL && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (state == NULL)
		state = MemoryContextAllocZero(context, sizeof(BfpgMissing));
	if (!PG_ARGISNULL(1))
	{
		BfpgMissing *other = (BfpgMissing *) PG_GETARG_POINTER(1);

		ask_rest(other);
		state->missing += other->missing;
	}
	PG_RETURN_POINTER(state);
}

Datum
bloomfilter_missing_serialize(PG_FUNCTION_ARGS)
{
	BfpgMissing *state = (BfpgMissing *) PG_GETARG_POINTER(0);
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(int64));

	(void) aggregate_context(fcinfo);
	ask_rest(state);
	SET_VARSIZE(bytes, VARHDRSZ + sizeof(int64));
	bf_store_le((uint8 *) VARDATA(bytes), sizeof(int64), (uint64) state->missing);
	PG_RETURN_BYTEA_P(bytes);
}

Datum
bloomfilter_missing_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	BfpgMissing *state;

	(void) aggregate_context(fcinfo);
	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(int64))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid state of bloom_missing")));
	state = palloc0(sizeof(BfpgMissing));
	state->missing = (int64) bf_load_le((const uint8 *) VARDATA_ANY(bytes), sizeof(int64));
	PG_RETURN_POINTER(state);
}

/* No row: no key is missing, as count would say. */
Datum
bloomfilter_missing_finalfn(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_INT64(0);
	ask_rest((BfpgMissing *) PG_GETARG_POINTER(0));
	PG_RETURN_INT64(((BfpgMissing *) PG_GETARG_POINTER(0))->missing);
}
