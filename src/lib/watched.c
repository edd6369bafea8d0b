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
 *
 * Entering also looks at the path when that is due: by the clock, or because the follower
 * of the filter that is held says that another file took its place.  One thread looks;
 * the others go on with what they have.  Where the bits of a mapped file can't be believed any
 * more, a filter takes its place that answers every question with an error.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "feed_values.h"
#include "handle.h"

/* Microseconds between two looks, and where the filter that is held was superseded. */
#define LOOK_EVERY		1000000
#define LOOK_SUPERSEDED	10000
#define LOOK_CLOCK CLOCK_MONOTONIC_COARSE

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
	_Atomic(int64_t) looked;	/* when the path was looked at, by LOOK_CLOCK */
	_Atomic(bool) failed;		/* and whether that went wrong */
	pthread_mutex_t looking;	/* one look at a time */
	pthread_mutex_t lock;		/* of current, and of all filters' holders */
	bloomfilter *current;
	bloomfilter_detail error;	/* of the last look; under looking */
	struct stat refused;		/* file that it was about, if it could be stamped */
	unsigned	flags;
	const char *identity;		/* that is insisted on, or NULL */
	char		uuid[FEED_UUID_TEXT_BYTES];	/* room for it */
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
	char	   *absolute;

	if (path[0] == '/' || getcwd(here, sizeof here) == NULL)
		return strdup(path);
	return asprintf(&absolute, "%s/%s", here, path) < 0 ? NULL : absolute;
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

/* Opens the file at a path, if it is of the list that is insisted on. */
static int
open_list(const char *path, unsigned flags, const char *identity, bloomfilter **filter, bloomfilter_detail *detail)
{
	bloomfilter_status status;
	int			code = bloomfilter_open(path, flags, filter, detail);

	if (code != BLOOMFILTER_OK || identity == NULL)
		return code;
	bloomfilter_get_status(*filter, &status, sizeof status);
	if (strcmp(status.identity, identity) == 0)
		return BLOOMFILTER_OK;
	bloomfilter_close(*filter);
	return lbf_fail(detail, BLOOMFILTER_ERR_IDENTITY, path);
}

