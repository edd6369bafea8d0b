/*
 * key.h
 *	  From a Datum of any supported SQL type to the hash of its key bytes.
 *
 * A BfpgKeyCoder is made once per call site for the type that it passes, and
 * refuses what could not keep the promise "equal in SQL means found": types
 * whose equality is not that of their bytes, or whose text may change, and
 * nondeterministic collations.
 */
#ifndef BFPG_KEY_H
#define BFPG_KEY_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"

#include "bf_filter.h"
#include "bf_key.h"

typedef struct BfpgKeyCoder BfpgKeyCoder;

/* Where a key's bytes go: into a hash, or into the bytes of a key that it is a part of. */
typedef struct BfpgKeySink
{
	uint64		seed;
	StringInfo	bytes;			/* NULL: hash them */
} BfpgKeySink;

static inline uint64
bfpg_sink_bytes(const BfpgKeySink *sink, const void *bytes, size_t length)
{
	if (sink->bytes == NULL)
		return bf_hash(bytes, length, sink->seed);
	appendBinaryStringInfo(sink->bytes, bytes, (int) length);
	return 0;
}

/*
 * Keys of 8 bytes have a word, the number that these bytes are in little-endian
 * order, which bf_hash_word hashes without a call.
 */
typedef uint64 (*BfpgKeyWord) (Datum key);
typedef uint64 (*BfpgKeyHash) (BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink);

struct BfpgKeyCoder
{
	uint32		type;			/* as in bf_header */
	BfpgKeyWord word;			/* one of these two, the other is NULL */
	BfpgKeyHash hash;			/* leaves no memory behind */
	Oid			element;		/* its SQL type: of an array's elements if array */
	int16		length;
	bool		by_value;
	char		align;
	bool		untyped;		/* its text is read as the filter's kind, see key_untyped.c */
	MemoryContext context;		/* lives as long as the coder */
	struct BfpgReader *reader;	/* of an untyped key, unless it is taken as text */
	struct BfpgRow *row;		/* of a key of several columns, see key_row.c */
};

/* The coder for values of a column, or of an index's expression; false: they can be no keys, or their collation is none for keys. */
extern bool bfpg_find_column_coder(Oid type, Oid collation, BfpgKeyCoder *coder);

/* The same, or an error that says why. */
extern void bfpg_column_coder(Oid type, Oid collation, BfpgKeyCoder *coder);

/*
 * What a call site keeps in its fn_extra: size bytes.  They begin with the coder for the keys that
 * argument argno passes: scalars, or the elements of an array if array is true.  What follows it
 * is zero at first.  Throws if they can't be keys.
 */
extern void *bfpg_make_call_state(FunctionCallInfo fcinfo, int argno, bool array, Size size);

static inline void *
bfpg_call_state(FunctionCallInfo fcinfo, int argno, bool array, Size size)
{
	if (fcinfo->flinfo != NULL && fcinfo->flinfo->fn_extra != NULL)
		return fcinfo->flinfo->fn_extra;
	return bfpg_make_call_state(fcinfo, argno, array, size);
}

static inline BfpgKeyCoder *
bfpg_call_coder(FunctionCallInfo fcinfo, int argno, bool array)
{
	return bfpg_call_state(fcinfo, argno, array, sizeof(BfpgKeyCoder));
}

/* Gives a sink the bytes of one key; its hash, if it makes one. */
static inline uint64
bfpg_sink_key(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	uint8		bytes[8];

	if (coder->word == NULL)
		return coder->hash(coder, key, sink);
	if (sink->bytes == NULL)
		return bf_hash_word(coder->word(key), sink->seed);
	bf_store_le64(bytes, coder->word(key));
	return bfpg_sink_bytes(sink, bytes, sizeof(bytes));
}

static inline uint64
bfpg_hash_key(BfpgKeyCoder *coder, Datum key, uint64 seed)
{
	BfpgKeySink sink = {seed, NULL};

	return bfpg_sink_key(coder, key, &sink);
}

