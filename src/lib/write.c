/*
 * write.c
 *	  Replacing a file in one step.
 *
 * The bytes go to a new file in the same folder, which is synced before it is
 * renamed: whoever opens the name sees all of the old file or all of the new
 * one, after a crash, too.  Who has mapped the old file keeps it.
 */
#define _POSIX_C_SOURCE 200809L

#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bf_hash.h"
#include "error.h"
#include "handle.h"
#include "source.h"

/*
 * Names to try.  One of 2^32 that is taken already is bad luck; so many one after
 * the other are a fault.
 */
#define MOST_ATTEMPTS 100

/* Room for ".", a name, and what is appended to it; longer ones are refused. */
#define TEMPORARY_BYTES 300

/*
 * A number that hardly any other writer draws.  The process number alone would
 * not do: in a container it is often the same each time, and whoever is killed
 * there while writing leaves a file of that name.
 */
static uint64_t
draw(uint64_t previous)
{
	struct timespec now = {0, 0};
	uint64_t	values[4];

	clock_gettime(CLOCK_REALTIME, &now);
	values[0] = (uint64_t) now.tv_sec;
	values[1] = (uint64_t) now.tv_nsec;
	values[2] = (uint64_t) getpid();
	values[3] = (uint64_t) (uintptr_t) &now;
	return bf_hash(values, sizeof values, previous);
}

/* Opens a file that was not there; its name is written to temporary. */
static int
create_temporary(int folder, const char *name, char *temporary, size_t size,
				 bloomfilter_detail *detail)
{
	uint64_t	number = 0;
	int			attempt;
	int			fd = -1;

	for (attempt = 0; fd < 0 && attempt < MOST_ATTEMPTS; attempt++)
	{
		int			length;

		number = draw(number);
		length = snprintf(temporary, size, ".%s.%08lx.tmp", name,
						  (unsigned long) (number & 0xffffffff));
		if (length < 0 || (size_t) length >= size)
		{
			errno = ENAMETOOLONG;
			break;
		}
		fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd >= 0 ? fd : lbf_fail_system(detail, name, "create a file beside it");
}

static int
write_all(int fd, const uint8_t *bytes, size_t length)
{
	while (length > 0)
	{
		ssize_t		done = write(fd, bytes, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		length -= (size_t) done;
	}
	return 0;
}

/* Writes, syncs and closes a new file. */
static int
fill_file(int fd, const char *name, const void *bytes, size_t length,
		  bloomfilter_detail *detail)
{
	int			code = BLOOMFILTER_OK;

	if (write_all(fd, bytes, length) != 0)
		code = lbf_fail_system(detail, name, "write");
	else if (fsync(fd) != 0)
		code = lbf_fail_system(detail, name, "sync");
	if (close(fd) != 0 && code == BLOOMFILTER_OK)
		code = lbf_fail_system(detail, name, "close");
	return code;
}

int
lbf_file_replace(int folder, const char *name, const void *bytes, size_t length,
				 bloomfilter_detail *detail)
{
	char		temporary[TEMPORARY_BYTES];
	int			fd = create_temporary(folder, name, temporary, sizeof temporary, detail);
	int			code;

	if (fd < 0)
		return fd;
	code = fill_file(fd, name, bytes, length, detail);
	if (code == BLOOMFILTER_OK && renameat(folder, temporary, folder, name) != 0)
		code = lbf_fail_system(detail, name, "replace");
	if (code != BLOOMFILTER_OK)
		unlinkat(folder, temporary, 0);
	return code;
}

int
lbf_folder_sync(int folder, const char *subject, bloomfilter_detail *detail)
{
	/* Some file systems can't sync folders and say EINVAL; nothing is lost. */
	if (fsync(folder) != 0 && errno != EINVAL)
		return lbf_fail_system(detail, subject, "sync the folder");
	return BLOOMFILTER_OK;
}

int
bloomfilter_write(const bloomfilter *filter, const char *path,
				  bloomfilter_detail *detail)
{
	const lbf_bytes *bytes = &filter->part[0].bytes;
	const char *name;
	int			folder;
	int			code;

	if (path == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	folder = lbf_folder_open(path, &name, detail);
	if (folder < 0)
		return folder;
	if (filter->open_parts > 1)
		code = lbf_set_write(filter, folder, name, detail);
	else
		code = lbf_file_replace(folder, name, bytes->start, bytes->length, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_folder_sync(folder, path, detail);
	close(folder);
	return code;
}
