/*
 * ask.c
 *	  bloom_contains and its kin: whether a filter may contain keys, and bloom_explain.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "ask/access.h"
#include "key/key.h"

PG_FUNCTION_INFO_V1(bloomfilter_contains);
PG_FUNCTION_INFO_V1(bloomfilter_contained);
PG_FUNCTION_INFO_V1(bloomfilter_contains_each);
PG_FUNCTION_INFO_V1(bloomfilter_explain);

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
	bfpg_check_key_type(&question->coder, &question->access.shape->level[0]);
	return question;
}

static Datum
contains(FunctionCallInfo fcinfo, int filter_arg, int key_arg)
{
	BfpgQuestion *question = open_question(fcinfo, filter_arg, key_arg, false);
	BfpgAccess *access = &question->access;
	const bf_header *header = &access->shape->level[0];
	uint64		hash;
	bool		found;

	hash = bfpg_hash_key(&question->coder, PG_GETARG_DATUM(key_arg), header->seed);
	bfpg_check_part(header, hash);
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

/* A boolean for each key, in an array of the same shape. */
Datum
bloomfilter_contains_each(PG_FUNCTION_ARGS)
{
	BfpgQuestion *question = open_question(fcinfo, 0, 1, true);
	BfpgKeyArray keys;
	uint8	   *found;

	bfpg_key_array(bfpg_array_argument(&question->coder, PG_GETARG_DATUM(1)),
				   &question->coder, &question->access.shape->level[0], &keys);
	found = palloc(keys.count + 1);
	bfpg_access_contains_hashes(&question->access, keys.hashes, keys.count, found);
	bfpg_access_close(&question->access);
	return bfpg_key_array_answers(&keys, found);
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
