/*
 * wal.c
 *	  Changing bytes of a page, under write-ahead log.
 *
 * PostgreSQL's generic resource manager replays a list of runs of bytes.  Its own
 * interface finds them by comparing two copies of the page, byte by byte, which
 * takes several times as long as all else that an insertion does; we know what
 * changes, and make the very same record.  So standbys replay it without this
 * library.  The form is PostgreSQL's own affair, pinned by t/070_live_crash.pl and
 * t/071_live_standby.pl on each version; newer ones take its interface.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

#include "live/compat.h"
#include "live/wal.h"

void
bfpg_live_add_change(BfpgLiveChanges *changes, uint16 offset, const void *bytes, uint16 length)
{
	uint8	   *at = changes->bytes + changes->length;

	Assert(changes->length + 2 * sizeof(uint16) + length <= sizeof changes->bytes);
	memcpy(at, &offset, sizeof offset);
	memcpy(at + sizeof offset, &length, sizeof length);
	memcpy(at + sizeof offset + sizeof length, bytes, length);
	changes->length += sizeof offset + sizeof length + length;
}

static void
apply(Page page, const BfpgLiveChanges *changes)
{
	const uint8 *at = changes->bytes;
	const uint8 *end = at + changes->length;

	while (at < end)
	{
		uint16		offset;
		uint16		length;

		memcpy(&offset, at, sizeof offset);
		memcpy(&length, at + sizeof offset, sizeof length);
		at += sizeof offset + sizeof length;
		memcpy((char *) page + offset, at, length);
		at += length;
	}
}

#ifdef BFPG_LIVE_WAL_BY_HAND

void
bfpg_live_write(Relation index, Buffer buffer, const BfpgLiveChanges *changes)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	apply(page, changes);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	end;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) changes->bytes, changes->length);
		end = XLogInsert(RM_GENERIC_ID, 0);
		PageSetLSN(page, end);
	}
	END_CRIT_SECTION();
}

#else

void
bfpg_live_write(Relation index, Buffer buffer, const BfpgLiveChanges *changes)
{
	GenericXLogState *state = GenericXLogStart(index);

	apply(GenericXLogRegisterBuffer(state, buffer, 0), changes);
	GenericXLogFinish(state);
}

#endif
