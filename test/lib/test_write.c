/*
 * test_write.c
 *	  Writing replaces a file in one step or leaves everything as it was.
 *
 * The library's calls of getpid are led here by the linker: all processes of this
 * program have one number, as processes of many containers have.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

extern pid_t __wrap_getpid(void);

pid_t
__wrap_getpid(void)
{
	return 1;
}

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
check_single(const char *folder, const bloomfilter *a, const bloomfilter *b)
{
	char		path[600];
	char		other[600];
	bloomfilter *opened;

	snprintf(path, sizeof path, "%s/f.bloom", folder);
	snprintf(other, sizeof other, "%s/f.bloom/g", folder);
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
check_targets(const char *folder, const bloomfilter *filter)
{
	char		path[600];
	char		inner[700];
	char		name[301];

	snprintf(path, sizeof path, "%s/d", folder);
	snprintf(inner, sizeof inner, "%s/x", path);
	need(mkdir(path, 0777) == 0 && mkdir(inner, 0777) == 0, "folders");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_SYSTEM, "onto a folder");
	same(count_entries(folder), 1, "nothing is left beside it");
	need(rmdir(inner) == 0 && rmdir(path) == 0, "folders removed");
	snprintf(path, sizeof path, "%s/missing/f", folder);
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_SYSTEM, "into a missing folder");
	memset(name, 'n', 300);
	name[300] = '\0';
	snprintf(path, sizeof path, "%s/%s", folder, name);
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_ERR_SYSTEM, "with a name too long");
	same(bloomfilter_write(filter, NULL, NULL), BLOOMFILTER_ERR_ARGUMENT, "without a path");
	same(count_entries(folder), 0, "nothing is left");
}

static void
check_link(const char *folder, const bloomfilter *filter)
{
	char		path[600];
	char		target[600];
	struct stat st;

	snprintf(path, sizeof path, "%s/link", folder);
	snprintf(target, sizeof target, "%s/target", folder);
	write_file(target, "x", 1);
	need(symlink("target", path) == 0, "link");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_OK, "over a symbolic link");
	ok(lstat(path, &st) == 0 && S_ISREG(st.st_mode), "replaces the link");
	ok(stat(target, &st) == 0 && st.st_size == 1, "and not what it points to");
	unlink(path);
	unlink(target);
}

static void
check_set(const char *folder)
{
	bloomfilter *a = make_range(KEYS, 3, 1, KEYS);
	bloomfilter *b = make_range(KEYS, 3, 1, KEYS - 1000);
	bloomfilter *opened;
	char		path[600];
	char		name[300];

	snprintf(path, sizeof path, "%s/whitelist", folder);
	same(write_with_limit(a, path, 4096), BLOOMFILTER_ERR_SYSTEM, "a set that can't be written");
	same(count_entries(folder), 0, "leaves nothing");
	need(bloomfilter_write(a, path, NULL) == BLOOMFILTER_OK, "a set is written");
	same(write_with_limit(b, path, 4096), BLOOMFILTER_ERR_SYSTEM, "another one can't be");
	same(count_entries(folder), 4, "nothing else is left");
	need(bloomfilter_open(path, 0, &opened, NULL) == BLOOMFILTER_OK, "opened");
	ok(equal_bytes(opened, a), "and the first one is as it was");
	bloomfilter_close(opened);
	memset(name, 'n', 240);
	name[240] = '\0';
	snprintf(path, sizeof path, "%s/%s", folder, name);
	same(bloomfilter_write(a, path, NULL), BLOOMFILTER_ERR_ARGUMENT, "a name that leaves no room for the parts'");
	bloomfilter_close(a);
	bloomfilter_close(b);
}

static void
check_mode(const char *folder, const bloomfilter *filter)
{
	char		path[600];
	struct stat st;
	mode_t		old = umask(027);

	snprintf(path, sizeof path, "%s/mode", folder);
	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK, "written");
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640, "permissions follow the umask");
	umask(old);
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

/* What killed writers of the same process number left is deleted by the next. */
static void
check_leftovers(const char *folder, const bloomfilter *filter)
{
	char		path[600];
	int			i;

	snprintf(path, sizeof path, "%s/left", folder);
	for (i = 0; i < KILLED; i++)
		write_and_die(filter, path);
	same(count_entries(folder), 1, "no more than the last killed writer's file is left");
	same(bloomfilter_write(filter, path, NULL), BLOOMFILTER_OK, "the next one writes");
	ok(file_is(path, filter), "all of it");
	same(count_entries(folder), 1, "and leaves nothing");
}

static void
delete_all(const char *folder)
{
	char		command[700];

	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	need(system(command) == 0, "folder deleted");
}

int
main(void)
{
	const char *folder = scratch_path("out");
	bloomfilter *a = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *b = make_range(KEYS, 1, 2, KEYS);

	need(mkdir(folder, 0777) == 0, "folder");
	check_single(folder, a, b);
	check_targets(folder, a);
	check_link(folder, a);
	check_mode(folder, a);
	check_set(folder);
	delete_all(folder);
	need(mkdir(folder, 0777) == 0, "folder");
	check_leftovers(folder, a);
	delete_all(folder);
	bloomfilter_close(a);
	bloomfilter_close(b);
	return tap_done();
}
