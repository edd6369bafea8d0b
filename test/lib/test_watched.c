/*
 * test_watched.c
 *	  A filter that is replaced while it is asked: no reader sees an error, a key
 *	  denied that is in all versions, or a filter that was closed.
 *
 * Readers run until the writer has replaced the file so often, however long that
 * takes.  Closed filters are unmapped, so touching one is a crash; under the
 * thread sanitizer an access without order is one, too.
 */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 2000
#define READERS 4
#define REPLACEMENTS 50

/* Keys 1 .. KEYS are in every version; KEYS + v is what version v has beside. */
#define VERSIONS 3

static bloomfilter_watched *watched;
static atomic_int stop;
static atomic_int started;
static atomic_long wrong;

/* Asks between enter and leave; all answers must be of one version. */
static void
ask_once(bloomfilter_reader *reader, int64_t key)
{
	const bloomfilter *filter = bloomfilter_reader_enter(reader);
	const bloomfilter *inner;
	int			versions = 0;
	int			v;

	wrong += bloomfilter_contains_int64(filter, key) != 1;
	inner = bloomfilter_reader_enter(reader);
	wrong += inner != filter;
	bloomfilter_reader_leave(reader);
	for (v = 1; v <= VERSIONS; v++)
		versions += bloomfilter_contains_int64(filter, KEYS + v) == 1;
	wrong += versions != 1;
	bloomfilter_reader_leave(reader);
}

static void *
read_on(void *argument)
{
	bloomfilter_reader *reader = NULL;
	int64_t		key = 1;

	(void) argument;
	if (bloomfilter_reader_open(watched, &reader) != BLOOMFILTER_OK)
	{
		wrong++;
		return NULL;
	}
	started++;
	while (!atomic_load(&stop))
	{
		ask_once(reader, key);
		key = key % KEYS + 1;
	}
	bloomfilter_reader_close(reader);
	return NULL;
}

/* Two threads that reload at the same time. */
static void *
reload_on(void *argument)
{
	(void) argument;
	while (!atomic_load(&stop))
		wrong += bloomfilter_watched_reload(watched, NULL) < 0;
	return NULL;
}

/* At this rate no version is taken for another one. */
static bloomfilter *
make_version(int version)
{
	bloomfilter_builder *builder;
	int64_t		key;

	need(bloomfilter_builder_create(KEYS + 1, 1e-6, 7, 1, &builder) == BLOOMFILTER_OK, "builder");
	for (key = 1; key <= KEYS; key++)
		need(bloomfilter_builder_add_int64(builder, key) == BLOOMFILTER_OK, "add");
	return finish_range(builder, KEYS + version, KEYS + version);
}

/* How many filters of this path are mapped, replaced ones included. */
static int
mappings(const char *path)
{
	FILE	   *maps = fopen("/proc/self/maps", "r");
	char		line[1024];
	int			count = 0;

	need(maps != NULL, "/proc/self/maps");
	while (fgets(line, sizeof line, maps) != NULL)
		count += strstr(line, path) != NULL;
	fclose(maps);
	return count;
}

static void
check_threads(const char *path, bloomfilter *const *versions)
{
	pthread_t	readers[READERS];
	pthread_t	reloader;
	int			i;

	need(bloomfilter_write(versions[0], path, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_watched_open(path, 0, NULL, &watched, NULL) == BLOOMFILTER_OK, "watched");
	for (i = 0; i < READERS; i++)
		need(pthread_create(&readers[i], NULL, read_on, NULL) == 0, "thread");
	while (atomic_load(&started) < READERS)
		sched_yield();
	need(pthread_create(&reloader, NULL, reload_on, NULL) == 0, "thread");
	for (i = 1; i <= REPLACEMENTS; i++)
	{
		need(bloomfilter_write(versions[i % VERSIONS], path, NULL) == BLOOMFILTER_OK, "write");
		wrong += bloomfilter_watched_reload(watched, NULL) < 0;
	}
	atomic_store(&stop, 1);
	for (i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	pthread_join(reloader, NULL);
	same(atomic_load(&wrong), 0, "%d readers, %d replacements: no wrong answer", READERS, REPLACEMENTS);
	same(mappings(path), 1, "no replaced filter is left");
	bloomfilter_watched_close(watched);
	same(mappings(path), 0, "and none when it is closed");
}

static void
check_holders(const char *path, bloomfilter *const *versions)
{
	bloomfilter_reader *reader = NULL;
	bloomfilter_reader *second;
	const bloomfilter *held;
	uint8_t    *bytes;
	size_t		length;
	struct stat before;

	unlink(path);
	need(bloomfilter_write(versions[0], path, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_watched_open(path, 0, NULL, &watched, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_reader_open(watched, &reader) == BLOOMFILTER_OK, "watched");
	held = bloomfilter_reader_enter(reader);
	need(bloomfilter_write(versions[1], path, NULL) == BLOOMFILTER_OK, "new content");
	same(bloomfilter_watched_reload(watched, NULL), 1, "a new file");
	same(mappings(path), 2, "the old one is kept while a reader is inside");
	same(bloomfilter_contains_int64(held, KEYS + 1), 1, "who asks it on");
	need(bloomfilter_reader_open(watched, &second) == BLOOMFILTER_OK, "second reader");
	same(bloomfilter_contains_int64(bloomfilter_reader_enter(second), KEYS + 2), 1, "others ask the new one");
	bloomfilter_reader_leave(second);
	bloomfilter_reader_close(second);
	bloomfilter_reader_leave(reader);
	bloomfilter_reader_enter(reader);
	bloomfilter_reader_leave(reader);
	same(mappings(path), 1, "and closed when its last reader enters the new one");

	need(bloomfilter_write(versions[2], path, NULL) == BLOOMFILTER_OK &&
		 bloomfilter_watched_reload(watched, NULL) == 1, "replaced");
	same(mappings(path), 2, "an idle reader keeps the old one");
	bloomfilter_reader_close(reader);
	same(mappings(path), 1, "until it is closed");
	bloomfilter_watched_close(watched);

	bytes = read_file(path, &length);
	need(bloomfilter_write(versions[0], path, NULL) == BLOOMFILTER_OK && stat(path, &before) == 0 &&
		 bloomfilter_watched_open(path, BLOOMFILTER_COPY, NULL, &watched, NULL) == BLOOMFILTER_OK, "watched");
	usleep(20000);				/* into another tick of the file system's clock, at least */
	write_file(path, bytes, length);
	need(utimensat(AT_FDCWD, path, (struct timespec[]) {before.st_atim, before.st_mtim}, 0) == 0, "time");
	same(bloomfilter_watched_reload(watched, NULL), 1, "a file that was written over, and got its time back, as by cp -p, is another one");
	bloomfilter_watched_close(watched);
	free(bytes);
}

int
main(void)
{
	const char *path = scratch_path("watched.bloom");
	bloomfilter *versions[VERSIONS];
	int			i;

	for (i = 0; i < VERSIONS; i++)
		versions[i] = make_version(i + 1);
	check_threads(path, versions);
	check_holders(path, versions);
	for (i = 0; i < VERSIONS; i++)
		bloomfilter_close(versions[i]);
	return tap_done();
}
