/*
 * status.c
 *	  What is known about a file that "bloomfilter pull" keeps: which list it is
 *	  from, its serial, and when the server was last looked at.
 *
 * FILE.status is a text file: a first line that says so, then a line for each value
 * after its name.  pull writes it before it replaces FILE, with what comes under
 * names that begin with "next_", and again afterwards: so whichever of both filters
 * FILE is, something tells its serial.  A manifest's notes tell it of a set.
 */
#define _DEFAULT_SOURCE			/* timegm */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "source.h"

#define FIRST_LINE "bloomfilter-status 1"

/* No status is longer: the rest of a longer file is not read. */
#define MOST_BYTES 16384

/* What FILE.status tells of the filter that comes next. */
typedef struct next_filter
{
	bool		there;
	bloomfilter_status values;			/* checksum, identity, serial, built, list */
} next_filter;

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------ */

static void
take_text(char *target, size_t size, const char *value)
{
	snprintf(target, size, "%s", value);
}

/* Seconds since 1970 of a time in UTC; 0 for what is none. */
static int64_t
time_of(const char *text)
{
	struct tm	tm;

	memset(&tm, 0, sizeof tm);
	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
			   &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t) timegm(&tm);
}

/* The values that tell which filter it is, in FILE.status and in a manifest's notes. */
static bool
take_origin(bloomfilter_status *target, const char *name, const char *value)
{
	if (strcmp(name, "list") == 0)
		take_text(target->list, sizeof target->list, value);
	else if (strcmp(name, "identity") == 0)
		take_text(target->identity, sizeof target->identity, value);
	else if (strcmp(name, "serial") == 0)
		target->serial = strtoll(value, NULL, 10);
	else if (strcmp(name, "built") == 0)
		target->built = time_of(value);
	else if (strcmp(name, "checksum") == 0)
		target->checksum = strtoull(value, NULL, 16);
	else
		return false;
	return true;
}

static void
take_look(bloomfilter_status *target, const char *name, const char *value)
{
	if (strcmp(name, "looked") == 0)
		target->looked = time_of(value);
	else if (strcmp(name, "changed") == 0)
		target->changed = time_of(value);
	else if (strcmp(name, "failed") == 0)
		target->failed = time_of(value);
	else if (strcmp(name, "failures") == 0)
		target->failures = strtoull(value, NULL, 10);
	else if (strcmp(name, "server") == 0)
		take_text(target->server, sizeof target->server, value);
	else if (strcmp(name, "error") == 0)
		take_text(target->error, sizeof target->error, value);
	else if (strcmp(name, "clock") == 0)
		target->clock = strtoll(value, NULL, 10);
	else if (strcmp(name, "refused") == 0)
		take_text(target->refused, sizeof target->refused, value);
}

static void
copy_origin(bloomfilter_status *target, const bloomfilter_status *from)
{
	memcpy(target->list, from->list, sizeof target->list);
	memcpy(target->identity, from->identity, sizeof target->identity);
	target->serial = from->serial;
	target->built = from->built;
	target->checksum = from->checksum;
}

/* ------------------------------------------------------------------------
 * FILE.status
 * ------------------------------------------------------------------------ */

/* One line, "name value"; lines of names that nobody knows are skipped. */
static void
take_line(bloomfilter_status *target, next_filter *next, char *line)
{
	static const char prefix[] = "next_";
	char	   *value = strchr(line, ' ');

	if (value == NULL)
		return;
	*value++ = '\0';
	if (strncmp(line, prefix, sizeof prefix - 1) == 0)
		next->there |= take_origin(&next->values, line + sizeof prefix - 1, value);
	else if (!take_origin(target, line, value))
		take_look(target, line, value);
}

