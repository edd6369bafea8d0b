/*
 * new.c
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

static bool
write_headers(place *p)
{
	uint32_t	i;

	for (i = 0; i < p->new_count; i++)
		if (p->new_parts[i].parts != 0 && !write_all(p->new_fd, p->new_parts[i].header, FEED_HEADER_BYTES, p->new_parts[i].at))
			return false;
	return true;
}

bool
place_new(place *p, const feed_part *parts, uint32_t count)
{
	uint32_t	i;
	int			error;

	place_new_drop(p);
	p->new_parts = allocate(NULL, count, sizeof *parts);
	memcpy(p->new_parts, parts, count * sizeof *parts);
	p->new_count = count;
	for (i = 0; i < count; i++)
		if (parts[i].parts != 0)
			feed_part_strip(&p->new_parts[i]);
	p->new_length = feed_lay_out(p->new_parts, count);
	if (!place_has_memory(p->folder_name, p->new_length))
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
	return (error == 0 && write_headers(p)) || failed(p, "make room for");
}

bool
place_new_header(place *p, const feed_part *part)
{
	feed_part  *to = &p->new_parts[part->part];
	uint64_t	at = to->at;

	*to = *part;
	to->at = at;
	feed_part_strip(to);
	return write_all(p->new_fd, to->header, FEED_HEADER_BYTES, at) || failed(p, "write");
}

bool
place_new_write(place *p, uint64_t at, const void *bytes, size_t length)
{
	return write_all(p->new_fd, bytes, length, at);
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

static void
store_superseded(place *p, uint64_t value)
{
	uint8_t		word[8];

	feed_word(word, value);
	if (p->state != PLACE_MINE || p->fd < 0)
		return;
	(void) write_all(p->fd, word, sizeof word, FEED_SUPERSEDED);
	place_wrote(p);
}

static void
describe(const place *p, const place_facts *facts, const struct stat *st, feed_who *who)
{
	memset(who, 0, sizeof *who);
	who->length = p->new_length;
	who->parts = p->new_count;
	who->epoch = facts->epoch;
	memcpy(who->identity, facts->identity, sizeof who->identity);
	who->place = p->here;
	who->place.device = (uint64_t) st->st_dev;
	who->place.inode = (uint64_t) st->st_ino;
	who->born = facts->now.content;
	who->built = facts->built;
	snprintf(who->name, sizeof who->name, "%s", facts->name);
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
	feed_who	who;
	bool		renamed;

	if (fstat(p->new_fd, &st) != 0)
		return failed(p, "look at");
	describe(p, facts, &st, &who);
	if (!write_page(p, &who, facts) || !set_mode(p) || fsync(p->new_fd) != 0)
		return failed(p, "write");
	store_superseded(p, 1);
	renamed = renameat(p->folder, p->new_file, p->folder, p->file) == 0;
	if (!renamed)
	{
		store_superseded(p, 0);
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
	place_facts facts = {p->who.name, p->who.identity, p->who.epoch, p->who.built, p->now};
	char		name[FEED_NAME_BYTES + 1];
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	sum;

	/* they are replaced when it ends */
	memcpy(name, p->who.name, sizeof name);
	memcpy(identity, p->who.identity, sizeof identity);
	facts.name = name;
	facts.identity = identity;
	if (!place_new(p, p->parts, p->who.parts) || !place_new_copy(p, &sum))
		return false;
	/* of a file of before this boot bits may be there that its serial doesn't know */
	if (p->state == PLACE_MINE && p->changes % 2 == 0 && sum != p->now.content.sum)
	{
		place_new_drop(p);
		place_lose(p, "damaged", "bits of the file are not those that were set");
		return false;
	}
	facts.now.content.sum = sum;
	return place_new_end(p, &facts);
}
