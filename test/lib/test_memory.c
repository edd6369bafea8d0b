/*
 * test_memory.c
 *	  The n-th allocation fails, for each n: the result is the code for it, and
 *	  nothing leaks or is half done.
 *
 * The library's calls of malloc and its kin are led here by the linker; the
 * tests' own are counted only between arm and disarm.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 3000

static long left = -1;			/* allocations until one fails; -1: none does */
static bool has_failed;

static bool
fails(void)
{
	if (left < 0 || left-- > 0)
		return false;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

/* A function that the library's calls are led to: it fails, or is the one that it stands for. */
#define LEAD(result, function, parameters, arguments, failure) \
	extern result __real_##function parameters; \
	extern result __wrap_##function parameters; \
	result \
	__wrap_##function parameters \
	{ \
		return fails() ? failure : __real_##function arguments; \
	}

LEAD(void *, malloc, (size_t size), (size), NULL)
LEAD(void *, calloc, (size_t count, size_t size), (count, size), NULL)
LEAD(void *, realloc, (void *memory, size_t size), (memory, size), NULL)
LEAD(int, posix_memalign, (void **memory, size_t alignment, size_t size), (memory, alignment, size), ENOMEM)
LEAD(char *, strdup, (const char *text), (text), NULL)
LEAD(char *, strndup, (const char *text, size_t size), (text, size), NULL)

/* What the operations below work on. */
static bloomfilter *single;
static bloomfilter *changed;
static bloomfilter *set;
static const char *single_path;
static const char *set_path;

/* Calls of the library, whose code each gives; what it made is freed. */
typedef struct operation
{
	const char *name;
	int			(*run) (const struct operation *what);
	const char *const *path;
	unsigned	flags;
	uint64_t	n;
	uint32_t	parts;
	bloomfilter *const *written;
} operation;

static int
closed(int code, bloomfilter *filter)
{
	bloomfilter_close(filter);
	return code;
}

static int
open_file(const operation *what)
{
	bloomfilter *filter = NULL;
	int			code = bloomfilter_open(*what->path, what->flags, &filter, NULL);

	return closed(code, filter);
}

static int
open_memory(const operation *what)
{
	bloomfilter *filter = NULL;
	const void *bytes;
	size_t		length;
	int			code;

	bloomfilter_get_bytes(single, 0, &bytes, &length);
	code = bloomfilter_open_memory(bytes, length, what->flags, &filter, NULL);
	return closed(code, filter);
}

static int
build(const operation *what)
{
	bloomfilter_builder *builder = NULL;
	bloomfilter *filter = NULL;
	int			code = bloomfilter_builder_create(what->n, 0.01, 0, what->parts, &builder);
	int64_t		key;

	for (key = 1; code == BLOOMFILTER_OK && key <= KEYS; key++)
		code = bloomfilter_builder_add_int64(builder, key);
	if (code == BLOOMFILTER_OK)
		code = bloomfilter_builder_finish(builder, &filter, NULL);
	bloomfilter_builder_free(builder);
	return closed(code, filter);
}

static int
write_to_file(const operation *what)
{
	return bloomfilter_write(*what->written, *what->path, NULL);
}

/* Opens, replaces and reads; the file is changed and back for the next time. */
static int
watched(const operation *what)
{
	bloomfilter_watched *filter = NULL;
	bloomfilter_reader *reader = NULL;
	int			code = bloomfilter_watched_open(*what->path, what->flags, NULL, &filter, NULL);

	if (code == BLOOMFILTER_OK)
		code = bloomfilter_reader_open(filter, &reader);
	if (code == BLOOMFILTER_OK)
		code = bloomfilter_write(changed, single_path, NULL);
	if (code == BLOOMFILTER_OK)
	{
		code = bloomfilter_watched_reload(filter, NULL);
		if (count_missing(bloomfilter_reader_enter(reader), 1, KEYS) != 0)
			code = 99;
		bloomfilter_reader_leave(reader);
		code = code == 1 ? BLOOMFILTER_OK : code;
	}
	bloomfilter_reader_close(reader);
	bloomfilter_watched_close(filter);
	left = -1;
	need(bloomfilter_write(single, single_path, NULL) == BLOOMFILTER_OK, "file back");
	return code;
}

/* Lets the n-th allocation fail, for each n until none does. */
static void
exhaust(const operation *what)
{
	int			entries = count_entries(scratch());
	int			wrong = 0;
	long		n;

	for (n = 0;; n++)
	{
		int			code;

		left = n;
		has_failed = false;
		code = what->run(what);
		left = -1;
		wrong += code != (has_failed ? BLOOMFILTER_ERR_NO_MEMORY : BLOOMFILTER_OK);
		if (!has_failed || n > 10000)
			break;
	}
	same(wrong, 0, "%s: each of %ld allocations fails", what->name, n);
	ok(n > 0 && n <= 10000, "%s ends well when none does", what->name);
	same(count_entries(scratch()), entries, "%s leaves no file", what->name);
}

static void
prepare(void)
{
	single = make_range(KEYS, 1, 1, KEYS);
	changed = make_range(KEYS, 1, 1, KEYS + 5);
	set = make_range(KEYS, 3, 1, KEYS);
	single_path = scratch_path("single.bloom");
	set_path = scratch_path("set.bloom");
	need(bloomfilter_write(single, single_path, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_write(set, set_path, NULL) == BLOOMFILTER_OK, "files");
}

static void
clean_up(void)
{
	unlink(single_path);
	unlink(set_path);
	bloomfilter_close(single);
	bloomfilter_close(changed);
	bloomfilter_close(set);
}

int
main(void)
{
	const operation operations[] = {
		{.name = "open a file", .run = open_file, .path = &single_path},
		{.name = "open a copy", .run = open_file, .path = &single_path, .flags = BLOOMFILTER_COPY},
		{.name = "open a set", .run = open_file, .path = &set_path},
		{.name = "open a copy of a set", .run = open_file, .path = &set_path, .flags = BLOOMFILTER_COPY},
		{.name = "open memory", .run = open_memory, .flags = BLOOMFILTER_COPY},
		{.name = "build", .run = build, .n = KEYS, .parts = 1},
		{.name = "build of unknown size", .run = build, .parts = 1},
		{.name = "build a set", .run = build, .n = KEYS, .parts = 3},
		{.name = "write a file", .run = write_to_file, .written = &single, .path = &single_path},
		{.name = "write a set", .run = write_to_file, .written = &set, .path = &set_path},
		{.name = "watched", .run = watched, .path = &single_path}
	};
	size_t		i;

	prepare();
	for (i = 0; i < sizeof operations / sizeof operations[0]; i++)
		exhaust(&operations[i]);
	clean_up();
	return tap_done();
}
