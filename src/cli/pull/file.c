/*
 * file.c
 *	  FILE: what is here at first, what became of it meanwhile, and how its list fares.
 */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "messages.h"
#include "system.h"

#define LOCK_ENDING ".lock"
#define NEW_ENDING ".new"

/* A copy that had no room is tried again so often. */
#define SETTLE_SECONDS 60.0

bool
place_refuse(place *p, const char *word, const char *text)
{
	p->word = word;
	complain("\"%s\" %s", p->path, text);
	return false;
}

bool
place_trouble(place *p, const char *what)
{
	p->word = "disk";
	complain("cannot %s \"%s\": %s", what, p->path, strerror(errno));
	return false;
}

/* ------------------------------------------------------------------------
 * The folder and the lock
 * ------------------------------------------------------------------------ */

static bool
open_folder(place *p, const char *path)
{
	/* a link stays one: what it leads to is replaced */
	char	   *real = realpath(path, NULL);
	const char *from = real != NULL ? real : path;
	const char *slash = strrchr(from, '/');

	p->folder_name = slash == NULL ? text_of(".") : text_of("%.*s", slash == from ? 1 : (int) (slash - from), from);
	p->file = text_of("%s", slash == NULL ? from : slash + 1);
	p->lock_file = text_of("%s" LOCK_ENDING, p->file);
	p->new_file = text_of(".%s" NEW_ENDING, p->file);
	free(real);
	p->folder = open(p->folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->folder < 0)
		complain("cannot open the folder of \"%s\": %s", path, strerror(errno));
	return p->folder >= 0;
}

