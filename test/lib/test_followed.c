/*
 * test_followed.c
 *	  Files with a page of facts: sets that were written, and followed lists with what a
 *	  reader may believe of them.
 *
 * The library's calls of clock_gettime are led here by the linker: its clocks stand
 * still while a test of watching lets them.
 */
#define _GNU_SOURCE				/* CLONE_NEWNS */

#include <fcntl.h>
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
#include "bf_hash.h"
#include "feed_table.h"
#include "files.h"
#include "make_filters.h"
#include "make_list.h"
#include "tap.h"
#include "tsv.h"

#define KEYS 3000
#define MORE 1000				/* that come in later */
#define PARTS 3
#define ANNOUNCED 100			/* keys that come one by one */

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

static void
is(const char *got, const char *wanted, const char *what)
{
	ok(strcmp(got, wanted) == 0, "%s: \"%s\"", what, got);
}

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
	uint8_t    *bytes;
	size_t		length;

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
	bytes = read_file(path, &length);
	put_bytes(path, &(uint8_t) {(uint8_t) (bytes[length - 1] ^ 1)}, 1, length - 1);
	free(bytes);
	same(code_of(path, 0), BLOOMFILTER_ERR_SET, "a bit that was turned is found by who opens it");
	same(code_of(path, BLOOMFILTER_COPY), BLOOMFILTER_ERR_SET, "by who copies it, too");
	same(code_of(path, BLOOMFILTER_SKIP_CHECK), BLOOMFILTER_OK, "but not by who wants no check");
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
	same(count_missing(mapped, 1, KEYS), 0, "a list has its keys");
	ok(count_missing(mapped, KEYS + 1, KEYS + MORE) > 0, "and not those that come");
	bloomfilter_get_info(mapped, -1, &before, sizeof before);
	put_keys(path, many, 200);
	same(count_missing(mapped, 1, KEYS + MORE), 0, "who has it open finds keys that came");
	ok(count_missing(copy, KEYS + 1, KEYS + MORE) > 0, "who copied it doesn't");
	same((long long) status_of(mapped).serial, 200, "the serial is that of the keys");
	same((long long) status_of(copy).serial, 100, "and of a copy that of the copy");
	same((long long) status_of(copy).true_at, 99, "with the time that is true of it");
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

/* Asks, until the last serial is told, for all keys that each told serial announces. */
static int
ask_announced(const bloomfilter *filter)
{
	int64_t		told;
	int			denied = 0;

	do
	{
		told = (int64_t) status_of(filter).serial;
		denied += count_missing(filter, 1, told);
	} while (told < ANNOUNCED);
	return denied;
}

