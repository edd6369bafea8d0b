/*
 * live.c
 *	  A filter that is replaced while it is asked.
 *
 * Readers use hazard pointers (Michael, Hazard Pointers, 2004), one for each
 * reader.  To enter, a reader
 *
 *		1. loads the current filter F,
 *		2. stores F in its hazard pointer,
 *		3. loads the current filter again; if it isn't F, starts anew.
 *
 * To leave, it stores NULL.  To replace F, a reload
 *
 *		4. stores the new filter as the current one,
 *		5. loads all hazard pointers, and closes F if none of them is F.
 *
 * Steps 2 to 5 are sequentially consistent, so there is one order of them all.
 * If a reader's step 3 sees F, it comes before step 4, and so the reader's step
 * 2 comes before step 5, which sees F in the hazard pointer and keeps the filter.
 * If step 3 comes after step 4, it doesn't see F, and the reader never touches
 * what F points to.  Step 5 sees the NULL of a reader that has left, which makes
 * all that this reader did with F happen before F is closed.  It does no harm if
 * a later filter is allocated where F was: then F is that filter.
 *
 * A reader starts anew only when a reload came between, so it is never held up.
 * Filters that are still in use are kept in a list until a later reload or
 * reclaim.  The mutexes are for reloads and for opening and closing readers.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "handle.h"
#include "open.h"

/* Readers write to their own memory only: no two share a cache line. */
#define CACHE_LINE_BYTES 64

typedef _Atomic(bloomfilter *) atomic_filter;

struct bloomfilter_reader
{
	atomic_filter entered;		/* the hazard pointer */
	unsigned	depth;			/* of nested calls; the reader's thread's own */
	bool		used;			/* protected by the live filter's lock */
	bloomfilter_live *live;
	bloomfilter_reader *next;
};

/* A filter that is no longer current but may have readers. */
typedef struct retired
{
	bloomfilter *filter;
	struct retired *next;
} retired;

