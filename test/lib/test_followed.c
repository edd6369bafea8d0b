/*
 * test_followed.c
 *	  Files with a page of facts: sets that were written, and followed lists.
 *
 * test/readers asks what all readers say of them: keys, status, changes, what is refused and what
 * is watched.  Here is what C alone can do with one, the golden files under sanitizers, and when a
 * file is looked at again: the library's calls of clock_gettime are led here by the linker, so its
 * clocks stand still while a test of watching lets them.
 */
#define _GNU_SOURCE				/* CLONE_NEWNS */

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bf_bytes.h"
#include "feed_table.h"
#include "files.h"
#include "make_filters.h"
#include "make_list.h"
#include "tap.h"
#include "tsv.h"

#define KEYS 3000
#define MORE 1000				/* that come in later */
#define PARTS 3

extern int	__real_clock_gettime(clockid_t clock, struct timespec *time);
extern int	__wrap_clock_gettime(clockid_t clock, struct timespec *time);

static struct timespec standing;	/* what all clocks show; 0: they run */

int
__wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	if (standing.tv_sec == 0)
		return __real_clock_gettime(clock, time);
	*time = standing;
	return 0;
}

static void
stop_clocks(void)
{
	standing.tv_sec = 1000000;
	standing.tv_nsec = 0;
}

static void
pass(long milliseconds)
{
	standing.tv_nsec += milliseconds % 1000 * 1000000;
	standing.tv_sec += milliseconds / 1000 + standing.tv_nsec / 1000000000;
	standing.tv_nsec %= 1000000000;
}

static bloomfilter *few;		/* 1 .. KEYS */
static bloomfilter *many;		/* 1 .. KEYS + MORE, of the same geometry */
static bloomfilter *set;
static const char *path;

static bloomfilter_status
status_of(const bloomfilter *filter)
{
	bloomfilter_status status;

	need(bloomfilter_get_status(filter, &status, sizeof status) == BLOOMFILTER_OK, "status");
	return status;
}

static int
code_of(const char *name, unsigned flags)
{
	bloomfilter *filter = NULL;
	int			code = bloomfilter_open(name, flags, &filter, NULL);

	bloomfilter_close(filter);
	return code;
}

static bloomfilter *
opened(const char *name, unsigned flags)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	int			code = bloomfilter_open(name, flags, &filter, &detail);

	need(code == BLOOMFILTER_OK, code < 0 ? detail.text : "opened");
	return filter;
}

/* Clocks stand still while a test watches the file. */
static void
watch_still(unsigned flags)
{
	stop_clocks();
	begin_watching(path, flags);
}

static void
let_go(void)
{
	end_watching();
	standing.tv_sec = 0;
}

/* ------------------------------------------------------------------------
 * A set that was written
 * ------------------------------------------------------------------------ */

static void
check_written(void)
{
	bloomfilter *mapped;
	bloomfilter *copy;
	bloomfilter_status status;
	bloomfilter_info info;
	bloomfilter_info wanted;
	static const uint8_t key[8] = {42};
	char		explained[2][BLOOMFILTER_EXPLAIN_TEXT];

	need(bloomfilter_write(set, path, NULL) == BLOOMFILTER_OK, "written");
	mapped = opened(path, 0);
	copy = opened(path, BLOOMFILTER_COPY);
	same(count_missing(mapped, 1, KEYS), 0, "a set in one file has all keys");
	ok(equal_bytes(copy, set), "a copy of it has the bytes that were written");
	bloomfilter_get_info(set, -1, &wanted, sizeof wanted);
	bloomfilter_get_info(mapped, -1, &info, sizeof info);
	ok(memcmp(&info, &wanted, sizeof info) == 0, "it tells the same of itself");
	status = status_of(mapped);
	same(status.place, BLOOMFILTER_PLACE_NONE, "nobody follows it");
	ok(status.serial == 0 && status.serial_kind == BLOOMFILTER_SERIAL_NONE && status.age == -1 &&
	   status.reason[0] == '\0', "so nothing is known of a list");
	memset(&status, 1, sizeof status);
	bloomfilter_get_status(mapped, &status, offsetof(bloomfilter_status, place));
	ok(status.age == -1 && status.place == 0x01010101, "of who asks for the first fields no more is written");
	need(bloomfilter_explain(mapped, BLOOMFILTER_KEY_INTEGER, key, 8, explained[0]) ==
		 bloomfilter_explain(set, BLOOMFILTER_KEY_INTEGER, key, 8, explained[1]), "explained");
	ok(strcmp(explained[0], explained[1]) == 0, "a look-up in it is explained as in memory");
	same(bloomfilter_write(mapped, scratch_path("again"), NULL), BLOOMFILTER_OK, "it is written again");
	bloomfilter_close(mapped);
	bloomfilter_close(copy);
	copy = opened(scratch_path("again"), BLOOMFILTER_COPY);
	ok(equal_bytes(copy, set), "a written one is as the first");
	bloomfilter_close(copy);
	unlink(scratch_path("again"));
}

