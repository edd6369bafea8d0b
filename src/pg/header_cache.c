/*
 * header_cache.c
 *	  Headers of stored filters, kept for a moment from statement to statement.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "filter.h"
#include "header_cache.h"

/* How long a header is remembered; see header_cache.h for why not longer. */
#define KEEP_USECS USECS_PER_SEC

/* Stored values that one process asks in turn; the parts of a set, say. */
#define ENTRIES 64

typedef struct BfpgHeaderEntry
{
	struct varatt_external pointer;
	TimestampTz read_at;		/* 0: nothing */
	bf_header	header;
} BfpgHeaderEntry;

static BfpgHeaderEntry entries[ENTRIES];

void
bfpg_stored_header(Datum value, const struct varatt_external *pointer,
				   bf_header *header)
{
	BfpgHeaderEntry *entry = &entries[pointer->va_valueid % ENTRIES];
	TimestampTz now = GetCurrentTimestamp();

	/* A clock that was set back makes it old too. */
	if (entry->read_at > now || now - entry->read_at > KEEP_USECS ||
		memcmp(&entry->pointer, pointer, sizeof(*pointer)) != 0)
	{
		entry->read_at = 0;
		bfpg_read_header(value, &entry->header);
		entry->pointer = *pointer;
		entry->read_at = now;
	}
	*header = entry->header;
}
