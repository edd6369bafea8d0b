/*
 * key.h
 *	  From a Datum of any supported SQL type to the hash of its key bytes.
 *
 * A BfpgKeyCoder is made once per call site for the type that it passes, and
 * refuses what could not keep the promise "equal in SQL means found": types
 * whose equality is not that of their bytes, nondeterministic collations, and
 * case-insensitive text that was silently turned into text.
 */
#ifndef BFPG_KEY_H
#define BFPG_KEY_H

#include "fmgr.h"

#include "bf_filter.h"
#include "bf_key.h"

#pragma GCC visibility push(hidden)

/*
 * Keys of 8 bytes have a word, the number that these bytes are in little-endian
 * order; bf_hash_words makes hashes of many at once.  Others are hashed one by one.
 */
typedef uint64 (*BfpgKeyWord) (Datum key);
typedef uint64 (*BfpgKeyHash) (Datum key, uint64 seed);

typedef struct BfpgKeyCoder
{
	bf_key_type type;
	BfpgKeyWord	word;			/* one of these two, the other is NULL */
	BfpgKeyHash	hash;			/* leaves no memory behind */
	Oid			element;		/* its SQL type: of an array's elements if array */
	int16		length;
	bool		by_value;
	char		align;
} BfpgKeyCoder;

/*
 * The coder for the keys that argument argno of a call passes: scalars, or
 * the elements of an array if array is true.  Throws if they can't be keys.
 */
extern void bfpg_key_coder(FunctionCallInfo fcinfo, int argno, bool array,
						   BfpgKeyCoder *coder);

/* The same, made once per call site and kept in its fn_extra. */
extern const BfpgKeyCoder *bfpg_make_call_coder(FunctionCallInfo fcinfo, int argno,
											  bool array);

static inline const BfpgKeyCoder *
bfpg_call_coder(FunctionCallInfo fcinfo, int argno, bool array)
{
	if (fcinfo->flinfo != NULL && fcinfo->flinfo->fn_extra != NULL)
		return fcinfo->flinfo->fn_extra;
	return bfpg_make_call_coder(fcinfo, argno, array);
}

/* The hash of one key. */
static inline uint64
bfpg_hash_key(const BfpgKeyCoder *coder, Datum key, uint64 seed)
{
	if (coder->word != NULL)
		return bf_hash_word(coder->word(key), seed);
	return coder->hash(key, seed);
}

/* Whether values of an SQL type, or of a domain over it, can be keys. */
extern bool bfpg_is_key_type(Oid type);
extern void bfpg_refuse_type(Oid type);

extern void bfpg_refuse_key_type(const bf_header *header, bf_key_type type);
extern void bfpg_refuse_part(const bf_header *header, uint64 hash);

/* Throws unless a filter holds keys of this type, or none yet. */
static inline void
bfpg_check_key_type(const bf_header *header, bf_key_type type)
{
	if (header->key_type != type && header->key_type != BF_KEY_NONE)
		bfpg_refuse_key_type(header, type);
}

/* Throws unless a hash belongs to the part that the filter is. */
static inline void
bfpg_check_part(const bf_header *header, uint64 hash)
{
	if (!bf_in_part(header, hash))
		bfpg_refuse_part(header, hash);
}

#pragma GCC visibility pop

#endif							/* BFPG_KEY_H */
