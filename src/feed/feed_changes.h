/*
 * feed_changes.h
 *	  The files in which changes of a list by day travel: doc/FEED.md, section 7.
 */
#ifndef FEED_CHANGES_H
#define FEED_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_table.h"

#define FEED_CHANGES_HEADER 64

/* In all that a manifest names together, and in a table. */
#define FEED_MOST_ENTRIES ((uint64_t) 1 << 20)

/* Sorts entries, and keeps of each key the greatest state; returns how many are left. */
extern size_t feed_entries_unite(feed_entry *entries, size_t count);

/* Of united entries, what the page of a file says that has these and no other. */
extern uint64_t feed_entries_sum(const feed_entry *entries, size_t count);

/* What a file of changes says of itself. */
typedef struct feed_changes_of
{
	uint64_t	serial;			/* of the list that they change */
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	count;
} feed_changes_of;

static inline size_t
feed_changes_bytes(uint64_t count)
{
	return (size_t) (FEED_CHANGES_HEADER + count * FEED_ENTRY_BYTES);
}

/*
 * Checks a whole file.  Returns NULL, or FEED.md's word for what is wrong; *of is set only on
 * NULL.  Its entries lie behind the header.
 */
extern const char *feed_changes_read(const uint8_t *bytes, size_t length, feed_changes_of *of);

/* Writes feed_changes_bytes of united entries. */
extern void feed_changes_write(const feed_changes_of *of, const feed_entry *entries, uint8_t *bytes);

#endif							/* FEED_CHANGES_H */
