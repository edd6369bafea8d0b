/*
 * target.c
 *	  A path that is replaced in one step, and the new files beside it.
 *
 * A new file is named after the target, with a number of its writer's and one of
 * its own: ".users.0123abcd.00000.tmp".  The writer's first one is its token, which
 * stays locked until the writer is done or killed.  So the new files of a killed
 * writer are known by a token that can be locked, or isn't there any more, and the
 * next writer deletes them, however young they are.
 */
#define _GNU_SOURCE				/* O_PATH, flock */

#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#define WRITER_DIGITS	8
#define FILE_DIGITS		5
#define APPENDED_BYTES	(3 + WRITER_DIGITS + FILE_DIGITS + sizeof ENDING - 1)

/* The target's name in it, cut off where both don't fit. */
#define NAME_IN_NEW		((int) (LBF_MOST_NAME_BYTES - APPENDED_BYTES))

/* Seconds after which a file is nobody's any more where no lock can tell. */
#define LEFT_AFTER		(24 * 60 * 60)

/* How long another writer is waited for, and how often it is asked. */
#define LOCK_ATTEMPTS	1200
#define LOCK_PAUSE_NS	50000000L

/* ------------------------------------------------------------------------
 * The target
 * ------------------------------------------------------------------------ */

/*
 * A folder that can't be listed can still be written to: then it is neither synced
 * nor locked.
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
	target->token = -1;
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
	if (target->folder >= 0)
		close(target->folder);
	target->folder = -1;
	if (target->token >= 0)
		close(target->token);
	target->token = -1;
	free(target->path);
	target->path = NULL;
}

/* The folder itself is locked, so that no file is needed for it. */
int
lbf_target_lock(lbf_target *target, bloomfilter_detail *detail)
{
	const struct timespec pause = {0, LOCK_PAUSE_NS};
	int			attempt;

	for (attempt = 0; attempt < LOCK_ATTEMPTS; attempt++)
	{
		target->locked = flock(target->folder, LOCK_EX | LOCK_NB) == 0;
		if (target->locked || (errno != EWOULDBLOCK && errno != EINTR))
			return BLOOMFILTER_OK;
		nanosleep(&pause, NULL);
	}
	errno = EWOULDBLOCK;
	return lbf_fail_system(detail, target->path, "lock its folder, which another writer holds");
}

bool
lbf_target_try_lock(lbf_target *target)
{
	target->locked = flock(target->folder, LOCK_EX | LOCK_NB) == 0;
	return target->locked;
}

void
lbf_target_unlock(lbf_target *target)
{
	if (target->locked)
		flock(target->folder, LOCK_UN);
	target->locked = false;
}

int
lbf_target_sync(const lbf_target *target, bool replaced, bloomfilter_detail *detail)
{
	if (fsync(target->folder) == 0)
		return BLOOMFILTER_OK;
	/* some file systems can't sync folders, and say so in different ways */
	if (errno == EINVAL || errno == EBADF || errno == EOPNOTSUPP || errno == ENOTSUP)
		return BLOOMFILTER_OK;
	return lbf_fail_system(detail, target->path,
						   replaced ? "sync its folder, after it was replaced" : "sync its folder");
}

