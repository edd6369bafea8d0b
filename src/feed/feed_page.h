/*
 * feed_page.h
 *	  Page 0 of a followed list's file: doc/FEED.md, section 1.
 *
 * Four groups: who it is, which never changes; what it has; what of that is saved; how
 * its follower fares.  A group is written at once.  No memory is taken, nothing is read
 * or written but the caller's bytes.
 */
#ifndef FEED_PAGE_H
#define FEED_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_part.h"

#define FEED_PAGE 4096
#define FEED_IDENTITY_BYTES 16
#define FEED_DIGEST_BYTES 32
#define FEED_BOOT_BYTES 16
#define FEED_NAME_BYTES 200
#define FEED_MOST_PARTS 65535

/* Offsets in the file, and lengths. */
enum
{
	FEED_WHO_AT = 0,
	FEED_WHO_BYTES = 512,
	FEED_WHO_CHECKSUM = 504,	/* of who: while a file is the one that was opened, it is the same */
	FEED_WRITES = 512,			/* odd while bits are being set */
	FEED_NOW_AT = 520,
	FEED_NOW_BYTES = 64,
	FEED_SERIAL = 520,
	FEED_TRUE_AT = 536,
	FEED_SUPERSEDED = 600,		/* 0, or: */
	FEED_TABLE_COUNT = 608,		/* what feed_table.h says of the table of changes, in this order */
	FEED_TABLE_ID = 616,
	FEED_TABLE_TO = 624,
	FEED_TABLE_SUM = 632,
	FEED_SAVED_AT = 1024,
	FEED_SAVED_BYTES = 64,
	FEED_HOW_AT = 1536,
	FEED_HOW_BYTES = 328
};

/* What superseded is: another file has this one's name, or will at once; its bits are not what they should be. */
enum
{
	FEED_REPLACED = 1,
	FEED_LOST = 2
};

/* A state of the list, and the manifest that told of it. */
typedef struct feed_content
{
	uint64_t	serial;
	uint64_t	sum;
	uint64_t	mark;			/* the manifest's serial */
	uint8_t		digest[FEED_DIGEST_BYTES];	/* its SHA-256 */
} feed_content;

/* Where its follower keeps the file; all 0: it belongs to nobody, and never changes. */
typedef struct feed_place
{
	uint8_t		boot[FEED_BOOT_BYTES];
	uint64_t	device;
	uint64_t	inode;
} feed_place;

typedef struct feed_who
{
	uint64_t	length;			/* of the whole file */
	uint32_t	parts;
	bool		tracked;		/* there are changes by day, in a table behind the parts if */
	unsigned	log2_slots;		/* isn't 0 */
	uint64_t	epoch;
	uint8_t		identity[FEED_IDENTITY_BYTES];
	feed_place	place;
	feed_content born;			/* true for every copy of the file */
	char		name[FEED_NAME_BYTES + 1];
} feed_who;

typedef struct feed_now
{
	feed_content content;
	uint64_t	true_at;		/* 0: not known */
} feed_now;

/* The reasons of doc/FEED.md, section 5, or "". */
#define FEED_REASON_BYTES 16
#define FEED_MESSAGE_BYTES 256

typedef struct feed_how
{
	uint64_t	looked;
	uint64_t	looked_boot;
	uint64_t	failures;
	uint64_t	every;
	uint64_t	heartbeat;		/* 0: none */
	uint64_t	expires;		/* 0: never */
	uint64_t	since;			/* when the reason came */
	char		reason[FEED_REASON_BYTES + 1];
	char		message[FEED_MESSAGE_BYTES + 1];
} feed_how;

/* Whether a file that begins with these four bytes is of this kind. */
extern bool feed_page_is(const uint8_t *bytes);

/* ------------------------------------------------------------------------
 * Who
 * ------------------------------------------------------------------------ */

/* A rule of doc/FEED.md, section 1: its word there, and what is wrong where it is broken. */
typedef struct feed_rule
{
	const char *word;
	const char *text;
} feed_rule;

