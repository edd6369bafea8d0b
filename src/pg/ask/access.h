/*
 * access.h
 *	  Asking a filter that may be anywhere, at the price of the one block asked.
 *
 * A stored filter is not detoasted to be asked.  Its header is read once, and of
 * the blocks the one that the key is in, until a copy of it is worth it; copies.h
 * has both, for all call sites together.
 */
#ifndef BFPG_ACCESS_H
#define BFPG_ACCESS_H

#include "fmgr.h"

#include "bf_explain.h"
#include "ask/copies.h"
#include "key/key.h"

/* The filter that a call site asks.  shape and blocks are for use between bfpg_access_open and bfpg_access_close. */
typedef struct BfpgAccess
{
	const bf_shape *shape;
	const uint8 *blocks;		/* all blocks, or NULL: ask chunk by chunk */

	/* private; all zero in the beginning */
	BfpgStored *stored;			/* what is known of a stored value, else NULL */
	uint64		epoch;			/* bfpg_epoch when that was found, or 0 */
	bf_shape	own_shape;		/* of a value that is not stored */
	struct varlena *detoasted;	/* this call's flat copy, or NULL */
} BfpgAccess;

/* The slow way of the inline function below. */
extern void bfpg_access_look(BfpgAccess *access, Datum value);

/*
 * Looks at a filter for this call; its blocks stay valid until closed.  In a scan
 * it is nearly always the stored value that was asked last.
 */
static inline void
bfpg_access_open(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);

	if (access->epoch == bfpg_epoch && VARATT_IS_EXTERNAL_ONDISK(attr) &&
		memcmp(VARDATA_EXTERNAL(attr), &access->stored->pointer,
			   sizeof(access->stored->pointer)) == 0 &&
		bfpg_clock() < access->stored->believed_until)
		access->blocks = access->stored->blocks;
	else
		bfpg_access_look(access, value);
}

static inline void
bfpg_access_close(BfpgAccess *access)
{
	if (access->detoasted != NULL)
	{
		pfree(access->detoasted);
		access->detoasted = NULL;
	}
}

/* Whether the opened filter may contain keys with these hashes: found[i] is set to 1 or 0. */
extern void bfpg_access_contains_hashes(BfpgAccess *access, const uint64 *hashes, int count, uint8 *found);

static inline bool
bfpg_access_contains(BfpgAccess *access, uint64 hash)
{
	uint8		found;

	if (access->blocks != NULL)
		return bf_shape_contains(access->shape, access->blocks, hash);
	bfpg_access_contains_hashes(access, &hash, 1, &found);
	return found;
}

/* ask.c: what a look-up of one key computes and sees, see bf_explain.h */

/* Collects a key's bytes.  The coder's type then is the key's own, a row's with its columns. */
extern void bfpg_key_bytes(BfpgKeyCoder *coder, Datum key, StringInfo bytes);

/* The text of a look-up in a filter, as a Datum of type text; change is bf_explain's. */
extern Datum bfpg_explain(Datum filter, uint32 key_type, const void *bytes, Size length, uint64 change);

#endif							/* BFPG_ACCESS_H */
