/*
 * target.c
 *	  A path that is replaced in one step, and the new file beside it.
 *
 * The new file is named after the target, with a number of its writer's:
 * ".users.0123abcd.tmp".  Its writer holds a lock on it until it is done or killed.  So
 * the new file of a killed writer is one that can be locked, and the next writer
 * deletes it, however young it is.
 */
#define _GNU_SOURCE				/* O_PATH, flock */

#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "bf_hash.h"
#include "error.h"

/*
 * Names to try.  One of 2^32 that is taken already is bad luck; so many one after
 * the other are a fault.
 */
#define MOST_ATTEMPTS 100

/* What a new file's name has beside the target's. */
#define ENDING			".tmp"
#define DIGITS			8
#define APPENDED_BYTES	(2 + DIGITS + sizeof ENDING - 1)

/* The target's name in it, cut off where both don't fit. */
#define NAME_IN_NEW		((int) (LBF_MOST_NAME_BYTES - APPENDED_BYTES))

/* Seconds after which a file is nobody's any more where no lock can tell. */
#define LEFT_AFTER		(24 * 60 * 60)

/* ------------------------------------------------------------------------
 * The target
 * ------------------------------------------------------------------------ */

/*
 * A folder that can't be listed can still be written to: then it is not synced.
 */
static int
open_folder(const char *path)
{
	int			fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

#ifdef O_PATH
	if (fd < 0 && errno == EACCES)
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
#endif
	return fd;
}

static int
open_folder_of(lbf_target *target, bloomfilter_detail *detail)
{
	char	   *slash = strrchr(target->path, '/');

	target->name = slash == NULL ? target->path : slash + 1;
	if (slash == NULL)
		target->folder = open_folder(".");
	else if (slash == target->path)
		target->folder = open_folder("/");
	else
	{
		*slash = '\0';
		target->folder = open_folder(target->path);
		*slash = '/';
	}
	if (target->folder < 0)
		return lbf_fail_system(detail, target->path, "open its folder");
	return BLOOMFILTER_OK;
}

/* Looks at what will be replaced.  A symbolic link is, and not what it leads to. */
static int
look_at_old(lbf_target *target, bloomfilter_detail *detail)
{
	if (fstatat(target->folder, target->name, &target->old, 0) != 0)
	{
		target->there = false;
		if (errno != ENOENT)
			return lbf_fail_system(detail, target->path, "replace");
		return BLOOMFILTER_OK;
	}
	target->there = true;
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

int
lbf_target_open(lbf_target *target, const char *path, bloomfilter_detail *detail)
{
	int			code;

	memset(target, 0, sizeof *target);
	target->folder = -1;
	target->fd = -1;
	if (path == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	target->path = strdup(path);
	if (target->path == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	code = open_folder_of(target, detail);
	if (code == BLOOMFILTER_OK && target->name[0] == '\0')
		code = lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, path, "is no file's name");
	if (code == BLOOMFILTER_OK)
		code = look_at_old(target, detail);
	if (code != BLOOMFILTER_OK)
		lbf_target_close(target);
	return code;
}

void
lbf_target_close(lbf_target *target)
{
	if (target->fd >= 0)
		close(target->fd);
	if (target->new_name[0] != '\0')
		unlinkat(target->folder, target->new_name, 0);
	if (target->folder >= 0)
		close(target->folder);
	free(target->path);
	memset(target, 0, sizeof *target);
	target->fd = target->folder = -1;
}

/* ------------------------------------------------------------------------
 * What is left behind
 * ------------------------------------------------------------------------ */

/* Whether a name is one that a new file of this target has. */
static bool
is_new_name(const lbf_target *target, const char *name)
{
	size_t		length = strnlen(target->name, (size_t) NAME_IN_NEW);
	const char *digits = name + 1 + length + 1;

	return strlen(name) == length + APPENDED_BYTES && name[0] == '.' &&
		memcmp(name + 1, target->name, length) == 0 && digits[-1] == '.' &&
		strspn(digits, "0123456789abcdef") == DIGITS && strcmp(digits + DIGITS, ENDING) == 0;
}

/* Whether the writer of a new file is no more. */
static bool
is_orphan(const lbf_target *target, const char *name)
{
	int			fd = openat(target->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	bool		orphan;

	if (fd < 0)
		return false;
	orphan = flock(fd, LOCK_EX | LOCK_NB) == 0;
	/* where there are no locks; a clock that was set back makes files of the future */
	if (!orphan && errno != EWOULDBLOCK)
		orphan = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_mtime < time(NULL) - LEFT_AFTER;
	close(fd);
	return orphan;
}

/* Nothing depends on it, so nothing is said where it can't be done. */
static void
sweep(const lbf_target *target)
{
	int			fd = openat(target->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR		   *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (folder == NULL)
	{
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(folder)) != NULL)
		if (is_new_name(target, entry->d_name) && is_orphan(target, entry->d_name))
			unlinkat(target->folder, entry->d_name, 0);
	closedir(folder);
}

/* ------------------------------------------------------------------------
 * The new file
 * ------------------------------------------------------------------------ */

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

/*
 * Locks the new file.  False if another writer took it for one of a killed writer's
 * between its creation and here.  Where there are no locks nobody does.
 */
static bool
keep(const lbf_target *target)
{
	struct stat st;

	if (flock(target->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return false;
	return fstat(target->fd, &st) == 0 && st.st_nlink > 0;
}

int
lbf_target_create(lbf_target *target, bloomfilter_detail *detail)
{
	/* what others may not read they may not read while it is written, either */
	mode_t		mode = target->there ? 0600 : 0666;
	uint64_t	number = 0;
	int			attempt;

	sweep(target);
	errno = EEXIST;
	for (attempt = 0; attempt < MOST_ATTEMPTS && errno == EEXIST; attempt++)
	{
		number = draw(number);
		snprintf(target->new_name, sizeof target->new_name, ".%.*s.%0*x" ENDING,
				 NAME_IN_NEW, target->name, DIGITS, (unsigned) (uint32_t) number);
		target->fd = openat(target->folder, target->new_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (target->fd < 0)
			continue;
		if (keep(target))
			return BLOOMFILTER_OK;
		close(target->fd);
		target->fd = -1;
		errno = EEXIST;
	}
	target->new_name[0] = '\0';
	return lbf_fail_system(detail, target->path, "create a file beside it");
}

int
lbf_target_append(const lbf_target *target, const void *bytes, size_t length,
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

int
lbf_target_commit(lbf_target *target, bloomfilter_detail *detail)
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