/* ------------------------------------------------------------------------
 * A list that changes
 * ------------------------------------------------------------------------ */

static void
check_refusals(const bloomfilter *filter)
{
	const void *bytes;
	size_t		length;

	same(bloomfilter_get_bytes(filter, 0, &bytes, &length), BLOOMFILTER_ERR_FOLLOWED, "it has no bytes that stay");
	same(bloomfilter_write(filter, scratch_path("out"), NULL), BLOOMFILTER_ERR_FOLLOWED, "nor written");
}

static void
check_change(void)
{
	bloomfilter *mapped;
	bloomfilter *copy;
	bloomfilter *out;
	bloomfilter_info before;
	bloomfilter_info after;

	make_list(path, few, NULL);
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_OK, "the sum in its page is that of its bits");
	put_word(path, FEED_WRITES, 1);
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_ERR_FOLLOWED, "but not while its follower writes");
	put_word(path, FEED_WRITES, 0);
	mapped = opened(path, 0);
	copy = opened(path, BLOOMFILTER_COPY);
	bloomfilter_get_info(mapped, -1, &before, sizeof before);
	put_keys(path, many, 200);
	same(status_of(mapped).serial_kind, BLOOMFILTER_SERIAL_NOW, "its serial is of now");
	bloomfilter_get_info(mapped, -1, &after, sizeof after);
	ok(after.bits_set > before.bits_set && after.checksum != before.checksum, "what it tells of itself is of now");
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_ERR_SET, "bits that its page doesn't know are found by who asks");
	check_refusals(mapped);
	ok(equal_bytes(copy, few), "a copy has the bytes of a filter");
	same(check_bytes(copy), BLOOMFILTER_OK, "which are valid");
	same(bloomfilter_write(copy, scratch_path("out"), NULL), BLOOMFILTER_OK, "and can be written");
	out = opened(scratch_path("out"), 0);
	ok(equal_bytes(out, few), "as a filter alone");
	same(status_of(out).place, BLOOMFILTER_PLACE_NONE, "that nobody follows");
	bloomfilter_close(out);
	unlink(scratch_path("out"));
	bloomfilter_close(mapped);
	/* A copy stays what it is whatever happens to the file. */
	need(truncate(path, 0) == 0, "cut");
	same(count_missing(copy, 1, KEYS), 0, "a copy outlives its file's content");
	same((long long) status_of(copy).serial, 100, "with its serial");
	bloomfilter_close(copy);
}

/* A part that had no key when the file was made has no type, and keys come to it. */
static void
check_first_keys(void)
{
	bloomfilter_info info;
	bloomfilter *begun = NULL;
	bloomfilter *copy;
	int64_t		key = 0;

	do
	{
		bloomfilter_close(begun);
		key++;
		begun = make_range(KEYS, PARTS, key, key);
		bloomfilter_get_info(begun, 0, &info, sizeof info);
	} while (info.key_type != BLOOMFILTER_KEY_NONE);
	make_list(path, begun, NULL);
	put_keys(path, set, 200);
	copy = opened(path, BLOOMFILTER_COPY);
	bloomfilter_get_info(copy, 0, &info, sizeof info);
	same(info.key_type, BLOOMFILTER_KEY_INTEGER, "a part that gets its first keys has their type in a copy");
	same(check_bytes(copy), BLOOMFILTER_OK, "which is valid");
	bloomfilter_close(copy);
	bloomfilter_close(begun);
}