/* A serial that is told has its keys, for another process, while they come. */
static void
check_announced(void)
{
	bloomfilter *none = make_range(KEYS + MORE, 1, 1, 0);
	bloomfilter *mapped;
	pid_t		child;
	int			status = 0;
	int64_t		key;

	make_list(path, none, NULL);
	put_word(path, FEED_SERIAL, 0);
	mapped = opened(path, 0);
	fflush(stdout);
	child = fork();
	need(child >= 0, "fork");
	if (child == 0)
	{
		alarm(300);
		_exit(ask_announced(mapped) == 0 ? 0 : 1);
	}
	for (key = 1; key <= ANNOUNCED; key++)
	{
		bloomfilter *one = make_range(KEYS + MORE, 1, key, key);

		put_keys(path, one, (uint64_t) key);
		bloomfilter_close(one);
	}
	need(waitpid(child, &status, 0) == child, "child");
	same(status, 0, "each of %d serials has its keys when it is told", ANNOUNCED);
	bloomfilter_close(mapped);
	bloomfilter_close(none);
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

static void
check_copied_file(void)
{
	size_t		length;
	uint8_t    *bytes;
	bloomfilter *filter;

	make_list(path, few, NULL);
	put_keys(path, many, 200);
	bytes = read_file(path, &length);
	write_file(scratch_path("backup"), bytes, length);
	free(bytes);
	filter = opened(scratch_path("backup"), 0);
	same((long long) status_of(filter).serial, 100, "of a copied file only that serial is sure which it was made with");
	same(status_of(filter).place, BLOOMFILTER_PLACE_COPY, "as it is not in its place");
	bloomfilter_close(filter);
	unlink(scratch_path("backup"));
	need(symlink(path, scratch_path("link")) == 0, "link");
	filter = opened(scratch_path("link"), 0);
	same((long long) status_of(filter).serial, 200, "by a symbolic link it is in its place");
	bloomfilter_close(filter);
	unlink(scratch_path("link"));
}

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
 * The golden files
 * ------------------------------------------------------------------------ */

/* Makes a reader of the file stand where a row says: see README.md of the vectors. */
static void
stand(const char *name, uint8_t *bytes, size_t length, const char *where)
{
	bool		right = length >= FEED_PAGE && bf_load_le64(bytes + 504) == bf_hash(bytes, 504, 0);
	bool		saved = length >= FEED_PAGE && bf_load_le64(bytes + 1080) != 0;
	uint8_t		text[72];
	struct stat st;

	write_file(name, bytes, length);
	if (length < FEED_PAGE || strcmp(where, "nobody") == 0 || strcmp(where, "-") == 0)
		return;
	need(stat(name, &st) == 0, "stat");
	this_boot(bytes + 48);
	bytes[48] ^= strcmp(where, "boot") == 0;
	bf_store_le64(bytes + 64, (uint64_t) st.st_dev + (strcmp(where, "device") == 0));
	bf_store_le64(bytes + 72, (uint64_t) st.st_ino + (strcmp(where, "copy") == 0));
	if (right)
		bf_store_le64(bytes + 504, bf_hash(bytes, 504, 0));
	memcpy(text, bytes + 1024, 56);
	memcpy(text + 56, bytes + 24, 8);
	memcpy(text + 64, bytes + 72, 8);
	if (saved)
		bf_store_le64(bytes + 1080, bf_hash(text, sizeof text, 0));
	put_bytes(name, bytes, FEED_PAGE, 0);
}

static int
count_denied(const bloomfilter *filter, const char *keys)
{
	int			denied = 0;

	for (; keys != NULL; keys = strchr(keys, ','))
	{
		keys += *keys == ',';
		denied += bloomfilter_contains_int64(filter, strtoll(keys, NULL, 10)) != 1;
	}
	return denied;
}

static int
place_of(const char *where)
{
	return strcmp(where, "here") == 0 ? BLOOMFILTER_PLACE_HERE : strcmp(where, "boot") == 0 ? BLOOMFILTER_PLACE_OTHER_BOOT :
		strcmp(where, "nobody") == 0 ? BLOOMFILTER_PLACE_NONE : BLOOMFILTER_PLACE_COPY;
}

/* In the golden files a serial ends with 9 where it is of now, with 5 where it was saved. */
static int
kind_of(const char *told)
{
	char		last = told[strlen(told) - 1];

	return last == '9' ? BLOOMFILTER_SERIAL_NOW : last == '5' ? BLOOMFILTER_SERIAL_SAVED : BLOOMFILTER_SERIAL_BORN;
}

static void
check_golden(const tsv *table, unsigned flags)
{
	const char *name = tsv_text(table, "name");
	bloomfilter_status status;
	bloomfilter *filter = NULL;
	int			code = bloomfilter_open(path, flags, &filter, NULL);

	if (strcmp(tsv_text(table, "word"), "-") != 0)
		ok(code < 0 && filter == NULL, "golden file %s, flags %u: refused with %d", name, flags, code);
	else
	{
		same(code, BLOOMFILTER_OK, "golden file %s, flags %u: taken", name, flags);
		need(code == BLOOMFILTER_OK, "a filter");
		status = status_of(filter);
		ok(status.serial == tsv_number(table, "told"), "golden file %s: its serial", name);
		same(status.true_at, (long) tsv_number(table, "true_at"), "golden file %s: its true_at", name);
		ok(strcmp(status.reason, tsv_text(table, "reason")) == 0, "golden file %s: its reason, %s", name, status.reason);
		ok(tsv_text(table, "message")[0] == '\0' || strcmp(status.message, tsv_text(table, "message")) == 0, "golden file %s: its message, %s", name, status.message);
		ok(status.place == place_of(tsv_text(table, "where")) && status.serial_kind == kind_of(tsv_text(table, "told")),
		   "golden file %s: its place, and which serial", name);
		same(count_denied(filter, tsv_text(table, "keys")), 0, "golden file %s: its keys", name);
	}
	bloomfilter_close(filter);
}

static void
check_page_row(const tsv *table)
{
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "file_hex", &length);

	stand(path, bytes, length, tsv_text(table, "where"));
	check_golden(table, 0);
	check_golden(table, BLOOMFILTER_COPY);
	free(bytes);
}

