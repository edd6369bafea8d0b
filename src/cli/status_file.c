/*
 * status_file.c
 *	  Writing FILE.status.
 *
 * A text file: a first line that says so, then a line for each value, after its
 * name.  Times are in UTC.
 */
#define _DEFAULT_SOURCE			/* flock */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "status.h"

#define FIRST_LINE "bloomfilter-status 1"

/* One line only, whatever somebody calls his list. */
static void
put_value(FILE *stream, const char *prefix, const char *name, const char *value)
{
	if (value[0] == '\0')
		return;
	fprintf(stream, "%s%s ", prefix, name);
	for (; *value != '\0'; value++)
		fputc((unsigned char) *value < ' ' ? '?' : *value, stream);
	fputc('\n', stream);
}

static void
put_time(FILE *stream, const char *prefix, const char *name, int64_t time)
{
	char		text[TIME_TEXT_BYTES];

	if (time == 0)
		return;
	message_time(text, (time_t) time);
	put_value(stream, prefix, name, text);
}

/* Which filter it is. */
static void
put_origin(FILE *stream, const char *prefix, const bloomfilter_status *status)
{
	if (status->checksum != 0)
		fprintf(stream, "%schecksum %016" PRIx64 "\n", prefix, status->checksum);
	put_value(stream, prefix, "list", status->list);
	put_value(stream, prefix, "identity", status->identity);
	if (status->serial != 0)
		fprintf(stream, "%sserial %" PRId64 "\n", prefix, status->serial);
	put_time(stream, prefix, "built", status->built);
}

static bool
put_status(FILE *stream, const bloomfilter_status *status, const bloomfilter_status *next)
{
	fputs(FIRST_LINE "\n", stream);
	put_time(stream, "", "looked", status->looked);
	put_time(stream, "", "changed", status->changed);
	put_origin(stream, "", status);
	put_value(stream, "", "server", status->server);
	if (status->failures != 0)
		fprintf(stream, "failures %" PRIu64 "\n", status->failures);
	put_time(stream, "", "failed", status->failed);
	put_value(stream, "", "error", status->error);
	put_value(stream, "", "refused", status->refused);
	if (status->clock != 0)
		fprintf(stream, "clock %" PRId64 "\n", status->clock);
	if (next != NULL)
		put_origin(stream, "next_", next);
	return fflush(stream) == 0 && !ferror(stream);
}

/*
 * The new file has one name, so that killed writers leave one at most.  It is
 * locked: who waited for the lock may find that the file has got its right name
 * meanwhile, and begins anew.
 */
static int
open_new(const char *path)
{
	for (;;)
	{
		struct stat opened;
		struct stat named;
		int			fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

		if (fd < 0)
			return -1;
		(void) flock(fd, LOCK_EX);
		if (fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
			opened.st_ino == named.st_ino && opened.st_dev == named.st_dev &&
			ftruncate(fd, 0) == 0)
			return fd;
		close(fd);
	}
}

/* What comes next is synced, as it must be there when the filter is. */
bool
status_write(const char *file, const bloomfilter_status *status,
			 const bloomfilter_status *next)
{
	char	   *path = text_of("%s.status", file);
	char	   *new_path = text_of("%s.tmp", path);
	int			fd = open_new(new_path);
	FILE	   *stream = fd < 0 ? NULL : fdopen(fd, "w");
	bool		written;
	int			error;

	written = stream != NULL && put_status(stream, status, next) &&
		(next == NULL || fsync(fd) == 0) && rename(new_path, path) == 0;
	error = errno;
	if (!written && fd >= 0)
		unlink(new_path);
	if (stream != NULL)
		fclose(stream);
	else if (fd >= 0)
		close(fd);
	free(new_path);
	free(path);
	errno = error;
	return written;
}

bool
status_read(const char *file, bloomfilter_status *status, const char **problem)
{
	static bloomfilter_detail detail;

	*problem = NULL;
	memset(status, 0, sizeof *status);
	if (bloomfilter_get_status(file, status, sizeof *status, &detail) == BLOOMFILTER_OK)
		return true;
	if (detail.system_error != ENOENT)
		*problem = detail.text;
	return false;
}
