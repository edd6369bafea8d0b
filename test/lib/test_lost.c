/*
 * test_lost.c
 *	  Followed files whose bits can't be believed any more: an error by every call, and never a "no".
 *
 * test/readers has what becomes of a file of another list, and of what takes the path.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "make_filters.h"
#include "make_list.h"
#include "tap.h"

#define KEYS 1000

static const char *path;
static const char *other;		/* a file of another list */
static bloomfilter *members;

/*
 * The library's pthread_mutex_unlock is led here by the linker: once a newer file comes at the
 * moment at which a reader has given the lock back.
 */
extern int	__real_pthread_mutex_unlock(pthread_mutex_t *mutex);
extern int	__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static bool newer_comes;

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int			result = __real_pthread_mutex_unlock(mutex);

	if (newer_comes)
	{
		newer_comes = false;
		make_list(path, members, NULL);
		need(bloomfilter_watched_reload(watched, NULL) == 1, "a newer file");
	}
	return result;
}

static void
begin(void)
{
	make_list(path, members, NULL);
	begin_watching(path, 0);
}

/* As cat does: the file stays the one that it is. */
static void
write_over(const char *from)
{
	size_t		length;
	uint8_t    *bytes = read_file(from, &length);

	put_bytes(path, bytes, length, 0);
	need(truncate(path, (off_t) length) == 0, "truncate");
	free(bytes);
}

/* All that can be asked of a file that is lost. */
static void
check_answers(const char *what)
{
	const bloomfilter *filter = bloomfilter_reader_enter(reader);
	const int64_t key = 1;
	const uint8_t bytes[8] = {1};
	const bloomfilter_slice slice = {bytes, sizeof bytes};
	char		text[BLOOMFILTER_EXPLAIN_TEXT];
	uint8_t		found;
	const void *part;
	size_t		length;
	bloomfilter_info info;
	bloomfilter_status status;

	same(bloomfilter_contains_int64(filter, key), BLOOMFILTER_ERR_LOST, "%s: a key", what);
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, "a", 1), BLOOMFILTER_ERR_LOST, "%s: a key of another type", what);
	same(bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_INTEGER, &slice, 1, &found, NULL), BLOOMFILTER_ERR_LOST, "%s: keys", what);
	same(bloomfilter_contains_int64_batch(filter, &key, 1, &found, NULL), BLOOMFILTER_ERR_LOST, "%s: integers", what);
	same(bloomfilter_explain(filter, BLOOMFILTER_KEY_INTEGER, bytes, sizeof bytes, text), BLOOMFILTER_ERR_LOST, "%s: explain", what);
	same(bloomfilter_get_info(filter, -1, &info, sizeof info), BLOOMFILTER_ERR_LOST, "%s: what is in it", what);
	same(bloomfilter_get_bytes(filter, 0, &part, &length), BLOOMFILTER_ERR_LOST, "%s: its bytes", what);
	same(bloomfilter_write(filter, other, NULL), BLOOMFILTER_ERR_LOST, "%s: a copy of it", what);
	bloomfilter_get_status(filter, &status, sizeof status);
	ok(strcmp(status.reason, "damaged") == 0, "and its status says so: %s", status.reason);
	bloomfilter_reader_leave(reader);
}

/* What takes the path is taken again. */
static void
check_healed(const char *what)
{
	make_list(path, members, NULL);
	same(bloomfilter_watched_reload(watched, NULL), 1, "%s: another file takes the path", what);
	same(asked(1), 1, "and is asked");
	same(bloomfilter_watched_error(watched, NULL), BLOOMFILTER_OK, "without an error");
}

static void
check_mark(void)
{
	bloomfilter *filter;

	begin();
	same(asked(1), 1, "a file");
	put_word(path, FEED_SUPERSEDED, FEED_LOST);
	same(bloomfilter_watched_reload(watched, NULL), BLOOMFILTER_ERR_LOST, "whose follower says that it is damaged");
	check_answers("marked");
	same(bloomfilter_watched_reload(watched, NULL), BLOOMFILTER_ERR_LOST, "and again");
	same(bloomfilter_open(path, BLOOMFILTER_COPY, &filter, NULL), BLOOMFILTER_ERR_LOST, "nor can it be copied");
	check_healed("marked");
	put_word(path, FEED_SUPERSEDED, FEED_LOST);
	unlink(path);
	same(bloomfilter_watched_reload(watched, NULL), BLOOMFILTER_ERR_SYSTEM, "one that is gone");
	same(asked(1), BLOOMFILTER_ERR_LOST, "is not asked either");
	check_healed("gone");
	end_watching();
}

static void
check_overwritten(const char *with, const char *what)
{
	begin();
	write_over(with);
	same(bloomfilter_watched_reload(watched, NULL), BLOOMFILTER_ERR_LOST, "%s over a file", what);
	check_answers(what);
	check_healed(what);
	end_watching();
}

/* Not only a filter of one version: the newest. */
static void
check_newest(void)
{
	const bloomfilter *first;
	const bloomfilter *second;

	begin();
	newer_comes = true;
	first = bloomfilter_reader_enter(reader);
	bloomfilter_reader_leave(reader);
	need(!newer_comes, "the lock was taken");
	second = bloomfilter_reader_enter(reader);
	ok(first != second, "a file that comes while a reader takes the one before is reached by the next look-up");
	bloomfilter_reader_leave(reader);
	end_watching();
}

static void
check_identity(void)
{
	same(bloomfilter_watched_open(path, 0, "users", &watched, NULL), BLOOMFILTER_ERR_ARGUMENT, "what is no identity");
	same(bloomfilter_watched_open(path, 0, "10111213-1415-1617-1819-1A1B1C1D1E1F", &watched, NULL), BLOOMFILTER_ERR_ARGUMENT,
		 "nor in capitals");
}

int
main(void)
{
	const char *filter_path = scratch_path("filter.bloom");
	feed_who	who;

	path = scratch_path("list.bloom");
	other = scratch_path("other.bloom");
	members = make_range(KEYS, 1, 1, KEYS);
	need(bloomfilter_write(members, filter_path, NULL) == BLOOMFILTER_OK, "a filter");
	make_list(other, members, &who);
	who.identity[0]++;
	put_who(other, &who);
	check_mark();
	check_overwritten(other, "another list");
	check_overwritten(filter_path, "a filter");
	check_newest();
	check_identity();
	bloomfilter_close(members);
	return tap_done();
}
