/*
 * write.c
 *	  Writing filters to files: one part alone, several behind a page that says whose
 *	  they are.
 *
 * A program that opens the path sees all of the old file or all of the new one, after a
 * crash, too: the new file is written under a name of its own in the same folder and
 * synced before it is renamed.  Who has the old one open keeps it.
 *
 * The new file is named after the target: ".users.tmp".  Its writer holds a lock on it until
 * it is done or killed.  So what a killed writer left is a file that can be locked, and the
 * next one deletes it, however young it is.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "handle.h"

/* Of a name that is too long with both, the beginning. */
#define NEW_NAME ".%.250s.tmp"

/* A path that is replaced in one step. */
typedef struct lbf_target
{
	const char *path;			/* the caller's */
	const char *name;			/* in path */
	int			folder;			/* descriptor that names are relative to */
	bool		there;			/* something is replaced, whose rights these are */
	struct stat old;
	int			fd;				/* of the new file, or -1 */
	char		new_name[NAME_MAX + 1];	/* "": there is none */
} lbf_target;

/* ------------------------------------------------------------------------
 * The target
 * ------------------------------------------------------------------------ */

static int
open_folder(lbf_target *target, bloomfilter_detail *detail)
{
	const char *slash = strrchr(target->path, '/');
	char	   *folder = slash == NULL ? strdup(".") : strndup(target->path, (size_t) (slash + 1 - target->path));
	int			code = BLOOMFILTER_OK;

	if (folder == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, target->path);
	target->name = slash == NULL ? target->path : slash + 1;
	target->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (target->folder < 0)
		code = lbf_fail_system(detail, target->path, "open its folder");
	free(folder);
	return code;
}

/* Looks at what will be replaced.  A symbolic link is, and not what it leads to. */
static int
look_at_old(lbf_target *target, bloomfilter_detail *detail)
{
	target->there = fstatat(target->folder, target->name, &target->old, 0) == 0;
	if (!target->there)
		return errno == ENOENT ? BLOOMFILTER_OK : lbf_fail_system(detail, target->path, "replace");
	if (S_ISREG(target->old.st_mode))
		return BLOOMFILTER_OK;
	if (S_ISDIR(target->old.st_mode))
	{
		errno = EISDIR;
		return lbf_fail_system(detail, target->path, "replace");
	}
	return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, target->path,
						 "is no regular file, and only such a file can be replaced");
}

/* Closes it; a new file that was not put in place is deleted. */
static void
target_close(lbf_target *target)
{
	/* while it is locked: the name may be another writer's then */
	if (target->new_name[0] != '\0')
		unlinkat(target->folder, target->new_name, 0);
	if (target->fd >= 0)
		close(target->fd);
	if (target->folder >= 0)
		close(target->folder);
}

/* Refuses what is there and no regular file: it can't be replaced by one. */
static int
target_open(lbf_target *target, const char *path, bloomfilter_detail *detail)
{
	int			code;

	*target = (lbf_target) {.path = path, .folder = -1, .fd = -1};
	if (path == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	code = open_folder(target, detail);
	if (code == BLOOMFILTER_OK && target->name[0] == '\0')
		code = lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, path, "is no file's name");
	if (code == BLOOMFILTER_OK)
		code = look_at_old(target, detail);
	if (code != BLOOMFILTER_OK)
		target_close(target);
	return code;
}

/* ------------------------------------------------------------------------
 * The new file
 * ------------------------------------------------------------------------ */

