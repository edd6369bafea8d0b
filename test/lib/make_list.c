/*
 * make_list.c
 *	  Files of followed lists for tests, as a follower makes them.
 */
#define _DEFAULT_SOURCE

#include "make_list.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed_part.h"
#include "feed_values.h"
#include "files.h"
#include "tap.h"

/* All 0 where there is none. */
static void
this_boot(uint8_t boot[FEED_BOOT_BYTES])
{
	char		text[FEED_UUID_TEXT_BYTES] = "";
	int			fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof text - 1) < 0 || !feed_uuid_read(boot, text))
		memset(boot, 0, FEED_BOOT_BYTES);
	if (fd >= 0)
		close(fd);
}

void
put_bytes(const char *path, const void *bytes, size_t length, uint64_t at)
{
	int			fd = open(path, O_WRONLY);

	need(fd >= 0 && pwrite(fd, bytes, length, (off_t) at) == (ssize_t) length, "bytes into a file");
	close(fd);
}

void
put_word(const char *path, unsigned at, uint64_t value)
{
	uint8_t		bytes[8];

	feed_word(bytes, value);
	put_bytes(path, bytes, sizeof bytes, at);
}

void
put_who(const char *path, const feed_who *who)
{
	uint8_t		bytes[FEED_WHO_BYTES];

	feed_who_write(who, bytes);
	put_bytes(path, bytes, sizeof bytes, FEED_WHO_AT);
}

/* The blocks of all parts to their places; their sum. */
static uint64_t
put_parts(const char *path, const bloomfilter *filter, uint32_t count, uint64_t *length)
{
	feed_part  *parts = calloc(count, sizeof *parts);
	const void *bytes;
	size_t		size;
	uint64_t	sum = 0;
	uint32_t	i;

	need(parts != NULL, "memory");
	for (i = 0; i < count; i++)
	{
		need(bloomfilter_get_bytes(filter, i, &bytes, &size) == BLOOMFILTER_OK &&
			 feed_part_read(bytes, size, &parts[i]) == NULL, "a part");
		feed_part_strip(&parts[i]);
	}
	*length = feed_lay_out(parts, count);
	for (i = 0; i < count; i++)
	{
		const uint8_t *blocks;

		bloomfilter_get_bytes(filter, i, &bytes, &size);
		blocks = (const uint8_t *) bytes + FEED_HEADER_BYTES;
		put_bytes(path, parts[i].header, FEED_HEADER_BYTES, parts[i].at);
		put_bytes(path, blocks, size - FEED_HEADER_BYTES, feed_body_at(&parts[i]));
		sum += feed_sum_header(i, bytes) + feed_sum(i, 0, blocks, size - FEED_HEADER_BYTES);
	}
	free(parts);
	return sum;
}

/* The place of the file at a path. */
static feed_place
place_of(const char *path)
{
	feed_place	place;
	struct stat st;

	need(stat(path, &st) == 0, "stat");
	this_boot(place.boot);
	place.device = (uint64_t) st.st_dev;
	place.inode = (uint64_t) st.st_ino;
	return place;
}

void
put_here(const char *path)
{
	size_t		length;
	uint8_t    *bytes = read_file(path, &length);
	feed_who	who;

	need(feed_who_read(bytes, length, &who) == NULL, "a list");
	who.place = place_of(path);
	put_who(path, &who);
	free(bytes);
}

static void
fill_who(const char *path, feed_who *who)
{
	unsigned	i;

	for (i = 0; i < FEED_IDENTITY_BYTES; i++)
		who->identity[i] = (uint8_t) (0x10 + i);
	who->place = place_of(path);
	who->epoch = 90;
	who->born.serial = 100;
	strcpy(who->name, "users");
}

void
make_list(const char *path, const bloomfilter *filter, feed_who *result)
{
	char		new_path[600];
	uint8_t		bytes[FEED_NOW_BYTES];
	bloomfilter_info info;
	feed_who	who;
	feed_now	now;

	memset(&who, 0, sizeof who);
	memset(&now, 0, sizeof now);
	snprintf(new_path, sizeof new_path, "%s.new", path);
	write_file(new_path, "", 0);
	bloomfilter_get_info(filter, -1, &info, sizeof info);
	who.parts = info.parts;
	who.born.sum = put_parts(new_path, filter, info.parts, &who.length);
	fill_who(new_path, &who);
	put_who(new_path, &who);
	now.content = who.born;
	now.true_at = 99;
	feed_now_write(&now, bytes);
	put_bytes(new_path, bytes, sizeof bytes, FEED_NOW_AT);
	need(rename(new_path, path) == 0, "in place");
	if (result != NULL)
		*result = who;
}

bloomfilter_watched *watched;
bloomfilter_reader *reader;

void
begin_watching(const char *path, unsigned flags)
{
	need(bloomfilter_watched_open(path, flags, NULL, &watched, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_reader_open(watched, &reader) == BLOOMFILTER_OK, "watched");
}

void
end_watching(void)
{
	bloomfilter_reader_close(reader);
	bloomfilter_watched_close(watched);
}

int
asked(int64_t key)
{
	int			answer = bloomfilter_contains_int64(bloomfilter_reader_enter(reader), key);

	bloomfilter_reader_leave(reader);
	return answer;
}

void
put_keys(const char *path, const bloomfilter *filter, uint64_t serial)
{
	const void *bytes;
	size_t		size;
	size_t		length;
	uint8_t    *file = read_file(path, &length);
	size_t		i;

	need(bloomfilter_get_bytes(filter, 0, &bytes, &size) == BLOOMFILTER_OK &&
		 length >= FEED_PAGE + size, "a part");
	for (i = FEED_HEADER_BYTES; i < size; i++)
		file[FEED_PAGE + i] |= ((const uint8_t *) bytes)[i];
	put_bytes(path, file + FEED_PAGE + FEED_HEADER_BYTES, size - FEED_HEADER_BYTES,
			  FEED_PAGE + FEED_HEADER_BYTES);
	put_word(path, FEED_SERIAL, serial);
	free(file);
}
