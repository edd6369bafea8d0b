/*
 * ask.c
 *	  Asking a filter that may be anywhere, at the price of the one block asked: bloom_contains
 *	  and its kin, whether a filter may contain keys, and bloom_explain.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "ask/access.h"
#include "key/key_untyped.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_contains);
PG_FUNCTION_INFO_V1(bloomfilter_contained);
PG_FUNCTION_INFO_V1(bloomfilter_contains_each);
PG_FUNCTION_INFO_V1(bloomfilter_matches);
PG_FUNCTION_INFO_V1(bloomfilter_explain);

static void
open_stored(BfpgAccess *access, Datum value)
{
	BfpgStored *stored = bfpg_stored_find(value);

	access->stored = stored;
	access->shape = &stored->shape;
	access->header = &stored->shape.level[0];
	access->blocks = stored->blocks;
	access->epoch = bfpg_epoch;
}

/* A value within its row, or behind an indirect pointer, is detoasted for the call. */
static void
open_inline(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);
	struct varlena *flat = pg_detoast_datum_packed(attr);
	uint64		total = VARSIZE_ANY_EXHDR(flat);
	bf_status	status;

	status = bf_any_read(VARDATA_ANY(flat), total, &access->own_shape);
	if (status != BF_OK)
		bfpg_report_invalid(status, VARDATA_ANY(flat), BFPG_DOOR_STORED, NULL);
	access->shape = &access->own_shape;
	access->header = &access->own_shape.level[0];
	access->blocks = (const uint8 *) VARDATA_ANY(flat) + bf_shape_front(access->shape);
	if (flat != attr)
		access->detoasted = flat;
}

static void
open_expanded(BfpgAccess *access, const BfpgFilter *filter)
{
	access->shape = &filter->shape;
	access->header = filter->header;
	access->blocks = filter->blocks;
}

void
bfpg_access_look(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);

	access->epoch = 0;
	access->stored = NULL;
	access->detoasted = NULL;
	if (VARATT_IS_EXTERNAL_ONDISK(attr))
		open_stored(access, value);
	else if (VARATT_IS_EXTERNAL_EXPANDED(attr))
		open_expanded(access, bfpg_filter_expanded(value));
	else
		open_inline(access, value);
}

void
bfpg_access_contains_hashes(BfpgAccess *access, const uint64 *hashes, int count,
							uint8 *found)
{
	int			i;
	int			length;

	if (access->blocks == NULL)
	{
		bfpg_stored_prepare(access->stored, bfpg_chunks_cost(access->stored, (uint64) count));
		access->blocks = access->stored->blocks;
	}
	if (access->blocks == NULL)
	{
		bfpg_chunks_contain(access->stored, hashes, count, found);
		return;
	}
	for (i = 0; i < count; i += length)
	{
		CHECK_FOR_INTERRUPTS();
		length = Min(count - i, HASHES_BETWEEN_CHECKS);
		bf_shape_contains_hashes(access->shape, access->blocks, hashes + i, length, found + i);
	}
}

/* What a call site keeps between calls. */
typedef struct BfpgQuestion
{
	BfpgKeyCoder coder;
	BfpgAccess	access;
} BfpgQuestion;

/* This call site's question, with the filter of this call opened. */
static BfpgQuestion *
open_question(FunctionCallInfo fcinfo, int filter_arg, int key_arg, bool array)
{
	BfpgQuestion *question = bfpg_call_state(fcinfo, key_arg, array, sizeof(BfpgQuestion));

	bfpg_access_open(&question->access, PG_GETARG_DATUM(filter_arg));
	bfpg_check_key_type(&question->coder, question->access.header);
	return question;
}

static Datum
contains(FunctionCallInfo fcinfo, int filter_arg, int key_arg)
{
	BfpgQuestion *question = open_question(fcinfo, filter_arg, key_arg, false);
	BfpgAccess *access = &question->access;
	uint64		hash;
	bool		found;

	hash = bfpg_hash_key(&question->coder, PG_GETARG_DATUM(key_arg), access->header->seed);
	bfpg_check_part(access->header, hash);
	found = bfpg_access_contains(access, hash);
	bfpg_access_close(access);
	PG_RETURN_BOOL(found);
}

Datum
bloomfilter_contains(PG_FUNCTION_ARGS)
{
	return contains(fcinfo, 0, 1);
}

Datum
bloomfilter_contained(PG_FUNCTION_ARGS)
{
	return contains(fcinfo, 1, 0);
}

/* Asks for all keys of the array in argument 1; found[i] tells of keys->hashes[i]. */
static uint8 *
answer_array(FunctionCallInfo fcinfo, BfpgKeyArray *keys)
{
	BfpgQuestion *question = open_question(fcinfo, 0, 1, true);
	uint8	   *found;

	bfpg_key_array(bfpg_array_argument(&question->coder, PG_GETARG_DATUM(1)),
				   &question->coder, question->access.header, keys);
	found = palloc(keys->count + 1);
	bfpg_access_contains_hashes(&question->access, keys->hashes, keys->count, found);
	bfpg_access_close(&question->access);
	return found;
}

/* A boolean for each key, in an array of the same shape. */
Datum
bloomfilter_contains_each(PG_FUNCTION_ARGS)
{
	BfpgKeyArray keys;
	uint8	   *found = answer_array(fcinfo, &keys);

	return bfpg_key_array_answers(&keys, found);
}

/* The keys that may be in the filter, in their order, in one dimension. */
Datum
bloomfilter_matches(PG_FUNCTION_ARGS)
{
	BfpgKeyArray keys;
	uint8	   *found = answer_array(fcinfo, &keys);

	return bfpg_key_array_matches(&keys, found,
								  &((BfpgQuestion *) fcinfo->flinfo->fn_extra)->coder);
}

void
bfpg_key_bytes(BfpgKeyCoder *coder, Datum key, StringInfo bytes)
{
	BfpgKeySink sink = {0, bytes};

	initStringInfo(bytes);
	(void) bfpg_sink_key(coder, key, &sink);
}

/* The whole filter is read and checked: who calls this asks why an answer is what it is. */
Datum
bfpg_explain(Datum filter, uint32 key_type, const void *bytes, Size length, uint64 change)
{
	/* Flat, as one that was just made has no checksum. */
	Datum		flat = PointerGetDatum(bfpg_flat_value(filter));
	BfpgFilter *copy = bfpg_filter_load(flat, CurrentMemoryContext);
	char		text[BF_EXPLAIN_ROOM];

	bf_explain(text, &copy->shape, copy->blocks, key_type, bytes, length, change);
	bfpg_filter_free(copy);
	return CStringGetTextDatum(text);
}

Datum
bloomfilter_explain(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 1, false);
	bf_shape	shape;
	StringInfoData key;

	bfpg_read_shape(PG_GETARG_DATUM(0), &shape);
	bfpg_check_key_type(coder, &shape.level[0]);
	bfpg_key_bytes(coder, PG_GETARG_DATUM(1), &key);
	PG_RETURN_DATUM(bfpg_explain(PG_GETARG_DATUM(0), coder->type, key.data, key.len, 0));
}