struct bloomfilter_live
{
	atomic_filter current;
	pthread_mutex_t reloading;	/* one reload at a time */
	pthread_mutex_t lock;		/* of readers and replaced */
	bloomfilter_reader *readers;
	retired    *replaced;
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

static bloomfilter_live *
create_live(const char *path, unsigned flags)
{
	bloomfilter_live *live = calloc(1, sizeof *live);

	if (live == NULL)
		return NULL;
	live->path = absolute_path(path);
	if (live->path == NULL)
	{
		free(live);
		return NULL;
	}
	live->flags = flags;
	pthread_mutex_init(&live->reloading, NULL);
	pthread_mutex_init(&live->lock, NULL);
	return live;
}

int
bloomfilter_live_open(const char *path, unsigned flags, bloomfilter_live **live,
					  bloomfilter_detail *detail)
{
	bloomfilter *filter;
	int			code;

	if (live == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	code = bloomfilter_open(path, flags, &filter, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	*live = create_live(path, flags);
	if (*live == NULL)
	{
		bloomfilter_close(filter);
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	}
	(*live)->identity = filter->identity;
	atomic_init(&(*live)->current, filter);
	return BLOOMFILTER_OK;
}

/* Whether two handles hold the same bytes: checksums are of headers, too. */
static bool
same_content(const bloomfilter *a, const bloomfilter *b)
{
	uint32_t	i;

	if (a->open_parts != b->open_parts)
		return false;
	for (i = 0; i < a->open_parts; i++)
		if (a->part[i].header.checksum != b->part[i].header.checksum)
			return false;
	return true;
}

static bool
has_reader(const bloomfilter_live *live, const bloomfilter *filter)
{
	bloomfilter_reader *reader;

	for (reader = live->readers; reader != NULL; reader = reader->next)
		if (atomic_load(&reader->entered) == filter)
			return true;
	return false;
}

int
bloomfilter_live_reclaim(bloomfilter_live *live)
{
	retired   **link = &live->replaced;
	int			left = 0;

	pthread_mutex_lock(&live->lock);
	while (*link != NULL)
	{
		retired    *entry = *link;

		if (has_reader(live, entry->filter))
		{
			left++;
			link = &entry->next;
			continue;
		}
		*link = entry->next;
		bloomfilter_close(entry->filter);
		free(entry);
	}
	pthread_mutex_unlock(&live->lock);
	return left;
}

/* Makes a filter the current one; entry is memory for the one that it replaces. */
static void
replace(bloomfilter_live *live, bloomfilter *filter, retired *entry)
{
	entry->filter = atomic_exchange(&live->current, filter);
	pthread_mutex_lock(&live->lock);
	entry->next = live->replaced;
	live->replaced = entry;
	pthread_mutex_unlock(&live->lock);
}

/* The reload itself, once it is known that files have changed. */
static int
open_anew(bloomfilter_live *live, bloomfilter_detail *detail)
{
	bloomfilter *filter;
	retired    *entry;
	bool		changed;
	int			code = bloomfilter_open(live->path, live->flags, &filter, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	/* Also of the same content it is taken: the old file may have been damaged in place. */
	changed = !same_content(filter, atomic_load(&live->current));
	entry = malloc(sizeof *entry);
	if (entry == NULL)
	{
		bloomfilter_close(filter);
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, live->path);
	}
	live->identity = filter->identity;
	replace(live, filter, entry);
	return changed;
}

int
bloomfilter_live_reload(bloomfilter_live *live, bloomfilter_detail *detail)
{
	uint64_t	identity;
	int			code;

	pthread_mutex_lock(&live->reloading);
	code = lbf_path_identity(live->path, &identity, detail);
	if (code == BLOOMFILTER_OK && identity != live->identity)
		code = open_anew(live, detail);
	pthread_mutex_unlock(&live->reloading);
	bloomfilter_live_reclaim(live);
	return code;
}

void
bloomfilter_live_close(bloomfilter_live *live)
{
	if (live == NULL)
		return;
	while (live->readers != NULL)
	{
		bloomfilter_reader *next = live->readers->next;

		free(live->readers);
		live->readers = next;
	}
	bloomfilter_live_reclaim(live);
	bloomfilter_close(atomic_load(&live->current));
	pthread_mutex_destroy(&live->reloading);
	pthread_mutex_destroy(&live->lock);
	free(live->path);
	free(live);
}

/* A reader that was closed before, or NULL.  The caller holds the lock. */
static bloomfilter_reader *
unused_reader(const bloomfilter_live *live)
{
	bloomfilter_reader *reader = live->readers;

	while (reader != NULL && reader->used)
		reader = reader->next;
	return reader;
}

static bloomfilter_reader *
create_reader(bloomfilter_live *live)
{
	size_t		length = (sizeof(bloomfilter_reader) + CACHE_LINE_BYTES - 1) /
		CACHE_LINE_BYTES * CACHE_LINE_BYTES;
	void	   *memory;
	bloomfilter_reader *reader;

	if (posix_memalign(&memory, CACHE_LINE_BYTES, length) != 0)
		return NULL;
	reader = memory;
	atomic_init(&reader->entered, NULL);
	reader->depth = 0;
	reader->live = live;
	reader->next = live->readers;
	live->readers = reader;
	return reader;
}

int
bloomfilter_reader_open(bloomfilter_live *live, bloomfilter_reader **result)
{
	bloomfilter_reader *reader;

	pthread_mutex_lock(&live->lock);
	reader = unused_reader(live);
	if (reader == NULL)
		reader = create_reader(live);
	if (reader != NULL)
		reader->used = true;
	pthread_mutex_unlock(&live->lock);
	if (reader == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	*result = reader;
	return BLOOMFILTER_OK;
}

void
bloomfilter_reader_close(bloomfilter_reader *reader)
{
	if (reader == NULL)
		return;
	pthread_mutex_lock(&reader->live->lock);
	atomic_store(&reader->entered, NULL);
	reader->depth = 0;
	reader->used = false;
	pthread_mutex_unlock(&reader->live->lock);
}

const bloomfilter *
bloomfilter_reader_enter(bloomfilter_reader *reader)
{
	bloomfilter *filter;

	if (reader->depth++ > 0)
		return atomic_load_explicit(&reader->entered, memory_order_relaxed);
	do
	{
		filter = atomic_load(&reader->live->current);
		atomic_store(&reader->entered, filter);
	} while (atomic_load(&reader->live->current) != filter);
	return filter;
}

void
bloomfilter_reader_leave(bloomfilter_reader *reader)
{
	if (reader->depth > 0 && --reader->depth == 0)
		atomic_store_explicit(&reader->entered, NULL, memory_order_release);
}
