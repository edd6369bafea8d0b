/*
 * key_array.c
 *	  The keys of an array argument, hashed.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "key/key.h"

/* Keys between two looks at whether the query is cancelled. */
#define KEYS_BETWEEN_CHECKS 1024

void
bfpg_key_array(ArrayType *array, BfpgKeyCoder *coder, const bf_header *header,
			   BfpgKeyArray *result)
{
	int			i;

	result->array = array;
	result->count = 0;
	deconstruct_array(array, coder->element, coder->length, coder->by_value,
					  coder->align, &result->keys, &result->nulls, &result->length);
	/* One more than needed: an empty array has none. */
	result->hashes = palloc((result->length + 1) * sizeof(uint64));
	result->places = palloc((result->length + 1) * sizeof(int));
	for (i = 0; i < result->length; i++)
	{
		uint64		hash;

		if (i % KEYS_BETWEEN_CHECKS == 0)
			CHECK_FOR_INTERRUPTS();
		if (result->nulls[i])
			continue;
		hash = bfpg_hash_key(coder, result->keys[i], header->seed);
		bfpg_check_part(header, hash);
		result->hashes[result->count] = hash;
		result->places[result->count] = i;
		result->count++;
	}
}

/* Written in place: construct_md_array takes longer than a filter in the processor's cache is asked. */
Datum
bfpg_key_array_answers(const BfpgKeyArray *keys, const uint8 *found)
{
	int			dimensions = ARR_NDIM(keys->array);
	bool		nulls = keys->count < keys->length;
	Size		front = nulls ? ARR_OVERHEAD_WITHNULLS(dimensions, keys->length) : ARR_OVERHEAD_NONULLS(dimensions);
	ArrayType  *answers = palloc0(front + keys->count);
	bool	   *answer;
	int			i;

	SET_VARSIZE(answers, front + keys->count);
	answers->ndim = dimensions;
	answers->dataoffset = nulls ? (int32) front : 0;
	answers->elemtype = BOOLOID;
	memcpy(ARR_DIMS(answers), ARR_DIMS(keys->array), dimensions * sizeof(int));
	memcpy(ARR_LBOUND(answers), ARR_LBOUND(keys->array), dimensions * sizeof(int));
	answer = (bool *) ARR_DATA_PTR(answers);
	for (i = 0; i < keys->count; i++)
	{
		answer[i] = found[i] != 0;
		if (nulls)
			ARR_NULLBITMAP(answers)[keys->places[i] / 8] |= (uint8) (1 << keys->places[i] % 8);
	}
	PG_RETURN_ARRAYTYPE_P(answers);
}
