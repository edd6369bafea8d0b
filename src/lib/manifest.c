/*
 * manifest.c
 *	  The text file that names the parts of a set.
 *
 * Its first line is "bloomfilter-set 1"; then comes a line for each part, in the
 * order of the parts, with a file's name in the manifest's own folder.  Lines that
 * begin with "#" are notes, of which a reader needs none.  Names
 * with a "/" are refused: a manifest that was fetched from elsewhere can't make
 * its reader open files in other folders.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_limits.h"
#include "error.h"
#include "source.h"

/* Bytes of the longest name in a folder, and so of the longest manifest. */
#define MOST_NAME_BYTES		255
#define MOST_MANIFEST_BYTES \
	(sizeof LBF_MANIFEST_FIRST_LINE + (size_t) BF_MAX_PARTS * (MOST_NAME_BYTES + 1))

#define MAGIC_BYTES			(sizeof LBF_MANIFEST_MAGIC - 1)

/* Reads exactly length bytes unless the file ends before; -1 on an error. */
static ssize_t
read_up_to(int fd, char *bytes, size_t length)
{
	size_t		used = 0;

	while (used < length)
	{
		ssize_t		got = read(fd, bytes + used, length - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		used += (size_t) got;
	}
	return (ssize_t) used;
}

/* The rest of a manifest after its magic, with the magic before it. */
static int
read_rest(int fd, const char *path, size_t size, char **text, size_t *length,
		  bloomfilter_detail *detail)
{
	char	   *bytes;
	ssize_t		got;

	if (size > MOST_MANIFEST_BYTES)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_MANIFEST, path,
							 "manifest is too long");
	bytes = malloc(size + 1);
	if (bytes == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	memcpy(bytes, LBF_MANIFEST_MAGIC, MAGIC_BYTES);
	got = read_up_to(fd, bytes + MAGIC_BYTES, size - MAGIC_BYTES);
	if (got < 0)
	{
		free(bytes);
		return lbf_fail_system(detail, path, "read file");
	}
	*length = MAGIC_BYTES + (size_t) got;
	bytes[*length] = '\0';
	*text = bytes;
	return BLOOMFILTER_OK;
}

static int
read_open(int fd, const char *path, char **text, size_t *length,
		  bloomfilter_detail *detail)
{
	char		magic[MAGIC_BYTES];
	struct stat st;

	if (fstat(fd, &st) != 0)
		return lbf_fail_system(detail, path, "stat file");
	if (!S_ISREG(st.st_mode))
		return lbf_fail_no_file(detail, path);
	if (st.st_size < (off_t) MAGIC_BYTES)
		return BLOOMFILTER_OK;
	if (read_up_to(fd, magic, MAGIC_BYTES) < 0)
		return lbf_fail_system(detail, path, "read file");
	if (memcmp(magic, LBF_MANIFEST_MAGIC, MAGIC_BYTES) != 0)
		return BLOOMFILTER_OK;
	return read_rest(fd, path, (size_t) st.st_size, text, length, detail);
}

int
lbf_manifest_read(int folder, const char *name, const char *path, char **text,
				  size_t *length, bloomfilter_detail *detail)
{
	/* O_NONBLOCK: a pipe of this name that nobody writes to must not hang us. */
	int			fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int			code;

	*text = NULL;
	if (fd < 0)
		return lbf_fail_system(detail, path, "open file");
	code = read_open(fd, path, text, length, detail);
	close(fd);
	return code;
}

static int
fail_line(bloomfilter_detail *detail, const char *subject, uint32_t line,
		  const char *reason)
{
	char		text[128];

	snprintf(text, sizeof text, "manifest line %lu: %s", (unsigned long) line, reason);
	return lbf_fail_text(detail, BLOOMFILTER_ERR_MANIFEST, subject, text);
}

/* Why a name may not stand in a manifest; NULL if it may. */
static const char *
name_fault(const char *name, size_t length)
{
	if (length == 0)
		return "empty line";
	if (length > MOST_NAME_BYTES)
		return "name is too long";
	if (memchr(name, '\0', length) != NULL)
		return "name contains a zero byte";
	if (memchr(name, '/', length) != NULL)
		return "name contains a \"/\"";
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return "name is a folder's";
	return NULL;
}

/* How many lines are no notes. */
static uint32_t
count_names(const char *text, size_t length)
{
	const char *end = text + length;
	uint32_t	count = 0;

	while (text < end)
	{
		const char *newline = memchr(text, '\n', (size_t) (end - text));

		count += *text != LBF_MANIFEST_NOTE;
		text = newline == NULL ? end : newline + 1;
	}
	return count;
}

/* Splits the lines after the first into names. */
static int
split(char *text, size_t length, const char *subject, char **names,
	  bloomfilter_detail *detail)
{
	char	   *end = text + length;
	uint32_t	line;

	for (line = 2; text < end; line++)
	{
		char	   *newline = memchr(text, '\n', (size_t) (end - text));
		const char *fault;

		if (newline == NULL)
			newline = end;
		if (*text != LBF_MANIFEST_NOTE)
		{
			*newline = '\0';
			fault = name_fault(text, (size_t) (newline - text));
			if (fault != NULL)
				return fail_line(detail, subject, line, fault);
			*names++ = text;
		}
		text = newline + 1;
	}
	return BLOOMFILTER_OK;
}

int
lbf_manifest_parse(char *text, size_t length, const char *subject,
				   char ***names, uint32_t *count, bloomfilter_detail *detail)
{
	size_t		first = sizeof LBF_MANIFEST_FIRST_LINE - 1;
	uint32_t	found_names = 0;
	char	  **found;
	int			code;

	if (length < first + 1 || memcmp(text, LBF_MANIFEST_FIRST_LINE "\n", first + 1) != 0)
		return fail_line(detail, subject, 1,
						 "is not \"" LBF_MANIFEST_FIRST_LINE "\"");
	found_names = count_names(text + first + 1, length - first - 1);
	if (found_names < 1 || found_names > BF_MAX_PARTS)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_MANIFEST, subject,
							 "manifest must name 1 to 65535 parts");
	found = malloc(found_names * sizeof *found);
	if (found == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, subject);
	code = split(text + first + 1, length - first - 1, subject, found, detail);
	if (code != BLOOMFILTER_OK)
	{
		free(found);
		return code;
	}
	*names = found;
	*count = found_names;
	return BLOOMFILTER_OK;
}

bool
lbf_name_checksum(const char *name, uint64_t *checksum)
{
	const size_t digits = 16;
	const size_t ending = digits + sizeof LBF_FILTER_ENDING - 1;
	size_t		length = strlen(name);
	const char *at;

	if (length < ending + 1)
		return false;
	at = name + length - ending;
	if (at[-1] != '.' || strspn(at, "0123456789abcdef") != digits ||
		strcmp(at + digits, LBF_FILTER_ENDING) != 0)
		return false;
	*checksum = strtoull(at, NULL, 16);
	return true;
}
