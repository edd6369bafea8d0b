/*
 * feed_page.c
 *	  Page 0 of a followed list's file: reading, checking and writing its groups.
 */
#include "feed_page.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_limits.h"
#include "feed_table.h"

enum
{
	AT_VERSION = 4,
	AT_LENGTH = 8,
	AT_PARTS = 16,
	AT_SLOTS = 20,
	AT_EPOCH = 24,
	AT_IDENTITY = 32,
	AT_BOOT = 48,
	AT_DEVICE = 64,
	AT_INODE = 72,
	AT_BORN = 80,
	AT_NAME = 136,
	AT_NAME_END = 352,
	AT_CHECKSUM = FEED_WHO_CHECKSUM
};

/* In a content's 56 bytes: serial, sum, and from here on mark and digest. */
#define CONTENT_BYTES 56
#define CONTENT_MARK 16

/* In the 64 bytes of now true_at stands between them. */
#define NOW_TRUE_AT 16
#define NOW_MARK 24

/* In how: seven numbers, then: */
#define HOW_REASON 56
#define HOW_MESSAGE 72

/* Of a list without changes by day, and of one with them. */
#define VERSION 2
#define TRACKED_VERSION 3
#define MINUTE INT64_C(60000000)

_Static_assert(FEED_MOST_PARTS == BF_MAX_PARTS, "as many parts as headers count");

static const uint8_t magic[4] = {'B', 'L', 'M', 'L'};

bool
feed_page_is(const uint8_t *bytes)
{
	return memcmp(bytes, magic, sizeof magic) == 0;
}

static bool
are_zeros(const uint8_t *bytes, size_t length)
{
	while (length > 0)
		if (bytes[--length] != 0)
			return false;
	return true;
}

/* ------------------------------------------------------------------------
 * Who
 * ------------------------------------------------------------------------ */

static void
read_content(const uint8_t *bytes, unsigned mark, feed_content *content)
{
	content->serial = bf_load_le64(bytes);
	content->sum = bf_load_le64(bytes + 8);
	content->mark = bf_load_le64(bytes + mark);
	memcpy(content->digest, bytes + mark + 8, FEED_DIGEST_BYTES);
}

static void
write_content(uint8_t *bytes, unsigned mark, const feed_content *content)
{
	bf_store_le64(bytes, content->serial);
	bf_store_le64(bytes + 8, content->sum);
	bf_store_le64(bytes + mark, content->mark);
	memcpy(bytes + mark + 8, content->digest, FEED_DIGEST_BYTES);
}

/* The name ends before its field does, and behind it all is zero. */
static bool
is_right_name(const uint8_t *field)
{
	const uint8_t *end = memchr(field, '\0', FEED_NAME_BYTES + 1);

	return end != NULL && are_zeros(end, (size_t) (field + (AT_NAME_END - AT_NAME) - end));
}

/* Of the table's slots log2, or 0; a file of version 2 has none. */
static bool
are_right_slots(const feed_who *who)
{
	return who->log2_slots == 0 ||
		(who->tracked && who->log2_slots >= FEED_LEAST_SLOTS && who->log2_slots <= FEED_MOST_SLOTS);
}

static const feed_rule
			is_short = {"short", "shorter than a page"},
			is_other = {"magic", "does not start with BLML"},
			is_later = {"version", "file of a list in an unsupported version"},
			is_damaged = {"checksum", "checksum of its first page does not match"},
			is_cut = {"length", "longer or shorter than it says"},
			is_wrong = {"who", "its first page is not valid"};

const feed_rule *
feed_who_read(const uint8_t *page, uint64_t length, feed_who *who)
{
	feed_who	read;
	uint64_t	version;

	if (length < FEED_PAGE)
		return &is_short;
	if (!feed_page_is(page))
		return &is_other;
	version = bf_load_le(page + AT_VERSION, 4);
	if (version != VERSION && version != TRACKED_VERSION)
		return &is_later;
	if (bf_load_le64(page + AT_CHECKSUM) != bf_hash(page, AT_CHECKSUM, 0))
		return &is_damaged;
	memset(&read, 0, sizeof read);
	read.length = bf_load_le64(page + AT_LENGTH);
	if (read.length != length)
		return &is_cut;
	read.parts = (uint32_t) bf_load_le(page + AT_PARTS, 4);
	read.tracked = version == TRACKED_VERSION;
	read.log2_slots = (uint32_t) bf_load_le(page + AT_SLOTS, 4);
	if (read.parts < 1 || read.parts > BF_MAX_PARTS || !are_right_slots(&read) ||
		!is_right_name(page + AT_NAME) || !are_zeros(page + AT_NAME_END, AT_CHECKSUM - AT_NAME_END))
		return &is_wrong;
	read.epoch = bf_load_le64(page + AT_EPOCH);
	memcpy(read.identity, page + AT_IDENTITY, FEED_IDENTITY_BYTES);
	memcpy(read.place.boot, page + AT_BOOT, FEED_BOOT_BYTES);
	read.place.device = bf_load_le64(page + AT_DEVICE);
	read.place.inode = bf_load_le64(page + AT_INODE);
	read_content(page + AT_BORN, CONTENT_MARK, &read.born);
	memcpy(read.name, page + AT_NAME, FEED_NAME_BYTES + 1);
	*who = read;
	return NULL;
}