/* ------------------------------------------------------------------------
 * Changes by day
 * ------------------------------------------------------------------------ */

/* How many of a row's keys have another answer than this one, by any call. */
static int
count_other(const bloomfilter *filter, const char *keys, int answer)
{
	int			other = 0;

	for (; keys != NULL && strcmp(keys, "-") != 0; keys = strchr(keys, ','))
	{
		uint8_t		bytes[8];
		uint8_t		found[2] = {9, 9};
		bloomfilter_slice slice = {bytes, 8};
		char		text[BLOOMFILTER_EXPLAIN_TEXT];
		int64_t		key;

		keys += *keys == ',';
		key = strtoll(keys, NULL, 10);
		bf_store_le64(bytes, (uint64_t) key);
		other += bloomfilter_contains_int64(filter, key) != answer;
		other += bloomfilter_contains(filter, BLOOMFILTER_KEY_INTEGER, bytes, 8) != answer;
		other += bloomfilter_explain(filter, BLOOMFILTER_KEY_INTEGER, bytes, 8, text) != answer;
		other += answer >= 0 && strstr(text, answer ? "answer    true" : "answer    false") == NULL;
		other += bloomfilter_contains_int64_batch(filter, &key, 1, found, NULL) != (answer < 0 ? answer : 0) ||
			(answer >= 0 && found[0] != answer);
		other += bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_INTEGER, &slice, 1, found + 1, NULL) != (answer < 0 ? answer : 0) ||
			(answer >= 0 && found[1] != answer);
	}
	return other;
}

static void
check_table(const tsv *table, unsigned flags)
{
	const char *name = tsv_text(table, "name");
	bool		taken = strcmp(tsv_text(table, "word"), "-") == 0;
	bloomfilter *filter = NULL;
	int			code = bloomfilter_open(path, flags, &filter, NULL);

	ok(taken ? code == BLOOMFILTER_OK : code < 0, "changes %s, flags %u: opened with %d", name, flags, code);
	if (filter == NULL)
		return;
	same(count_other(filter, tsv_text(table, "keys"), 1), 0, "changes %s: keys that are in", name);
	same(count_other(filter, tsv_text(table, "absent"), 0), 0, "changes %s: keys that are not", name);
	same(count_other(filter, tsv_text(table, "errors"), BLOOMFILTER_ERR_CHANGES), 0, "changes %s: keys of which nothing is known", name);
	bloomfilter_close(filter);
}

static void
check_table_row(const tsv *table)
{
	static const char wanted[] = "change    false 5\nanswer    false";
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "file_hex", &length);
	bloomfilter_info info;
	bloomfilter *filter;
	char		text[BLOOMFILTER_EXPLAIN_TEXT];

	write_file(path, bytes, length);
	check_table(table, 0);
	check_table(table, BLOOMFILTER_COPY);
	if (strcmp(tsv_text(table, "name"), "changed") == 0)
	{
		filter = opened(path, 0);
		bloomfilter_get_info(filter, -1, &info, sizeof info);
		ok(info.changes == 4 && info.slots == 1024 && status_of(filter).changes == 4, "it says how many changes it has");
		need(bloomfilter_explain(filter, BLOOMFILTER_KEY_INTEGER, (const uint8_t[8]) {1}, 8, text) == 0, "explained");
		is(text + strlen(text) - strlen(wanted), wanted, "a key that was changed is explained");
		bloomfilter_close(filter);
	}
	free(bytes);
}

