/*
 * new_file.c
 *	  A new FILE: made beside the old one, synced, and renamed over it.
 *
 * All of it is on the disk before it has its name, so what its page says that it was born
 * with is true of every copy of it, for ever.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "system.h"

#define CHUNK ((size_t) 1024 * 1024)

static bool
failed(place *p, const char *what)
{
	int			error = errno;

	place_new_drop(p);
	p->word = "disk";
	complain("cannot %s \"%s\": %s", what, p->new_file, strerror(error));
	return false;
}

void
place_new_drop(place *p)
{
	if (p->new_fd >= 0)
		close(p->new_fd);
	p->new_fd = -1;
	unlinkat(p->folder, p->new_file, 0);
	free(p->new_parts);
	p->new_parts = NULL;
	p->new_count = 0;
}

bool
place_new(place *p, const feed_part *parts, uint32_t count)
{
	int			error;

	place_new_drop(p);
	p->new_parts = allocate(NULL, count, sizeof *parts);
	memcpy(p->new_parts, parts, count * sizeof *parts);
	p->new_count = count;
	p->new_length = feed_lay_out(p->new_parts, count);
	if (!place_has_memory(p, p->new_length))
	{
		p->word = "disk";
		place_new_drop(p);
		return false;
	}
	p->new_fd = openat(p->folder, p->new_file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (p->new_fd < 0)
		return failed(p, "make");
	/* a hole in a full tmpfs would end readers, not this program */
	error = posix_fallocate(p->new_fd, 0, (off_t) p->new_length);
	errno = error;
	return error == 0 || failed(p, "make room for");
}

bool
place_new_header(place *p, const feed_part *part)
{
	feed_part  *to = &p->new_parts[part->part];
	uint64_t	at = to->at;

	*to = *part;
	to->at = at;
	feed_part_strip(to);
	return write_all(p->new_fd, to->header, feed_front(to), at) || failed(p, "write");
}

bool
place_new_copy(place *p, uint64_t *sum)
{
	uint8_t    *chunk = allocate(NULL, CHUNK, 1);
	uint64_t	at;
	bool		copied = true;

	for (at = FEED_PAGE; at < p->who.length && copied; at += CHUNK)
	{
		size_t		length = p->who.length - at < CHUNK ? (size_t) (p->who.length - at) : CHUNK;

		copied = read_all(p->fd, chunk, length, at) && write_all(p->new_fd, chunk, length, at);
	}
	free(chunk);
	/* of what was written, as it is what counts */
	return (copied && parts_sum(p->new_fd, p->new_parts, p->new_count, sum)) || failed(p, "fill");
}

/* ------------------------------------------------------------------------
 * It becomes FILE
 * ------------------------------------------------------------------------ */

/* Of a file that is replaced; of a new one what the umask leaves. */
static bool
set_mode(const place *p)
{
	struct stat st;
	mode_t		mask = umask(0);

	umask(mask);
	if (fstatat(p->folder, p->file, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return fchmod(p->new_fd, 0666 & ~mask) == 0;
	/* a group that this user is not in can't be given */
	if (fchown(p->new_fd, (uid_t) -1, st.st_gid) != 0)
		st.st_mode &= ~(mode_t) S_IRWXG;
	return fchmod(p->new_fd, st.st_mode & 0777) == 0;
}

static bool
write_page(const place *p, const feed_who *who, const place_facts *facts)
{
	uint8_t		page[FEED_PAGE];

	memset(page, 0, sizeof page);
	feed_who_write(who, page);
	feed_now_write(&facts->now, page + FEED_NOW_AT);
	feed_how_write(&p->how, page + FEED_HOW_AT);
	return write_all(p->new_fd, page, sizeof page, 0);
}

bool
place_new_end(place *p, const place_facts *facts)
{
	struct stat st;
	feed_who	who = facts->who;

	if (fstat(p->new_fd, &st) != 0)
		return failed(p, "look at");
	who.length = p->new_length;
	who.parts = p->new_count;
	who.born = facts->now.content;
	who.place = p->here;
	who.place.device = (uint64_t) st.st_dev;
	who.place.inode = (uint64_t) st.st_ino;
	if (!write_page(p, &who, facts) || !set_mode(p) || fsync(p->new_fd) != 0)
		return failed(p, "write");
	place_supersede(p, 1);
	if (renameat(p->folder, p->new_file, p->folder, p->file) != 0)
	{
		place_supersede(p, 0);
		return failed(p, "rename");
	}
	/* the name is taken whatever comes: without this sync a loss of power may bring the old file back */
	if (fsync(p->folder) != 0)
		complain("cannot sync the folder of \"%s\": %s", p->path, strerror(errno));
	if (p->fd >= 0)
		close(p->fd);
	free(p->parts);
	p->fd = p->new_fd;
	p->parts = p->new_parts;
	p->new_fd = -1;
	p->new_parts = NULL;
	p->new_count = 0;
	p->who = who;
	p->now = facts->now;
	p->here = who.place;
	p->state = PLACE_MINE;
	p->changes = 0;
	p->lost = p->leave = false;
	p->saved = facts->now.content.serial;
	place_wrote(p);
	return true;
}

bool
place_again(place *p)
{
	place_facts facts = {p->who, p->now};
	uint64_t	sum;

	if (!place_new(p, p->parts, p->who.parts) || !place_new_copy(p, &sum))
		return false;
	/* of a plain file of before this boot bits may be there that its serial doesn't know */
	if (((p->state == PLACE_MINE && p->changes % 2 == 0) || feed_are_exact(p->parts, p->who.parts)) &&
		sum != p->now.content.sum)
	{
		place_new_drop(p);
		place_lose(p, "damaged", "bits of the file are not those that were set");
		return false;
	}
	facts.now.content.sum = sum;
	return place_new_end(p, &facts);
}
