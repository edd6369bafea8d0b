/*
 * test_hostile.c
 *	  Paths that can't be opened, and what is said of them.
 *
 * test_vectors.c has what is no filter, test/readers what is no file.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "make_filters.h"
#include "files.h"
#include "tap.h"

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
check_unlisted(void)
{
	bloomfilter *filter = make_range(10, 1, 1, 10);
	const char *folder = scratch_path("unlisted");
	char		path[300];
	bool		root = geteuid() == 0;
	bloomfilter_detail detail;
	int			code;

	snprintf(path, sizeof path, "%s/f.bloom", folder);
	need(mkdir(folder, 0777) == 0, "folder");
	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK, "written");
	need(chmod(scratch(), 0711) == 0 && chmod(folder, 0111) == 0, "rights");
	need(!root || seteuid(65534) == 0, "an ordinary user");
	code = code_of_path(path, 0, &detail);
	need(!root || seteuid(0) == 0, "root again");
	same(code, BLOOMFILTER_OK, "a file in a folder that can't be listed");
	need(chmod(folder, 0755) == 0 && unlink(path) == 0 && rmdir(folder) == 0, "folder removed");
	bloomfilter_close(filter);
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
check_paths(void)
{
	bloomfilter_detail detail;

	same(code_of_path(scratch_path("missing"), 0, &detail), BLOOMFILTER_ERR_SYSTEM, "a missing file");
	same(detail.system_error, ENOENT, "and why: %s", detail.text);
	same(code_of_path("", 0, &detail), BLOOMFILTER_ERR_SYSTEM, "an empty path");
	ok(strncmp(detail.text, "\"\": ", 4) == 0, "is shown as one: %s", detail.text);
	same(code_of_path(scratch(), 0, &detail), BLOOMFILTER_ERR_ARGUMENT, "a folder");
	same(code_of_path("/dev/zero", 0, &detail), BLOOMFILTER_ERR_ARGUMENT, "a device, without reading it");
	same(code_of_path(NULL, 0, &detail), BLOOMFILTER_ERR_ARGUMENT, "no path");
	same(code_of_path("/dev/null", 0x8000, &detail), BLOOMFILTER_ERR_ARGUMENT, "unknown flags");
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
	check_paths();
	check_unlisted();
	check_long_path();
	check_texts();
	return tap_done();
}