/* Text keys of a batch are known without the blanks at their end, as others are. */
static void
check_changed_texts(void)
{
	static const char *const texts[] = {"in", "out", "out  ", "neither", "in "};
	bloomfilter_slice slices[5];
	bloomfilter_builder *builder;
	bloomfilter *filter = NULL;
	uint8_t		found[5];
	int			i;

	need(bloomfilter_builder_create(100, 0.01, 3, 1, &builder) == BLOOMFILTER_OK &&
		 bloomfilter_builder_add(builder, BLOOMFILTER_KEY_TEXT, "out", 3) == BLOOMFILTER_OK &&
		 bloomfilter_builder_finish(builder, &filter, NULL) == BLOOMFILTER_OK, "a filter of text");
	bloomfilter_builder_free(builder);
	make_tracked_list(path, filter);
	put_change(path, "in", 2, 7, true);
	put_change(path, "out", 3, 8, false);
	bloomfilter_close(filter);
	for (i = 0; i < 5; i++)
		slices[i] = (bloomfilter_slice) {texts[i], strlen(texts[i])};
	filter = opened(path, 0);
	same(bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_TEXT, slices, 5, found, NULL), BLOOMFILTER_OK, "a batch of texts");
	ok(memcmp(found, "\1\0\0\0\1", 5) == 0, "texts that were changed, with blanks and without");
	for (i = 0; i < 5; i++)
		same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, texts[i], strlen(texts[i])), found[i], "\"%s\" alone", texts[i]);
	put_change(path, "in", 2, 9, false);
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, "in", 2), 0, "a change that comes while it is open counts");
	bloomfilter_close(filter);
}

/* What its page says of a table, as a follower leaves it that is killed, and as none does. */
static void
check_counted_table(void)
{
	uint8_t    *bytes;
	size_t		length;
	feed_table	said;

	make_tracked_list(path, few);
	put_change(path, (const uint8_t[8]) {1}, 8, 9, false);
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

/* Of one that is watched and copied, a change makes another copy. */
static void
check_watched_changes(void)
{
	make_tracked_list(path, few);
	watch_still(BLOOMFILTER_COPY);
	put_change(path, (const uint8_t[8]) {1}, 8, 9, false);
	same(asked(1), 1, "a copy doesn't know of a change");
	pass(1000);
	same(asked(1), 0, "the next look finds it");
	let_go();
}

/* ------------------------------------------------------------------------
 * Damage
 * ------------------------------------------------------------------------ */

static void
check_damage(void)
{
	uint8_t    *bytes;
	size_t		length;
	size_t		at;
	int			opened_damaged = 0;
	int			refused_others = 0;

	make_list(path, few, NULL);
	bytes = read_file(path, &length);
	for (at = FEED_WHO_BYTES; at < FEED_PAGE; at++)
	{
		uint8_t		wrong = bytes[at] ^ 0x10;

		put_bytes(path, &wrong, 1, at);
		refused_others += code_of(path, 0) != BLOOMFILTER_OK;
		put_bytes(path, bytes + at, 1, at);
	}
	same(refused_others, 0, "what its follower writes is not what it is refused for");
	for (at = FEED_PAGE; at < FEED_PAGE + 64; at++)
	{
		uint8_t		wrong = bytes[at] ^ 0x10;

		put_bytes(path, &wrong, 1, at);
		opened_damaged += code_of(path, 0) == BLOOMFILTER_OK;
		put_bytes(path, bytes + at, 1, at);
	}
	same(opened_damaged, 0, "no byte of a part's header can change");
	put_bytes(path, "\2", 1, 4);
	same(code_of(path, 0), BLOOMFILTER_OK, "version 2");
	put_bytes(path, "\4", 1, 4);
	same(code_of(path, 0), BLOOMFILTER_ERR_PAGE, "another version");
	put_bytes(path, "\2", 1, 4);
	put_bytes(path, "\3", 1, FEED_PAGE + 4);
	same(code_of(path, 0), BLOOMFILTER_ERR_FORMAT_VERSION, "a part of another version");
	put_bytes(path, "\1", 1, FEED_PAGE + 4);
	same(code_of(path, 0), BLOOMFILTER_OK, "put back");
	free(bytes);
}

/* Parts that don't belong together. */
static void
check_parts(void)
{
	bloomfilter_builder *builder;
	bloomfilter *other;
	const void *bytes[2];
	size_t		length;
	uint8_t    *file;
	size_t		file_length;
	feed_who	who;
	feed_part	part;
	uint64_t	second;

	make_list(path, set, &who);
	same(code_of(path, 0), BLOOMFILTER_OK, "a list of three parts");
	need(bloomfilter_builder_create(KEYS, 0.01, 8, PARTS, &builder) == BLOOMFILTER_OK, "builder");
	other = finish_range(builder, 1, KEYS);
	bloomfilter_get_bytes(set, 0, &bytes[0], &length);
	second = (FEED_PAGE + length + FEED_PAGE - 1) / FEED_PAGE * FEED_PAGE;
	file = read_file(path, &file_length);
	need(feed_part_read(bytes[0], length, &part) == NULL, "a part");
	feed_part_strip(&part);
	put_bytes(path, part.header, FEED_HEADER_BYTES, second);
	same(code_of(path, 0), BLOOMFILTER_ERR_SET, "a part twice");
	bloomfilter_get_bytes(other, 1, &bytes[1], &length);
	need(feed_part_read(bytes[1], length, &part) == NULL, "a part");
	feed_part_strip(&part);
	put_bytes(path, part.header, FEED_HEADER_BYTES, second);
	same(code_of(path, 0), BLOOMFILTER_ERR_SET, "parts of two seeds");
	put_bytes(path, file + second, FEED_HEADER_BYTES, second);
	who.parts = 2;
	put_who(path, &who);
	same(code_of(path, 0), BLOOMFILTER_ERR_SET, "a part too many");
	free(file);
	bloomfilter_close(other);
}

/* ------------------------------------------------------------------------
 * Status
 * ------------------------------------------------------------------------ */

static uint64_t
now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t) time.tv_sec * 1000000 + (uint64_t) time.tv_nsec / 1000;
}