/* Makes a coder one for keys of an SQL type, if it is in the table. */
extern bool bfpg_find_key_type(Oid type, BfpgKeyCoder *coder);

/*
 * Whether no other value of an SQL type has this key's bytes.  Not so a text that ends in a blank, or has
 * a character's second code, and the last of a timestamp's years.
 */
extern bool bfpg_key_stands_alone(Oid type, Datum key);

/* Whether that is true of each key of a type. */
extern bool bfpg_keys_stand_alone(Oid type);

/* Makes a coder one for a filter's keys, if it is an untyped key's, or throws. */
extern void bfpg_fit_coder(BfpgKeyCoder *coder, const bf_header *header);

/* The same, at the price of a comparison where it is one already. */
static inline void
bfpg_check_key_type(BfpgKeyCoder *coder, const bf_header *header)
{
	if (header->key_type != coder->type)
		bfpg_fit_coder(coder, header);
}

extern void bfpg_refuse_type(Oid type);
extern void bfpg_refuse_untyped(const char *what);

/* Throws unless texts that are equal under a collation have equal bytes. */
extern void bfpg_check_collation(Oid collation);
extern void bfpg_refuse_key_type(unsigned held, unsigned asked);
extern void bfpg_refuse_part(const bf_header *header, uint64 hash);

/* Throws unless a hash belongs to the part that the filter is. */
static inline void
bfpg_check_part(const bf_header *header, uint64 hash)
{
	if (!bf_in_part(header, hash))
		bfpg_refuse_part(header, hash);
}

/*
 * key_row.c: keys of several columns, ROW(...) and composite types.  What columns a row has is known
 * when one comes.  Until then its coder's type is BF_KEY_ROW without columns, or with those of the
 * filter that is asked.
 */

extern bool bfpg_is_row(Oid type);

extern void bfpg_row_coder(BfpgKeyCoder *coder);

/* Makes it one for rows of a filter's columns, or of any where the filter has no keys. */
extern void bfpg_expect_row(BfpgKeyCoder *coder, uint32 key_type);

/* Makes it one for rows of any columns that have a type: no filter tells an untyped one's. */
extern void bfpg_expect_typed_row(BfpgKeyCoder *coder);

/*
 * key_untyped.c: keys as they are written, literals and parameters without a type.
 *
 * PostgreSQL's own literals take the type of what they are compared with, as '42' does
 * in id = '42'.  A filter's kind of keys is known only when it is asked.  So what has no
 * type becomes a bloom_key, a type that exists for it alone, and its text is read as the
 * filter's kind.  Nothing that has a type is cast to it unless somebody writes that.
 */

/* Whether a type is bloom_key. */
extern bool bfpg_is_untyped(Oid type);

/*
 * Makes an untyped key's coder read keys of a kind, text for none.  It throws at the
 * first key if their text would mean different keys, by a setting, for two types of
 * the kind or by a driver: an empty array is one of any kind.
 */
extern void bfpg_read_as(BfpgKeyCoder *coder, bf_key_type type);

/*
 * The type that SQL reads a literal as, beside a column of a type that keys can have.  It
 * throws for bytea, whose keys need a type.
 */
extern Oid	bfpg_reading_type_of_column(Oid type);

/*
 * Makes an untyped key's coder read keys as the values of a column of a type, by the
 * session's settings as SQL does, but without the column's length: 'a' = column
 * is not cut to it either.  At the first key of bytea it throws.
 */
extern void bfpg_read_as_column(BfpgKeyCoder *coder, Oid type);

/* The array that an argument is, or that its text says, of texts then. */
extern ArrayType *bfpg_array_argument(const BfpgKeyCoder *coder, Datum argument);

/* key_array.c: the keys of an array argument, hashed. */

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

/* A boolean for each of the keys, in an array of the same shape; found[i] tells of hashes[i]. */
extern Datum bfpg_key_array_answers(const BfpgKeyArray *keys, const uint8 *found);

#endif							/* BFPG_KEY_H */
