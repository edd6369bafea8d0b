/*
 * feed_entry.h
 *	  A change of a list by day: doc/FEED.md, section 7.
 *
 * It says of one key whether it is in, whatever the filter says.  One law orders changes: of two
 * states of a key the greater one stays, as it has the greater version.  So changes may come
 * late, twice, and in any order.
 */
#ifndef FEED_ENTRY_H
#define FEED_ENTRY_H

#include <stddef.h>
#include <stdint.h>

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

#endif							/* FEED_ENTRY_H */