void
feed_who_write(const feed_who *who, uint8_t *bytes)
{
	memset(bytes, 0, FEED_WHO_BYTES);
	memcpy(bytes, magic, sizeof magic);
	bf_store_le(bytes + AT_VERSION, 4, who->tracked ? TRACKED_VERSION : VERSION);
	bf_store_le64(bytes + AT_LENGTH, who->length);
	bf_store_le(bytes + AT_PARTS, 4, who->parts);
	bf_store_le(bytes + AT_SLOTS, 4, who->log2_slots);
	bf_store_le64(bytes + AT_EPOCH, who->epoch);
	memcpy(bytes + AT_IDENTITY, who->identity, FEED_IDENTITY_BYTES);
	memcpy(bytes + AT_BOOT, who->place.boot, FEED_BOOT_BYTES);
	bf_store_le64(bytes + AT_DEVICE, who->place.device);
	bf_store_le64(bytes + AT_INODE, who->place.inode);
	write_content(bytes + AT_BORN, CONTENT_MARK, &who->born);
	memcpy(bytes + AT_NAME, who->name, strlen(who->name));
	bf_store_le64(bytes + AT_CHECKSUM, bf_hash(bytes, AT_CHECKSUM, 0));
}

bool
feed_who_part(const feed_who *who, uint32_t number, const uint8_t *header, uint64_t *at, feed_part *part)
{
	uint64_t	end;

	if (*at > who->length || who->length - *at < FEED_FRONT_BYTES ||
		feed_part_read(header, FEED_FRONT_BYTES, part) != NULL || !feed_part_is_stripped(part) || !feed_is_part(part, number, who->parts) ||
		part->length > who->length - *at - feed_before(part))
		return false;
	part->at = *at;
	end = feed_body_at(part) + part->length;
	*at = number + 1 < who->parts || who->log2_slots != 0 ? feed_next_page(end) : end;
	return number + 1 < who->parts || *at == feed_table_at(who);
}

uint64_t
feed_table_at(const feed_who *who)
{
	uint64_t	bytes = who->log2_slots == 0 ? 0 : feed_table_bytes(who->log2_slots);

	return who->length < bytes ? 0 : who->length - bytes;
}

uint64_t
feed_lay_out(feed_part *parts, uint32_t count)
{
	uint64_t	end = FEED_PAGE;
	uint32_t	i;

	for (i = 0; i < count; i++)
	{
		parts[i].at = feed_next_page(end);
		end = feed_body_at(&parts[i]) + parts[i].length;
	}
	return end;
}

/* ------------------------------------------------------------------------
 * What, saved, how
 * ------------------------------------------------------------------------ */

void
feed_word(uint8_t bytes[8], uint64_t value)
{
	bf_store_le64(bytes, value);
}

void
feed_now_read(const uint8_t *page, feed_now *now)
{
	read_content(page + FEED_NOW_AT, NOW_MARK, &now->content);
	now->true_at = bf_load_le64(page + FEED_NOW_AT + NOW_TRUE_AT);
}

void
feed_now_write(const feed_now *now, uint8_t bytes[FEED_NOW_BYTES])
{
	write_content(bytes, NOW_MARK, &now->content);
	bf_store_le64(bytes + NOW_TRUE_AT, now->true_at);
}

static uint64_t
saved_checksum(const uint8_t *bytes, const feed_who *who)
{
	uint8_t		all[CONTENT_BYTES + 16];

	memcpy(all, bytes, CONTENT_BYTES);
	bf_store_le64(all + CONTENT_BYTES, who->epoch);
	bf_store_le64(all + CONTENT_BYTES + 8, who->place.inode);
	return bf_hash(all, sizeof all, 0);
}