/* ------------------------------------------------------------------------
 * What may be believed
 * ------------------------------------------------------------------------ */

/* In a child, as a namespace can't be left: what it sees below another mount. */
static int
look_in_namespace(const char *mounted)
{
	char		name[600];
	bloomfilter *filter;
	int			result;

	snprintf(name, sizeof name, "%s/list.bloom", mounted);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount(scratch(), mounted, NULL, MS_BIND, NULL) != 0)
		return 3;
	if (bloomfilter_open(name, 0, &filter, NULL) != BLOOMFILTER_OK)
		return 1;
	result = status_of(filter).serial == 200 && count_missing(filter, 1, KEYS + MORE) == 0 ? 0 : 2;
	bloomfilter_close(filter);
	return result;
}

static void
check_namespace(void)
{
	const char *mounted = scratch_path("mounted");
	pid_t		child;
	int			status = 0;

	make_list(path, few, NULL);
	put_keys(path, many, 200);
	need(mkdir(mounted, 0777) == 0, "folder");
	fflush(stdout);
	/* The thread sanitizer has a thread of its own, so unshare would be refused. */
	child = (pid_t) syscall(SYS_clone, (geteuid() == 0 ? 0 : CLONE_NEWUSER) | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		_exit(look_in_namespace(mounted));
	if (child < 0)
		ok(true, "in another mount namespace # skip user namespaces are not allowed here");
	else
		ok(waitpid(child, &status, 0) == child && status == 0, "in another mount namespace it is in its place, with all keys");
	rmdir(mounted);
}

/* ------------------------------------------------------------------------
 * The golden files, under sanitizers
 * ------------------------------------------------------------------------ */

/* How many of a row's keys have another answer than this one, by the calls that other readers don't need. */
static int
count_other(const bloomfilter *filter, const char *keys, int answer)
{
	int			other = 0;

	for (; keys != NULL && strcmp(keys, "-") != 0; keys = strchr(keys, ','))
	{
		uint8_t		bytes[8];
		uint8_t		found = 9;
		bloomfilter_slice slice = {bytes, 8};
		int64_t		key;

		keys += *keys == ',';
		key = strtoll(keys, NULL, 10);
		bf_store_le64(bytes, (uint64_t) key);
		other += bloomfilter_contains_int64(filter, key) != answer;
		other += bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_INTEGER, &slice, 1, &found, NULL) != (answer < 0 ? answer : 0) ||
			(answer >= 0 && found != answer);
	}
	return other;
}

static void
check_row(const tsv *table, bool changes)
{
	bool		taken = strcmp(tsv_text(table, "word"), "-") == 0;
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "file_hex", &length);
	unsigned	flags;

	write_file(path, bytes, length);
	for (flags = 0; flags <= BLOOMFILTER_COPY; flags += BLOOMFILTER_COPY)
	{
		bloomfilter *filter = NULL;
		int			code = bloomfilter_open(path, flags, &filter, NULL);

		ok(taken ? code == BLOOMFILTER_OK : code < 0 && filter == NULL, "%s, flags %u: opened with %d", tsv_text(table, "name"), flags, code);
		if (filter == NULL)
			continue;
		status_of(filter);
		same(count_other(filter, tsv_text(table, "keys"), 1) +
			 (changes ? count_other(filter, tsv_text(table, "absent"), 0) +
			  count_other(filter, tsv_text(table, "errors"), BLOOMFILTER_ERR_CHANGES) : 0), 0, "its keys");
		bloomfilter_close(filter);
	}
	free(bytes);
}

static void
check_page_row(const tsv *table)
{
	check_row(table, false);
}

