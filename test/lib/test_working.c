/*
 * test_working.c
 *	  The working copy of a host: the golden files, by the path and by a watched filter,
 *	  and what is refused of one that changes.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_working.h"
#include "libbloomfilter.h"
#include "files.h"
#include "tap.h"
#include "tsv.h"

/* This boot's id into the file, as a follower writes it. */
static void
put_boot(uint8_t *bytes)
{
	char		text[64] = "";
	int			fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
	ssize_t		got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	char		digits[33] = "";
	size_t		used = 0;
	ssize_t		i;

	if (fd >= 0)
		close(fd);
	for (i = 0; i < got && used < 32; i++)
		if (text[i] != '-' && text[i] != '\n')
			digits[used++] = text[i];
	memset(bytes + 48, 0, 16);
	from_hex(digits, used, bytes + 48);
	bf_store_le64(bytes + 120, bf_hash(bytes, 120, 0));
}

/* Writes the base, and returns its path: a set of two has a manifest. */
static const char *
write_base(const char *list)
{
	const char *path = scratch_path("f.bloom");
	const char *comma = strchr(list, ',');
	static uint8_t bytes[65536];

	if (comma == NULL)
	{
		write_file(path, bytes, from_hex(list, strlen(list), bytes));
		return path;
	}
	write_file(scratch_path("p0"), bytes, from_hex(list, (size_t) (comma - list), bytes));
	write_file(scratch_path("p1"), bytes, from_hex(comma + 1, strlen(comma + 1), bytes));
	write_file(path, "bloomfilter-set 1\np0\np1\n", 24);
	return path;
}

static bool
has_all(const bloomfilter *filter, const char *keys)
{
	bool		all = true;

	for (; all && keys != NULL && *keys != '-'; keys = strchr(keys, ','), keys = keys == NULL ? NULL : keys + 1)
		all = bloomfilter_contains_int64(filter, strtoll(keys, NULL, 10)) == 1;
	return all;
}

/* What a row's word is called in the library's error. */
static void
check_opened(const tsv *table, const char *path, unsigned flags, const char *door)
{
	const char *name = tsv_text(table, "name");
	const char *word = tsv_text(table, "word");
	bloomfilter *filter;
	bloomfilter_detail detail;
	int			code = bloomfilter_open(path, flags, &filter, &detail);
	bool		taken = strcmp(word, "-") == 0;

	if (!taken && strcmp(word, "file") != 0 && (flags & BLOOMFILTER_BASE) == 0)
	{
		same(code, BLOOMFILTER_ERR_WORKING, "%s, %s: refused", name, door);
		if (code == BLOOMFILTER_OK)
			bloomfilter_close(filter);
		return;
	}
	same(code, BLOOMFILTER_OK, "%s, %s: opened %s", name, door, code < 0 ? detail.text : "");
	need(code == BLOOMFILTER_OK, "a filter");
	ok(has_all(filter, tsv_text(table, "keys")), "%s, %s: has the base's keys", name, door);
	if (flags & BLOOMFILTER_BASE)
		taken = false;
	if (strcmp(tsv_text(table, "new_keys"), "-") != 0)
		same(has_all(filter, tsv_text(table, "new_keys")), taken, "%s, %s: new keys", name, door);
	bloomfilter_close(filter);
}

static void
check_row(const tsv *table)
{
	const char *path = write_base(tsv_text(table, "base_hex"));
	const char *hex = tsv_text(table, "working_hex");
	size_t		length = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
	uint8_t    *bytes = malloc(length + 1);
	bloomfilter_watched *watched;

	need(bytes != NULL, "memory");
	from_hex(hex, length * 2, bytes);
	if (strcmp(tsv_text(table, "boot"), "this") == 0 && length >= 128)
	{
		bool		wrong = strcmp(tsv_text(table, "word"), "header_checksum") == 0;

		put_boot(bytes);
		bytes[120] ^= wrong;
	}
	write_file(scratch_path("f.bloom.working"), bytes, length);
	check_opened(table, path, 0, "mapped");
	check_opened(table, path, BLOOMFILTER_COPY, "copied");
	check_opened(table, path, BLOOMFILTER_BASE, "base");
	unlink(scratch_path("f.bloom.working"));
	need(bloomfilter_watched_open(path, 0, &watched, NULL) == BLOOMFILTER_OK, "watched");
	write_file(scratch_path("f.bloom.working"), bytes, length);
	if (strcmp(tsv_text(table, "word"), "-") == 0)
		same(bloomfilter_watched_reload(watched, NULL), 1, "%s: noticed by who watches", tsv_text(table, "name"));
	bloomfilter_watched_close(watched);
	free(bytes);
	unlink(scratch_path("f.bloom.working"));
}

