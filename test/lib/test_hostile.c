/*
 * test_hostile.c
 *	  Files that are no filters, or were one once, give an error and no answer: those that no row
 *	  of invalid.tsv is like (test_vectors.c).
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doors.h"
#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 500

/* A good filter of a few keys, as bytes. */
static uint8_t *
good_filter(size_t *length)
{
	bloomfilter *filter = make_range(KEYS, 1, 1, KEYS);
	const void *bytes;
	uint8_t    *copy;

	bloomfilter_get_bytes(filter, 0, &bytes, length);
	copy = malloc(*length);
	need(copy != NULL, "memory");
	memcpy(copy, bytes, *length);
	bloomfilter_close(filter);
	return copy;
}

/* How many doors refuse bytes as no filter of this format. */
static int
refusals(const uint8_t *bytes, size_t length)
{
	int			refused = 0;
	int			door;

	for (door = 0; door < DOORS; door++)
	{
		/* Of its exact length, so that reading beyond it is seen. */
		uint8_t    *exact = malloc(length > 0 ? length : 1);
		bloomfilter *filter = NULL;
		int			code;

		need(exact != NULL, "memory");
		memcpy(exact, bytes, length);
		code = open_by_door(door, exact, length, &filter, NULL);
		refused += code <= BLOOMFILTER_ERR_FORMAT_LENGTH && filter == NULL;
		if (code == BLOOMFILTER_OK)
			bloomfilter_close(filter);
		free(exact);
	}
	return refused;
}

static void
check_lying_header(const uint8_t *bytes, size_t length)
{
	uint8_t    *lie = malloc(length + 1);

	need(lie != NULL, "memory");
	memcpy(lie, bytes, length);
	lie[length] = 0;
	same(refusals(lie, length + 1), DOORS, "a byte more than the header says");
	memset(lie + 8, 0xff, 4);
	same(refusals(lie, length), DOORS, "a header that promises gigabytes");
	lie[6] = 16;
	memcpy(lie + 8, "\0\0\0\x10", 4);
	same(refusals(lie, length), DOORS, "sizes that overflow 32 bits");
	free(lie);
}

/* What opening a path gives; nothing may stay open. */
static int
code_of_path(const char *path, unsigned flags, bloomfilter_detail *detail)
{
	bloomfilter *filter = NULL;
	int			code = bloomfilter_open(path, flags, &filter, detail);

	if (code == BLOOMFILTER_OK)
		bloomfilter_close(filter);
	return code;
}

/* A folder that can be entered but not listed; an ordinary user asks. */
static void
check_unlisted(const uint8_t *bytes, size_t length)
{
	const char *folder = scratch_path("unlisted");
	char		path[300];
	bool		root = geteuid() == 0;
	bloomfilter_detail detail;
	int			code;

	snprintf(path, sizeof path, "%s/f.bloom", folder);
	need(mkdir(folder, 0777) == 0, "folder");
	write_file(path, bytes, length);
	need(chmod(scratch(), 0711) == 0 && chmod(folder, 0111) == 0, "rights");
	need(!root || seteuid(65534) == 0, "an ordinary user");
	code = code_of_path(path, 0, &detail);
	need(!root || seteuid(0) == 0, "root again");
	same(code, BLOOMFILTER_OK, "a file in a folder that can't be listed");
	need(chmod(folder, 0755) == 0 && unlink(path) == 0 && rmdir(folder) == 0, "folder removed");
}

/* However long a path is, the reason is told, and the file's name. */
static void
check_long_path(void)
{
	char		path[2000];
	bloomfilter_detail detail;

	memset(path, '/', sizeof path);
	strcpy(path + 1900, "missing.bloom");
	same(code_of_path(path, 0, &detail), BLOOMFILTER_ERR_SYSTEM, "a long path");
	ok(strncmp(detail.text, ".../", 4) == 0 && strstr(detail.text, "/missing.bloom: could not open file: ") != NULL &&
	   strstr(detail.text, strerror(ENOENT)) != NULL, "is cut at its beginning: %s", detail.text + 440);
}

