/*
 * feed_entry.c
 *	  A change of a list by day, as it lies in files.
 */
#include "feed_entry.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_sha256.h"

/* In an entry. */
#define ENTRY_TAG 8
#define ENTRY_STATE 24

void
feed_tag(const void *key, size_t length, uint8_t tag[FEED_TAG_BYTES])
{
	uint8_t		digest[BF_SHA256_BYTES];

	bf_sha256(key, length, digest);
	memcpy(tag, digest, FEED_TAG_BYTES);
}

int
feed_entry_compare(const feed_entry *a, const feed_entry *b)
{
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return memcmp(a->tag, b->tag, FEED_TAG_BYTES);
}

feed_entry
feed_entry_read(const uint8_t *bytes)
{
	feed_entry	entry;

	entry.hash = bf_load_le64(bytes);
	memcpy(entry.tag, bytes + ENTRY_TAG, FEED_TAG_BYTES);
	entry.state = bf_load_le64(bytes + ENTRY_STATE);
	return entry;
}

void
feed_entry_write(const feed_entry *entry, uint8_t *bytes)
{
	bf_store_le64(bytes, entry->hash);
	memcpy(bytes + ENTRY_TAG, entry->tag, FEED_TAG_BYTES);
	bf_store_le64(bytes + ENTRY_STATE, entry->state);
}
