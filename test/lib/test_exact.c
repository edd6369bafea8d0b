/*
 * test_exact.c
 *	  Exact filters: built, written, and in files of parts.
 *
 * test_vectors.c and test_followed.c have the golden ones, and damaged ones.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "feed_page.h"
#include "files.h"
#include "make_filters.h"
#include "libbloomfilter.h"
#include "tap.h"
#include "tsv.h"

/* Members are the first keys from 0 on, others those that follow. */
static int
build(int64_t members, int64_t others, double rate, bloomfilter **filter)
{
	bloomfilter_builder *builder;
	int64_t		key;
	int			code;

	need(bloomfilter_builder_create_exact(rate, 0, &builder) == BLOOMFILTER_OK, "builder");
	for (key = 0; key < members + others; key++)
	{
		if (key == members)
			need(bloomfilter_builder_others(builder) == BLOOMFILTER_OK, "others");
		need(bloomfilter_builder_add_int64(builder, key) == BLOOMFILTER_OK, "key");
	}
	code = bloomfilter_builder_finish(builder, filter, NULL);
	bloomfilter_builder_free(builder);
	return code;
}

static int64_t
wrong(const bloomfilter *filter, int64_t members, int64_t others)
{
	int64_t		count = 0;
	int64_t		key;

	for (key = 0; key < members + others; key++)
		count += bloomfilter_contains_int64(filter, key) != (key < members);
	return count;
}

/* The same bytes behind a page, written and opened again in all ways. */
static void
check_written(const bloomfilter *filter, int64_t members, int64_t others)
{
	static const unsigned flags[] = {0, BLOOMFILTER_COPY, BLOOMFILTER_SKIP_CHECK};
	const char *path = scratch_path("exact.bloom");
	bloomfilter *again;
	size_t		i;

	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK, "write");
	for (i = 0; i < sizeof flags / sizeof flags[0]; i++)
	{
		need(bloomfilter_open(path, flags[i], &again, NULL) == BLOOMFILTER_OK, "open");
		same(wrong(again, members, others), 0, "%d members, %d others: written, flags %u", (int) members, (int) others, flags[i]);
		bloomfilter_close(again);
	}
}

static void
test_building(void)
{
	/* test/core/test_exact.c has other rates, and more keys */
	static const int64_t sizes[] = {0, 1, 3000};
	size_t		r;
	size_t		s;

	for (r = 0; r < 3; r++)
		for (s = 0; s < 3; s++)
		{
			bloomfilter *filter;

			need(build(sizes[r], sizes[s], 0.01, &filter) == BLOOMFILTER_OK, "build");
			same(wrong(filter, sizes[r], sizes[s]), 0, "%d members, %d others: 0 wrong", (int) sizes[r], (int) sizes[s]);
			same(check_bytes(filter), BLOOMFILTER_OK, "it is sound");
			check_written(filter, sizes[r], sizes[s]);
			bloomfilter_close(filter);
		}
}

static void
test_info(void)
{
	bloomfilter *filter;
	bloomfilter_info info;

	need(build(100, 900, 0.01, &filter) == BLOOMFILTER_OK, "build");
	bloomfilter_get_info(filter, -1, &info, sizeof info);
	ok(info.exact == 1 && info.others == 900 && info.version == 2 && info.capacity == 100, "info tells members and others");
	bloomfilter_close(filter);
}

static void
test_conflict(void)
{
	bloomfilter_builder *builder;
	bloomfilter *filter = NULL;

	need(bloomfilter_builder_create_exact(0.01, 0, &builder) == BLOOMFILTER_OK, "builder");
	bloomfilter_builder_add_int64(builder, 1);
	bloomfilter_builder_others(builder);
	bloomfilter_builder_add_int64(builder, 1);
	same(bloomfilter_builder_finish(builder, &filter, NULL), BLOOMFILTER_ERR_CONFLICT, "a member that is no member");
	bloomfilter_builder_free(builder);
	need(bloomfilter_builder_create(0, 0.01, 0, 1, &builder) == BLOOMFILTER_OK, "builder");
	same(bloomfilter_builder_others(builder), BLOOMFILTER_ERR_ARGUMENT, "a plain filter has no others");
	bloomfilter_builder_free(builder);
}

