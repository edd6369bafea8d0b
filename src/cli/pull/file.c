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

#define LOCK_ENDING ".lock"
#define NEW_ENDING ".new"

/* A copy that had no room is tried again so often. */
#define ADOPT_SECONDS 60.0

/* All of a file is compared with its sum so often. */
#define SUM_SECONDS 86400.0

bool
file_refuse(list_file *file, const char *reason, const char *text)
{
	file->reason = reason;
	return complain("\"%s\" %s", file->path, text);
}

bool
file_refuse_list(list_file *file, const char *name, const char *wanted)
{
	char		text[2 * FEED_NAME_BYTES + 64];

	snprintf(text, sizeof text, "is the list \"%s\", not \"%s\": remove it, or name another --out", name, wanted);
	return file_refuse(file, "identity", text);
}

bool
file_trouble(list_file *file, const char *what)
{
	file->reason = "disk";
	return complain("cannot %s \"%s\": %s", what, file->path, strerror(errno));
}

/* ------------------------------------------------------------------------
 * The folder and the lock
 * ------------------------------------------------------------------------ */

static bool
open_folder(list_file *file, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	file->folder_name = slash == NULL ? text_of(".") : text_of("%.*s", slash == path ? 1 : (int) (slash - path), path);
	file->name = text_of("%s", slash == NULL ? path : slash + 1);
	file->lock_file = text_of("%s" LOCK_ENDING, file->name);
	file->new_file = text_of(".%s" NEW_ENDING, file->name);
	file->folder = open(file->folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->folder < 0)
		return complain("cannot open the folder of \"%s\": %s", path, strerror(errno));
	/* in a folder of several users a link of another one would say where the list and its lock lie */
	return fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(st.st_mode) ||
		file_refuse(file, "disk", "is a symbolic link: give the path that it leads to");
}

