/*
 * page.c
 *	  The page of a list's file, for JavaScript: src/feed.
 *
 * JavaScript puts the page at page_at(), and what it knows of the opened file behind it.
 */
#include "feed_page.h"
#include "reader.h"

#define WORD_BYTES 8

static struct
{
	_Alignas(WORD_BYTES) uint8_t bytes[FEED_PAGE];
	feed_place	seen;
} page;

static const feed_rule *broken;
static feed_who who;
static feed_how how;

TELLS(const void *, page_at, &page)

/* Of a file of so many bytes: whether its page is valid. */
EXPORT("read_page") int
read_page(double length)
{
	broken = feed_who_read(page.bytes, (uint64_t) length, &who);
	return broken == NULL;
}

TELLS(const char *, broken_word, broken->word)
TELLS(const char *, broken_text, broken->text)
TELLS(const char *, list_name, who.name)
TELLS(const uint8_t *, list_identity, who.identity)
TELLS(uint32_t, list_parts, who.parts)
TELLS(uint64_t, born_sum, who.born.sum)

/*
 * The next part, whose header lies where a filter does and in the file at a byte: where the
 * one behind it begins, or -1 if it is not valid.
 */
EXPORT("behind_part") double
behind_part(uint32_t number, double at)
{
	uint64_t	next = (uint64_t) at;
	feed_part	part;

	return feed_who_part(&who, number, filter_at(), &next, &part) ? (double) next : -1;
}

/* Whether the list is tracked, where its table of changes is, and log2 of its slots. */
TELLS(int, is_tracked, who.tracked)
TELLS(double, table_at, (double) feed_table_at(&who))
TELLS(uint32_t, table_log2, who.log2_slots)

/* Keys that were changed by day. */
TELLS(double, table_count, who.tracked ? (double) feed_load(page.bytes, FEED_TABLE_COUNT) : 0)

/* A feed_where. */
TELLS(int, where_is, (int) feed_where_is(&who, &page.seen))

EXPORT("told_serial") uint64_t
told_serial(int where)
{
	feed_content told;

	feed_told(page.bytes, &who, (feed_where) where, &told);
	return told.serial;
}

/* What was committed before is in it: only of what a file has now, else 0. */
EXPORT("told_true_at") uint64_t
told_true_at(int where)
{
	return where == FEED_HERE ? feed_load(page.bytes, FEED_TRUE_AT) : 0;
}

/* 1: another file took its place; 2: its follower found that its bits are not what they should be. */
TELLS(double, superseded, (double) feed_load(page.bytes, FEED_SUPERSEDED))

/* How the follower fares: seven numbers, then two texts. */
EXPORT("read_how") const feed_how *
read_how(void)
{
	feed_how_read(page.bytes, &how);
	return &how;
}

TELLS(const char *, how_reason, how.reason)
TELLS(const char *, how_message, how.message)

/* Microseconds since the last look. */
EXPORT("age") int64_t
age(uint64_t now, uint64_t now_boot, int where)
{
	int64_t		result;

	(void) feed_age(how.looked, how.looked_boot, now, now_boot, where == FEED_HERE, &result);
	return result;
}