/* ------------------------------------------------------------------------
 * Parts in a file with a page
 * ------------------------------------------------------------------------ */

#define PARTS 3

typedef struct set
{
	uint8_t    *bytes;			/* of the file */
	size_t		length;
} set;

/* The rows part_0 to part_2 behind a page: of a follower elsewhere, or of nobody. */
static set
make_set(bool followed)
{
	set			s = {calloc(1, 1 << 20), FEED_PAGE};
	tsv		   *table = tsv_open("exact.tsv");
	feed_who	who;
	uint32_t	part = 0;

	memset(&who, 0, sizeof who);
	while (tsv_next(table))
	{
		size_t		length;
		uint8_t    *bytes;

		if (strncmp(tsv_text(table, "name"), "part_", 5) != 0)
			continue;
		bytes = tsv_bytes(table, "filter_hex", &length);
		s.length = (s.length + FEED_PAGE - 1) / FEED_PAGE * FEED_PAGE;
		need(part < PARTS && s.length + length < 1 << 20, "three parts");
		memcpy(s.bytes + s.length, bytes, length);
		s.length += length;
		who.born.sum += feed_sum(part++, 0, bytes, length);
		free(bytes);
	}
	tsv_close(table);
	who.parts = part;
	who.length = s.length;
	who.born.serial = 7;
	if (followed)
	{
		who.epoch = 1;
		who.place = (feed_place) {{1}, 1, 1};
	}
	feed_who_write(&who, s.bytes);
	return s;
}

static void
check_set(const bloomfilter *filter, const char *what)
{
	tsv		   *table = tsv_open("exact.tsv");
	int			wrong = 0;

	while (tsv_next(table))
		if (strncmp(tsv_text(table, "name"), "part_", 5) == 0)
			wrong += wrong_keys(filter, 0, table, "members_hex", 1) + wrong_keys(filter, 0, table, "others_hex", 0) +
				wrong_keys(filter, 0, table, "strangers_hex", 0);
	tsv_close(table);
	same(wrong, 0, "%s: keys of all parts", what);
}

/* A set that was written, and a follower's file, in which exact parts lie as they were published. */
static void
test_set(bool followed)
{
	static const unsigned flags[] = {0, BLOOMFILTER_COPY};
	const char *path = scratch_path("set.bloom");
	const char *other = scratch_path("written.bloom");
	set			s = make_set(followed);
	size_t		i;

	write_file(path, s.bytes, s.length);
	for (i = 0; i < 2; i++)
	{
		bloomfilter *filter;
		bloomfilter *again;
		bool		stays = !followed || flags[i] == BLOOMFILTER_COPY;

		need(bloomfilter_open(path, flags[i], &filter, NULL) == BLOOMFILTER_OK, "open set");
		check_set(filter, i == 0 ? "mapped" : "copied");
		same(check_bytes(filter), flags[i] == BLOOMFILTER_COPY ? BLOOMFILTER_OK : BLOOMFILTER_ERR_FOLLOWED, "its bytes, if it is a copy");
		if (stays)
		{
			need(bloomfilter_write(filter, other, NULL) == BLOOMFILTER_OK, "write set");
			need(bloomfilter_open(other, flags[i], &again, NULL) == BLOOMFILTER_OK, "open written set");
			check_set(again, "written");
			bloomfilter_close(again);
		}
		bloomfilter_close(filter);
	}
	free(s.bytes);
}

int
main(void)
{
	test_building();
	test_info();
	test_conflict();
	test_set(false);
	test_set(true);
	return tap_done();
}
