/*
 * live_ask.c
 *	  bloom_index_contains and its kin: whether a live filter may contain keys.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/tuplestore.h"

#include "key_array.h"
#include "key_untyped.h"
#include "live_read.h"
#include "live_target.h"
#include "pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_contains);
PG_FUNCTION_INFO_V1(bloomfilter_index_contains_column);
PG_FUNCTION_INFO_V1(bloomfilter_index_contains_each);
PG_FUNCTION_INFO_V1(bloomfilter_index_contains_each_column);
PG_FUNCTION_INFO_V1(bloomfilter_index_matches);
PG_FUNCTION_INFO_V1(bloomfilter_index_matches_column);
PG_FUNCTION_INFO_V1(bloomfilter_index_partitions);

/* What a call site keeps between calls. */
typedef struct BfpgLiveQuestion
{
	BfpgLiveTargets targets;
	BfpgKeyCoder coder;
} BfpgLiveQuestion;

/* Throws unless keys of the call's type can be in the indexes that it asks. */
static void
check_key_type(BfpgLiveQuestion *question)
{
	bf_header	header = {.key_type = question->targets.key_type};

	if (header.key_type != BF_KEY_NONE)
		bfpg_check_key_type(&question->coder, &header);
}

/* This call site's question, with its targets found. */
static BfpgLiveQuestion *
open_question(FunctionCallInfo fcinfo, bool by_column, bool array)
{
	BfpgLiveQuestion *question = fcinfo->flinfo->fn_extra;
	int			key_arg = by_column ? 2 : 1;

	if (question == NULL)
	{
		BfpgKeyCoder coder;

		bfpg_key_coder(fcinfo, key_arg, array, &coder);
		question = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *question);
		question->coder = coder;
		fcinfo->flinfo->fn_extra = question;
	}
	if (bfpg_live_find_targets(&question->targets, PG_GETARG_OID(0),
							   by_column ? PG_GETARG_NAME(1) : NULL,
							   fcinfo->flinfo->fn_mcxt))
		check_key_type(question);
	return question;
}

static bool
contains(BfpgLiveQuestion *question, Datum key)
{
	const BfpgLiveTargets *targets = &question->targets;
	int			i;

	for (i = 0; i < targets->count; i++)
	{
		const BfpgLiveTarget *target = &targets->targets[i];

		/* Filters of partitions may have different seeds. */
		if (bfpg_live_contains(target, bfpg_hash_key(&question->coder, key, target->live.header.seed)))
			return true;
	}
	return false;
}

Datum
bloomfilter_index_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(contains(open_question(fcinfo, false, false), PG_GETARG_DATUM(1)));
}

Datum
bloomfilter_index_contains_column(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(contains(open_question(fcinfo, true, false), PG_GETARG_DATUM(2)));
}

/* Asks for all keys of an array; found[i] tells of keys->hashes[i]. */
static uint8 *
answer_array(FunctionCallInfo fcinfo, bool by_column, BfpgKeyArray *keys)
{
	BfpgLiveQuestion *question = open_question(fcinfo, by_column, true);
	const BfpgLiveTargets *targets = &question->targets;
	bf_header	whole = {.parts = 1};
	uint8	   *found;
	int			i;

	/* All targets mostly have one seed, so that keys are hashed once. */
	if (targets->count > 0)
		whole.seed = targets->targets[0].live.header.seed;
	bfpg_key_array(bfpg_array_argument(&question->coder, PG_GETARG_DATUM(by_column ? 2 : 1)),
				   &question->coder, &whole, keys);
	found = palloc0(keys->count + 1);
	for (i = 0; i < targets->count; i++)
	{
		const BfpgLiveTarget *target = &targets->targets[i];
		int			j;

		if (target->live.header.seed != whole.seed)
		{
			whole.seed = target->live.header.seed;
			for (j = 0; j < keys->count; j++)
				keys->hashes[j] = bfpg_hash_key(&question->coder, keys->keys[keys->places[j]],
												whole.seed);
		}
		bfpg_live_contains_hashes(target, keys->hashes, keys->count, found);
	}
	return found;
}

/* A boolean for each key, in an array of the same shape. */
static Datum
contains_each(FunctionCallInfo fcinfo, bool by_column)
{
	BfpgKeyArray keys;
	uint8	   *found = answer_array(fcinfo, by_column, &keys);

	return bfpg_key_array_answers(&keys, found);
}

Datum
bloomfilter_index_contains_each(PG_FUNCTION_ARGS)
{
	return contains_each(fcinfo, false);
}

Datum
bloomfilter_index_contains_each_column(PG_FUNCTION_ARGS)
{
	return contains_each(fcinfo, true);
}

/* The keys that may be there, in their order, in one dimension. */
static Datum
matches(FunctionCallInfo fcinfo, bool by_column)
{
	BfpgKeyArray keys;
	uint8	   *found = answer_array(fcinfo, by_column, &keys);

	return bfpg_key_array_matches(&keys, found,
								  &((BfpgLiveQuestion *) fcinfo->flinfo->fn_extra)->coder);
}

Datum
bloomfilter_index_matches(PG_FUNCTION_ARGS)
{
	return matches(fcinfo, false);
}

Datum
bloomfilter_index_matches_column(PG_FUNCTION_ARGS)
{
	return matches(fcinfo, true);
}

/* The tables that may have the key, with the index that was asked: NULL where none was. */
Datum
bloomfilter_index_partitions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	BfpgLiveQuestion *question = open_question(fcinfo, true, false);
	const BfpgLiveTargets *targets = &question->targets;
	int			i;

	bfpg_init_materialized_srf(fcinfo);
	for (i = 0; i < targets->count; i++)
	{
		const BfpgLiveTarget *target = &targets->targets[i];
		Datum		values[2] = {ObjectIdGetDatum(target->table), ObjectIdGetDatum(target->index)};
		bool		nulls[2] = {false, !OidIsValid(target->index)};

		if (bfpg_live_contains(target, bfpg_hash_key(&question->coder, PG_GETARG_DATUM(2),
													 target->live.header.seed)))
			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
