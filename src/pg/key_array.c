/*
 * key_array.c
 *	  The keys of an array argument, hashed.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "key_array.h"
#include "pg_compat.h"

/* Keys between two looks at whether the query is cancelled. */
#define KEYS_BETWEEN_CHECKS 1024

void
bfpg_key_array(ArrayType *array, const BfpgKeyCoder *coder, const bf_header *header,
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