/* ------------------------------------------------------------------------
 * New files
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

static void
new_name(const lbf_target *target, char *name, size_t size)
{
	snprintf(name, size, ".%.*s.%0*x.%0*u" ENDING, NAME_IN_NEW, target->name,
			 WRITER_DIGITS, (unsigned) target->number,
			 FILE_DIGITS, (unsigned) (target->files % 100000));
}

/* Makes the writer's next file; errno says why not. */
static bool
create_new(lbf_target *target, lbf_new_file *file)
{
	/* what others may not read they may not read while it is written, either */
	mode_t		mode = target->there ? 0600 : 0666;

	new_name(target, file->name, sizeof file->name);
	file->fd = openat(target->folder, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (file->fd >= 0)
		target->files++;
	return file->fd >= 0;
}

/*
 * Locks the token.  False if another writer took it for one of a killed writer's
 * between its creation and here.  Where there are no locks nobody does.
 */
static bool
keep_token(lbf_target *target, const lbf_new_file *file)
{
	struct stat st;

	if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return false;
	if (fstat(file->fd, &st) != 0 || st.st_nlink == 0)
		return false;
	target->token = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	return target->token >= 0;
}

static bool
create_token(lbf_target *target, lbf_new_file *file)
{
	uint64_t	number = 0;
	int			attempt;

	errno = EEXIST;
	for (attempt = 0; attempt < MOST_ATTEMPTS; attempt++)
	{
		number = draw(number);
		target->number = (uint32_t) number;
		target->files = 0;
		if (!create_new(target, file))
		{
			if (errno != EEXIST)
				return false;
			continue;
		}
		if (keep_token(target, file))
			return true;
		lbf_file_remove(target, file);
	}
	return false;
}

int
lbf_file_create(lbf_target *target, lbf_new_file *file, bloomfilter_detail *detail)
{
	if (target->token < 0 ? create_token(target, file) : create_new(target, file))
		return BLOOMFILTER_OK;
	file->name[0] = '\0';
	return lbf_fail_system(detail, target->path, "create a file beside it");
}

int
lbf_file_append(const lbf_target *target, lbf_new_file *file, const void *bytes,
				size_t length, bloomfilter_detail *detail)
{
	const uint8_t *rest = bytes;

	while (length > 0)
	{
		ssize_t		done = write(file->fd, rest, length);

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
copy_rights(const lbf_target *target, const lbf_new_file *file,
			bloomfilter_detail *detail)
{
	const struct stat *old = &target->old;
	mode_t		mode = old->st_mode & 0777;
	struct stat own;

	if (fstat(file->fd, &own) != 0)
		return lbf_fail_system(detail, target->path, "stat its new file");
	if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
		fchown(file->fd, old->st_uid, old->st_gid) != 0 &&
		own.st_gid != old->st_gid &&
		fchown(file->fd, (uid_t) -1, old->st_gid) != 0)
		mode = (mode & 0707) | (mode & 0007) << 3;
	if (fchmod(file->fd, mode) != 0)
		return lbf_fail_system(detail, target->path, "set the mode of its new file");
	return BLOOMFILTER_OK;
}

int
lbf_file_finish(const lbf_target *target, lbf_new_file *file,
				bloomfilter_detail *detail)
{
	int			code = BLOOMFILTER_OK;

	if (target->there)
		code = copy_rights(target, file, detail);
	if (code == BLOOMFILTER_OK && fsync(file->fd) != 0)
		code = lbf_fail_system(detail, target->path, "sync its new file");
	if (close(file->fd) != 0 && code == BLOOMFILTER_OK)
		code = lbf_fail_system(detail, target->path, "close its new file");
	file->fd = -1;
	return code;
}

int
lbf_file_rename(const lbf_target *target, lbf_new_file *file, const char *name,
				bloomfilter_detail *detail)
{
	if (renameat(target->folder, file->name, target->folder, name) != 0)
		return lbf_fail_system(detail, target->path, "replace");
	file->name[0] = '\0';
	return BLOOMFILTER_OK;
}

void
lbf_file_remove(const lbf_target *target, lbf_new_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (file->name[0] != '\0')
		unlinkat(target->folder, file->name, 0);
	file->name[0] = '\0';
}

/* ------------------------------------------------------------------------
 * What is left behind
 * ------------------------------------------------------------------------ */

/* Whether a name is one that lbf_file_create gives for this target. */
static bool
is_new_name(const lbf_target *target, const char *name)
{
	size_t		length = strnlen(target->name, (size_t) NAME_IN_NEW);
	const char *writer;
	const char *file;

	if (strlen(name) != length + APPENDED_BYTES || name[0] != '.' ||
		memcmp(name + 1, target->name, length) != 0)
		return false;
	writer = name + 1 + length + 1;
	file = writer + WRITER_DIGITS + 1;
	return writer[-1] == '.' && strspn(writer, "0123456789abcdef") == WRITER_DIGITS &&
		file[-1] == '.' && strspn(file, "0123456789") == FILE_DIGITS &&
		strcmp(file + FILE_DIGITS, ENDING) == 0;
}

/* A clock that was set back makes files of the future: they are not old. */
static bool
is_old(const lbf_target *target, const char *name)
{
	struct stat st;

	return fstatat(target->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISREG(st.st_mode) && st.st_mtime < time(NULL) - LEFT_AFTER;
}

/* Whether the writer of a new file is no more. */
static bool
is_orphan(const lbf_target *target, const char *name)
{
	char		token[LBF_MOST_NAME_BYTES + 1];
	size_t		digits = strlen(name) - (sizeof ENDING - 1) - FILE_DIGITS;
	bool		orphan;
	int			fd;

	snprintf(token, sizeof token, "%.*s%0*d" ENDING, (int) digits, name, FILE_DIGITS, 0);
	fd = openat(target->folder, token, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		orphan = true;
	else
		orphan = errno != EWOULDBLOCK && is_old(target, name);
	close(fd);
	return orphan;
}

static bool
is_left_behind(const lbf_target *target, const char *name, lbf_is_left is_left,
			   const void *state)
{
	if (is_new_name(target, name))
		return is_orphan(target, name);
	return is_left != NULL && is_left(state, name) && is_old(target, name);
}

/* Nothing depends on it, so nothing is said where it can't be done. */
void
lbf_target_sweep(const lbf_target *target, lbf_is_left is_left, const void *state)
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
		if (is_left_behind(target, entry->d_name, is_left, state))
			unlinkat(target->folder, entry->d_name, 0);
	closedir(folder);
}
