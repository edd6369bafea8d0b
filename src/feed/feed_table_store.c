/*
 * feed_table_store.c
 *	  Setting entries in the table of a file that is read meanwhile.
 *
 * The order of writes, in which a kill may come between any two:
 *
 * 1. The sum becomes 0, which says that it isn't that of the slots.
 * 2. Of each entry its bit, then hash and tag, if its slot is empty, and then its state.
 * 3. The sum; then which row it is of, and up to where: after a kill before this all entries come
 *	  again, as whoever follows goes on from what is stored here.
 * 4. The number of entries, from which readers know that they must look.
 *
 * The time up to which all is there is stored in the page after this: until then nobody was told
 * of these entries.  Whoever follows after a kill counts the slots first.
 */
#include "feed_table.h"

/* Of an entry's slot where hash and tag end. */
#define KEY_BYTES (FEED_ENTRY_BYTES - 8)

static bool
store_word(const feed_io *io, unsigned at, uint64_t value)
{
	uint8_t		word[8];

	feed_word(word, value);
	return io->write(io->state, word, sizeof word, at);
}

static bool
store_entry(const feed_io *io, const feed_who *who, uint8_t *slots, const feed_entry *entry, feed_table *table)
{
	uint64_t	found = feed_table_find(slots, who->log2_slots, entry);
	uint8_t    *slot = slots + found * FEED_ENTRY_BYTES;
	uint64_t	at = feed_table_at(who) + found * FEED_ENTRY_BYTES;
	uint64_t	bit_at = feed_bit_at(entry->hash, who->log2_slots);
	uint64_t	count = table->count;

	if (found >> who->log2_slots != 0)
		return false;
	if (!feed_slot_set(slot, entry, table))
		return true;
	if (table->count > count)
	{
		slots[bit_at] |= feed_bit(entry->hash, who->log2_slots);
		if (!io->write(io->state, slots + bit_at, 1, feed_table_at(who) + bit_at) ||
			!io->write(io->state, slot, KEY_BYTES, at))
			return false;
	}
	return io->write(io->state, slot + KEY_BYTES, FEED_ENTRY_BYTES - KEY_BYTES, at + KEY_BYTES);
}

bool
feed_table_store(const feed_io *io, const feed_who *who, uint8_t *slots, const feed_entry *entries, uint64_t count,
				 uint64_t id, uint64_t to, feed_table *table)
{
	uint8_t		row[16];
	uint64_t	i;

	if (count > 0 && !store_word(io, FEED_TABLE_SUM, 0))
		return false;
	for (i = 0; i < count; i++)
		if (!store_entry(io, who, slots, &entries[i], table))
			return false;
	feed_word(row, id);
	feed_word(row + 8, to);
	if (!store_word(io, FEED_TABLE_SUM, table->sum) || !io->write(io->state, row, sizeof row, FEED_TABLE_ID) ||
		!store_word(io, FEED_TABLE_COUNT, table->count))
		return false;
	table->id = id;
	table->to = to;
	return true;
}

bool
feed_table_go_on(const feed_io *io, const feed_who *who, const uint8_t *slots, feed_table *table)
{
	feed_table	said = *table;

	if (!feed_table_check(slots, who->log2_slots, table) || (said.sum != 0 && said.sum != table->sum))
		return false;
	return (said.sum == table->sum || store_word(io, FEED_TABLE_SUM, table->sum)) &&
		(said.count == table->count || store_word(io, FEED_TABLE_COUNT, table->count));
}
