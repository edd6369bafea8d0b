/*
 * access.h
 *	  Asking a filter that may be anywhere, at the price of the one block asked.
 *
 * A stored filter is not detoasted to be asked.  Its header is read once, and of
 * the blocks the one that the key is in.  Only when the slices read for one value,
 * with those that a call for many keys is about to read, add up to about its size is
 * it copied into memory, once, for the rest of the query: whatever follows, that costs
 * at most twice the best choice in hindsight (the ski-rental rule).
 */
#ifndef BFPG_ACCESS_H
#define BFPG_ACCESS_H

#include "fmgr.h"

#include "bf_filter.h"
#include "filter.h"
#include "pg_compat.h"

#pragma GCC visibility push(hidden)

/*
 * What a call site knows of the filter that it asked last.  header and blocks
 * are for use between bfpg_access_open and the next one.
 */
typedef struct BfpgAccess
{
	bf_header	header;
	const uint8 *blocks;		/* all blocks, or NULL: ask by slices */

	/* private */
	MemoryContext context;		/* for the copy; outlives the call */
	struct varatt_external stored;	/* the stored value that header is of */
	TransactionId xmin;			/* this process's, when it was seen */
	bool		has_stored;
	uint64		fetched;		/* bytes of slices read of it */
	BfpgFilter   *copy;			/* its copy, which blocks are then of, or NULL */
	Datum		value;			/* this call's value, to slice */
	struct varlena *detoasted;	/* this call's flat copy, or NULL */
} BfpgAccess;

/* Starts with nothing known. */
extern void bfpg_access_init(BfpgAccess *access, MemoryContext context);

/* The slow ways of the inline functions below. */
extern void bfpg_access_look(BfpgAccess *access, Datum value);
extern bool bfpg_access_slice_contains(BfpgAccess *access, uint64 hash);

/*
 * Looks at a filter for this call; its blocks stay valid until closed.  In a scan
 * it is nearly always the stored value whose copy is at hand.
 */
static inline void
bfpg_access_open(BfpgAccess *access, Datum value)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(value);

	if (access->copy == NULL || access->xmin != bfpg_own_xmin() ||
		!VARATT_IS_EXTERNAL_ONDISK(attr) ||
		memcmp(VARDATA_EXTERNAL(attr), &access->stored, sizeof(access->stored)) != 0)
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

/* Whether the opened filter may contain a key with this hash. */
static inline bool
bfpg_access_contains(BfpgAccess *access, uint64 hash)
{
	if (access->blocks == NULL)
		return bfpg_access_slice_contains(access, hash);
	return bf_contains(&access->header, access->blocks, hash);
}

/* The same for many; found[i] is set to 1 or 0. */
extern void bfpg_access_contains_hashes(BfpgAccess *access, const uint64 *hashes,
										int count, uint8 *found);

#pragma GCC visibility pop

#endif							/* BFPG_ACCESS_H */
