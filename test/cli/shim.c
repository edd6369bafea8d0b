/*
 * shim.c
 *	  Stands between a follower and its file (LD_PRELOAD): ends the process at a chosen
 *	  call, makes that call fail, and writes down what the disk is told.
 *
 *	  SHIM_KILL=N			ends the process before the call number N
 *	  SHIM_FAIL=N			fails the call number N, and all after it of its kind, ...
 *	  SHIM_ERROR=ERRNO		... with this error
 *	  SHIM_ONLY=NAME		counts calls of this name alone, such as "fdatasync"
 *	  SHIM_HOLD=FIFO		fdatasync waits until FIFO was opened for writing and closed; and once
 *							FIFO is there, the time since the boot is an hour ahead
 *	  SHIM_NO_GROUP=1		no file can be given another group
 *	  SHIM_COUNT=FILE		at the end: how many calls there were
 *	  SHIM_LOG=FILE			a record for each call that changes something:
 *							W inode at length bytes; S inode; R inode; D: the folder was synced
 *
 * Calls are counted that name FILE, .FILE.new or their folder: SHIM_FILE is FILE's name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long calls;
static int	log_fd = -1;

static void *
real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static int
is_ours(const char *name)
{
	const char *file = getenv("SHIM_FILE");

	return file != NULL && name != NULL && strstr(name, file) != NULL && strstr(name, ".lock") == NULL;
}

static int
is_our_fd(int fd)
{
	char		link[64];
	char		path[4096];
	ssize_t		length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length < 0)
		return 0;
	path[length] = '\0';
	return is_ours(path);
}

static uint64_t
inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t) st.st_ino : 0;
}

static void
put(const void *bytes, size_t length)
{
	ssize_t		(*write_it) (int, const void *, size_t) = real("write");

	if (log_fd < 0)
	{
		int			(*open_it) (const char *, int,...) = real("open");

		log_fd = open_it(getenv("SHIM_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	}
	if (write_it(log_fd, bytes, length) != (ssize_t) length)
		abort();
}

static void
note(char what, uint64_t inode, uint64_t at, const void *bytes, uint64_t length)
{
	uint64_t	head[3] = {inode, at, length};

	if (getenv("SHIM_LOG") == NULL)
		return;
	put(&what, 1);
	put(head, sizeof head);
	put(bytes, (size_t) length);
}

/* Whether this call is to fail. */
static int
count(const char *name)
{
	const char *only = getenv("SHIM_ONLY");
	const char *kill_at = getenv("SHIM_KILL");
	const char *fail_at = getenv("SHIM_FAIL");

	if (only != NULL && strcmp(only, name) != 0)
		return 0;
	calls++;
	if (getenv("SHIM_COUNT") != NULL)
	{
		FILE	   *file = fopen(getenv("SHIM_COUNT"), "w");

		fprintf(file, "%ld\n", calls);
		fclose(file);
	}
	if (kill_at != NULL && calls == atol(kill_at))
		raise(SIGKILL);
	if (fail_at == NULL || calls < atol(fail_at))
		return 0;
	errno = atoi(getenv("SHIM_ERROR"));
	return 1;
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	ssize_t		(*call) (int, const void *, size_t, off_t) = real("pwrite");
	ssize_t		written;

	if (!is_our_fd(fd))
		return call(fd, bytes, length, at);
	if (count("pwrite"))
		return -1;
	written = call(fd, bytes, length, at);
	if (written > 0)
		note('W', inode_of(fd), (uint64_t) at, bytes, (uint64_t) written);
	return written;
}

ssize_t
pwrite64(int fd, const void *bytes, size_t length, off_t at)
{
	return pwrite(fd, bytes, length, at);
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int			(*call) (clockid_t, struct timespec *) = real("clock_gettime");
	const char *hold = getenv("SHIM_HOLD");
	int			result = call(clock, now);

	if (clock == CLOCK_MONOTONIC && hold != NULL && access(hold, F_OK) == 0)
		now->tv_sec += 3600;
	return result;
}

static void
wait_for_fifo(void)
{
	int			(*open_it) (const char *, int,...) = real("open");
	int			fd = open_it(getenv("SHIM_HOLD"), O_RDONLY);
	char		byte;

	if (fd < 0)
		return;
	if (read(fd, &byte, 1) != 0)
		abort();
	close(fd);
}

static int
sync_it(const char *name, int fd)
{
	int			(*call) (int) = real(name);
	int			result;

	if (!is_our_fd(fd) && strcmp(name, "fsync") != 0)
		return call(fd);
	if (count(name))
		return -1;
	if (getenv("SHIM_HOLD") != NULL && strcmp(name, "fdatasync") == 0)
		wait_for_fifo();
	result = call(fd);
	if (result == 0)
		note(is_our_fd(fd) ? 'S' : 'D', inode_of(fd), 0, "", 0);
	return result;
}

int fsync(int fd) { return sync_it("fsync", fd); }
int fdatasync(int fd) { return sync_it("fdatasync", fd); }

int
fchown(int fd, uid_t owner, gid_t group)
{
	int			(*call) (int, uid_t, gid_t) = real("fchown");

	if (getenv("SHIM_NO_GROUP") == NULL)
		return call(fd, owner, group);
	errno = EPERM;
	return -1;
}

int
renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	int			(*call) (int, const char *, int, const char *) = real("renameat");
	struct stat st;
	int			result;

	if (!is_ours(to))
		return call(from_folder, from, to_folder, to);
	if (count("renameat"))
		return -1;
	result = fstatat(from_folder, from, &st, 0) == 0 ? call(from_folder, from, to_folder, to) : -1;
	if (result == 0)
		note('R', (uint64_t) st.st_ino, 0, "", 0);
	return result;
}

int
posix_fallocate(int fd, off_t at, off_t length)
{
	int			(*call) (int, off_t, off_t) = real("posix_fallocate");

	if (is_our_fd(fd) && count("posix_fallocate"))
		return errno;
	return call(fd, at, length);
}

int
posix_fallocate64(int fd, off_t at, off_t length)
{
	return posix_fallocate(fd, at, length);
}

int
openat(int folder, const char *name, int flags,...)
{
	int			(*call) (int, const char *, int,...) = real("openat");
	mode_t		mode = 0;
	va_list		arguments;

	va_start(arguments, flags);
	if ((flags & O_CREAT) != 0)
		mode = va_arg(arguments, mode_t);
	va_end(arguments);
	if (is_ours(name) && count("openat"))
		return -1;
	return call(folder, name, flags, mode);
}

int
unlinkat(int folder, const char *name, int flags)
{
	int			(*call) (int, const char *, int) = real("unlinkat");

	if (is_ours(name) && count("unlinkat"))
		return -1;
	return call(folder, name, flags);
}