/*
 * Reads and checks who of a file of so many bytes; page has FEED_PAGE of them, if the
 * file has.  Returns NULL, or the first rule that is broken; *who is set only on NULL.
 */
extern const feed_rule *feed_who_read(const uint8_t *page, uint64_t length, feed_who *who);

/* FEED_WHO_BYTES, for the file's beginning. */
extern void feed_who_write(const feed_who *who, uint8_t *bytes);

/*
 * Checks the header of the next part, which lies at *at (at first FEED_PAGE) and of which
 * header has FEED_FRONT_BYTES, and moves *at on.  After the last part *at is where the table
 * of changes begins, or the file's length.  False: it is not valid.
 */
extern bool feed_who_part(const feed_who *who, uint32_t number, const uint8_t *header, uint64_t *at,
						  feed_part *part);

/* Where the next part begins in a file, behind one that ends at a byte. */
static inline uint64_t
feed_next_page(uint64_t end)
{
	return (end + FEED_PAGE - 1) / FEED_PAGE * FEED_PAGE;
}

/* Says where each part lies in a file of these, and returns where the last one ends. */
extern uint64_t feed_lay_out(feed_part *parts, uint32_t count);

/* Where a file's table of changes begins: its length if there is none. */
extern uint64_t feed_table_at(const feed_who *who);

/* ------------------------------------------------------------------------
 * What, saved, how
 * ------------------------------------------------------------------------ */

/* One word of a mapped page or table, which begins at a multiple of 8 bytes: with acquire order. */
static inline uint64_t
feed_load(const uint8_t *page, unsigned at)
{
	uint64_t	word = __atomic_load_n((const uint64_t *) (const void *) (page + at), __ATOMIC_ACQUIRE);

	/* the file is little-endian everywhere */
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* The other way the bytes of a word, for pwrite. */
extern void feed_word(uint8_t bytes[8], uint64_t value);

/* Bytes of the page while nobody writes them, or as the last reading before they change. */
extern void feed_now_read(const uint8_t *page, feed_now *now);
extern void feed_now_write(const feed_now *now, uint8_t bytes[FEED_NOW_BYTES]);

/* Its checksum binds saved to this file: false if it is of another one, or torn. */
extern bool feed_saved_read(const uint8_t *page, const feed_who *who, feed_content *saved);
extern void feed_saved_write(const feed_content *saved, const feed_who *who, uint8_t bytes[FEED_SAVED_BYTES]);

/* What isn't printable of reason and message becomes a question mark, in both directions. */
extern void feed_how_read(const uint8_t *page, feed_how *how);
extern void feed_how_write(const feed_how *how, uint8_t bytes[FEED_HOW_BYTES]);

/* ------------------------------------------------------------------------
 * What a reader may tell
 * ------------------------------------------------------------------------ */

typedef enum feed_where
{
	FEED_NOBODYS,				/* never followed: readers compare its sum when they open it */
	FEED_HERE,					/* where its follower keeps it, in this boot */
	FEED_OTHER_BOOT,			/* where its follower kept it before a boot */
	FEED_COPY					/* anywhere else */
} feed_where;

/*
 * seen is this boot, and device and inode of the opened file; its boot is all 0 if this
 * system has none to tell.
 */
extern feed_where feed_where_is(const feed_who *who, const feed_place *seen);

/* The state that a reader there may say the file has: now, saved or born. */
typedef enum feed_which
{
	FEED_SERIAL_NOW = 1,
	FEED_SERIAL_SAVED,
	FEED_SERIAL_BORN
} feed_which;

extern feed_which feed_told(const uint8_t *page, const feed_who *who, feed_where where, feed_content *told);

/*
 * Microseconds since a look, as both clocks say; the boot clock counts only if here is
 * true.  false: both clocks say that it will be in more than a minute.  INT64_MAX: never.
 */
extern bool feed_age(uint64_t looked, uint64_t looked_boot, uint64_t now, uint64_t now_boot, bool here,
					 int64_t *age);

#endif							/* FEED_PAGE_H */