/* Whether the name still leads to the lock that is held. */
static bool
has_lock(const place *p)
{
	struct stat st;

	return fstatat(p->folder, p->lock_file, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == p->lock_inode;
}

static bool
take_lock(place *p)
{
	struct flock all = {.l_type = F_WRLCK};
	struct stat st;

	/* nobody else may open it, and so keep it */
	p->lock = openat(p->folder, p->lock_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (p->lock < 0 || fstat(p->lock, &st) != 0)
		return place_trouble(p, "lock");
	if ((st.st_mode & 0077) != 0 && fchmod(p->lock, 0600) != 0)
		return place_trouble(p, "lock");
	p->lock_inode = st.st_ino;
	/* no child has it, too: it ends with the follower, even while a child hangs on its disk */
	if (fcntl(p->lock, F_SETLK, &all) != 0)
		return errno == EAGAIN || errno == EACCES ? place_refuse(p, "disk", "is followed by another process") : place_trouble(p, "lock");
	return has_lock(p) || place_refuse(p, "disk", "lost its lock while it was taken: try again");
}

/* ------------------------------------------------------------------------
 * What is here
 * ------------------------------------------------------------------------ */

static void
let_go(place *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	free(p->parts);
	p->parts = NULL;
	p->state = PLACE_EMPTY;
}

/* Its parts, by their headers. */
static bool
read_parts(int fd, const feed_who *who, feed_part *parts)
{
	uint8_t		header[FEED_FRONT_BYTES];
	uint64_t	at = FEED_PAGE;
	uint32_t	i;

	for (i = 0; i < who->parts; i++)
		if (!read_all(fd, header, sizeof header, at) ||
			!feed_who_part(who, i, header, &at, &parts[i]))
			return false;
	return true;
}

/* What lies at FILE, if it could be taken for something. */
typedef enum found_file
{
	NO_LIST,					/* nothing, or nothing that is worth anything */
	A_LIST,
	NOT_OURS,					/* of another program */
	UNREADABLE
} found_file;

typedef struct found
{
	int			fd;
	_Alignas(8) uint8_t page[FEED_PAGE];
	feed_who	who;
	struct stat st;
} found;

/* After a loss of power a file can be empty, cut, or full of zeros. */
static found_file
look_at(const place *p, found *f)
{
	size_t		length;

	memset(f, 0, sizeof *f);
	f->fd = openat(p->folder, p->file, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (f->fd < 0)
		return errno == ENOENT ? NO_LIST : UNREADABLE;
	if (fstat(f->fd, &f->st) != 0)
		return UNREADABLE;
	if (!S_ISREG(f->st.st_mode))
		return NOT_OURS;
	length = f->st.st_size < FEED_PAGE ? (size_t) f->st.st_size : FEED_PAGE;
	if (!read_all(f->fd, f->page, length, 0))
		return UNREADABLE;
	if (feed_who_read(f->page, (uint64_t) f->st.st_size, &f->who) == NULL)
		return A_LIST;
	if (sodium_is_zero(f->page, length) || feed_page_is(f->page) || memcmp(f->page, "BLMF", 4) == 0)
		return NO_LIST;
	return NOT_OURS;
}

/* Goes on with a file that this boot's follower made. */
static bool
take_mine(place *p, const found *f)
{
	place_bits	bits;
	feed_now	now;

	p->state = PLACE_MINE;
	p->changes = feed_load(f->page, FEED_CHANGES);
	feed_now_read(f->page, &p->now);
	feed_how_read(f->page, &p->how);
	p->leave = feed_load(f->page, FEED_SUPERSEDED) != 0;
	/* it was killed while it set bits: what is there is what the sum is of */
	now = p->now;
	return p->changes % 2 == 0 || (place_set_begin(p, &bits) && place_set_end(p, &bits, &now));
}

static bool
take(place *p, const found *f)
{
	feed_content saved;

	p->fd = f->fd;
	p->who = f->who;
	p->here.device = (uint64_t) f->st.st_dev;
	p->here.inode = (uint64_t) f->st.st_ino;
	p->written = f->st.st_mtim;
	p->parts = allocate(NULL, f->who.parts, sizeof *p->parts);
	p->saved = feed_saved_read(f->page, &f->who, &saved) ? saved.serial : f->who.born.serial;
	if (!read_parts(p->fd, &p->who, p->parts))
	{
		/* its list is known, and what was taken of it */
		feed_now_read(f->page, &p->now);
		close(p->fd);
		p->fd = -1;
		p->lost = true;
		return true;
	}
	if (feed_where_is(&p->who, &p->here) == FEED_HERE)
		return take_mine(p, f);
	p->state = PLACE_FOREIGN;
	memset(&p->now, 0, sizeof p->now);
	(void) feed_told(f->page, &p->who, feed_where_is(&p->who, &p->here), &p->now.content);
	feed_how_read(f->page, &p->how);
	return true;
}

static bool
find(place *p)
{
	found		f;
	found_file	what = look_at(p, &f);
	bool		well = true;

	if (what == A_LIST)
		well = take(p, &f);
	else if (what == UNREADABLE)
		well = place_trouble(p, "open");
	else if (what == NOT_OURS)
		well = place_refuse(p, "identity", "is no list and no filter, and is left alone: remove it, or give another file");
	if (what != A_LIST && f.fd >= 0)
		close(f.fd);
	return well;
}

bool
place_open(place *p, const char *path)
{
	struct statfs fs;

	memset(p, 0, sizeof *p);
	p->path = path;
	p->folder = p->lock = p->fd = p->new_fd = -1;
	p->word = "";
	read_boot_id(p->here.boot);
	if (sodium_is_zero(p->here.boot, sizeof p->here.boot))
	{
		complain("cannot read /proc/sys/kernel/random/boot_id, which tells what a file may be believed");
		return false;
	}
	if (!open_folder(p, path) || !take_lock(p))
		return false;
	p->in_memory = fstatfs(p->folder, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
	p->save_began = p->check_due = monotonic_seconds();
	unlinkat(p->folder, p->new_file, 0);
	return find(p);
}

/* ------------------------------------------------------------------------
 * What became of it
 * ------------------------------------------------------------------------ */

void
place_lose(place *p, const char *word, const char *text)
{
	feed_now	told = p->now;
	uint8_t		bytes[FEED_NOW_BYTES];

	p->lost = true;
	p->word = word;
	complain("\"%s\": %s: its list is needed anew", p->path, text);
	if (p->state != PLACE_MINE || p->fd < 0)
		return;
	/* what a disk dropped came after these; of bits that are wrong nothing is known */
	told.content.serial = strcmp(word, "disk") != 0 ? 0 : p->saved > p->who.born.serial ? p->saved : p->who.born.serial;
	told.true_at = 0;
	feed_now_write(&told, bytes);
	(void) write_all(p->fd, bytes, sizeof bytes, FEED_NOW_AT);
	place_supersede(p, 1);
	place_note(p, false, word, text);
}

void
place_supersede(place *p, uint64_t value)
{
	uint8_t		word[8];

	feed_word(word, value);
	if (p->state != PLACE_MINE || p->fd < 0)
		return;
	(void) write_all(p->fd, word, sizeof word, FEED_SUPERSEDED);
	place_wrote(p);
}

bool
place_has_page(const place *p)
{
	_Alignas(8) uint8_t page[FEED_PAGE];
	feed_who	who;
	struct stat st;

	return fstat(p->fd, &st) == 0 && (uint64_t) st.st_size == p->who.length &&
		read_all(p->fd, page, sizeof page, 0) && feed_who_read(page, p->who.length, &who) == NULL &&
		memcmp(&who.place, &p->who.place, sizeof who.place) == 0 && feed_load(page, FEED_CHANGES) == p->changes &&
		feed_load(page, FEED_SERIAL) == p->now.content.serial;
}

bool
place_was_written(const place *p)
{
	struct stat st;

	return fstat(p->fd, &st) != 0 || st.st_mtim.tv_sec != p->written.tv_sec || st.st_mtim.tv_nsec != p->written.tv_nsec;
}

/* The same file, which another program may have written to. */
static bool
check_content(place *p)
{
	uint64_t	sum;
	bool		page = place_has_page(p);
	struct stat st;

	if (page && (!place_was_written(p) || p->changes % 2 != 0))
		return true;
	if (fstat(p->fd, &st) == 0)
		p->written = st.st_mtim;
	if ((uint64_t) st.st_size == p->who.length && p->changes % 2 == 0 &&
		parts_sum(p->fd, p->parts, p->who.parts, &sum) && sum == p->now.content.sum)
		return page || place_again(p);
	/* a page that others wrote is not written to */
	if (!page)
		let_go(p);
	place_lose(p, "damaged", "another program wrote to it, or cut it");
	return true;
}

/* Another file has the name, or none. */
static bool
take_name_back(place *p)
{
	found		f;
	found_file	what = look_at(p, &f);
	bool		other = what == NOT_OURS || what == UNREADABLE ||
		(what == A_LIST && (strcmp(f.who.name, p->who.name) != 0 ||
							memcmp(f.who.identity, p->who.identity, FEED_IDENTITY_BYTES) != 0));

	if (f.fd >= 0)
		close(f.fd);
	if (other)
		return place_refuse(p, "identity", "was replaced by something else, which is left alone: remove it");
	complain("\"%s\" was removed or replaced by another program, and is made again", p->path);
	return place_again(p);
}

/* FOREIGN becomes MINE, as soon as there is room. */
static bool
settle(place *p)
{
	if (p->settled > 0 && monotonic_seconds() - p->settled < SETTLE_SECONDS)
	{
		p->word = "disk";
		return false;
	}
	p->settled = monotonic_seconds();
	return place_again(p);
}

void
place_wrote(place *p)
{
	struct stat st;

	if (fstat(p->fd, &st) == 0)
		p->written = st.st_mtim;
}

bool
place_check(place *p, bool *over)
{
	struct stat st;
	bool		there = fstatat(p->folder, p->file, &st, AT_SYMLINK_NOFOLLOW) == 0;

	*over = !has_lock(p);
	p->word = "";
	if (*over)
		return place_refuse(p, "disk", "has lost its lock, which somebody removed: another process may follow it");
	if (p->lost)
		return true;
	if (p->state == PLACE_EMPTY && (!there || !find(p)))
		return !there;
	if (p->state == PLACE_EMPTY)
		return true;
	if (p->state == PLACE_FOREIGN)
		return settle(p) || p->lost;
	if (p->leave)
		return place_again(p) || p->lost;
	if (!there || (uint64_t) st.st_ino != p->here.inode || (uint64_t) st.st_dev != p->here.device)
		return take_name_back(p) || p->lost;
	return check_content(p);
}

/* ------------------------------------------------------------------------
 * How its list fares
 * ------------------------------------------------------------------------ */

void
place_note(place *p, bool looked, const char *word, const char *text)
{
	uint8_t		bytes[FEED_HOW_BYTES];

	if (strcmp(word, p->how.word) != 0)
		p->how.since = word[0] == '\0' ? 0 : time_now();
	snprintf(p->how.word, sizeof p->how.word, "%s", word);
	snprintf(p->how.text, sizeof p->how.text, "%s", text);
	if (looked)
	{
		p->how.looked = time_now();
		p->how.looked_boot = boot_time_now();
		p->how.failures = 0;
	}
	else if (strcmp(word, "waiting") != 0)
		p->how.failures++;
	if (p->state != PLACE_MINE || p->fd < 0)
		return;
	feed_how_write(&p->how, bytes);
	/* who wrote meanwhile is found before this hides it */
	if (place_was_written(p) && p->changes % 2 == 0 && !p->lost)
		return;
	if (write_all(p->fd, bytes, sizeof bytes, FEED_HOW_AT))
		place_wrote(p);
}

void
place_close(place *p)
{
	if (p->lock >= 0 && p->folder >= 0)
		place_save_last(p);
	if (p->new_fd >= 0)
		place_new_drop(p);
	let_go(p);
	if (p->lock >= 0)
		close(p->lock);
	if (p->folder >= 0)
		close(p->folder);
	free(p->folder_name);
	free(p->file);
	free(p->lock_file);
	free(p->new_file);
	memset(p, 0, sizeof *p);
	p->folder = p->lock = p->fd = p->new_fd = -1;
}
