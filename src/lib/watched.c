/*
 * watched.c
 *	  A filter that is replaced while threads look up keys in it.
 *
 * A filter counts its holders under the watched filter's lock: the watched filter
 * itself, and each reader that has entered it.  A reader keeps the filter that it
 * entered last.  On entering it compares its epoch with the watched filter's, which
 * a reload raises after it has stored the new filter: only where they differ does
 * the reader take the lock, to hold the new filter in place of the old one.  So a
 * look-up pays for one load, and the last holder closes a filter.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "handle.h"
#include "open.h"

/* Between two attempts to open what is waited for. */
#define WAIT_NANOSECONDS 100000000L

/* Readers write to their own memory only: no two share a cache line. */
struct bloomfilter_reader
{
	_Alignas(BF_CACHE_LINE) bloomfilter_watched *watched;
	bloomfilter *held;			/* NULL before the first enter */
	uint64_t	epoch;			/* that it was the current filter in */
	unsigned	depth;			/* of nested calls */
};

struct bloomfilter_watched
{
	_Atomic(uint64_t) epoch;	/* raised, under the lock, with each new filter */
	pthread_mutex_t reloading;	/* one reload at a time */
	pthread_mutex_t lock;		/* of current, and of all filters' holders */
	bloomfilter *current;
	uint64_t	identity;		/* of the files seen last; under reloading */
	unsigned	flags;
	char	   *path;
};

/*
 * The path as it stays right when the program changes its folder, as daemons do.
 * Its last name may be a symbolic link that is replaced, so it is not followed.
 */
static char *
absolute_path(const char *path)
{
	char		here[PATH_MAX];
	size_t		length;
	char	   *absolute;

	if (path[0] == '/' || getcwd(here, sizeof here) == NULL)
		return strdup(path);
	length = strlen(here) + strlen(path) + sizeof "/";
	absolute = malloc(length);
	if (absolute != NULL)
		snprintf(absolute, length, "%s/%s", here, path);
	return absolute;
}

static bloomfilter_watched *
create_watched(const char *path, unsigned flags)
{
	bloomfilter_watched *watched = calloc(1, sizeof *watched);

	if (watched == NULL)
		return NULL;
	watched->path = absolute_path(path);
	if (watched->path == NULL)
	{
		free(watched);
		return NULL;
	}
	watched->flags = flags;
	pthread_mutex_init(&watched->reloading, NULL);
	pthread_mutex_init(&watched->lock, NULL);
	return watched;
}

/*
 * Puts one holder's filter in place of another, both may be NULL, and returns the
 * old one if that was its last holder.  The caller holds the lock, and closes what
 * is returned without it: giving back a large mapping takes time.
 */
static bloomfilter *
hold(bloomfilter **held, bloomfilter *filter)
{
	bloomfilter *old = *held;

	if (filter != NULL)
		filter->holders++;
	*held = filter;
	return old != NULL && --old->holders == 0 ? old : NULL;
}

/* Makes a filter the current one. */
static void
replace(bloomfilter_watched *watched, bloomfilter *filter)
{
	bloomfilter *unheld;

	pthread_mutex_lock(&watched->lock);
	unheld = hold(&watched->current, filter);
	atomic_fetch_add_explicit(&watched->epoch, 1, memory_order_release);
	pthread_mutex_unlock(&watched->lock);
	bloomfilter_close(unheld);
}