static void
check_paths(const uint8_t *bytes, size_t length)
{
	const char *folder = scratch_path("empty folder");
	const char *big = scratch_path("big.bloom");
	bloomfilter_detail detail;

	same(code_of_path(scratch_path("missing"), 0, &detail), BLOOMFILTER_ERR_SYSTEM, "a missing file");
	same(detail.system_error, ENOENT, "and why: %s", detail.text);
	need(mkdir(folder, 0777) == 0, "folder");
	same(code_of_path(folder, 0, &detail), BLOOMFILTER_ERR_ARGUMENT, "an empty folder");
	need(rmdir(folder) == 0, "folder removed");
	same(code_of_path("", 0, &detail), BLOOMFILTER_ERR_SYSTEM, "an empty path");
	ok(strncmp(detail.text, "\"\": ", 4) == 0, "is shown as one: %s", detail.text);
	same(code_of_path("/dev/null", 0, &detail), BLOOMFILTER_ERR_ARGUMENT, "/dev/null");
	same(code_of_path("/dev/zero", 0, &detail), BLOOMFILTER_ERR_ARGUMENT, "/dev/zero, without reading it");
	same(code_of_path(NULL, 0, &detail), BLOOMFILTER_ERR_ARGUMENT, "no path");
	same(code_of_path("/dev/null", 0x8000, &detail), BLOOMFILTER_ERR_ARGUMENT, "unknown flags");

	write_file(big, bytes, length);
	need(truncate(big, (off_t) 1 << 40) == 0, "sparse file");
	same(code_of_path(big, 0, &detail), BLOOMFILTER_ERR_FORMAT_SIZE, "a terabyte, mapped");
	same(code_of_path(big, BLOOMFILTER_COPY, &detail), BLOOMFILTER_ERR_FORMAT_SIZE, "a terabyte, copied");
	same(code_of_path(big, BLOOMFILTER_SKIP_CHECK, &detail), BLOOMFILTER_ERR_FORMAT_SIZE, "a terabyte, unchecked");
	unlink(big);
}

static void
check_version_text(uint8_t *bytes, size_t length)
{
	bloomfilter *filter;
	bloomfilter_detail detail;

	bytes[4] = 7;
	same(bloomfilter_open_memory(bytes, length, 0, &filter, &detail),
		 BLOOMFILTER_ERR_FORMAT_VERSION, "a later version");
	ok(strcmp(detail.text, "unsupported format version 7") == 0, "is named: %s", detail.text);
	bytes[4] = 1;
}

/* What the flag promises: the header is checked, the blocks are not. */
static void
check_skipping(uint8_t *bytes, size_t length)
{
	bloomfilter *filter;
	uint8_t		probes;

	bytes[length - 1] ^= 0xff;
	need(bloomfilter_open_memory(bytes, length, BLOOMFILTER_SKIP_CHECK, &filter, NULL) == BLOOMFILTER_OK,
		 "unchecked filter opens");
	same(bloomfilter_contains_int64(filter, 1) < 0, 0, "damaged blocks are asked where the check is skipped");
	ok(check_bytes(filter) <= BLOOMFILTER_ERR_FORMAT_BITS_SET, "who checks its bytes finds it");
	bloomfilter_close(filter);
	bytes[length - 1] ^= 0xff;
	probes = bytes[5];
	bytes[5] = 0;
	same(bloomfilter_open_memory(bytes, length, BLOOMFILTER_SKIP_CHECK, &filter, NULL),
		 BLOOMFILTER_ERR_FORMAT_HEADER_CHECKSUM, "a bad header is refused even so");
	bytes[5] = probes;
}

/* With the copying flag a file may be cut off under an open filter. */
static void
check_shrinking(const uint8_t *bytes, size_t length)
{
	const char *path = scratch_path("shrinks.bloom");
	bloomfilter *filter;

	write_file(path, bytes, length);
	need(bloomfilter_open(path, BLOOMFILTER_COPY, &filter, NULL) == BLOOMFILTER_OK, "copied");
	need(truncate(path, 0) == 0, "truncated");
	same(count_missing(filter, 1, KEYS), 0, "a copy does not see its file shrink");
	bloomfilter_close(filter);
}

/* All codes have texts of their own. */
static void
check_texts(void)
{
	int			same_text = 0;
	int			unknown = 0;
	int			code;
	int			other;

	for (code = 0; code >= -116; code--)
		for (other = 0; other > code; other--)
			same_text += strcmp(bloomfilter_strerror(code), "unknown error") != 0 &&
				strcmp(bloomfilter_strerror(code), bloomfilter_strerror(other)) == 0;
	for (code = -101; code >= -116; code--)
		unknown += strcmp(bloomfilter_strerror(code), "unknown error") == 0;
	same(same_text, 0, "no text stands for two codes");
	same(unknown, 0, "each rule of the format has one");
}

int
main(void)
{
	size_t		length;
	uint8_t    *bytes = good_filter(&length);

	check_lying_header(bytes, length);
	check_paths(bytes, length);
	check_unlisted(bytes, length);
	check_long_path();
	check_version_text(bytes, length);
	check_skipping(bytes, length);
	check_shrinking(bytes, length);
	check_texts();
	free(bytes);
	return tap_done();
}
