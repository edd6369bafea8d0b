/*
 * key_untyped.h
 *	  Keys as they are written: literals and parameters without a type.
 *
 * PostgreSQL's own literals take the type of what they are compared with, as '42' does
 * in id = '42'.  A filter's kind of keys is known only when it is asked.  So what has no
 * type becomes a bloom_key, a type that exists for it alone, and its text is read as the
 * filter's kind.  Nothing that has a type is cast to it unless somebody writes that.
 */
#ifndef BFPG_KEY_UNTYPED_H
#define BFPG_KEY_UNTYPED_H

#include "utils/array.h"

#include "key/key.h"

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

#endif							/* BFPG_KEY_UNTYPED_H */
