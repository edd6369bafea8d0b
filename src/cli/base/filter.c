/*
 * filter.c
 *	  Opening and writing a filter for a subcommand, and what its errors are called.
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "output.h"
#include "system.h"

bool
is_standard(const char *path)
{
	return strcmp(path, "-") == 0;
}

int
try_open_filter(const char *path, bloomfilter **filter, bloomfilter_detail *detail)
{
	bloomfilter_detail reason;
	int			code;

	if (!is_standard(path))
		return bloomfilter_open(path, 0, filter, detail);
	code = bloomfilter_open_fd(STDIN_FILENO, 0, filter, &reason);
	if (code < 0)
	{
		*detail = reason;
		snprintf(detail->text, sizeof detail->text, "standard input: %.400s", reason.text);
	}
	return code;
}

bloomfilter *
open_filter(const char *path)
{
	bloomfilter *filter;
	bloomfilter_detail detail;

	if (try_open_filter(path, &filter, &detail) < 0)
		fail("%s", detail.text);
	return filter;
}

void
check_target(const char *path)
{
	const char *slash = strrchr(path, '/');
	bloomfilter_detail detail;
	char	   *folder;
	int			error;

	if (is_standard(path))
		return;
	if (is_folder(path))
		fail("cannot write \"%s\": it is a folder", path);
	if (access(path, F_OK) == 0 && bloomfilter_can_write(path, &detail) < 0)
		fail("%s", detail.text);
	folder = slash == NULL ? text_of(".") : text_of("%.*s/", (int) (slash - path), path);
	error = access(folder, W_OK | X_OK) == 0 ? 0 : errno;
	free(folder);
	if (error != 0)
		fail("cannot write \"%s\": %s", path, strerror(error));
}

void
write_filter(const bloomfilter *filter, const char *path)
{
	bloomfilter_detail detail;
	const void *bytes;
	size_t		length;

	if (!is_standard(path))
	{
		if (bloomfilter_write(filter, path, &detail) < 0)
			fail("%s", detail.text);
		return;
	}
	if (filter_info(filter, -1).open_parts > 1)
		fail("a set of parts can't be written to standard output");
	bloomfilter_get_bytes(filter, 0, &bytes, &length);
	output_bytes(bytes, length);
	output_flush();
}

bloomfilter_info
filter_info(const bloomfilter *filter, int64_t part)
{
	bloomfilter_info info;
	int			code;

	if (part < 0)
		code = bloomfilter_get_info(filter, &info, sizeof info);
	else
		code = bloomfilter_get_part_info(filter, (uint32_t) part, &info,
										 sizeof info);
	if (code < 0)
		fail("%s", bloomfilter_strerror(code));
	return info;
}

int
filter_text_type(const bloomfilter *filter, int wanted)
{
	int			held = filter_info(filter, -1).key_type;

	if (held == BLOOMFILTER_KEY_NONE)
		return wanted == BLOOMFILTER_KEY_NONE ? BLOOMFILTER_KEY_TEXT : wanted;
	if (wanted == BLOOMFILTER_KEY_NONE)
		return held;
	if (bloomfilter_text_key_type(wanted) != held)
		fail("bloomfilter holds %s keys, not %s", bloomfilter_key_type_name(held),
			 bloomfilter_key_type_name(bloomfilter_text_key_type(wanted)));
	return wanted;
}