int
bloomfilter_watched_open(const char *path, unsigned flags, const char *identity,
						 bloomfilter_watched **result, bloomfilter_detail *detail)
{
	uint8_t		bytes[FEED_IDENTITY_BYTES];
	bloomfilter_watched *watched;
	bloomfilter *filter;
	int			code;

	if (result == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	if (identity != NULL && !feed_uuid_read(bytes, identity))
		return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, identity, "is no UUID in lower case");
	code = open_list(path, flags, identity, &filter, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	watched = calloc(1, sizeof *watched);
	if (watched == NULL || (watched->path = absolute_path(path)) == NULL)
	{
		free(watched);
		bloomfilter_close(filter);
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	}
	watched->flags = flags;
	if (identity != NULL)
		watched->identity = strcpy(watched->uuid, identity);
	pthread_mutex_init(&watched->looking, NULL);
	pthread_mutex_init(&watched->lock, NULL);
	atomic_init(&watched->looked, lbf_clock(LOOK_CLOCK));
	replace(watched, filter);
	*result = watched;
	return BLOOMFILTER_OK;
}

/* Opens the file that the path is now, unless that one was refused before. */
static int
open_anew(bloomfilter_watched *watched, const struct stat *stamp)
{
	bloomfilter *filter;
	int			code;

	/* A large file that was damaged is not checked each second. */
	if (watched->error.code != BLOOMFILTER_OK && lbf_is_same(stamp, &watched->refused))
		return watched->error.code;
	code = open_list(watched->path, watched->flags, watched->identity, &filter, &watched->error);
	if (code == BLOOMFILTER_OK)
	{
		replace(watched, filter);
		return 1;
	}
	watched->refused = *stamp;
	/* Room, rights and the like may be there the next time. */
	if (code == BLOOMFILTER_ERR_NO_MEMORY || code == BLOOMFILTER_ERR_SYSTEM)
		memset(&watched->refused, 0, sizeof watched->refused);
	return code;
}

/* The current filter becomes one without bits, which keeps the number of the file's inode from others. */
static void
lose(bloomfilter_watched *watched)
{
	bloomfilter *lost = lbf_handle_create(1);

	if (lost == NULL)
		return;
	lost->key_type = LBF_LOST;
	lost->fd = open(watched->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (lost->fd >= 0)
		(void) fstat(lost->fd, &lost->stamp);
	replace(watched, lost);
}

/* By who holds looking: so nobody else replaces current. */
static int
look(bloomfilter_watched *watched)
{
	const bloomfilter *current = watched->current;
	struct stat stamp;
	int			code = lbf_stamp_path(watched->path, current, &stamp, &watched->error);
	bool		same = code == BLOOMFILTER_OK && lbf_is_of_file(current, &stamp);
	bool		lost = lbf_is_lost(current, same ? stamp.st_size : current->stamp.st_size);

	if (same && lost)
		code = lbf_fail(&watched->error, BLOOMFILTER_ERR_LOST, watched->path);
	else if (code != BLOOMFILTER_OK)
		memset(&watched->refused, 0, sizeof watched->refused);
	else if (!lbf_is_current(current, &stamp))
		code = open_anew(watched, &stamp);
	/* no copy is harmed by it */
	if (code < 0 && lost && current->page != NULL)
		lose(watched);
	if (code >= 0)
		memset(&watched->error, 0, sizeof watched->error);
	atomic_store_explicit(&watched->failed, code < 0, memory_order_relaxed);
	/* Afterwards, as to open a large filter takes time. */
	atomic_store_explicit(&watched->looked, lbf_clock(LOOK_CLOCK), memory_order_relaxed);
	return code;
}

/* Looks if that is due and no other thread does. */
static void
look_if_due(bloomfilter_watched *watched, const bloomfilter *held)
{
	int64_t		passed = lbf_clock(LOOK_CLOCK) -
		atomic_load_explicit(&watched->looked, memory_order_relaxed);
	bool		hurry = held != NULL && lbf_is_live(held) && feed_load(held->page, FEED_SUPERSEDED) != 0 &&
		!atomic_load_explicit(&watched->failed, memory_order_relaxed);

	if (passed < (hurry ? LOOK_SUPERSEDED : LOOK_EVERY) ||
		pthread_mutex_trylock(&watched->looking) != 0)
		return;
	(void) look(watched);
	pthread_mutex_unlock(&watched->looking);
}

int
bloomfilter_watched_reload(bloomfilter_watched *watched, bloomfilter_detail *detail)
{
	int			code;

	pthread_mutex_lock(&watched->looking);
	code = look(watched);
	if (detail != NULL && code < 0)
		*detail = watched->error;
	pthread_mutex_unlock(&watched->looking);
	return code;
}

int
bloomfilter_watched_error(bloomfilter_watched *watched, bloomfilter_detail *detail)
{
	int			code;

	pthread_mutex_lock(&watched->looking);
	code = watched->error.code;
	if (detail != NULL)
		*detail = watched->error;
	pthread_mutex_unlock(&watched->looking);
	return code;
}

void
bloomfilter_watched_close(bloomfilter_watched *watched)
{
	if (watched == NULL)
		return;
	replace(watched, NULL);
	pthread_mutex_destroy(&watched->looking);
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
	if (reader->depth++ == 0)
	{
		look_if_due(reader->watched, reader->held);
		if (atomic_load_explicit(&reader->watched->epoch, memory_order_acquire) != reader->epoch)
			hold_current(reader, true);
	}
	return reader->held;
}

void
bloomfilter_reader_leave(bloomfilter_reader *reader)
{
	if (reader->depth > 0)
		reader->depth--;
}
