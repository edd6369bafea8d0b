/*
 * test_write.c
 *	  Writing replaces a file in one step or leaves everything as it was.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 20000

/* Writers that are killed. */
#define KILLED 20

/* The error of each fsync of a folder. */
static int	folder_error;

extern int	__real_fsync(int fd);
extern int	__wrap_fsync(int fd);

int
__wrap_fsync(int fd)
{
	struct stat st;

	if (folder_error == 0 || fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode))
		return __real_fsync(fd);
	errno = folder_error;
	return -1;
}

static const char *folder;

static bool
file_is(const char *path, const bloomfilter *filter)
{
	const void *bytes;
	size_t		length;
	size_t		file_length;
	uint8_t    *content = read_file(path, &file_length);
	bool		equal;

	bloomfilter_get_bytes(filter, 0, &bytes, &length);
	equal = file_length == length && memcmp(content, bytes, length) == 0;
	free(content);
	return equal;
}

/* Under a file size limit a write stops in the middle, as on a full disk. */
static int
write_with_limit(const bloomfilter *filter, const char *path, rlim_t limit)
{
	struct rlimit old;
	struct rlimit small;
	bloomfilter_detail detail;
	int			code;

	signal(SIGXFSZ, SIG_IGN);
	need(getrlimit(RLIMIT_FSIZE, &old) == 0, "limit");
	small = old;
	small.rlim_cur = limit;
	fflush(stdout);
	need(setrlimit(RLIMIT_FSIZE, &small) == 0, "limit set");
	code = bloomfilter_write(filter, path, &detail);
	need(setrlimit(RLIMIT_FSIZE, &old) == 0, "limit reset");
	same(detail.system_error, EFBIG, "why it failed: %s", detail.text);
	return code;
}

static void
check_single(const bloomfilter *a, const bloomfilter *b)
{
	const char *path = scratch_path("f.bloom");
	const char *other;
	bloomfilter *opened;

	other = scratch_path("f.bloom/g");
	same(bloomfilter_write(a, path, NULL), BLOOMFILTER_OK, "written");
	ok(file_is(path, a), "byte for byte");
	need(bloomfilter_open(path, 0, &opened, NULL) == BLOOMFILTER_OK, "opened");
	same(bloomfilter_write(b, path, NULL), BLOOMFILTER_OK, "replaced");
	ok(file_is(path, b), "by the other one");
	ok(equal_bytes(opened, a), "who has the old one open keeps it");
	bloomfilter_close(opened);
	same(write_with_limit(a, path, 4096), BLOOMFILTER_ERR_SYSTEM, "a write that fails");
	ok(file_is(path, b), "leaves the old file");
	same(bloomfilter_write(a, other, NULL), BLOOMFILTER_ERR_SYSTEM, "into a file as a folder");
	same(count_entries(folder), 1, "nothing else is left");
	unlink(path);
}

static void
check_targets(const bloomfilter *filter)
{
	const char *path = scratch_path("d");
	const char *inner;
	char		name[301];

	inner = scratch_path("d/x");
	need(mkdir(path, 0777) == 0 && mkdir(inner, 0777) == 0, "folders");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_SYSTEM, "onto a folder");
	same(count_entries(folder), 1, "nothing is left beside it");
	need(rmdir(inner) == 0 && rmdir(path) == 0, "folders removed");
	path = scratch_path("missing/f");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_SYSTEM, "into a missing folder");
	memset(name, 'n', 300);
	name[300] = '\0';
	path = scratch_path(name);
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_SYSTEM, "with a name too long");
	same(bloomfilter_write(filter, NULL, NULL), BLOOMFILTER_ERR_ARGUMENT, "without a path");
	same(count_entries(folder), 0, "nothing is left");
}

static void
check_link(const bloomfilter *filter)
{
	const char *path = scratch_path("link");
	const char *target;
	struct stat st;

	target = scratch_path("target");
	write_file(target, "x", 1);
	need(symlink("target", path) == 0, "link");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_OK, "over a symbolic link");
	ok(lstat(path, &st) == 0 && S_ISREG(st.st_mode), "replaces the link");
	ok(stat(target, &st) == 0 && st.st_size == 1, "and not what it points to");
	unlink(path);
	unlink(target);
}

