/*
 * feed_table.h
 *	  The table of changes behind the parts of a list's file: doc/FEED.md, section 7.
 *
 * Slots of 32 bytes, which are entries as in files of changes; a state of 0 is an empty slot.
 * An entry lies in the first slot from (hash * slots) >> 64 on that was empty when it came, and
 * behind the last slot the first one follows.  Slots never become empty and never move, so a
 * table is read without a lock while its follower sets entries in it.
 *
 * Behind the slots lies a byte for each slot.  The hashes whose search begins with the slot share
 * its eight bits, by their next three bits.  Where a hash's bit is 0, no entry has this hash.  So
 * most look-ups read one bit and no slot: the bits are 1/32 of the slots' memory.
 */
#ifndef FEED_TABLE_H
#define FEED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_page.h"

/* ------------------------------------------------------------------------
 * An entry: a change of a list by day
 *
 * It says of one key whether it is in, whatever the filter says.  One law orders changes: of two
 * states of a key the greater one stays, as it has the greater version.  So changes may come
 * late, twice, and in any order.
 * ------------------------------------------------------------------------ */

#define FEED_ENTRY_BYTES 32
#define FEED_TAG_BYTES 16

/* A key by its hash and the first bytes of its SHA-256; and version * 2 + value. */
typedef struct feed_entry
{
	uint64_t	hash;
	uint8_t		tag[FEED_TAG_BYTES];
	uint64_t	state;			/* at least 2 */
} feed_entry;

extern void feed_tag(const void *key, size_t length, uint8_t tag[FEED_TAG_BYTES]);

/* The order of keys, as entries rise in files; states don't count. */
extern int	feed_entry_compare(const feed_entry *a, const feed_entry *b);

/* As it lies in files. */
extern feed_entry feed_entry_read(const uint8_t *bytes);
extern void feed_entry_write(const feed_entry *entry, uint8_t *bytes);

/* ------------------------------------------------------------------------
 * Slots
 * ------------------------------------------------------------------------ */

/* log2 of the slots. */
#define FEED_LEAST_SLOTS 10
#define FEED_MOST_SLOTS 22

/* What a key's look-up in a table finds, where it isn't the key's state. */
#define FEED_UNCHANGED 0		/* the filter's answer holds */
#define FEED_DAMAGED 1			/* all slots were looked at, and none is empty */

static inline uint64_t
feed_slots_bytes(unsigned log2_slots)
{
	return (uint64_t) FEED_ENTRY_BYTES << log2_slots;
}

/* With the bits. */
static inline uint64_t
feed_table_bytes(unsigned log2_slots)
{
	return (uint64_t) (FEED_ENTRY_BYTES + 1) << log2_slots;
}

/* log2 of slots for so many entries, so that many more can come. */
extern unsigned feed_table_log2(uint64_t entries);

/* Whether so many entries fill more than a fourth of the slots, which makes look-ups slow. */
static inline bool
feed_table_is_full(uint64_t count, unsigned log2_slots)
{
	return count * 4 > (uint64_t) 1 << log2_slots;
}

/* The slot with which a search for a hash begins. */
static inline uint64_t
feed_table_first(uint64_t hash, unsigned log2_slots)
{
	return hash >> (64 - log2_slots);
}

/* Where a hash's bit is, from the first slot on, and which bit of that byte. */
static inline uint64_t
feed_bit_at(uint64_t hash, unsigned log2_slots)
{
	return feed_slots_bytes(log2_slots) + feed_table_first(hash, log2_slots);
}

static inline uint8_t
feed_bit(uint64_t hash, unsigned log2_slots)
{
	return (uint8_t) (1U << (hash >> (61 - log2_slots) & 7));
}

/* Where a slot's state lies in it, behind hash and tag. */
#define FEED_SLOT_STATE 24

/*
 * What some slots, from the one on with which a search begins, say of a key with this hash: its
 * state, whose lowest bit is the answer; FEED_UNCHANGED; FEED_DAMAGED: nothing, and the slots
 * behind them follow.  They may change meanwhile, and begin at a multiple of 8 bytes.
 */
extern uint64_t feed_slots_ask(const uint8_t *slots, uint64_t count, uint64_t hash, const void *key, size_t length);

/* The same of a whole table, without its bits. */
extern uint64_t feed_table_search(const uint8_t *slots, unsigned log2_slots, uint64_t hash, const void *key, size_t length);

/* The same of a whole table. */
static inline uint64_t
feed_table_ask(const uint8_t *slots, unsigned log2_slots, uint64_t hash, const void *key, size_t length)
{
	uint8_t		bits = __atomic_load_n(slots + feed_bit_at(hash, log2_slots), __ATOMIC_RELAXED);

	if ((bits & feed_bit(hash, log2_slots)) == 0)
		return FEED_UNCHANGED;
	return feed_table_search(slots, log2_slots, hash, key, length);
}

/* The number of the slot in which an entry's key is, or which is empty for it; that of the slots if there is none. */
extern uint64_t feed_table_find(const uint8_t *slots, unsigned log2_slots, const feed_entry *entry);

/* What the page says of a table. */
typedef struct feed_table
{
	uint64_t	count;			/* 0: no slot was ever set, and readers don't look */
	uint64_t	id;				/* of the row of files of which it has ... */
	uint64_t	to;				/* ... all up to here */
	uint64_t	sum;			/* of all slots that aren't empty; 0: entries are coming in */
} feed_table;

/* What an entry makes of the slot that was found for it, counted in *table.  False: nothing, as the slot's state isn't less. */
extern bool feed_slot_set(uint8_t *slot, const feed_entry *entry, feed_table *table);

/* Sets an entry in a whole table that nobody reads yet; false: there is no room. */
extern bool feed_table_set(uint8_t *slots, unsigned log2_slots, const feed_entry *entry, feed_table *table);

/*
 * Counts and sums all slots: of *table count and sum are set.  False: an entry isn't found from
 * its first slot on, or twice, or its bit is 0.
 */
extern bool feed_table_check(const uint8_t *slots, unsigned log2_slots, feed_table *table);

/* What the page says. */
extern feed_table feed_table_read(const uint8_t *page);
extern void feed_table_write(const feed_table *table, uint8_t *page);

/* ------------------------------------------------------------------------
 * In a file that is read meanwhile: feed_table_store.c
 * ------------------------------------------------------------------------ */

/* What writes to a file: false if that failed. */
typedef struct feed_io
{
	bool		(*write) (void *state, const uint8_t *bytes, size_t length, uint64_t at);
	void	   *state;
} feed_io;

/*
 * Sets entries in the slots, which are those of the file, in the file, and then what the page says
 * of them: *table was that, and becomes it, with the id and to that it gets.  The table isn't full.
 * Where it fails, the file may lack what the slots have.
 */
extern bool feed_table_store(const feed_io *io, const feed_who *who, uint8_t *slots, const feed_entry *entries,
							 uint64_t count, uint64_t id, uint64_t to, feed_table *table);

/*
 * Goes on with a file whose follower may have been killed: corrects what the page says of its
 * slots.  False also where they are damaged.
 */
extern bool feed_table_go_on(const feed_io *io, const feed_who *who, const uint8_t *slots, feed_table *table);

#endif							/* FEED_TABLE_H */
