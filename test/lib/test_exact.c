/*
 * test_exact.c
 *	  Exact filters: built and written.
 *
 * test_vectors.c and test/readers have the golden ones, and damaged ones.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* A set in one file, a follower's or nobody's, is written with the same parts; what may change meanwhile isn't. */
static void
check_set(const char *name, const uint8_t *bytes, size_t length)
{
	const char *path = scratch_path("set.bloom");
	const char *other = scratch_path("written.bloom");
	bloomfilter *mapped;
	bloomfilter *copy;
	bloomfilter *again;
	bool		stays = strcmp(name, "exact_nobodys") == 0;

	write_file(path, bytes, length);
	need(bloomfilter_open(path, 0, &mapped, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_open(path, BLOOMFILTER_COPY, &copy, NULL) == BLOOMFILTER_OK, "set");
	same(check_bytes(mapped), BLOOMFILTER_ERR_FOLLOWED, "%s: its bytes", name);
	same(check_bytes(copy), BLOOMFILTER_OK, "%s: those of a copy", name);
	need(bloomfilter_write(stays ? mapped : copy, other, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_open(other, BLOOMFILTER_COPY, &again, NULL) == BLOOMFILTER_OK, "write set");
	ok(equal_bytes(again, copy), "%s: it is written", name);
	bloomfilter_close(again);
	bloomfilter_close(copy);
	bloomfilter_close(mapped);
}

static void
check_row(const tsv *table)
{
	const char *name = tsv_text(table, "name");
	size_t		length;
	uint8_t    *bytes;

	if (strcmp(name, "exact_nobodys") != 0 && strcmp(name, "exact_copy") != 0)
		return;
	bytes = tsv_bytes(table, "file_hex", &length);
	check_set(name, bytes, length);
	free(bytes);
}

int
main(void)
{
	test_building();
	test_info();
	test_conflict();
	tsv_each("pages.tsv", check_row);
	return tap_done();
}