static void
check_set(void)
{
	bloomfilter *a = make_range(KEYS, 3, 1, KEYS);
	bloomfilter *b = make_range(KEYS, 3, 1, KEYS - 1000);
	bloomfilter *opened;
	const char *path = scratch_path("whitelist");

	same(write_with_limit(a, path, 4096), BLOOMFILTER_ERR_SYSTEM, "a set that can't be written");
	same(count_entries(folder), 0, "leaves nothing");
	need(bloomfilter_write(a, path, NULL) == BLOOMFILTER_OK, "a set is written");
	same(write_with_limit(b, path, 4096), BLOOMFILTER_ERR_SYSTEM, "another one can't be");
	same(count_entries(folder), 1, "nothing else is left");
	need(bloomfilter_open(path, BLOOMFILTER_COPY, &opened, NULL) == BLOOMFILTER_OK, "opened");
	ok(equal_bytes(opened, a), "and the first one is as it was");
	bloomfilter_close(opened);
	unlink(path);
	bloomfilter_close(a);
	bloomfilter_close(b);
}

static void
check_mode(const bloomfilter *filter)
{
	const char *path = scratch_path("mode");
	struct stat st;
	mode_t		old = umask(027);

	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK, "written");
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640, "permissions follow the umask");
	umask(old);
	unlink(path);
}

/* What is replaced gives the new file its mode and, where that is allowed, its owner. */
static void
check_rights(const bloomfilter *filter)
{
	const char *path = scratch_path("rights");
	struct stat st;

	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK && chmod(path, 0604) == 0, "written");
	if (geteuid() == 0)
		need(chown(path, 65534, 65533) == 0, "chown");
	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK && stat(path, &st) == 0, "replaced");
	same(st.st_mode & 0777, 0604, "a file keeps its mode");
	if (geteuid() == 0)
		ok(st.st_uid == 65534 && st.st_gid == 65533, "and its owner");
	unlink(path);
}

static void
check_no_file(const char *path, const bloomfilter *filter, const char *what)
{
	struct stat before;
	struct stat after;
	bloomfilter_detail detail;

	need(lstat(path, &before) == 0, "something is there");
	same(bloomfilter_write(filter, path, &detail), BLOOMFILTER_ERR_ARGUMENT, "onto %s: %s", what, detail.text);
	ok(lstat(path, &after) == 0 && before.st_ino == after.st_ino && before.st_mode == after.st_mode,
	   "it is still there");
}

static void
check_other_targets(const bloomfilter *filter)
{
	const char *path = scratch_path("pipe");
	char		name[256];

	need(mkfifo(path, 0666) == 0, "pipe");
	check_no_file(path, filter, "a pipe");
	same(bloomfilter_can_write(path, NULL), BLOOMFILTER_ERR_ARGUMENT, "which is known before");
	unlink(path);
	need(symlink("/dev/null", path) == 0, "link");
	check_no_file(path, filter, "a link to a device");
	unlink(path);
	path = scratch_path("f/");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_SYSTEM, "into a folder that is not there");
	same(bloomfilter_can_write(path, NULL), BLOOMFILTER_ERR_SYSTEM, "which is known before, too");
	path = scratch_path("");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_ARGUMENT, "without a name");
	memset(name, 'n', 255);
	name[255] = '\0';
	path = scratch_path(name);
	same(bloomfilter_can_write(path, NULL), BLOOMFILTER_OK, "the longest name");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_OK, "can be written to");
	ok(file_is(path, filter), "whole");
	same(count_entries(folder), 1, "nothing else is left");
	unlink(path);
}