/* Whether the path still leads to the lock that is held. */
static bool
has_lock(const list_file *file)
{
	struct stat st;

	return is_folder_at(file->folder, file->folder_name) &&
		fstatat(file->folder, file->lock_file, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == file->lock_inode;
}

static bool
hold_lock(list_file *file)
{
	struct flock all = {.l_type = F_WRLCK};
	struct stat st;

	/* nobody else may open it, and so keep it */
	file->lock = openat(file->folder, file->lock_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->lock < 0 || fstat(file->lock, &st) != 0)
		return file_trouble(file, "lock");
	if ((st.st_mode & 0077) != 0 && fchmod(file->lock, 0600) != 0)
		return file_trouble(file, "lock");
	/* no child has it, too: it ends with the follower, even while a child hangs on its disk */
	if (fcntl(file->lock, F_SETLK, &all) != 0)
		return errno == EAGAIN || errno == EACCES ? file_refuse(file, "disk", "is followed by another process") : file_trouble(file, "lock");
	file->lock_inode = st.st_ino;
	return has_lock(file) || file_refuse(file, "disk", "lost its lock while it was taken: try again");
}

/* ------------------------------------------------------------------------
 * What is here
 * ------------------------------------------------------------------------ */

void
content_close(file_content *content)
{
	if (content->fd >= 0)
		close(content->fd);
	free(content->parts);
	free(content->slots);
	content->fd = -1;
	content->parts = NULL;
	content->slots = NULL;
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
examine(const list_file *file, found *f)
{
	size_t		length;

	memset(f, 0, sizeof *f);
	f->fd = openat(file->folder, file->name, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
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
go_on(list_file *file, const found *f)
{
	file_bits	bits;
	feed_now	now;

	file->state = FILE_MINE;
	file->writes = feed_load(f->page, FEED_WRITES);
	feed_now_read(f->page, &file->kept.now);
	feed_how_read(f->page, &file->how);
	file->leave = feed_load(f->page, FEED_SUPERSEDED) != 0;
	file->kept.table = feed_table_read(f->page);
	if (!table_go_on(file))
	{
		file_lose(file, "damaged", "its table of changes is not what was set");
		return true;
	}
	/* it was killed while it set bits: what is there is what the sum is of */
	now = file->kept.now;
	return file->writes % 2 == 0 || (file_set_begin(file, &bits) && file_set_end(file, &bits, &now));
}

static bool
use(list_file *file, const found *f)
{
	feed_place	here = {.device = (uint64_t) f->st.st_dev, .inode = (uint64_t) f->st.st_ino};
	feed_where	where;
	feed_content saved;

	memcpy(here.boot, file->boot, sizeof here.boot);
	where = feed_where_is(&f->who, &here);
	file->kept.fd = f->fd;
	file->kept.who = f->who;
	file->written = f->st.st_mtim;
	file->kept.parts = allocate(NULL, f->who.parts, sizeof *file->kept.parts);
	file->saved = feed_saved_read(f->page, &f->who, &saved) ? saved.serial : f->who.born.serial;
	if (!read_parts(file->kept.fd, &file->kept.who, file->kept.parts))
	{
		/* its list is known, and what was taken of it */
		feed_now_read(f->page, &file->kept.now);
		content_close(&file->kept);
		file->lost = true;
		return true;
	}
	if (where == FEED_HERE)
		return go_on(file, f);
	file->state = FILE_FOREIGN;
	memset(&file->kept.now, 0, sizeof file->kept.now);
	(void) feed_told(f->page, &file->kept.who, where, &file->kept.now.content);
	feed_how_read(f->page, &file->how);
	if (!table_read(file))
		file_lose(file, "disk", strerror(errno));
	return true;
}

static bool
find(list_file *file)
{
	found		f;
	found_file	what = examine(file, &f);

	if (what == A_LIST)
		return use(file, &f);
	if (f.fd >= 0)
		close(f.fd);
	if (what == UNREADABLE)
		return file_trouble(file, "open");
	return what == NO_LIST || file_refuse(file, "identity", "is no list and no filter, and is left alone: give another file");
}

bool
file_open(list_file *file, const char *path)
{
	struct statfs fs;

	file->path = path;
	file->folder = file->lock = file->kept.fd = file->made.fd = -1;
	file->reason = "";
	read_boot_id(file->boot);
	if (sodium_is_zero(file->boot, sizeof file->boot))
		return complain("cannot read /proc/sys/kernel/random/boot_id, which tells what a file may be believed");
	if (!open_folder(file, path) || !hold_lock(file))
		return false;
	file->in_memory = fstatfs(file->folder, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
	file->save_began = file->check_due = monotonic_seconds();
	unlinkat(file->folder, file->new_file, 0);
	return find(file);
}

/* ------------------------------------------------------------------------
 * What became of it
 * ------------------------------------------------------------------------ */

bool
file_lose(list_file *file, const char *reason, const char *text)
{
	feed_now	told = file->kept.now;
	uint8_t		bytes[FEED_NOW_BYTES];

	file->lost = true;
	file->reason = reason;
	complain("\"%s\": %s: its list is needed anew", file->path, text);
	if (file->state != FILE_MINE)
		return false;
	/* what a disk dropped came after these; of bits that are wrong nothing is known */
	told.content.serial = strcmp(reason, "disk") != 0 ? 0 : file->saved > file->kept.who.born.serial ? file->saved : file->kept.who.born.serial;
	told.true_at = 0;
	feed_now_write(&told, bytes);
	(void) write_all(file->kept.fd, bytes, sizeof bytes, FEED_NOW_AT);
	file_supersede(file, strcmp(reason, "disk") != 0 ? FEED_LOST : FEED_REPLACED);
	file_note(file, false, reason, text);
	return false;
}

void
file_supersede(list_file *file, uint64_t value)
{
	uint8_t		word[8];

	feed_word(word, value);
	if (file->state != FILE_MINE)
		return;
	(void) write_all(file->kept.fd, word, sizeof word, FEED_SUPERSEDED);
	file_wrote(file);
}

bool
file_has_page(const list_file *file)
{
	_Alignas(8) uint8_t page[FEED_PAGE];
	feed_who	who;
	feed_table	table;
	struct stat st;

	if (fstat(file->kept.fd, &st) != 0 || (uint64_t) st.st_size != file->kept.who.length || !read_all(file->kept.fd, page, sizeof page, 0))
		return false;
	/* an older page of an exact file differs by this alone, and hides changes from readers */
	table = feed_table_read(page);
	return feed_who_read(page, file->kept.who.length, &who) == NULL &&
		memcmp(&who.place, &file->kept.who.place, sizeof who.place) == 0 && feed_load(page, FEED_WRITES) == file->writes &&
		feed_load(page, FEED_SERIAL) == file->kept.now.content.serial && memcmp(&table, &file->kept.table, sizeof table) == 0;
}

void
file_wrote(list_file *file)
{
	struct stat st;

	if (fstat(file->kept.fd, &st) == 0)
		file->written = st.st_mtim;
}

bool
file_was_written(const list_file *file)
{
	struct stat st;

	return fstat(file->kept.fd, &st) != 0 || st.st_mtim.tv_sec != file->written.tv_sec || st.st_mtim.tv_nsec != file->written.tv_nsec;
}

/* Where others wrote to the page, readers find that by themselves, but for an older page of the same file. */
static void
mark_lost(const list_file *file)
{
	_Alignas(8) uint8_t page[FEED_PAGE];
	uint8_t		word[8];
	feed_who	who;

	feed_word(word, FEED_LOST);
	if (read_all(file->kept.fd, page, sizeof page, 0) && feed_who_read(page, file->kept.who.length, &who) == NULL &&
		memcmp(&who.place, &file->kept.who.place, sizeof who.place) == 0)
		(void) write_all(file->kept.fd, word, sizeof word, FEED_SUPERSEDED);
}

/* Whether all of FILE is what its sum and its table say. */
static bool
is_sound(const list_file *file)
{
	uint64_t	sum;

	return parts_sum(&file->kept, &sum) && sum == file->kept.now.content.sum && table_is_right(file);
}

static bool
make_again(list_file *file, const char *what)
{
	complain("\"%s\" %s by another program, and is made again", file->path, what);
	return file_again(file, NULL, 0, 0);
}

/* The same file, which another program may have written to. */
static bool
check_content(list_file *file)
{
	bool		page = file_has_page(file);

	if (page && (!file_was_written(file) || file->writes % 2 != 0))
		return true;
	file_wrote(file);
	if (file->writes % 2 == 0 && is_sound(file))
		return page || make_again(file, "was written to or made longer");
	if (!page)
	{
		mark_lost(file);
		content_close(&file->kept);
		file->state = FILE_EMPTY;
	}
	file_lose(file, "damaged", "another program wrote to it, or cut it");
	return true;
}

bool
file_check_sum(list_file *file)
{
	if (file->state != FILE_MINE || file->lost || file->writes % 2 != 0 || monotonic_seconds() < file->check_due)
		return true;
	file->check_due = monotonic_seconds() + SUM_SECONDS * (0.5 + random_share());
	return is_sound(file) || file_lose(file, "damaged", "its bits are not those that were set");
}

/* Another file has the name, or none. */
static bool
restore_name(list_file *file)
{
	found		f;
	found_file	what = examine(file, &f);

	if (f.fd >= 0)
		close(f.fd);
	if (what == A_LIST && (strcmp(f.who.name, file->kept.who.name) != 0 ||
						   memcmp(f.who.identity, file->kept.who.identity, FEED_IDENTITY_BYTES) != 0))
		return file_refuse_list(file, f.who.name, file->kept.who.name);
	if (what == NOT_OURS || what == UNREADABLE)
		return file_refuse(file, "identity", "was replaced by something else, which is left alone: remove it");
	return make_again(file, "was removed or replaced");
}

/* FOREIGN becomes MINE, as soon as there is room. */
static bool
adopt(list_file *file)
{
	if (file->adopted > 0 && monotonic_seconds() - file->adopted < ADOPT_SECONDS)
	{
		file->reason = "disk";
		return false;
	}
	file->adopted = monotonic_seconds();
	return file_again(file, NULL, 0, 0);
}

bool
file_check(list_file *file, bool *over)
{
	struct stat st;
	bool		there = fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	*over = !has_lock(file);
	file->reason = "";
	if (*over)
		return file_refuse(file, "disk", "has lost its lock, which somebody removed or moved: another process may follow it");
	if (file->lost)
		return true;
	if (file->state == FILE_EMPTY && (!there || !find(file)))
		return !there;
	if (file->state == FILE_EMPTY)
		return true;
	if (file->state == FILE_FOREIGN)
		return adopt(file) || file->lost;
	if (file->leave)
		return file_again(file, NULL, 0, 0) || file->lost;
	if (!there || (uint64_t) st.st_ino != file->kept.who.place.inode || (uint64_t) st.st_dev != file->kept.who.place.device)
		return restore_name(file) || file->lost;
	return check_content(file);
}

/* ------------------------------------------------------------------------
 * How its list fares
 * ------------------------------------------------------------------------ */

void
file_note(list_file *file, bool looked, const char *reason, const char *text)
{
	uint8_t		bytes[FEED_HOW_BYTES];

	if (strcmp(reason, file->how.reason) != 0)
		file->how.since = reason[0] == '\0' ? 0 : time_now();
	snprintf(file->how.reason, sizeof file->how.reason, "%s", reason);
	snprintf(file->how.message, sizeof file->how.message, "%s", text);
	if (looked)
	{
		file->how.looked = time_now();
		file->how.looked_boot = boot_time_now();
		file->how.failures = 0;
	}
	else if (strcmp(reason, "waiting") != 0)
		file->how.failures++;
	if (file->state != FILE_MINE)
		return;
	feed_how_write(&file->how, bytes);
	/* who wrote meanwhile is found before this hides it */
	if (file_was_written(file) && file->writes % 2 == 0 && !file->lost)
		return;
	if (write_all(file->kept.fd, bytes, sizeof bytes, FEED_HOW_AT))
		file_wrote(file);
}

void
file_close(list_file *file)
{
	struct stat st;

	file_save_last(file);
	if (file->made.fd >= 0)
		new_file_drop(file);
	content_close(&file->kept);
	/* where nothing was pulled nothing stays */
	if (file->lock >= 0 && has_lock(file) && (file->kept.who.parts == 0 || fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0))
		unlinkat(file->folder, file->lock_file, 0);
	if (file->lock >= 0)
		close(file->lock);
	if (file->folder >= 0)
		close(file->folder);
	free(file->folder_name);
	free(file->name);
	free(file->lock_file);
	free(file->new_file);
}
