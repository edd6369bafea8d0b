/*
 * test_sets.c
 *	  Sets of parts, asked as one filter, in memory and from a file; and what is no file.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_key.h"
#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 5000
#define PARTS 3

/* Writes one part of a set to a file of its own. */
static void
write_part(const bloomfilter *set, uint32_t index, const char *name)
{
	const void *bytes;
	size_t		length;

	need(bloomfilter_get_bytes(set, index, &bytes, &length) == BLOOMFILTER_OK, "part");
	write_file(scratch_path(name), bytes, length);
}

/* In batches, of integers and of their bytes: the same answers as one by one, and the same errors. */
static void
check_batches(const bloomfilter *set)
{
	int64_t		keys[2000];
	uint8_t		bytes[2000][8];
	bloomfilter_slice slices[2000];
	uint8_t		found[2000];
	uint8_t		found_bytes[2000];
	size_t		answered = 9;
	int			different = 0;
	int			i;

	for (i = 0; i < 2000; i++)
	{
		keys[i] = KEYS - 1000 + i;
		slices[i].bytes = bytes[i];
		slices[i].length = bf_key_integer(keys[i], bytes[i]);
	}
	same(bloomfilter_contains_int64_batch(set, keys, 2000, found, &answered), BLOOMFILTER_OK, "batch of integers");
	same((long long) answered, 2000, "answers all");
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_INTEGER, slices, 2000, found_bytes, &answered),
		 BLOOMFILTER_OK, "batch of slices");
	same((long long) answered, 2000, "answers all");
	for (i = 0; i < 2000; i++)
		different += found[i] != bloomfilter_contains_int64(set, keys[i]) || found_bytes[i] != found[i];
	same(different, 0, "both as single keys");
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_TEXT, slices, 2000, found, &answered),
		 BLOOMFILTER_ERR_KEY_TYPE, "slices of another type");
	same((long long) answered, 0, "answers none");
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_NONE, slices, 2000, found, &answered),
		 BLOOMFILTER_ERR_ARGUMENT, "slices of no type");
	same(bloomfilter_contains_batch(set, 99, slices, 2000, found, NULL),
		 BLOOMFILTER_ERR_ARGUMENT, "slices of a type that is none");
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_INTEGER, slices, 0, found, &answered),
		 BLOOMFILTER_OK, "no slices");
	same(bloomfilter_contains(set, BLOOMFILTER_KEY_TEXT, "x", 1), BLOOMFILTER_ERR_KEY_TYPE, "another type");
}

static void
check_info(const bloomfilter *set)
{
	bloomfilter_info info;
	bloomfilter_info part;

	bloomfilter_get_info(set, -1, &info, sizeof info);
	ok(info.parts == PARTS && info.open_parts == PARTS && info.seed == 7 && info.capacity > KEYS &&
	   info.estimated_keys > KEYS * 0.97 && info.estimated_keys < KEYS * 1.03 &&
	   info.estimated_rate < 0.012, "info of a set");
	same(bloomfilter_get_info(set, 2, &part, sizeof part), BLOOMFILTER_OK, "info of a part");
	ok(part.part == 2 && part.parts == PARTS && part.open_parts == 1 && part.bits_set < info.bits_set,
	   "is of this part");
	same(bloomfilter_get_info(set, PARTS, &part, sizeof part), BLOOMFILTER_ERR_ARGUMENT, "no part 3");
}

static void
check_single_part(const bloomfilter *set)
{
	bloomfilter *part;
	int			answers[2] = {0, 0};
	int			others = 0;
	int			by_slice = 0;
	int64_t		key;
	uint8_t		found;

	write_part(set, 1, "part");
	need(bloomfilter_open(scratch_path("part"), 0, &part, NULL) == BLOOMFILTER_OK, "part opens");
	for (key = 1; key <= KEYS; key++)
	{
		int			answer = bloomfilter_contains_int64(part, key);
		int			batch = bloomfilter_contains_int64_batch(part, &key, 1, &found, NULL);
		uint8_t		bytes[8];
		bloomfilter_slice slice = {bytes, bf_key_integer(key, bytes)};
		size_t		answered = 9;
		int			sliced = bloomfilter_contains_batch(part, BLOOMFILTER_KEY_INTEGER, &slice, 1,
														&found, &answered);

		by_slice += answer < 0 ? sliced == answer && answered == 0 :
			sliced == BLOOMFILTER_OK && answered == 1 && found == answer;
		if (answer >= 0)
			answers[answer]++;
		others += answer == BLOOMFILTER_ERR_OTHER_PART && batch == answer;
	}
	same(answers[0], 0, "a part alone denies none of its keys");
	same(answers[1] + others, KEYS, "and refuses those of other parts, never denies them");
	ok(others > KEYS / 2, "which are about two thirds");
	same(by_slice, KEYS, "by their bytes, too");
	bloomfilter_close(part);
}

/* Waiting for a writer of a pipe would hang for good: alarm ends the test then. */
static void
check_no_files(void)
{
	bloomfilter_detail detail;
	bloomfilter *opened = NULL;

	alarm(60);
	need(mkfifo(scratch_path("pipe"), 0600) == 0, "pipe");
	same(bloomfilter_open(scratch_path("pipe"), 0, &opened, &detail), BLOOMFILTER_ERR_ARGUMENT, "a pipe: %s", detail.text);
	same(bloomfilter_open(scratch_path("pipe"), BLOOMFILTER_COPY, &opened, NULL), BLOOMFILTER_ERR_ARGUMENT, "or a copy of it");
	alarm(0);
	unlink(scratch_path("pipe"));
}

/* Parts that no key came to have no type: the set has that of the others. */
static void
check_key_types(void)
{
	int64_t		key;
	int			right = 0;

	for (key = 1; key <= 10; key++)
	{
		bloomfilter *integers = make_range(10, 3, key, key);
		bloomfilter *opened = NULL;

		need(bloomfilter_write(integers, scratch_path("f"), NULL) == BLOOMFILTER_OK &&
			 bloomfilter_open(scratch_path("f"), 0, &opened, NULL) == BLOOMFILTER_OK, "two parts without keys");
		right += bloomfilter_contains_int64(opened, key) == 1 &&
			bloomfilter_contains(opened, BLOOMFILTER_KEY_TEXT, "a", 1) == BLOOMFILTER_ERR_KEY_TYPE;
		bloomfilter_close(opened);
		bloomfilter_close(integers);
		unlink(scratch_path("f"));
	}
	same(right, 10, "a set with one key, of whichever part, has its type in all parts");
}

int
main(void)
{
	bloomfilter *single = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *set = make_range(KEYS, PARTS, 1, KEYS);
	bloomfilter *opened = NULL;

	check_batches(single);
	check_batches(set);
	check_info(set);
	check_single_part(set);
	unlink(scratch_path("part"));
	same(bloomfilter_write(set, scratch_path("f"), NULL), BLOOMFILTER_OK, "a set is written");
	same(count_entries(scratch()), 1, "as one file");
	need(bloomfilter_open(scratch_path("f"), 0, &opened, NULL) == BLOOMFILTER_OK, "opened");
	check_batches(opened);
	check_info(opened);
	bloomfilter_close(opened);
	unlink(scratch_path("f"));
	check_no_files();
	check_key_types();
	bloomfilter_close(single);
	bloomfilter_close(set);
	return tap_done();
}
