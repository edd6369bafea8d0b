/*
 * feed_changes.c
 *	  Files of changes of a list by day: checking, writing, and uniting what they have.
 */
#include "feed_changes.h"

#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"

#define MAGIC "BLMC"
#define VERSION 1

enum
{
	AT_VERSION = 4,
	AT_SERIAL = 8,
	AT_IDENTITY = 16,
	AT_COUNT = 32,
	AT_ZERO = 40,
	AT_CHECKSUM = 56
};

/* By keys, and of one key the greater state first. */
static int
compare_entries(const void *left, const void *right)
{
	const feed_entry *a = left;
	const feed_entry *b = right;
	int			by_key = feed_entry_compare(a, b);

	return by_key != 0 ? by_key : (a->state < b->state) - (a->state > b->state);
}

size_t
feed_entries_unite(feed_entry *entries, size_t count)
{
	size_t		united = 0;
	size_t		i;

	if (count > 0)
		qsort(entries, count, sizeof *entries, compare_entries);
	for (i = 0; i < count; i++)
		if (united == 0 || feed_entry_compare(&entries[united - 1], &entries[i]) != 0)
			entries[united++] = entries[i];
	return united;
}

uint64_t
feed_entries_sum(const feed_entry *entries, size_t count)
{
	uint8_t		bytes[FEED_ENTRY_BYTES];
	uint64_t	sum = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		feed_entry_write(&entries[i], bytes);
		sum += bf_hash(bytes, sizeof bytes, 0);
	}
	return sum;
}

static uint64_t
checksum(const uint8_t *bytes, size_t length)
{
	return bf_checksum(bytes, AT_CHECKSUM, bytes + FEED_CHANGES_HEADER, length - FEED_CHANGES_HEADER, NULL);
}

static bool
are_entries(const uint8_t *bytes, uint64_t count)
{
	feed_entry	before = {0, {0}, 0};
	uint64_t	i;

	for (i = 0; i < count; i++)
	{
		feed_entry	entry = feed_entry_read(bytes + i * FEED_ENTRY_BYTES);

		if (entry.state < 2 || (i > 0 && feed_entry_compare(&before, &entry) >= 0))
			return false;
		before = entry;
	}
	return true;
}

const char *
feed_changes_read(const uint8_t *bytes, size_t length, feed_changes_of *of)
{
	static const uint8_t zeros[AT_CHECKSUM - AT_ZERO];
	feed_changes_of read;

	if (length < FEED_CHANGES_HEADER)
		return "short";
	if (memcmp(bytes, MAGIC, 4) != 0)
		return "magic";
	if (bf_load_le(bytes + AT_VERSION, 4) != VERSION)
		return "version";
	read.count = bf_load_le64(bytes + AT_COUNT);
	if (read.count > FEED_MOST_ENTRIES || length != feed_changes_bytes(read.count))
		return "length";
	if (bf_load_le64(bytes + AT_CHECKSUM) != checksum(bytes, length))
		return "checksum";
	read.serial = bf_load_le64(bytes + AT_SERIAL);
	memcpy(read.identity, bytes + AT_IDENTITY, FEED_IDENTITY_BYTES);
	if (read.serial < 1 || memcmp(bytes + AT_ZERO, zeros, sizeof zeros) != 0)
		return "header";
	if (!are_entries(bytes + FEED_CHANGES_HEADER, read.count))
		return "entry";
	*of = read;
	return NULL;
}

void
feed_changes_write(const feed_changes_of *of, const feed_entry *entries, uint8_t *bytes)
{
	uint64_t	i;

	memset(bytes, 0, FEED_CHANGES_HEADER);
	memcpy(bytes, MAGIC, 4);
	bf_store_le(bytes + AT_VERSION, 4, VERSION);
	bf_store_le64(bytes + AT_SERIAL, of->serial);
	memcpy(bytes + AT_IDENTITY, of->identity, FEED_IDENTITY_BYTES);
	bf_store_le64(bytes + AT_COUNT, of->count);
	for (i = 0; i < of->count; i++)
		feed_entry_write(&entries[i], bytes + FEED_CHANGES_HEADER + i * FEED_ENTRY_BYTES);
	bf_store_le64(bytes + AT_CHECKSUM, checksum(bytes, feed_changes_bytes(of->count)));
}
