/*
 * ask.c
 *	  bloom_contains and its kin: whether a filter may contain keys.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "access.h"
#include "key.h"
#include "pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_contains);
PG_FUNCTION_INFO_V1(bloomfilter_contained);
PG_FUNCTION_INFO_V1(bloomfilter_contains_each);
PG_FUNCTION_INFO_V1(bloomfilter_matches);

/* What a call site keeps between calls. */
typedef struct BfQuestion
{
	BfKeyCoder	coder;
	BfAccess	access;
} BfQuestion;

/* This call site's question, with the filter of this call opened. */
static BfQuestion *
open_question(FunctionCallInfo fcinfo, int filter_arg, int key_arg, bool array)
{
	BfQuestion *question = NULL;

	if (fcinfo->flinfo != NULL)
		question = fcinfo->flinfo->fn_extra;
	if (question == NULL)
	{
		BfKeyCoder	coder;

		bfpg_key_coder(fcinfo, key_arg, array, &coder);
		question = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(BfQuestion));
		question->coder = coder;
		bfpg_access_init(&question->access, fcinfo->flinfo->fn_mcxt);
		fcinfo->flinfo->fn_extra = question;
	}
	bfpg_access_open(&question->access, PG_GETARG_DATUM(filter_arg));
	bfpg_check_key_type(&question->access.header, question->coder.type);
	return question;
}

static Datum
contains(FunctionCallInfo fcinfo, int filter_arg, int key_arg)
{
	BfQuestion *question = open_question(fcinfo, filter_arg, key_arg, false);
	BfAccess   *access = &question->access;
	uint64		hash;
	bool		found;

	hash = bfpg_hash_key(&question->coder, PG_GETARG_DATUM(key_arg), access->header.seed);
	bfpg_check_part(&access->header, hash);
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

/* The keys of an array with an answer each; NULL keys have none. */
typedef struct BfAnswers
{
	ArrayType  *array;
	Datum	   *keys;
	bool	   *nulls;
	bool	   *found;			/* false where null */
	int			count;
} BfAnswers;

/* Hashes the keys that are not NULL; which[i] is where hashes[i] comes from. */
static int
hash_keys(const BfQuestion *question, const BfAnswers *answers,
		  uint64 *hashes, int *which)
{
	const bf_header *header = &question->access.header;
	int			count = 0;
	int			i;

	for (i = 0; i < answers->count; i++)
	{
		if (answers->nulls[i])
			continue;
		hashes[count] = bfpg_hash_key(&question->coder, answers->keys[i], header->seed);
		bfpg_check_part(header, hashes[count]);
		which[count] = i;
		count++;
	}
	return count;
}

/* Asks for all keys of the array in argument 1 at once. */
static void
answer_array(FunctionCallInfo fcinfo, BfAnswers *answers)
{
	BfQuestion *question = open_question(fcinfo, 0, 1, true);
	const BfKeyCoder *coder = &question->coder;
	uint64	   *hashes;
	uint8	   *found;
	int		   *which;
	int			count;
	int			i;

	answers->array = PG_GETARG_ARRAYTYPE_P(1);
	deconstruct_array(answers->array, coder->element, coder->length,
					  coder->by_value, coder->align,
					  &answers->keys, &answers->nulls, &answers->count);
	answers->found = palloc0(answers->count * sizeof(bool) + 1);
	hashes = palloc(answers->count * sizeof(uint64) + 1);
	which = palloc(answers->count * sizeof(int) + 1);
	found = palloc(answers->count + 1);

	count = hash_keys(question, answers, hashes, which);
	bfpg_access_contains_hashes(&question->access, hashes, count, found);
	bfpg_access_close(&question->access);
	for (i = 0; i < count; i++)
		answers->found[which[i]] = found[i] != 0;
	pfree(hashes);
	pfree(which);
	pfree(found);
}

/* A boolean for each key, in an array of the same shape. */
Datum
bloomfilter_contains_each(PG_FUNCTION_ARGS)
{
	BfAnswers	answers;
	Datum	   *values;
	int			i;

	answer_array(fcinfo, &answers);
	values = palloc(answers.count * sizeof(Datum) + 1);
	for (i = 0; i < answers.count; i++)
		values[i] = BoolGetDatum(answers.found[i]);
	PG_RETURN_ARRAYTYPE_P(construct_md_array(values, answers.nulls,
											 ARR_NDIM(answers.array),
											 ARR_DIMS(answers.array),
											 ARR_LBOUND(answers.array),
											 BOOLOID, sizeof(bool), true,
											 TYPALIGN_CHAR));
}

/* The keys that may be in the filter, in their order, in one dimension. */
Datum
bloomfilter_matches(PG_FUNCTION_ARGS)
{
	const BfKeyCoder *coder;
	BfAnswers	answers;
	int			count = 0;
	int			i;

	answer_array(fcinfo, &answers);
	coder = &((BfQuestion *) fcinfo->flinfo->fn_extra)->coder;
	for (i = 0; i < answers.count; i++)
		if (answers.found[i])
			answers.keys[count++] = answers.keys[i];
	PG_RETURN_ARRAYTYPE_P(construct_array(answers.keys, count, coder->element,
										  coder->length, coder->by_value,
										  coder->align));
}
