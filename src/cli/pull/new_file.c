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

#define CHUNK ((size_t) 1024 * 1024)

static bool
failed(list_file *file, const char *what)
{
	int			error = errno;

	new_file_drop(file);
	file->reason = "disk";
	return complain("cannot %s \"%s\": %s", what, file->new_file, strerror(error));
}

void
new_file_drop(list_file *file)
{
	content_close(&file->made);
	unlinkat(file->folder, file->new_file, 0);
}

bool
new_file_begin(list_file *file, const feed_part *parts, uint32_t count)
{
	file_content *made = &file->made;

	new_file_drop(file);
	*made = (file_content) {.fd = -1, .who.parts = count, .parts = allocate(NULL, count, sizeof *parts)};
	memcpy(made->parts, parts, count * sizeof *parts);
	made->who.length = feed_lay_out(made->parts, count);
	made->fd = openat(file->folder, file->new_file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (made->fd < 0)
		return failed(file, "make");
	/* a hole in a full tmpfs would end readers, not this program */
	errno = posix_fallocate(made->fd, 0, (off_t) made->who.length);
	return errno == 0 || failed(file, "make room for");
}

bool
new_file_header(list_file *file, const feed_part *part)
{
	feed_part  *to = &file->made.parts[part->shape.level[0].part];
	uint64_t	at = to->at;

	*to = *part;
	to->at = at;
	feed_part_strip(to);
	return write_all(file->made.fd, to->header, feed_front(to), at) || failed(file, "write");
}

bool
new_file_copy(list_file *file)
{
	file_content *made = &file->made;
	uint8_t    *chunk = allocate(NULL, CHUNK, 1);
	uint64_t	at;
	bool		copied = true;

	/* the table of changes isn't copied: it is made anew */
	for (at = FEED_PAGE; at < made->who.length && copied; at += CHUNK)
	{
		size_t		length = made->who.length - at < CHUNK ? (size_t) (made->who.length - at) : CHUNK;

		copied = read_all(file->kept.fd, chunk, length, at) && write_all(made->fd, chunk, length, at);
	}
	free(chunk);
	made->who.epoch = file->kept.who.epoch;
	made->now = file->kept.now;
	/* of what was written, as it is what counts */
	return (copied && parts_sum(made, &made->now.content.sum)) || failed(file, "fill");
}

/* Of a file that is replaced; of a new one what the umask leaves. */
static bool
set_mode(const list_file *file)
{
	struct stat st;
	mode_t		mask = umask(0);

	umask(mask);
	if (fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return fchmod(file->made.fd, 0666 & ~mask) == 0;
	/* a group that this user is not in can't be given */
	if (fchown(file->made.fd, (uid_t) -1, st.st_gid) != 0)
		st.st_mode &= ~(mode_t) S_IRWXG;
	return fchmod(file->made.fd, st.st_mode & 0777) == 0;
}

static bool
write_page(const list_file *file)
{
	uint8_t		page[FEED_PAGE] = {0};

	feed_table_write(&file->made.table, page);
	feed_who_write(&file->made.who, page);
	feed_now_write(&file->made.now, page + FEED_NOW_AT);
	feed_how_write(&file->how, page + FEED_HOW_AT);
	return write_all(file->made.fd, page, sizeof page, 0);
}

bool
new_file_end(list_file *file, const feed_who *as, const feed_now *now)
{
	file_content *made = &file->made;
	feed_who	who = *as;
	struct stat st;

	if (fstat(made->fd, &st) != 0)
		return failed(file, "look at");
	who.length = made->who.length;
	who.log2_slots = made->who.log2_slots;
	who.parts = made->who.parts;
	who.born = now->content;
	who.place = (feed_place) {.device = (uint64_t) st.st_dev, .inode = (uint64_t) st.st_ino};
	memcpy(who.place.boot, file->boot, sizeof file->boot);
	made->who = who;
	made->now = *now;
	if (!write_page(file) || !set_mode(file) || fsync(made->fd) != 0)
		return failed(file, "write");
	/* of a lost one they know more */
	if (!file->lost)
		file_supersede(file, FEED_REPLACED);
	if (renameat(file->folder, file->new_file, file->folder, file->name) != 0)
	{
		if (!file->lost)
			file_supersede(file, 0);
		return failed(file, "rename");
	}
	/* the name is taken whatever comes: without this sync a loss of power may bring the old file back */
	if (fsync(file->folder) != 0)
		complain("cannot sync the folder of \"%s\": %s", file->path, strerror(errno));
	content_close(&file->kept);
	file->kept = *made;
	*made = (file_content) {.fd = -1};
	file->state = FILE_MINE;
	file->writes = 0;
	file->lost = file->leave = false;
	file->saved = file->kept.now.content.serial;
	file_wrote(file);
	return true;
}

/* Its table has all of the old one, put in anew, and more. */
static bool
copy_table(list_file *file, const entry_list *more, uint64_t id, uint64_t to)
{
	entry_list	all = {NULL, 0, 0};
	bool		well;

	if (!file->kept.who.tracked)
		return true;
	table_entries(file, &all);
	if (more != NULL)
		entries_add(&all, more->entries, more->count);
	well = new_file_table(file, &all, id, to);
	entries_free(&all);
	return well;
}

bool
file_again(list_file *file, const entry_list *more, uint64_t id, uint64_t to)
{
	feed_now	now = file->kept.now;

	if (!new_file_begin(file, file->kept.parts, file->kept.who.parts) || !new_file_copy(file))
		return false;
	if (file->state == FILE_MINE && !table_is_right(file))
	{
		new_file_drop(file);
		return file_lose(file, "damaged", "its table of changes is not what was set");
	}
	/* of a plain file of before this boot bits may be there that its serial doesn't know */
	if (((file->state == FILE_MINE && file->writes % 2 == 0) || feed_are_exact(file->kept.parts, file->kept.who.parts)) &&
		file->made.now.content.sum != now.content.sum)
	{
		new_file_drop(file);
		return file_lose(file, "damaged", "bits of the file are not those that were set");
	}
	now.content.sum = file->made.now.content.sum;
	return copy_table(file, more, id, to) && new_file_end(file, &file->kept.who, &now);
}