/* Its text, in memory to be freed; NULL, with detail, where it can't be read. */
static char *
read_text(const char *path, bloomfilter_detail *detail)
{
	char	   *text = malloc(MOST_BYTES + 1);
	int			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t		length = text == NULL || fd < 0 ? -1 : read(fd, text, MOST_BYTES);

	if (length < 0)
		lbf_fail_system(detail, path, "open file");
	if (fd >= 0)
		close(fd);
	if (length < 0)
	{
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

static int
read_status(const char *path, bloomfilter_status *target, next_filter *next,
			bloomfilter_detail *detail)
{
	char	   *text = read_text(path, detail);
	char	   *rest = text;
	char	   *line;

	if (text == NULL)
		return BLOOMFILTER_ERR_SYSTEM;
	line = strsep(&rest, "\n");
	if (strcmp(line, FIRST_LINE) != 0)
	{
		free(text);
		return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, path,
							 "is not what bloomfilter pull writes");
	}
	while ((line = strsep(&rest, "\n")) != NULL)
		take_line(target, next, line);
	free(text);
	return BLOOMFILTER_OK;
}

/* ------------------------------------------------------------------------
 * FILE
 * ------------------------------------------------------------------------ */

/* What a manifest's notes tell, "# name value"; false if FILE is no manifest of pull's. */
static bool
take_notes(const char *path, bloomfilter_status *target)
{
	char	   *text = NULL;
	char	   *rest;
	char	   *line;
	size_t		length;
	bool		told;

	memset(target, 0, sizeof *target);
	if (lbf_manifest_read(AT_FDCWD, path, path, &text, &length, NULL) != BLOOMFILTER_OK ||
		text == NULL)
		return false;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
	{
		char	   *value = line[0] == LBF_MANIFEST_NOTE && line[1] == ' ' ? strchr(line + 2, ' ') : NULL;

		if (value == NULL)
			continue;
		*value++ = '\0';
		(void) take_origin(target, line + 2, value);
	}
	told = target->serial != 0;
	free(text);
	return told;
}

/* Which of the two filters FILE is that FILE.status tells of, if any. */
static void
match(const char *path, bloomfilter_status *target, const next_filter *next)
{
	bloomfilter *filter;
	bloomfilter_info info;
	bloomfilter_status notes;

	if (bloomfilter_open(path, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, NULL) != BLOOMFILTER_OK)
		return;
	bloomfilter_get_info(filter, &info, sizeof info);
	bloomfilter_close(filter);
	if (take_notes(path, &notes))
	{
		notes.checksum = info.checksum;
		copy_origin(target, &notes);
		target->matches = 1;
		return;
	}
	if (next->there && next->values.checksum == info.checksum)
		copy_origin(target, &next->values);
	target->matches = target->checksum == info.checksum;
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static char *
joined(const char *path, const char *ending)
{
	size_t		length = strlen(path) + strlen(ending) + 1;
	char	   *text = malloc(length);

	if (text != NULL)
		snprintf(text, length, "%s%s", path, ending);
	return text;
}

int
bloomfilter_get_status(const char *path, bloomfilter_status *result, size_t size,
					   bloomfilter_detail *detail)
{
	bloomfilter_status found;
	next_filter next;
	char	   *file;
	char	   *status_path;
	int			code;

	if (path == NULL || result == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	memset(&found, 0, sizeof found);
	memset(&next, 0, sizeof next);
	file = joined(path, is_folder(path) ? "/" LBF_MANIFEST_NAME : "");
	status_path = file == NULL ? NULL : joined(file, ".status");
	if (status_path == NULL)
	{
		free(file);
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	}
	code = read_status(status_path, &found, &next, detail);
	match(file, &found, &next);
	free(status_path);
	free(file);
	/* FILE may be neither: what was on its way is the newest that is known of it. */
	if (!found.matches && next.there && next.values.serial > found.serial)
		copy_origin(&found, &next.values);
	if (code != BLOOMFILTER_OK && !found.matches)
		return code;
	if (size > sizeof found)
		memset(result, 0, size);
	memcpy(result, &found, size < sizeof found ? size : sizeof found);
	return BLOOMFILTER_OK;
}
