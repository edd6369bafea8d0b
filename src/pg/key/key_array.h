/*
 * key_array.h
 *	  The keys of an array argument, hashed.
 */
#ifndef BFPG_KEY_ARRAY_H
#define BFPG_KEY_ARRAY_H

#include "utils/array.h"

#include "key/key.h"

#pragma GCC visibility push(hidden)

typedef struct BfpgKeyArray
{
	ArrayType  *array;
	int			length;			/* of keys and nulls */
	Datum	   *keys;
	bool	   *nulls;
	int			count;			/* of keys that are not null */
	uint64	   *hashes;			/* theirs */
	int		   *places;			/* where in keys each of them stands */
} BfpgKeyArray;

/*
 * Hashes the keys of an array for a filter.  Throws if one of them belongs to
 * another part.
 */
extern void bfpg_key_array(ArrayType *array, BfpgKeyCoder *coder,
						   const bf_header *header, BfpgKeyArray *result);

/*
 * What is answered of the keys, found[i] telling of hashes[i]: a boolean for each, in
 * an array of the same shape; or those that were found, in one dimension.
 */
extern Datum bfpg_key_array_answers(BfpgKeyArray *keys, const uint8 *found);
extern Datum bfpg_key_array_matches(BfpgKeyArray *keys, const uint8 *found,
									BfpgKeyCoder *coder);

#pragma GCC visibility pop

#endif							/* BFPG_KEY_ARRAY_H */