/* A working copy that gets bits while it is open. */
static void
check_change(const tsv *table)
{
	const char *path = write_base(tsv_text(table, "base_hex"));
	const char *working_path = scratch_path("f.bloom.working");
	size_t		length = strlen(tsv_text(table, "working_hex")) / 2;
	uint8_t    *bytes = calloc(1, length);
	uint8_t    *file;
	int			fd;
	bloomfilter *filter;
	bloomfilter *copy;
	bloomfilter *sum;
	bloomfilter *base;
	bloomfilter_working state;
	bloomfilter_info before;
	bloomfilter_info after;
	const void *start;
	size_t		got;
	void	   *delta;

	need(bytes != NULL, "memory");
	from_hex(tsv_text(table, "working_hex"), length * 2, bytes);
	put_boot(bytes);
	/* as empty as it can be */
	memset(bytes + 4096 + 64, 0, length - 4096 - 64);
	write_file(working_path, bytes, length);
	fd = open(working_path, O_RDWR);
	file = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(fd >= 0 && file != MAP_FAILED, "a mapping");
	close(fd);
	need(bloomfilter_open(path, 0, &filter, NULL) == BLOOMFILTER_OK, "a filter");
	need(bloomfilter_open(path, BLOOMFILTER_COPY, &copy, NULL) == BLOOMFILTER_OK, "a copy");
	need(bloomfilter_open(path, BLOOMFILTER_BASE, &base, NULL) == BLOOMFILTER_OK, "the base");
	ok(!has_all(filter, "4"), "nothing is in it");
	bloomfilter_get_info(filter, &before, sizeof before);
	same((long long) before.bits_set, 0, "no bit is set");
	from_hex(tsv_text(table, "working_hex"), length * 2, bytes);
	for (got = 0; got < (length - 4160) * 8; got++)
		if (bytes[4160 + (got >> 3)] >> (got & 7) & 1)
			bf_working_set_bit(file + 4160, got);
	bf_working_store(file, BF_WORKING_SERIAL, 77);
	ok(has_all(filter, "1,2,3,4,5"), "keys that came are found by who has it open");
	ok(!has_all(copy, "4"), "and not by who copied it");
	same(bloomfilter_get_working(filter, &state, sizeof state), 1, "it is a working copy");
	same((long long) state.serial, 77, "with the serial that was stored");
	same(bloomfilter_get_working(copy, &state, sizeof state), 0, "a copy is none");
	ok(state.serial != 77 && state.serial != 0, "and keeps the serial that it was made at");
	same(bloomfilter_get_working(base, &state, sizeof state), 0, "the base is none");
	bloomfilter_get_info(filter, &after, sizeof after);
	ok(after.bits_set > 0 && after.checksum != before.checksum && after.estimated_keys > 3,
	   "what it tells of itself is of now");
	same(bloomfilter_get_bytes(filter, 0, &start, &got), BLOOMFILTER_ERR_WORKING, "it has no bytes that stay");
	same(bloomfilter_get_bytes(copy, 0, &start, &got), BLOOMFILTER_OK, "a copy has");
	same(bloomfilter_check(copy, NULL), BLOOMFILTER_OK, "which are a filter");
	same(bloomfilter_check(filter, NULL), BLOOMFILTER_ERR_WORKING, "it can't be checked");
	same(bloomfilter_union(filter, base, &sum), BLOOMFILTER_ERR_WORKING, "nor united");
	same(bloomfilter_diff(base, filter, &delta, &got, NULL), BLOOMFILTER_ERR_WORKING, "nor compared");
	same(bloomfilter_write(filter, scratch_path("out"), NULL), BLOOMFILTER_ERR_WORKING, "nor written");
	bloomfilter_close(filter);
	bloomfilter_close(copy);
	bloomfilter_close(base);
	munmap(file, length);
	free(bytes);
	unlink(working_path);
}

/* A symbolic link that leads nowhere, as after a boot. */
static void
check_dangling(const tsv *table)
{
	const char *path = write_base(tsv_text(table, "base_hex"));
	bloomfilter *filter = NULL;

	need(symlink("/nonexistent/f.working", scratch_path("f.bloom.working")) == 0, "a link");
	same(bloomfilter_open(path, 0, &filter, NULL), BLOOMFILTER_OK, "a link that leads nowhere: the file");
	bloomfilter_close(filter);
	unlink(scratch_path("f.bloom.working"));
	need(mkfifo(scratch_path("f.bloom.working"), 0600) == 0, "a pipe");
	same(bloomfilter_open(path, 0, &filter, NULL), BLOOMFILTER_ERR_WORKING, "a pipe: refused, without waiting");
	unlink(scratch_path("f.bloom.working"));
}

/* A link to what another user put where it leads. */
static void
check_planted(const tsv *table)
{
	const char *path = write_base(tsv_text(table, "base_hex"));
	const char *copy = scratch_path("planted");
	size_t		length = strlen(tsv_text(table, "working_hex")) / 2;
	uint8_t    *bytes = calloc(1, length);
	bloomfilter *filter = NULL;
	bloomfilter_watched *watched;
	bloomfilter_working state;

	need(bytes != NULL, "memory");
	from_hex(tsv_text(table, "working_hex"), length * 2, bytes);
	put_boot(bytes);
	write_file(copy, bytes, length);
	need(symlink(copy, scratch_path("f.bloom.working")) == 0, "a link");
	need(bloomfilter_open(path, 0, &filter, NULL) == BLOOMFILTER_OK, "a filter");
	same(bloomfilter_get_working(filter, &state, sizeof state), 1, "what a link of the same user leads to is taken");
	bloomfilter_close(filter);
	if (geteuid() == 0)
	{
		need(chown(copy, 65534, (gid_t) -1) == 0, "another owner");
		need(bloomfilter_open(path, 0, &filter, NULL) == BLOOMFILTER_OK, "a filter");
		same(bloomfilter_get_working(filter, &state, sizeof state), 0, "another user's is not");
		ok(has_all(filter, tsv_text(table, "keys")), "the file is, with its keys");
		bloomfilter_close(filter);
		need(bloomfilter_watched_open(path, 0, &watched, NULL) == BLOOMFILTER_OK, "watched");
		write_file(copy, "x", 1);
		same(bloomfilter_watched_reload(watched, NULL), 0, "what he does with it is nothing to who watches");
		bloomfilter_watched_close(watched);
	}
	free(bytes);
	unlink(scratch_path("f.bloom.working"));
	unlink(copy);
}

int
main(void)
{
	tsv		   *table = tsv_open("working.tsv");
	bool		first = true;

	while (tsv_next(table))
	{
		check_row(table);
		if (first)
		{
			check_change(table);
			check_dangling(table);
			check_planted(table);
		}
		first = false;
	}
	tsv_close(table);
	return tap_done();
}
