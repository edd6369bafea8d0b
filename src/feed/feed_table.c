/*
 * feed_table.c
 *	  The table of changes behind the parts of a list's file.
 *
 * Why it is read without a lock:
 *
 * 1. An empty slot gets hash and tag first, and then its state.  A reader loads the state, with
 *	  acquire order, before it compares these: who sees a state sees its key.  Before both the
 *	  entry's bit is set, and no bit is ever taken back.
 * 2. A slot keeps its key for ever, and only its state grows.  So a reader passes each slot that
 *	  it ever passed, and an entry that was found once is found again, with this state or a later one.
 * 3. The bits lie behind the slots.  So a copy that is read from front to back has the bit of each
 *	  entry that it has.
 *
 * test/feed/test_table.c reads after each 8 bytes that are written: mutations D1 to D4 and D26.
 */
#include "feed_table.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"

/* In an entry, before FEED_SLOT_STATE. */
#define ENTRY_TAG 8

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
	entry.state = bf_load_le64(bytes + FEED_SLOT_STATE);
	return entry;
}

void
feed_entry_write(const feed_entry *entry, uint8_t *bytes)
{
	bf_store_le64(bytes, entry->hash);
	memcpy(bytes + ENTRY_TAG, entry->tag, FEED_TAG_BYTES);
	bf_store_le64(bytes + FEED_SLOT_STATE, entry->state);
}

/* ------------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------------ */

unsigned
feed_table_log2(uint64_t entries)
{
	unsigned	log2_slots = FEED_LEAST_SLOTS;

	while (log2_slots < FEED_MOST_SLOTS && (uint64_t) 1 << log2_slots < 4 * entries)
		log2_slots++;
	return log2_slots;
}

uint64_t
feed_slots_ask(const uint8_t *slots, uint64_t count, uint64_t hash, const void *key, size_t length)
{
	uint8_t		tag[FEED_TAG_BYTES];
	bool		has_tag = false;
	const uint8_t *end = slots + count * FEED_ENTRY_BYTES;

	for (; slots < end; slots += FEED_ENTRY_BYTES)
	{
		uint64_t	state = feed_load(slots, FEED_SLOT_STATE);

		if (state == 0)
			return FEED_UNCHANGED;
		if (bf_load_le64(slots) != hash)
			continue;
		/* some 0.3 us, for keys that were changed alone */
		if (!has_tag)
			feed_tag(key, length, tag);
		has_tag = true;
		if (memcmp(slots + 8, tag, sizeof tag) == 0)
			return state;
	}
	return FEED_DAMAGED;
}

uint64_t
feed_table_search(const uint8_t *slots, unsigned log2_slots, uint64_t hash, const void *key, size_t length)
{
	uint64_t	first = feed_table_first(hash, log2_slots);
	uint64_t	state = feed_slots_ask(slots + first * FEED_ENTRY_BYTES, ((uint64_t) 1 << log2_slots) - first, hash, key, length);

	return state != FEED_DAMAGED ? state : feed_slots_ask(slots, first, hash, key, length);
}

uint64_t
feed_table_find(const uint8_t *slots, unsigned log2_slots, const feed_entry *entry)
{
	uint64_t	all = (uint64_t) 1 << log2_slots;
	uint64_t	first = feed_table_first(entry->hash, log2_slots);
	uint64_t	i;

	for (i = 0; i < all; i++)
	{
		uint64_t	at = (first + i) & (all - 1);
		feed_entry	there = feed_entry_read(slots + at * FEED_ENTRY_BYTES);

		if (there.state == 0 || feed_entry_compare(&there, entry) == 0)
			return at;
	}
	return all;
}

static uint64_t
slot_sum(const uint8_t *slot)
{
	return bf_load_le64(slot + FEED_SLOT_STATE) == 0 ? 0 : bf_hash(slot, FEED_ENTRY_BYTES, 0);
}

bool
feed_slot_set(uint8_t *slot, const feed_entry *entry, feed_table *table)
{
	uint64_t	was = bf_load_le64(slot + FEED_SLOT_STATE);

	if (was >= entry->state)
		return false;
	table->count += was == 0;
	table->sum -= slot_sum(slot);
	feed_entry_write(entry, slot);
	table->sum += slot_sum(slot);
	return true;
}

bool
feed_table_set(uint8_t *slots, unsigned log2_slots, const feed_entry *entry, feed_table *table)
{
	uint64_t	found = feed_table_find(slots, log2_slots, entry);

	if (found >> log2_slots != 0)
		return false;
	slots[feed_bit_at(entry->hash, log2_slots)] |= feed_bit(entry->hash, log2_slots);
	(void) feed_slot_set(slots + found * FEED_ENTRY_BYTES, entry, table);
	return true;
}

bool
feed_table_check(const uint8_t *slots, unsigned log2_slots, feed_table *table)
{
	bool		right = true;
	uint64_t	i;

	table->count = table->sum = 0;
	for (i = 0; i >> log2_slots == 0; i++)
	{
		const uint8_t *slot = slots + i * FEED_ENTRY_BYTES;
		feed_entry	entry = feed_entry_read(slot);

		if (entry.state == 0)
			continue;
		table->count++;
		table->sum += slot_sum(slot);
		right = right && feed_table_find(slots, log2_slots, &entry) == i &&
			(slots[feed_bit_at(entry.hash, log2_slots)] & feed_bit(entry.hash, log2_slots)) != 0;
	}
	return right;
}

feed_table
feed_table_read(const uint8_t *page)
{
	feed_table	table;

	table.count = feed_load(page, FEED_TABLE_COUNT);
	table.id = feed_load(page, FEED_TABLE_ID);
	table.to = feed_load(page, FEED_TABLE_TO);
	table.sum = feed_load(page, FEED_TABLE_SUM);
	return table;
}

void
feed_table_write(const feed_table *table, uint8_t *page)
{
	feed_word(page + FEED_TABLE_COUNT, table->count);
	feed_word(page + FEED_TABLE_ID, table->id);
	feed_word(page + FEED_TABLE_TO, table->to);
	feed_word(page + FEED_TABLE_SUM, table->sum);
}
