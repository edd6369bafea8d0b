/*
 * changes.c
 *	  What changes by day cost a look-up in a followed file, by the C library.
 *
 *	  changes FILE KEYS
 *
 * FILE is written: a list of so many integers whose table has no changes, 1,000, 100,000.  The
 * lines are changes, way of asking, and nanoseconds a key, the median of eleven rounds; in each
 * round all tables are asked in turns, for keys that were not changed, half of them in the list.
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "feed_part.h"
#include "feed_table.h"
#include "libbloomfilter.h"

#define ROUNDS 11
#define ASKED 2000000
#define TABLES 4

static const uint64_t changes[TABLES] = {0, 0, 1000, 100000};
static const char *const names[TABLES] = {"not tracked", "0", "1000", "100000"};

static void
need(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "changes: %s\n", what);
	exit(2);
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

static bloomfilter *
build(uint64_t keys)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;
	uint64_t	i;

	need(bloomfilter_builder_create(keys, 0.01, 0, 1, &builder) == 0, "no builder");
	for (i = 0; i < keys; i++)
		bloomfilter_builder_add_int64(builder, (int64_t) (2 * i));
	need(bloomfilter_builder_finish(builder, &filter, NULL) == 0, "no filter");
	bloomfilter_builder_free(builder);
	return filter;
}

/* A list that nobody follows, of one part, with a table of so many changes of keys below 0. */
static void
write_list(const char *path, const bloomfilter *filter, int which)
{
	const void *bytes;
	size_t		length;
	feed_part	part;
	feed_who	who;
	feed_table	table = {0, 1, 1, 0};
	uint8_t		page[FEED_PAGE] = {0};
	uint8_t    *slots = NULL;
	uint64_t	i;
	int			fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	memset(&who, 0, sizeof who);
	bloomfilter_get_bytes(filter, 0, &bytes, &length);
	need(feed_part_read(bytes, length, &part) == NULL, "no part");
	feed_part_strip(&part);
	who.parts = 1;
	who.born.sum = feed_sum_header(0, part.header) + feed_sum(0, 0, (const uint8_t *) bytes + FEED_HEADER_BYTES, part.length);
	who.length = feed_lay_out(&part, 1);
	who.tracked = which > 0;
	if (who.tracked)
	{
		who.log2_slots = feed_table_log2(changes[which]);
		who.length = feed_next_page(who.length) + feed_table_bytes(who.log2_slots);
		slots = calloc(1, feed_table_bytes(who.log2_slots));
	}
	for (i = 0; i < changes[which]; i++)
	{
		feed_entry	entry = {bf_hash_word(~i, 0), {0}, 2};
		uint8_t		key[8];

		bf_store_le64(key, ~i);
		feed_tag(key, sizeof key, entry.tag);
		feed_table_set(slots, who.log2_slots, &entry, &table);
	}
	feed_who_write(&who, page);
	feed_table_write(&table, page);
	need(pwrite(fd, page, sizeof page, 0) == sizeof page && pwrite(fd, part.header, FEED_HEADER_BYTES, part.at) == FEED_HEADER_BYTES &&
		 pwrite(fd, (const uint8_t *) bytes + FEED_HEADER_BYTES, part.length, feed_body_at(&part)) == (ssize_t) part.length &&
		 (slots == NULL || pwrite(fd, slots, feed_table_bytes(who.log2_slots), feed_table_at(&who)) > 0) &&
		 ftruncate(fd, (off_t) who.length) == 0, "cannot write");
	close(fd);
	free(slots);
}

static double
ask_one_by_one(const bloomfilter *filter, const int64_t *keys)
{
	double		begun = now();
	int			found = 0;
	int			i;

	for (i = 0; i < ASKED; i++)
		found += bloomfilter_contains_int64(filter, keys[i]);
	need(found >= ASKED / 3, "keys are missing");
	return (now() - begun) / ASKED;
}

static double
ask_batch(const bloomfilter *filter, const int64_t *keys, uint8_t *found)
{
	double		begun = now();

	need(bloomfilter_contains_int64_batch(filter, keys, ASKED, found, NULL) == 0, "no batch");
	return (now() - begun) / ASKED;
}

static int
compare(const void *a, const void *b)
{
	return (*(const double *) a > *(const double *) b) - (*(const double *) a < *(const double *) b);
}

int
main(int argc, char **argv)
{
	static int64_t keys[ASKED];
	static uint8_t found[ASKED];
	bloomfilter *lists[TABLES];
	double		ns[2][TABLES][ROUNDS];
	bloomfilter *filter;
	uint64_t	all;
	int			round;
	int			i;

	need(argc == 3, "FILE and KEYS are needed");
	all = strtoull(argv[2], NULL, 10);
	filter = build(all);
	for (i = 0; i < TABLES; i++)
	{
		write_list(argv[1], filter, i);
		need(bloomfilter_open(argv[1], 0, &lists[i], NULL) == 0, "no list");
		unlink(argv[1]);
	}
	for (i = 0; i < ASKED; i++)
		keys[i] = (int64_t) (bf_hash_word((uint64_t) i, 7) % (2 * all));
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < TABLES; i++)
		{
			ns[0][i][round] = ask_one_by_one(lists[i], keys);
			ns[1][i][round] = ask_batch(lists[i], keys, found);
		}
	for (i = 0; i < TABLES; i++)
		for (round = 0; round < 2; round++)
		{
			qsort(ns[round][i], ROUNDS, sizeof(double), compare);
			printf("%s\t%s\t%.1f\n", names[i], round == 0 ? "one by one" : "batch", ns[round][i][ROUNDS / 2]);
		}
	return 0;
}