/* Nothing is deleted but what killed writers left. */
static void
check_sweep(const bloomfilter *filter)
{
	static const char *const kept[] = {".s.0.tmp", ".t.tmp", ".s.TMP", "s.tmp", "s.old", "s.bloom"};
	const char *path;
	size_t		i;

	for (i = 0; i < sizeof kept / sizeof kept[0]; i++)
	{
		path = scratch_path(kept[i]);
		write_file(path, "x", 1);
	}
	path = scratch_path("s");
	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK, "written");
	for (i = 0; i < sizeof kept / sizeof kept[0]; i++)
	{
		path = scratch_path(kept[i]);
		ok(unlink(path) == 0, "%s is kept", kept[i]);
	}
	path = scratch_path("s");
	unlink(path);
}

/* Who writes the same file meanwhile is not disturbed. */
static void
check_busy(const bloomfilter *filter)
{
	const char *path = scratch_path("s");
	const char *new;
	bloomfilter_detail detail;
	int			fd;

	new = scratch_path(".s.tmp");
	write_file(new, "x", 1);
	fd = open(new, O_RDONLY);
	need(fd >= 0 && flock(fd, LOCK_EX) == 0, "lock");
	same(bloomfilter_write(filter, path, &detail), BLOOMFILTER_ERR_SYSTEM, "while another one writes: %s", detail.text);
	ok(strstr(detail.text, "is being written by another process") != NULL, "which the error says");
	ok(access(path, F_OK) != 0 && access(new, F_OK) == 0, "and all is as it was");
	close(fd);
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_OK, "when that one is gone it is written");
	same(count_entries(folder), 1, "and nothing is left");
	unlink(path);
}

static int
write_unsynced(const bloomfilter *filter, const char *path, int error, bloomfilter_detail *detail)
{
	int			code;

	folder_error = error;
	code = bloomfilter_write(filter, path, detail);
	folder_error = 0;
	return code;
}

/* Where a folder can't be synced nothing is lost; where that fails it is said. */
static void
check_sync(const bloomfilter *a, const bloomfilter *b)
{
	const char *path = scratch_path("s");
	bloomfilter_detail detail;

	same(write_unsynced(a, path, EINVAL, NULL), BLOOMFILTER_OK, "a folder that can't be synced");
	same(write_unsynced(b, path, EBADF, NULL), BLOOMFILTER_OK, "and says so otherwise");
	same(write_unsynced(a, path, EOPNOTSUPP, NULL), BLOOMFILTER_OK, "or otherwise");
	ok(file_is(path, a), "has the filter");
	same(write_unsynced(b, path, EIO, &detail), BLOOMFILTER_ERR_SYSTEM, "one that fails: %s", detail.text);
	ok(strstr(detail.text, "after it was replaced") != NULL && file_is(path, b), "has it, too, which the error says");
	same(count_entries(folder), 1, "and nothing else");
	unlink(path);
}

/* A process that the system kills in the middle of writing. */
static void
write_and_die(const bloomfilter *filter, const char *path)
{
	struct rlimit small = {4096, 4096};
	struct rlimit none = {0, 0};
	pid_t		child;
	int			status = 0;

	fflush(stdout);
	child = fork();
	need(child >= 0, "fork");
	if (child == 0)
	{
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_CORE, &none);
		setrlimit(RLIMIT_FSIZE, &small);
		bloomfilter_write(filter, path, NULL);
		_exit(0);
	}
	need(waitpid(child, &status, 0) == child, "wait");
	need(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ, "a writer is killed");
}

/* What killed writers left is deleted by the next. */
static void
check_leftovers(const bloomfilter *filter)
{
	const char *path = scratch_path("left");
	int			i;

	for (i = 0; i < KILLED; i++)
		write_and_die(filter, path);
	same(count_entries(folder), 1, "no more than the last killed writer's file is left");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_OK, "the next one writes");
	ok(file_is(path, filter), "all of it");
	same(count_entries(folder), 1, "and leaves nothing");
}

int
main(void)
{
	bloomfilter *a = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *b = make_range(KEYS, 1, 2, KEYS);

	folder = scratch();
	check_single(a, b);
	check_targets(a);
	check_link(a);
	check_mode(a);
	check_set();
	check_rights(a);
	check_other_targets(a);
	check_sweep(a);
	check_busy(a);
	check_sync(a, b);
	check_leftovers(a);
	bloomfilter_close(a);
	bloomfilter_close(b);
	return tap_done();
}