int
bloomfilter_watched_open(const char *path, unsigned flags,
						 bloomfilter_watched **watched, bloomfilter_detail *detail)
{
	bloomfilter *filter;
	int			code;

	if (watched == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	code = bloomfilter_open(path, flags, &filter, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	*watched = create_watched(path, flags);
	if (*watched == NULL)
	{
		bloomfilter_close(filter);
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	}
	(*watched)->identity = filter->identity;
	replace(*watched, filter);
	return BLOOMFILTER_OK;
}

static int64_t
milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int
bloomfilter_watched_wait(const char *path, unsigned flags, unsigned milliseconds,
						 bloomfilter_watched **watched, bloomfilter_detail *detail)
{
	const struct timespec pause = {0, WAIT_NANOSECONDS};
	int64_t		end = milliseconds_now() + (int64_t) milliseconds;

	for (;;)
	{
		int			code = bloomfilter_watched_open(path, flags, watched, detail);

		if (code == BLOOMFILTER_OK || code == BLOOMFILTER_ERR_NO_MEMORY ||
			milliseconds_now() >= end)
			return code;
		nanosleep(&pause, NULL);
	}
}

/* Whether two handles hold the same bytes: checksums are of headers, too. */
static bool
same_content(const bloomfilter *a, const bloomfilter *b)
{
	uint32_t	i;

	/* Bits of a working copy are not counted for this. */
	if (a->open_parts != b->open_parts || a->working.start != NULL || b->working.start != NULL)
		return false;
	for (i = 0; i < a->open_parts; i++)
		if (a->part[i].header.checksum != b->part[i].header.checksum)
			return false;
	return true;
}

/* The reload itself, once it is known that files have changed. */
static int
open_anew(bloomfilter_watched *watched, bloomfilter_detail *detail)
{
	bloomfilter *filter;
	bool		changed;
	int			code = bloomfilter_open(watched->path, watched->flags, &filter, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	/* Also of the same content it is taken: the old file may have been damaged in place. */
	changed = !same_content(filter, watched->current);
	watched->identity = filter->identity;
	replace(watched, filter);
	return changed;
}

int
bloomfilter_watched_reload(bloomfilter_watched *watched, bloomfilter_detail *detail)
{
	uint64_t	identity;
	int			code;

	pthread_mutex_lock(&watched->reloading);
	code = lbf_path_identity(watched->path, &identity, detail);
	if (code == BLOOMFILTER_OK && identity != watched->identity)
		code = open_anew(watched, detail);
	pthread_mutex_unlock(&watched->reloading);
	return code;
}

void
bloomfilter_watched_close(bloomfilter_watched *watched)
{
	if (watched == NULL)
		return;
	replace(watched, NULL);
	pthread_mutex_destroy(&watched->reloading);
	pthread_mutex_destroy(&watched->lock);
	free(watched->path);
	free(watched);
}

int
bloomfilter_reader_open(bloomfilter_watched *watched, bloomfilter_reader **result)
{
	void	   *memory;

	if (posix_memalign(&memory, BF_CACHE_LINE, sizeof **result) != 0)
		return BLOOMFILTER_ERR_NO_MEMORY;
	*result = memset(memory, 0, sizeof **result);
	(*result)->watched = watched;
	return BLOOMFILTER_OK;
}

/* Holds the current filter, or none. */
static void
hold_current(bloomfilter_reader *reader, bool any)
{
	bloomfilter_watched *watched = reader->watched;
	bloomfilter *unheld;

	pthread_mutex_lock(&watched->lock);
	unheld = hold(&reader->held, any ? watched->current : NULL);
	reader->epoch = atomic_load_explicit(&watched->epoch, memory_order_relaxed);
	pthread_mutex_unlock(&watched->lock);
	bloomfilter_close(unheld);
}

void
bloomfilter_reader_close(bloomfilter_reader *reader)
{
	if (reader != NULL)
		hold_current(reader, false);
	free(reader);
}

const bloomfilter *
bloomfilter_reader_enter(bloomfilter_reader *reader)
{
	if (reader->depth++ == 0 &&
		atomic_load_explicit(&reader->watched->epoch, memory_order_acquire) != reader->epoch)
		hold_current(reader, true);
	return reader->held;
}

void
bloomfilter_reader_leave(bloomfilter_reader *reader)
{
	if (reader->depth > 0)
		reader->depth--;
}
