/*
 * wal.h
 *	  Changing bytes of a page, under write-ahead log.
 */
#ifndef BFPG_LIVE_WAL_H
#define BFPG_LIVE_WAL_H

#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "bf_limits.h"

#pragma GCC visibility push(hidden)

/* Changes of one page at a time: a byte for each probe. */
#define BFPG_LIVE_MAX_CHANGES BF_MAX_PROBES

/*
 * Bytes to be written to a page: for each run of them its offset and length, 16 bits
 * each, and the bytes.  This is what a record of the generic resource manager has.
 */
typedef struct BfpgLiveChanges
{
	uint32		length;
	uint8		bytes[BFPG_LIVE_MAX_CHANGES * (2 * sizeof(uint16) + 1)];
} BfpgLiveChanges;

extern void bfpg_live_add_change(BfpgLiveChanges *changes, uint16 offset,
								 const void *bytes, uint16 length);

/* Makes the changes to the page in an exclusively locked buffer, and logs them. */
extern void bfpg_live_write(Relation index, Buffer buffer, const BfpgLiveChanges *changes);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_WAL_H */
