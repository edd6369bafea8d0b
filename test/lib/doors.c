/*
 * doors.c
 *	  All ways by which the bytes of a filter come into the library.
 */
#define _POSIX_C_SOURCE 200809L

#include "doors.h"

#include <unistd.h>

#include "files.h"
#include "tap.h"

const char *const door_names[DOORS] = {
	"mapped file", "copied file", "borrowed memory", "copied memory"
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
		default:
			return bloomfilter_open_memory(bytes, length, BLOOMFILTER_COPY, filter, detail);
	}
}
