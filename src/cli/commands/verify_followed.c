/*
 * verify_followed.c
 *	  A file that pull keeps: all of it against the sum in its first page.
 *
 * Its follower may set bits meanwhile: then it is read once more.
 */
#include "verify_followed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "output.h"
#include "system.h"

#define MOST_READINGS 20

typedef struct followed
{
	_Alignas(8) uint8_t page[FEED_PAGE];
	feed_who	who;
	struct stat st;
	feed_part  *parts;
} followed;

static bool
read_page(int fd, followed *f)
{
	return fstat(fd, &f->st) == 0 && f->st.st_size >= FEED_PAGE && read_all(fd, f->page, sizeof f->page, 0);
}

/* Its parts; false if it is no file of a list. */
static bool
read_parts(int fd, followed *f)
{
	uint8_t		header[FEED_HEADER_BYTES];
	uint64_t	at = FEED_PAGE;
	uint32_t	i;

	if (!read_page(fd, f) || feed_who_read(f->page, (uint64_t) f->st.st_size, &f->who) != FEED_PAGE_OK)
		return false;
	f->parts = allocate(NULL, f->who.parts, sizeof *f->parts);
	for (i = 0; i < f->who.parts; i++)
		if (!read_all(fd, header, sizeof header, at) ||
			feed_who_part(&f->who, i, header, &at, &f->parts[i]) != FEED_PAGE_OK)
			return false;
	return true;
}

/* Whether it was the same before and after it was read. */
static bool
read_sum(int fd, followed *f, uint64_t *sum)
{
	uint64_t	changes;

	if (!read_page(fd, f))
		return false;
	changes = feed_load(f->page, FEED_CHANGES);
	return changes % 2 == 0 && parts_sum(fd, f->parts, f->who.parts, sum) && read_page(fd, f) &&
		feed_load(f->page, FEED_CHANGES) == changes;
}

static exit_status
compare(const char *path, int fd, followed *f)
{
	feed_place	here;
	feed_now	now;
	uint64_t	sum;
	int			readings;

	memset(&here, 0, sizeof here);
	read_boot_id(here.boot);
	here.device = (uint64_t) f->st.st_dev;
	here.inode = (uint64_t) f->st.st_ino;
	/* of what nobody follows the library compares the sum; a copy may have bits of any time */
	if (feed_where_is(&f->who, &here) != FEED_HERE)
		return STATUS_YES;
	for (readings = 0; readings < MOST_READINGS; readings++)
		if (read_sum(fd, f, &sum))
		{
			feed_now_read(f->page, &now);
			if (sum == now.content.sum)
				return STATUS_YES;
			complain("\"%s\" is damaged: its bits are not those that its follower has set", path);
			return STATUS_NO;
		}
	complain("\"%s\" changes while it is read, or was broken off while bits were set: nothing can be said of its sum", path);
	return STATUS_TROUBLE;
}

exit_status
verify_followed(const char *path)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC);
	followed   *f = allocate(NULL, 1, sizeof *f);
	exit_status status = STATUS_YES;

	memset(f, 0, sizeof *f);
	if (fd >= 0 && read_parts(fd, f))
		status = compare(path, fd, f);
	if (fd >= 0)
		close(fd);
	free(f->parts);
	free(f);
	return status;
}