/* Whether the new file's name is still that of an open one. */
static bool
is_named(const lbf_target *target, int fd)
{
	struct stat open;
	struct stat named;

	return fstat(fd, &open) == 0 && fstatat(target->folder, target->new_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* Deletes what a killed writer left; false with errno, if another one is writing. */
static bool
delete_left(const lbf_target *target)
{
	int			fd = openat(target->folder, target->new_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool		gone;

	if (fd < 0)
		return errno == ENOENT;
	gone = flock(fd, LOCK_EX | LOCK_NB) == 0;
	/* only who has the lock of the file with this name gives it to another one */
	if (gone && is_named(target, fd))
		gone = unlinkat(target->folder, target->new_name, 0) == 0;
	close(fd);
	return gone;
}

/*
 * Locks the new file.  False if another writer took it for one of a killed writer's
 * between its creation and here.  Where there are no locks nobody does.
 */
static bool
keep(const lbf_target *target)
{
	return (flock(target->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_named(target, target->fd);
}

/* Begins the new file, and deletes one that a killed writer of this path has left. */
static int
target_create(lbf_target *target, bloomfilter_detail *detail)
{
	/* what others may not read they may not read while it is written, either */
	mode_t		mode = target->there ? 0600 : 0666;

	snprintf(target->new_name, sizeof target->new_name, NEW_NAME, target->name);
	for (;;)
	{
		target->fd = openat(target->folder, target->new_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (target->fd >= 0 && keep(target))
			return BLOOMFILTER_OK;
		if (target->fd < 0 && (errno != EEXIST || !delete_left(target)))
			break;
		if (target->fd >= 0)
			close(target->fd);
		target->fd = -1;
	}
	target->new_name[0] = '\0';
	if (errno == EWOULDBLOCK)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SYSTEM, target->path, "is being written by another process");
	return lbf_fail_system(detail, target->path, "create a file beside it");
}

static int
target_append(const lbf_target *target, const void *bytes, size_t length,
				  bloomfilter_detail *detail)
{
	const uint8_t *rest = bytes;

	while (length > 0)
	{
		ssize_t		done = write(target->fd, rest, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return lbf_fail_system(detail, target->path, "write");
		rest += done;
		length -= (size_t) done;
	}
	return BLOOMFILTER_OK;
}

/*
 * Owner and mode of what is replaced.  Who may not give a file away keeps it; if
 * the group is another one then, it gets no more than all others.
 */
static int
copy_rights(const lbf_target *target, bloomfilter_detail *detail)
{
	const struct stat *old = &target->old;
	mode_t		mode = old->st_mode & 0777;
	struct stat own;

	if (fstat(target->fd, &own) != 0)
		return lbf_fail_system(detail, target->path, "stat its new file");
	if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
		fchown(target->fd, old->st_uid, old->st_gid) != 0 &&
		own.st_gid != old->st_gid &&
		fchown(target->fd, (uid_t) -1, old->st_gid) != 0)
		mode = (mode & 0707) | (mode & 0007) << 3;
	if (fchmod(target->fd, mode) != 0)
		return lbf_fail_system(detail, target->path, "set the mode of its new file");
	return BLOOMFILTER_OK;
}

/* Makes sure that what was renamed stays so after a crash. */
static int
sync_folder(const lbf_target *target, bloomfilter_detail *detail)
{
	if (fsync(target->folder) == 0)
		return BLOOMFILTER_OK;
	/* some file systems can't sync folders, and say so in different ways */
	if (errno == EINVAL || errno == EBADF || errno == EOPNOTSUPP || errno == ENOTSUP)
		return BLOOMFILTER_OK;
	return lbf_fail_system(detail, target->path, "sync its folder, after it was replaced");
}

/* Gives the new file the rights of what it replaces, syncs it and puts it in place. */
static int
target_commit(lbf_target *target, bloomfilter_detail *detail)
{
	int			code = target->there ? copy_rights(target, detail) : BLOOMFILTER_OK;

	if (code != BLOOMFILTER_OK)
		return code;
	if (fsync(target->fd) != 0)
		return lbf_fail_system(detail, target->path, "sync its new file");
	if (renameat(target->folder, target->new_name, target->folder, target->name) != 0)
		return lbf_fail_system(detail, target->path, "replace");
	target->new_name[0] = '\0';
	return sync_folder(target, detail);
}

/* ------------------------------------------------------------------------
 * The filter
 * ------------------------------------------------------------------------ */

/* A part as it is everywhere; or as in a file with a page, where its header says nothing of the bits. */
static int
write_part(const lbf_part *part, bool paged, const lbf_target *target, bloomfilter_detail *detail)
{
	uint8_t		bytes[BF_HEADER_BYTES];
	bf_shape	shape = part->shape;
	bf_header  *header = &shape.level[0];
	int			code;

	if (shape.levels > 1)
		return target_append(target, part->bytes.start, part->bytes.length, detail);
	if (paged)
		header->bits_set = header->checksum = 0;
	else
		lbf_part_now(part, &shape);
	bf_header_copy(header, bytes);
	code = target_append(target, bytes, sizeof bytes, detail);
	return code == BLOOMFILTER_OK ? target_append(target, lbf_blocks(part), bf_blocks_bytes(header), detail) : code;
}

/* A file of all parts that nobody follows: all of its place is 0. */
static int
write_set(const bloomfilter *filter, const lbf_target *target, bloomfilter_detail *detail)
{
	static const uint8_t zeros[FEED_PAGE];
	uint8_t		page[FEED_PAGE] = {0};
	feed_who	who = {.length = FEED_PAGE, .parts = filter->open_parts, .born.serial = filter->told.serial};
	uint64_t	end = FEED_PAGE;
	uint32_t	i;
	int			code;

	for (i = 0; i < filter->open_parts; i++)
	{
		const lbf_part *part = &filter->part[i];

		who.length = feed_next_page(who.length) + part->bytes.length;
		who.born.sum += lbf_part_sum(part);
	}
	feed_who_write(&who, page);
	code = target_append(target, page, sizeof page, detail);
	for (i = 0; code == BLOOMFILTER_OK && i < filter->open_parts; i++)
	{
		code = target_append(target, zeros, feed_next_page(end) - end, detail);
		if (code == BLOOMFILTER_OK)
			code = write_part(&filter->part[i], true, target, detail);
		end = feed_next_page(end) + filter->part[i].bytes.length;
	}
	return code;
}

int
bloomfilter_write(const bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	lbf_target	target;
	int			code;

	if (filter->key_type == LBF_LOST)
		return lbf_fail(detail, BLOOMFILTER_ERR_LOST, NULL);
	if (lbf_is_live(filter))
		return lbf_fail(detail, BLOOMFILTER_ERR_FOLLOWED, NULL);
	code = target_open(&target, path, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	code = target_create(&target, detail);
	if (code == BLOOMFILTER_OK && filter->open_parts == 1)
		code = write_part(&filter->part[0], false, &target, detail);
	else if (code == BLOOMFILTER_OK)
		code = write_set(filter, &target, detail);
	if (code == BLOOMFILTER_OK)
		code = target_commit(&target, detail);
	target_close(&target);
	return code;
}

int
bloomfilter_can_write(const char *path, bloomfilter_detail *detail)
{
	lbf_target	target;
	int			code = target_open(&target, path, detail);

	if (code == BLOOMFILTER_OK)
		target_close(&target);
	return code;
}