bool
feed_saved_read(const uint8_t *page, const feed_who *who, feed_content *saved)
{
	uint8_t		bytes[FEED_SAVED_BYTES];

	memcpy(bytes, page + FEED_SAVED_AT, sizeof bytes);
	if (bf_load_le64(bytes + CONTENT_BYTES) != saved_checksum(bytes, who))
		return false;
	read_content(bytes, CONTENT_MARK, saved);
	return true;
}

void
feed_saved_write(const feed_content *saved, const feed_who *who, uint8_t bytes[FEED_SAVED_BYTES])
{
	write_content(bytes, CONTENT_MARK, saved);
	bf_store_le64(bytes + CONTENT_BYTES, saved_checksum(bytes, who));
}

/*
 * Copies a text up to its zero byte or most bytes; behind it all is zero.  Bytes above
 * 127 are UTF-8, of which control characters of two bytes aren't printable either.
 */
static void
copy_printable(char *to, const char *from, size_t most)
{
	size_t		i;

	for (i = 0; i < most && from[i] != '\0'; i++)
	{
		uint8_t		byte = (uint8_t) from[i];

		to[i] = byte < ' ' || byte >= 0x7f ? '?' : from[i];
	}
	memset(to + i, 0, most - i);
}

void
feed_how_read(const uint8_t *page, feed_how *how)
{
	const uint8_t *bytes = page + FEED_HOW_AT;

	memset(how, 0, sizeof *how);
	how->looked = bf_load_le64(bytes);
	how->looked_boot = bf_load_le64(bytes + 8);
	how->failures = bf_load_le64(bytes + 16);
	how->every = bf_load_le64(bytes + 24);
	how->heartbeat = bf_load_le64(bytes + 32);
	how->expires = bf_load_le64(bytes + 40);
	how->since = bf_load_le64(bytes + 48);
	copy_printable(how->reason, (const char *) bytes + HOW_REASON, FEED_REASON_BYTES);
	copy_printable(how->message, (const char *) bytes + HOW_MESSAGE, FEED_MESSAGE_BYTES);
}

void
feed_how_write(const feed_how *how, uint8_t bytes[FEED_HOW_BYTES])
{
	bf_store_le64(bytes, how->looked);
	bf_store_le64(bytes + 8, how->looked_boot);
	bf_store_le64(bytes + 16, how->failures);
	bf_store_le64(bytes + 24, how->every);
	bf_store_le64(bytes + 32, how->heartbeat);
	bf_store_le64(bytes + 40, how->expires);
	bf_store_le64(bytes + 48, how->since);
	copy_printable((char *) bytes + HOW_REASON, how->reason, FEED_REASON_BYTES);
	copy_printable((char *) bytes + HOW_MESSAGE, how->message, FEED_MESSAGE_BYTES);
}

/* ------------------------------------------------------------------------
 * What a reader may tell
 * ------------------------------------------------------------------------ */

feed_where
feed_where_is(const feed_who *who, const feed_place *seen)
{
	if (are_zeros(who->place.boot, FEED_BOOT_BYTES))
		return who->place.device == 0 && who->place.inode == 0 ? FEED_NOBODYS : FEED_COPY;
	if (who->place.inode != seen->inode || are_zeros(seen->boot, FEED_BOOT_BYTES))
		return FEED_COPY;
	if (memcmp(who->place.boot, seen->boot, FEED_BOOT_BYTES) != 0)
		return FEED_OTHER_BOOT;
	return who->place.device == seen->device ? FEED_HERE : FEED_COPY;
}

feed_which
feed_told(const uint8_t *page, const feed_who *who, feed_where where, feed_content *told)
{
	if (where == FEED_HERE)
	{
		feed_now	now;

		feed_now_read(page, &now);
		*told = now.content;
		told->serial = feed_load(page, FEED_SERIAL);
		return FEED_SERIAL_NOW;
	}
	if (where == FEED_OTHER_BOOT && feed_saved_read(page, who, told))
		return FEED_SERIAL_SAVED;
	*told = who->born;
	return FEED_SERIAL_BORN;
}

bool
feed_age(uint64_t looked, uint64_t looked_boot, uint64_t now, uint64_t now_boot, bool here, int64_t *age)
{
	int64_t		by_boot = (int64_t) (now_boot - looked_boot);

	*age = looked == 0 ? INT64_MAX : (int64_t) (now - looked);
	if (here && looked != 0 && looked_boot != 0 && by_boot > *age)
		*age = by_boot;
	return *age >= -MINUTE;
}
