/*
 * doors.c
 *	  All ways by which the bytes of a filter come into the library.
 */
#define _POSIX_C_SOURCE 200809L

#include "doors.h"

#include <fcntl.h>
#include <unistd.h>

#include "files.h"
#include "tap.h"

const char *const door_names[DOORS] = {
	"mapped file", "copied file", "borrowed memory", "copied memory",
	"descriptor of a file", "pipe", "populated file", "file in huge pages",
	"copied file in huge pages", "copied memory in huge pages"
};

static int
by_file(unsigned flags, const void *bytes, size_t length, bloomfilter **filter,
		bloomfilter_detail *detail)
{
	static const char *path;

	if (path == NULL)
		path = scratch_path("door.bloom");
	unlink(path);
	write_file(path, bytes, length);
	return bloomfilter_open(path, flags, filter, detail);
}

static int
by_descriptor(const void *bytes, size_t length, bloomfilter **filter,
			  bloomfilter_detail *detail)
{
	static const char *path;
	int			fd;
	int			code;

	if (path == NULL)
		path = scratch_path("descriptor.bloom");
	write_file(path, bytes, length);
	fd = open(path, O_RDONLY);
	need(fd >= 0, "descriptor");
	code = bloomfilter_open_fd(fd, 0, filter, detail);
	close(fd);
	return code;
}

/* What is given here fits the buffer of a pipe. */
static int
by_pipe(const void *bytes, size_t length, bloomfilter **filter,
		bloomfilter_detail *detail)
{
	int			ends[2];
	int			code;

	need(length <= 60000 && pipe(ends) == 0, "pipe");
	need(write(ends[1], bytes, length) == (ssize_t) length, "pipe filled");
	close(ends[1]);
	code = bloomfilter_open_fd(ends[0], 0, filter, detail);
	close(ends[0]);
	return code;
}

int
open_by_door(int door, const void *bytes, size_t length, bloomfilter **filter,
			 bloomfilter_detail *detail)
{
	switch (door)
	{
		case 0:
			return by_file(0, bytes, length, filter, detail);
		case 1:
			return by_file(BLOOMFILTER_COPY, bytes, length, filter, detail);
		case 2:
			return bloomfilter_open_memory(bytes, length, 0, filter, detail);
		case 3:
			return bloomfilter_open_memory(bytes, length, BLOOMFILTER_COPY, filter, detail);
		case 4:
			return by_descriptor(bytes, length, filter, detail);
		case 5:
			return by_pipe(bytes, length, filter, detail);
		case 6:
			return by_file(BLOOMFILTER_POPULATE, bytes, length, filter, detail);
		case 7:
			return by_file(BLOOMFILTER_HUGE_PAGES | BLOOMFILTER_POPULATE, bytes, length, filter, detail);
		case 8:
			return by_file(BLOOMFILTER_COPY | BLOOMFILTER_HUGE_PAGES, bytes, length, filter, detail);
		default:
			return bloomfilter_open_memory(bytes, length, BLOOMFILTER_COPY | BLOOMFILTER_HUGE_PAGES,
										   filter, detail);
	}
}
