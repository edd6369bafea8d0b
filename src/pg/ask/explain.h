/*
 * explain.h
 *	  What a look-up of one key computes and sees, as text: see bf_explain.h.
 */
#ifndef BFPG_EXPLAIN_H
#define BFPG_EXPLAIN_H

#include "bf_explain.h"
#include "key/key.h"

#pragma GCC visibility push(hidden)

/* Collects a key's bytes.  The coder's type then is the key's own, a row's with its columns. */
extern void bfpg_key_bytes(BfpgKeyCoder *coder, Datum key, StringInfo bytes);

/* The text of a look-up in a filter, as a Datum of type text. */
extern Datum bfpg_explain(Datum filter, uint32 key_type, const StringInfoData *key);

#pragma GCC visibility pop

#endif							/* BFPG_EXPLAIN_H */
