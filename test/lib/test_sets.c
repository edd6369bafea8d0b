/*
 * test_sets.c
 *	  Sets of parts, asked as one filter, in memory and from a file.
 */
#define _POSIX_C_SOURCE 200809L

#include <string.h>
#include <unistd.h>

#include "bf_key.h"
#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 5000
#define PARTS 3

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

/* A part alone: each call refuses the keys of other parts, and denies none of its own. */
static void
check_single_part(const bloomfilter *set)
{
	static int64_t own[KEYS + 1];
	static uint8_t all[KEYS + 1];
	size_t		owns = 0;
	size_t		done = 0;
	bloomfilter *part;
	const void *bytes;
	size_t		length;
	int			others = 0;
	int			right = 0;
	int64_t		key;

	need(bloomfilter_get_bytes(set, 1, &bytes, &length) == BLOOMFILTER_OK &&
		 bloomfilter_open_memory(bytes, length, 0, &part, NULL) == BLOOMFILTER_OK, "part opens");
	for (key = 1; key <= KEYS; key++)
	{
		int			answer = bloomfilter_contains_int64(part, key);
		uint8_t		found[2];
		uint8_t		key_bytes[8];
		bloomfilter_slice slice = {key_bytes, bf_key_integer(key, key_bytes)};
		size_t		answered[2] = {9, 9};
		int			batch = bloomfilter_contains_int64_batch(part, &key, 1, &found[0], &answered[0]);
		int			sliced = bloomfilter_contains_batch(part, BLOOMFILTER_KEY_INTEGER, &slice, 1, &found[1], &answered[1]);

		others += answer < 0;
		own[owns] = key;
		owns += answer >= 0;
		right += batch == sliced && answered[0] == answered[1] &&
			(answer < 0 ? answer == BLOOMFILTER_ERR_OTHER_PART && batch == answer && answered[0] == 0 :
			 batch == BLOOMFILTER_OK && answered[0] == 1 && answer == 1 && found[0] == 1 && found[1] == 1);
	}
	same(right, KEYS, "a part alone denies none of its keys, and refuses those of other parts");
	ok(others > KEYS / 2, "which are about two thirds");
	for (own[owns] = 1; bloomfilter_contains_int64(part, own[owns]) >= 0;)
		own[owns]++;
	same(bloomfilter_contains_int64_batch(part, own, owns + 1, all, &done), BLOOMFILTER_ERR_OTHER_PART, "many of its own, and one of another part");
	ok(done == owns && memchr(all, 0, owns) == NULL, "are answered up to that");
	bloomfilter_close(part);
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
	same(bloomfilter_write(set, scratch_path("f"), NULL), BLOOMFILTER_OK, "a set is written");
	same(count_entries(scratch()), 1, "as one file");
	need(bloomfilter_open(scratch_path("f"), 0, &opened, NULL) == BLOOMFILTER_OK, "opened");
	check_batches(opened);
	check_info(opened);
	bloomfilter_close(opened);
	unlink(scratch_path("f"));
	bloomfilter_close(single);
	bloomfilter_close(set);
	return tap_done();
}
