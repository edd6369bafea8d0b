/*
 * key_row.h
 *	  Keys of several columns: ROW(...) and composite types.
 *
 * What columns a row has is known when one comes.  Until then its coder's type is
 * BF_KEY_ROW without columns, or with those of the filter that is asked.
 */
#ifndef BFPG_KEY_ROW_H
#define BFPG_KEY_ROW_H

#include "key/key.h"

#pragma GCC visibility push(hidden)

/* Whether values of a type are rows. */
extern bool bfpg_is_row(Oid type);

/* Makes a coder one for rows. */
extern void bfpg_row_coder(BfpgKeyCoder *coder);

/* Makes it one for rows of a filter's columns, or of any where the filter has no keys. */
extern void bfpg_expect_row(BfpgKeyCoder *coder, uint32 key_type);

/* Makes it one for rows of any columns that have a type: no filter tells an untyped one's. */
extern void bfpg_expect_typed_row(BfpgKeyCoder *coder);

#pragma GCC visibility pop

#endif							/* BFPG_KEY_ROW_H */