/* By both clocks so many seconds ago, and the word that the follower wrote. */
static bloomfilter_status
status_after(long long seconds, const char *word, uint64_t every)
{
	feed_how	how;
	uint8_t		bytes[FEED_HOW_BYTES];
	bloomfilter *filter;
	bloomfilter_status status;

	memset(&how, 0, sizeof how);
	how.looked = now(CLOCK_REALTIME) - (uint64_t) (seconds * 1000000);
	how.looked_boot = now(CLOCK_BOOTTIME) - (uint64_t) (seconds * 1000000);
	how.failures = 3;
	how.every = every;
	how.heartbeat = 20000000;
	how.expires = 12345;
	how.since = 54321;
	strcpy(how.reason, word);
	strcpy(how.message, "what happened");
	feed_how_write(&how, bytes);
	put_bytes(path, bytes, sizeof bytes, FEED_HOW_AT);
	filter = opened(path, 0);
	status = status_of(filter);
	bloomfilter_close(filter);
	return status;
}

static void
check_status(void)
{
	bloomfilter_status status;
	bloomfilter *filter;

	make_list(path, few, NULL);
	filter = opened(path, BLOOMFILTER_SKIP_CHECK);
	status = status_of(filter);
	ok(status.age == -1 && status.looked == 0 && status.reason[0] == '\0', "before the first look");
	is(status.list, "users", "its list");
	is(status.identity, "10111213-1415-1617-1819-1a1b1c1d1e1f", "its identity");
	ok(status.serial == 100 && status.superseded == 0, "its numbers");
	put_word(path, FEED_SUPERSEDED, 1);
	same((long long) status_of(filter).superseded, 1, "that another one took its place");
	bloomfilter_close(filter);
	make_list(path, few, NULL);
	status = status_after(2, "", 10000000);
	ok(status.failures == 3 && status.every == 10000000 && status.heartbeat == 20000000 &&
	   status.expires == 12345 && status.since == 54321, "how its follower fares");
	ok(status.age >= 2000000 && status.age < 12000000 && status.reason[0] == '\0', "two seconds ago: nothing is wrong");
	is(status_after(60, "", 10000000).reason, "old", "three looks were missed");
	is(status_after(60, "", 0).reason, "", "but where it doesn't come again, none was");
	is(status_after(60, "disk", 10000000).reason, "disk", "the follower's word is not replaced");
	is(status_after(60, "disk", 10000000).message, "what happened", "nor what it says");
	status = status_after(-3600, "", 10000000);
	is(status.reason, "clock", "a look in an hour");
	ok(status_after(-30, "", 10000000).reason[0] == '\0', "half a minute is nothing");
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

/* The follower was killed before it gave the new file its name, and comes again. */
static void
check_superseded_by_none(void)
{
	make_list(path, few, NULL);
	watch_still(0);
	put_word(path, FEED_SUPERSEDED, 1);
	pass(20);
	same(asked(1), 1, "superseded by none: the file is asked on");
	put_keys(path, many, 200);
	put_word(path, FEED_SUPERSEDED, 0);
	same(asked(new_key()), 1, "superseded by none: and has what comes");
	let_go();
}

static void
check_watched_serial(void)
{
	make_list(path, few, NULL);
	watch_still(BLOOMFILTER_COPY);
	same(bloomfilter_watched_reload(watched, NULL), 0, "a copy of a list that stays");
	put_keys(path, many, 200);
	same(bloomfilter_watched_reload(watched, NULL), 1, "a copy is made anew when bits came");
	same(count_missing(bloomfilter_reader_enter(reader), 1, KEYS + MORE), 0, "and has them");
	bloomfilter_reader_leave(reader);
	let_go();
	watch_still(0);
	put_word(path, FEED_SERIAL, 300);
	same(bloomfilter_watched_reload(watched, NULL), 0, "what is mapped needs no reload for it");
	let_go();
}

static void
check_watched_damage(void)
{
	bloomfilter_detail detail;

	make_list(path, few, NULL);
	watch_still(0);
	unlink(path);
	same(bloomfilter_watched_reload(watched, &detail), BLOOMFILTER_ERR_SYSTEM, "gone: %s", detail.text);
	make_list(path, many, NULL);
	put_bytes(path, "x", 1, 40);
	same(bloomfilter_watched_reload(watched, &detail), BLOOMFILTER_ERR_PAGE, "damaged: %s", detail.text);
	same(bloomfilter_watched_reload(watched, &detail), BLOOMFILTER_ERR_PAGE, "and again");
	same(bloomfilter_watched_error(watched, &detail), BLOOMFILTER_ERR_PAGE, "which is told: %s", detail.text);
	same(count_missing(bloomfilter_reader_enter(reader), 1, KEYS), 0, "the old one stays");
	bloomfilter_reader_leave(reader);
	make_list(path, many, NULL);
	pass(1000);
	same(asked(new_key()), 1, "a right one is taken");
	let_go();
}

/* A child has no thread of its parent, and needs none. */
static void
check_fork(void)
{
	int64_t		key = new_key();
	pid_t		child;
	int			status = 0;

	make_list(path, few, NULL);
	watch_still(0);
	need(asked(key) == 0, "a new key");
	make_list(path, many, NULL);
	fflush(stdout);
	child = fork();
	need(child >= 0, "fork");
	pass(1000);
	if (child == 0)
		_exit(asked(key) == 1 ? 0 : 1);
	need(waitpid(child, &status, 0) == child, "child");
	same(status, 0, "a child sees a new file by itself");
	same(asked(key), 1, "and so does its parent");
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
	check_announced();
	check_first_keys();
	check_copied_file();
	check_namespace();
	tsv_each("pages.tsv", check_page_row);
	tsv_each("tables.tsv", check_table_row);
	check_changed_texts();
	check_counted_table();
	check_watched_changes();
	check_damage();
	check_parts();
	check_status();
	check_watched(0, true, "superseded");
	check_watched(0, false, "renamed over");
	check_watched(BLOOMFILTER_COPY, true, "copied, superseded");
	check_watched(BLOOMFILTER_COPY, false, "copied, renamed over");
	check_superseded_by_none();
	check_watched_serial();
	check_watched_damage();
	check_fork();
	unlink(path);
	bloomfilter_close(few);
	bloomfilter_close(many);
	bloomfilter_close(set);
	return tap_done();
}
