/*
 * test_writer.c
 *	  A filter or a set that is written piece by piece: what comes in is checked,
 *	  what was there keeps its rights, and nobody's files are deleted.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS	3000
#define PARTS	3
#define ROUNDS	25

static const char *folder;

/* The error of each fsync of a folder after so many that succeed. */
static int	folder_error;
static int	folder_syncs;

extern int	__real_fsync(int fd);
extern int	__wrap_fsync(int fd);

int
__wrap_fsync(int fd)
{
	struct stat st;

	if (folder_error == 0 || fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) || folder_syncs-- > 0)
		return __real_fsync(fd);
	errno = folder_error;
	return -1;
}

static const char *
in_folder(const char *name)
{
	static char paths[8][700];
	static int	next;
	char	   *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void
empty_folder(void)
{
	char		command[700];

	snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", folder, folder);
	need(system(command) == 0, "folder emptied");
}

/* All bytes of a filter or a set, one part after the other. */
static uint8_t *
all_bytes(const bloomfilter *filter, uint32_t parts, size_t *length)
{
	uint8_t    *bytes = NULL;
	uint32_t	i;

	for (*length = 0, i = 0; i < parts; i++)
	{
		const void *part;
		size_t		part_length;

		need(bloomfilter_get_bytes(filter, i, &part, &part_length) == BLOOMFILTER_OK, "bytes");
		bytes = realloc(bytes, *length + part_length);
		need(bytes != NULL, "memory");
		memcpy(bytes + *length, part, part_length);
		*length += part_length;
	}
	return bytes;
}

static int
append_pieces(bloomfilter_writer *writer, const uint8_t *bytes, size_t length,
			  size_t piece, bloomfilter_detail *detail)
{
	size_t		at;
	int			code = BLOOMFILTER_OK;

	for (at = 0; at < length && code == BLOOMFILTER_OK; at += piece)
		code = bloomfilter_writer_append(writer, bytes + at,
										 length - at < piece ? length - at : piece, detail);
	return code;
}

/* Writes bytes in pieces; the first code that is no success. */
static int
write_pieces(const char *path, uint32_t parts, const uint8_t *bytes, size_t length,
			 size_t piece, bloomfilter_detail *detail)
{
	bloomfilter_writer *writer;
	int			code = bloomfilter_writer_begin(path, parts, &writer, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	code = append_pieces(writer, bytes, length, piece, detail);
	if (code == BLOOMFILTER_OK)
		code = bloomfilter_writer_commit(writer, detail);
	bloomfilter_writer_free(writer);
	return code;
}

static bool
holds(const char *path, const bloomfilter *filter)
{
	bloomfilter *opened;
	bool		equal;

	if (bloomfilter_open(path, 0, &opened, NULL) != BLOOMFILTER_OK)
		return false;
	equal = equal_bytes(opened, filter);
	bloomfilter_close(opened);
	return equal;
}

static void
check_pieces(const bloomfilter *single, const bloomfilter *set)
{
	static const size_t pieces[] = {1, 63, 64, 65, 1000, (size_t) 1 << 20};
	size_t		length;
	size_t		set_length;
	uint8_t    *bytes = all_bytes(single, 1, &length);
	uint8_t    *set_bytes = all_bytes(set, PARTS, &set_length);
	size_t		i;

	for (i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
	{
		same(write_pieces(in_folder("f"), 1, bytes, length, pieces[i], NULL), BLOOMFILTER_OK,
			 "a filter in pieces of %zu bytes", pieces[i]);
		ok(holds(in_folder("f"), single), "is whole");
		same(write_pieces(in_folder("s"), PARTS, set_bytes, set_length, pieces[i], NULL), BLOOMFILTER_OK,
			 "a set in pieces of %zu bytes", pieces[i]);
		ok(holds(in_folder("s"), set), "is whole");
	}
	same(count_entries(folder), 1 + 1 + PARTS, "no other file is left");
	free(bytes);
	free(set_bytes);
	empty_folder();
}

static void
check_refused(const bloomfilter *single, const bloomfilter *set)
{
	size_t		length;
	uint8_t    *bytes = all_bytes(set, PARTS, &length);
	size_t		one;
	uint8_t    *other = all_bytes(single, 1, &one);
	const char *path = in_folder("s");
	bloomfilter_detail detail;
	bloomfilter_info info;

	need(bloomfilter_write(set, path, NULL) == BLOOMFILTER_OK, "a set");
#define REFUSED(parts, from, count, code, what) \
	same(write_pieces(path, parts, from, count, 500, &detail), code, what ": %s", detail.text)
	REFUSED(PARTS, bytes, length - 1, BLOOMFILTER_ERR_SET, "a byte too few");
	REFUSED(PARTS, bytes, 10, BLOOMFILTER_ERR_SET, "the beginning of a header");
	REFUSED(PARTS, bytes, (size_t) 0, BLOOMFILTER_ERR_SET, "nothing");
	REFUSED(PARTS - 1, bytes, length, BLOOMFILTER_ERR_SET, "parts of a larger set");
	REFUSED(PARTS, other, one, BLOOMFILTER_ERR_SET, "a filter that is no part");
	REFUSED(1, other + 1, one - 1, BLOOMFILTER_ERR_FORMAT_MAGIC, "something else");
	bytes[length - 1] ^= 1;
	REFUSED(PARTS, bytes, length, BLOOMFILTER_ERR_FORMAT_BITS_SET, "a bit of the last part changed");
	bytes[length - 1] ^= 1;
	other = realloc(other, one + 1);
	need(other != NULL, "memory");
	other[one] = 0;
	REFUSED(1, other, one + 1, BLOOMFILTER_ERR_SET, "a byte too many");
	REFUSED(0, other, one, BLOOMFILTER_ERR_ARGUMENT, "no parts");
	REFUSED(65536, other, one, BLOOMFILTER_ERR_ARGUMENT, "too many parts");
	ok(holds(path, set), "the set is as it was");
	same(count_entries(folder), 1 + PARTS, "and nothing is beside it");
	same(bloomfilter_get_header_info(other, &info, sizeof info, &detail), BLOOMFILTER_OK, "a header alone");
	ok(info.total_bytes == one && info.parts == 1, "tells how long the filter is");
	other[4] = 9;
	same(bloomfilter_get_header_info(other, &info, sizeof info, &detail), BLOOMFILTER_ERR_FORMAT_VERSION,
		 "of a later version: %s", detail.text);
	free(bytes);
	free(other);
	empty_folder();
}

static void
check_notes(const bloomfilter *set)
{
	size_t		length;
	uint8_t    *bytes = all_bytes(set, PARTS, &length);
	bloomfilter_writer *writer;
	static const char start[] = "bloomfilter-set 1\n# generation 17\n# built 2026-11-21T02:13:04Z\ns.00000-of-00003.";
	uint8_t    *text;
	size_t		text_length;

	need(bloomfilter_writer_begin(in_folder("s"), PARTS, &writer, NULL) == BLOOMFILTER_OK, "begun");
	same(bloomfilter_writer_note(writer, "generation", "17", NULL), BLOOMFILTER_OK, "a note");
	same(bloomfilter_writer_note(writer, "built", "2026-11-21T02:13:04Z", NULL), BLOOMFILTER_OK, "another");
	same(bloomfilter_writer_note(writer, "x", "a\nb", NULL), BLOOMFILTER_ERR_ARGUMENT, "of two lines");
	same(bloomfilter_writer_note(writer, "x y", "a", NULL), BLOOMFILTER_ERR_ARGUMENT, "of two words");
	need(bloomfilter_writer_append(writer, bytes, length, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_writer_commit(writer, NULL) == BLOOMFILTER_OK, "written");
	bloomfilter_writer_free(writer);
	text = read_file(in_folder("s"), &text_length);
	ok(strncmp((char *) text, start, sizeof start - 1) == 0, "notes are in the manifest");
	ok(holds(in_folder("s"), set), "which opens");
	free(text);
	free(bytes);
	empty_folder();
}

static bool
has_mode(const char *name, mode_t mode)
{
	struct stat st;

	return stat(in_folder(name), &st) == 0 && (st.st_mode & 0777) == mode;
}

/* The name of a part's file. */
static const char *
part_file(const char *manifest, const bloomfilter *set, uint32_t part)
{
	static char name[100];
	bloomfilter_info info;

	bloomfilter_get_part_info(set, part, &info, sizeof info);
	snprintf(name, sizeof name, "%s.%05u-of-%05u.%016llx.bloom", manifest, (unsigned) part,
			 (unsigned) info.parts, (unsigned long long) info.checksum);
	return name;
}

static void
check_rights(const bloomfilter *single, const bloomfilter *set)
{
	struct stat st;

	need(bloomfilter_write(single, in_folder("f"), NULL) == BLOOMFILTER_OK, "written");
	need(chmod(in_folder("f"), 0604) == 0, "chmod");
	if (geteuid() == 0)
		need(chown(in_folder("f"), 65534, 65533) == 0, "chown");
	need(bloomfilter_write(set, in_folder("f"), NULL) == BLOOMFILTER_OK, "replaced by a set");
	ok(has_mode("f", 0604), "the manifest has the file's mode");
	ok(has_mode(part_file("f", set, 1), 0604), "the parts have it, too");
	if (geteuid() == 0)
		ok(stat(in_folder("f"), &st) == 0 && st.st_uid == 65534 && st.st_gid == 65533, "and its owner");
	need(bloomfilter_write(single, in_folder("f"), NULL) == BLOOMFILTER_OK, "and by a filter again");
	ok(has_mode("f", 0604), "which has it still");
	same(count_entries(folder), 1, "the set's parts are gone");
	empty_folder();
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
check_other_targets(const bloomfilter *single)
{
	char		name[256];

	need(mkfifo(in_folder("pipe"), 0666) == 0, "pipe");
	check_no_file(in_folder("pipe"), single, "a pipe");
	need(symlink("/dev/null", in_folder("null")) == 0, "link");
	check_no_file(in_folder("null"), single, "a link to a device");
	same(bloomfilter_write(single, in_folder("f/"), NULL), BLOOMFILTER_ERR_SYSTEM, "into a folder that is not there");
	same(bloomfilter_write(single, in_folder(""), NULL), BLOOMFILTER_ERR_ARGUMENT, "without a name");
	memset(name, 'n', 255);
	name[255] = '\0';
	same(bloomfilter_write(single, in_folder(name), NULL), BLOOMFILTER_OK, "the longest name");
	ok(holds(in_folder(name), single), "is whole");
	same(count_entries(folder), 3, "nothing else is left");
	empty_folder();
}

static void
make_old(const char *name, long seconds)
{
	struct timeval times[2];

	gettimeofday(&times[0], NULL);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	need(utimes(in_folder(name), times) == 0, "utimes");
}

/* What killed writers left is deleted, renamed parts after a day, and nothing else ever. */
static void
check_sweep(const bloomfilter *single, const bloomfilter *set)
{
	static const char *const gone[] = {".s.0123abcd.00001.tmp", ".s.89abcdef.00000.tmp", "s.00007-of-00009.0123456789abcdef.bloom"};
	static const char *const kept[] = {
		".s.0123abcd.tmp", ".t.0123abcd.00000.tmp", ".s.0123abcdef.00000.tmp",
		".s.0123ABCD.00000.tmp", "s.00008-of-00009.0123456789abcdef.bloom", "s.00007-of-00009.0123456789abcde.bloom",
		"t.00007-of-00009.0123456789abcdef.bloom", "s.old", "s.bloom"
	};
	size_t		i;

	for (i = 0; i < sizeof gone / sizeof gone[0]; i++)
	{
		write_file(in_folder(gone[i]), "x", 1);
		if (strchr(gone[i], '-') != NULL)
			make_old(gone[i], 90000);
	}
	for (i = 0; i < sizeof kept / sizeof kept[0]; i++)
	{
		write_file(in_folder(kept[i]), "x", 1);
		make_old(kept[i], i == 4 ? 3600 : 90000);
	}
	need(bloomfilter_write(set, in_folder("s"), NULL) == BLOOMFILTER_OK, "a set is written");
	for (i = 0; i < sizeof gone / sizeof gone[0]; i++)
		ok(access(in_folder(gone[i]), F_OK) != 0, "%s is gone", gone[i]);
	for (i = 0; i < sizeof kept / sizeof kept[0]; i++)
		ok(access(in_folder(kept[i]), F_OK) == 0, "%s is kept", kept[i]);
	make_old(part_file("s", set, 0), 900000);
	need(bloomfilter_write(single, in_folder("other"), NULL) == BLOOMFILTER_OK, "another path is written");
	ok(holds(in_folder("s"), set), "parts of any age are kept while they are named");
	need(bloomfilter_write(set, in_folder("s"), NULL) == BLOOMFILTER_OK, "the same set again");
	ok(holds(in_folder("s"), set), "keeps its parts");
	empty_folder();
}

/*
 * A writer that is killed leaves its new files, which the next one deletes as it
 * begins; those of a writer that is alive are left to it, however old they are.
 */
static void
check_killed(const bloomfilter *set)
{
	size_t		length;
	uint8_t    *bytes = all_bytes(set, PARTS, &length);
	bloomfilter_writer *living;
	bloomfilter_writer *next;
	int			status;
	int			killed;
	pid_t		child;

	need(bloomfilter_writer_begin(in_folder("s"), PARTS, &living, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_writer_append(living, bytes, length - 1, NULL) == BLOOMFILTER_OK, "one writer");
	same(count_entries(folder), PARTS, "has its parts in the folder");
	for (killed = 0; killed < 3; killed++)
	{
		child = fork();
		if (child == 0)
		{
			need(bloomfilter_writer_begin(in_folder("s"), PARTS, &next, NULL) == BLOOMFILTER_OK &&
				 bloomfilter_writer_append(next, bytes, length - 1, NULL) == BLOOMFILTER_OK, "child");
			raise(SIGKILL);
		}
		need(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "killed");
		same(count_entries(folder), 2 * PARTS, "no more than one killed writer's files are there");
	}
	need(bloomfilter_writer_begin(in_folder("s"), PARTS, &next, NULL) == BLOOMFILTER_OK, "the next one");
	same(count_entries(folder), PARTS, "deletes them as it begins");
	bloomfilter_writer_free(next);
	same(bloomfilter_writer_append(living, bytes + length - 1, 1, NULL), BLOOMFILTER_OK, "the first one goes on");
	same(bloomfilter_writer_commit(living, NULL), BLOOMFILTER_OK, "and is done");
	ok(holds(in_folder("s"), set), "with all that it wrote");
	bloomfilter_writer_free(living);
	free(bytes);
	empty_folder();
}

/* A writer that stalls, while another one publishes the same parts, and then fails. */
static void
check_failing_writer(const bloomfilter *set)
{
	size_t		length;
	uint8_t    *bytes = all_bytes(set, PARTS, &length);
	bloomfilter_writer *writer;
	struct rlimit old;
	struct rlimit small;

	need(bloomfilter_writer_begin(in_folder("s"), PARTS, &writer, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_writer_append(writer, bytes, length, NULL) == BLOOMFILTER_OK, "one writer stalls");
	need(bloomfilter_write(set, in_folder("s"), NULL) == BLOOMFILTER_OK, "another one publishes");
	signal(SIGXFSZ, SIG_IGN);
	need(getrlimit(RLIMIT_FSIZE, &old) == 0, "limit");
	small = old;
	small.rlim_cur = 10;
	fflush(stdout);
	need(setrlimit(RLIMIT_FSIZE, &small) == 0, "limit set");
	same(bloomfilter_writer_commit(writer, NULL), BLOOMFILTER_ERR_SYSTEM, "the first one fails");
	need(setrlimit(RLIMIT_FSIZE, &old) == 0, "limit reset");
	bloomfilter_writer_free(writer);
	ok(holds(in_folder("s"), set), "and leaves the other's set whole");
	same(count_entries(folder), 1 + PARTS, "and nothing of its own");
	free(bytes);
	empty_folder();
}

static int
write_unsynced(const bloomfilter *filter, int error, int syncs, bloomfilter_detail *detail)
{
	int			code;

	folder_error = error;
	folder_syncs = syncs;
	code = bloomfilter_write(filter, in_folder("s"), detail);
	folder_error = 0;
	return code;
}

/* Where a folder can't be synced nothing is lost; where that fails it is said. */
static void
check_sync(const bloomfilter *single, const bloomfilter *set, const bloomfilter *other)
{
	bloomfilter_detail detail;

	same(write_unsynced(set, EINVAL, 0, NULL), BLOOMFILTER_OK, "a folder that can't be synced");
	same(write_unsynced(other, EBADF, 0, NULL), BLOOMFILTER_OK, "and says so otherwise");
	same(write_unsynced(set, EOPNOTSUPP, 0, NULL), BLOOMFILTER_OK, "or otherwise");
	ok(holds(in_folder("s"), set), "has the set");
	same(write_unsynced(other, EIO, 0, &detail), BLOOMFILTER_ERR_SYSTEM, "before the manifest: %s", detail.text);
	ok(holds(in_folder("s"), set), "the old set stays");
	same(count_entries(folder), 1 + PARTS, "and nothing of the new one");
	same(write_unsynced(other, EIO, 1, &detail), BLOOMFILTER_ERR_SYSTEM, "after the manifest: %s", detail.text);
	ok(strstr(detail.text, "after it was replaced") != NULL && holds(in_folder("s"), other), "the new set is there");
	same(count_entries(folder), 1 + 2 * PARTS, "and the old parts, should a crash bring its manifest back");
	same(write_unsynced(single, EIO, 0, &detail), BLOOMFILTER_ERR_SYSTEM, "a filter: %s", detail.text);
	ok(holds(in_folder("s"), single), "is there, too");
	empty_folder();
}

static void
write_in_turn(const bloomfilter *const *filters, int count, int turns)
{
	int			round;
	char		turn;

	for (round = 0; round < ROUNDS; round++)
		if (read(turns, &turn, 1) != 1 ||
			bloomfilter_write(filters[round % count], in_folder("s"), NULL) != BLOOMFILTER_OK)
			_exit(1);
	_exit(0);
}

/* Lets a writer go on, unless two turns wait: no opening meets eight changes. */
static void
give_turn(const int turns[2])
{
	int			waiting;

	need(ioctl(turns[0], FIONREAD, &waiting) == 0, "turns that wait");
	if (waiting < 2)
		need(write(turns[1], "", 1) == 1, "a turn");
}

/* Two writers of the same sets: whoever looks sees one of them, whole. */
static void
check_two_writers(const bloomfilter *const *filters, int count)
{
	pid_t		children[2];
	int			turns[2];
	int			status[2] = {-1, -1};
	int			broken = 0;
	int			running;
	int			i;

	need(bloomfilter_write(filters[0], in_folder("s"), NULL) == BLOOMFILTER_OK && pipe(turns) == 0,
		 "the first");
	fflush(stdout);
	for (i = 0; i < 2; i++)
	{
		children[i] = fork();
		need(children[i] >= 0, "fork");
		if (children[i] == 0)
		{
			close(turns[1]);
			write_in_turn(filters + i, count - 1, turns[0]);
		}
	}
	for (running = 2; running > 0;)
	{
		bloomfilter *opened;
		bloomfilter_detail detail;

		give_turn(turns);
		if (bloomfilter_open(in_folder("s"), 0, &opened, &detail) == BLOOMFILTER_OK)
			bloomfilter_close(opened);
		else if (broken++ == 0)
			printf("# %s\n", detail.text);
		for (i = 0; i < 2; i++)
			running -= status[i] == -1 && waitpid(children[i], &status[i], WNOHANG) == children[i];
	}
	close(turns[0]);
	close(turns[1]);
	same(broken, 0, "the set is whole at any time");
	ok(status[0] == 0 && status[1] == 0, "both writers succeed");
	ok(count_entries(folder) <= 1 + PARTS, "the parts of replaced sets are gone");
	empty_folder();
}

int
main(void)
{
	bloomfilter *single = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *set = make_range(KEYS, PARTS, 1, KEYS);
	bloomfilter *other = make_range(KEYS, PARTS, 1, KEYS - 100);
	const bloomfilter *filters[4];

	folder = scratch_path("out");
	need(mkdir(folder, 0777) == 0, "folder");
	check_pieces(single, set);
	check_refused(single, set);
	check_notes(set);
	check_rights(single, set);
	check_other_targets(single);
	check_sweep(single, set);
	check_killed(set);
	check_failing_writer(set);
	check_sync(single, set, other);
	filters[0] = set;
	filters[1] = other;
	filters[2] = single;
	filters[3] = set;
	check_two_writers(filters, 4);
	bloomfilter_close(single);
	bloomfilter_close(set);
	bloomfilter_close(other);
	return tap_done();
}