/* What the page of this one says of its table, as a follower leaves it that is killed, and as none does. */
static void
check_counted_table(void)
{
	bloomfilter *filter;
	bloomfilter_info info;
	uint8_t    *bytes;
	size_t		length;
	feed_table	said;

	put_here(path);
	filter = opened(path, 0);
	bloomfilter_get_info(filter, -1, &info, sizeof info);
	ok(info.changes == 4 && info.slots == 1024 && status_of(filter).changes == 4, "it says how many changes it has");
	bloomfilter_close(filter);
	bytes = read_file(path, &length);
	said = feed_table_read(bytes);
	free(bytes);
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_OK, "a table that is whole");
	put_word(path, FEED_TABLE_COUNT, said.count - 1);
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_OK, "its last change isn't counted yet");
	put_word(path, FEED_TABLE_COUNT, said.count + 1);
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_ERR_CHANGES, "it lacks one that is counted");
	put_word(path, FEED_TABLE_COUNT, said.count);
	put_word(path, FEED_TABLE_SUM, said.sum + 1);
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_ERR_CHANGES, "a change is another one");
	put_word(path, FEED_TABLE_SUM, 0);
	same(code_of(path, BLOOMFILTER_CHECK_BITS), BLOOMFILTER_OK, "changes are coming in");
}

static void
check_table_row(const tsv *table)
{
	check_row(table, true);
	if (strcmp(tsv_text(table, "name"), "changed") == 0)
		check_counted_table();
}

/* How many bytes from one on can change, one at a time, in a file that opens then. */
static int
count_changeable(size_t from, size_t to)
{
	size_t		length;
	uint8_t    *bytes = read_file(path, &length);
	int			count = 0;
	size_t		at;

	for (at = from; at < to; at++)
	{
		uint8_t		wrong = bytes[at] ^ 0x10;

		put_bytes(path, &wrong, 1, at);
		count += code_of(path, 0) == BLOOMFILTER_OK;
		put_bytes(path, bytes + at, 1, at);
	}
	free(bytes);
	return count;
}

static void
check_damage(void)
{
	make_list(path, few, NULL);
	same(count_changeable(FEED_WHO_BYTES, FEED_PAGE), FEED_PAGE - FEED_WHO_BYTES, "what its follower writes is not what it is refused for");
	same(count_changeable(FEED_PAGE, FEED_PAGE + FEED_HEADER_BYTES), 0, "no byte of a part's header can change");
}

/* ------------------------------------------------------------------------
 * Watching
 * ------------------------------------------------------------------------ */

/* A key of many that few denies. */
static int64_t
new_key(void)
{
	int64_t		key = KEYS + 1;

	while (bloomfilter_contains_int64(few, key) != 0)
		key++;
	return key;
}

static void
check_watched(unsigned flags, bool tell, const char *what)
{
	const bloomfilter *held;
	int64_t		key = new_key();
	bool		told = tell && flags == 0;

	make_list(path, few, NULL);
	watch_still(flags);
	held = bloomfilter_reader_enter(reader);
	if (tell)
		put_word(path, FEED_SUPERSEDED, 1);
	make_list(path, many, NULL);
	same(bloomfilter_contains_int64(held, key), 0, "%s: who is inside keeps the old one", what);
	bloomfilter_reader_leave(reader);
	pass(20);
	same(asked(key), told, "%s: after 20 ms", what);
	pass(1000);
	same(asked(key), 1, "%s: after a second the new one has come by itself", what);
	same(bloomfilter_watched_error(watched, NULL), BLOOMFILTER_OK, "%s: without an error", what);
	let_go();
}

int
main(void)
{
	path = scratch_path("list.bloom");
	few = make_range(KEYS + MORE, 1, 1, KEYS);
	many = make_range(KEYS + MORE, 1, 1, KEYS + MORE);
	set = make_range(KEYS, PARTS, 1, KEYS);
	check_written();
	check_change();
	check_first_keys();
	check_namespace();
	tsv_each("pages.tsv", check_page_row);
	tsv_each("tables.tsv", check_table_row);
	check_damage();
	check_watched(0, true, "superseded");
	check_watched(0, false, "renamed over");
	check_watched(BLOOMFILTER_COPY, true, "copied, superseded");
	check_watched(BLOOMFILTER_COPY, false, "copied, renamed over");
	unlink(path);
	bloomfilter_close(few);
	bloomfilter_close(many);
	bloomfilter_close(set);
	return tap_done();
}
