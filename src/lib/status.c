/*
 * status.c
 *	  What becomes of an open file: what its page of facts says now, and whether a path still leads to it.
 */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "feed_values.h"
#include "handle.h"

/* A follower that missed so many looks is not to be waited for. */
#define MISSED_LOOKS 3

#define MICROSECONDS 1000000

int64_t
lbf_clock(int clock)
{
	struct timespec now = {0, 0};

	(void) clock_gettime(clock, &now);
	return (int64_t) now.tv_sec * MICROSECONDS + now.tv_nsec / 1000;
}

/* The page: the mapped one, or of a copy what the file has now; NULL where it has none. */
static const uint8_t *
page_of(const bloomfilter *filter, uint8_t room[FEED_PAGE])
{
	if (filter->page != NULL)
		return filter->page;
	return filter->fd >= 0 && pread(filter->fd, room, FEED_PAGE, 0) == FEED_PAGE ? room : NULL;
}

static bool
take_how(const feed_how *how, bloomfilter_status *status)
{
	bool		right = feed_age(how->looked, how->looked_boot, (uint64_t) lbf_clock(CLOCK_REALTIME), (uint64_t) lbf_clock(CLOCK_BOOTTIME),
								 status->place == BLOOMFILTER_PLACE_HERE, &status->age);

	status->looked = (int64_t) how->looked;
	status->every = (int64_t) how->every;
	status->heartbeat = (int64_t) how->heartbeat;
	status->expires = (int64_t) how->expires;
	status->since = (int64_t) how->since;
	status->failures = how->failures;
	snprintf(status->reason, sizeof status->reason, "%s", how->reason);
	snprintf(status->message, sizeof status->message, "%s", how->message);
	return right;
}

static bool
missed_looks(const bloomfilter_status *status)
{
	return status->looked != 0 && status->every != 0 && status->age / MISSED_LOOKS > status->every;
}

/* What a follower that is no more can't write into its page. */
static void
add_reason(bloomfilter_status *status, bool right_clock)
{
	if (status->reason[0] != '\0')
		return;
	if (!right_clock)
	{
		strcpy(status->reason, "clock");
		snprintf(status->message, sizeof status->message, "the last look is %lld s in the future",
				 (long long) (-status->age / MICROSECONDS));
	}
	else if (missed_looks(status))
	{
		strcpy(status->reason, "old");
		snprintf(status->message, sizeof status->message, "no look for %lld s",
				 (long long) (status->age / MICROSECONDS));
	}
}

static void
take_page(const bloomfilter *filter, const uint8_t *page, bloomfilter_status *status)
{
	static const uint8_t none[FEED_IDENTITY_BYTES];
	feed_how	how;

	if (memcmp(filter->who.identity, none, sizeof none) != 0)
		feed_uuid_text(status->identity, filter->who.identity);
	snprintf(status->list, sizeof status->list, "%s", filter->who.name);
	if (filter->told.place == BLOOMFILTER_PLACE_NONE)
		return;
	status->superseded = feed_load(page, FEED_SUPERSEDED);
	feed_how_read(page, &how);
	add_reason(status, take_how(&how, status));
	if (status->looked == 0)
		status->age = -1;
}

int
bloomfilter_get_status(const bloomfilter *filter, bloomfilter_status *result, size_t size)
{
	_Alignas(8) uint8_t room[FEED_PAGE];
	const uint8_t *page = page_of(filter, room);
	bloomfilter_status status;

	memset(&status, 0, sizeof status);
	status.age = -1;
	status.place = (int32_t) filter->told.place;
	status.serial_kind = (int32_t) filter->told.kind;
	status.serial = filter->told.serial;
	status.true_at = (int64_t) filter->told.true_at;
	if (lbf_is_live(filter) && filter->told.kind == BLOOMFILTER_SERIAL_NOW)
	{
		status.serial = feed_load(page, FEED_SERIAL);
		status.true_at = (int64_t) feed_load(page, FEED_TRUE_AT);
	}
	if (filter->key_type == LBF_LOST)
	{
		strcpy(status.reason, "damaged");
		snprintf(status.message, sizeof status.message, "%s", bloomfilter_strerror(BLOOMFILTER_ERR_LOST));
	}
	else if (page != NULL)
		take_page(filter, page, &status);
	if (filter->changes.page != NULL)
	{
		status.changes = feed_load(filter->changes.page, FEED_TABLE_COUNT);
		status.changes_to = feed_load(filter->changes.page, FEED_TABLE_TO);
	}
	if (size > sizeof status)
		memset(result, 0, size);
	memcpy(result, &status, size < sizeof status ? size : sizeof status);
	return BLOOMFILTER_OK;
}

/* ------------------------------------------------------------------------
 * Which file a path is
 * ------------------------------------------------------------------------ */

static bool
same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* cp -p sets the time of modification back, and nothing does that of the change. */
bool
lbf_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
		same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

/* A file that nobody seems to follow is opened, which also wakes a file system of the net. */
int
lbf_stamp_path(const char *path, const bloomfilter *filter, struct stat *stamp, bloomfilter_detail *detail)
{
	bloomfilter_status status;
	int			fd = -1;
	int			code;

	bloomfilter_get_status(filter, &status, sizeof status);
	if (missed_looks(&status))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	code = fd >= 0 ? fstat(fd, stamp) : stat(path, stamp);
	if (code != 0)
		code = lbf_fail_system(detail, path, "open file");
	if (fd >= 0)
		close(fd);
	return code;
}

/* The length first: what is mapped behind the end of a file that was cut can't be read. */
bool
lbf_is_lost(const bloomfilter *filter, int64_t length)
{
	_Alignas(8) uint8_t room[FEED_PAGE];
	const uint8_t *page;

	if (filter->told.place == BLOOMFILTER_PLACE_NONE)
		return filter->key_type == LBF_LOST;
	if (length != filter->stamp.st_size)
		return true;
	page = page_of(filter, room);
	return page != NULL && (feed_load(page, FEED_WHO_CHECKSUM) != filter->who_checksum || feed_load(page, FEED_SUPERSEDED) == FEED_LOST);
}

/*
 * Numbers of inodes are used again, but not while the file is mapped or open.  In a followed
 * file that is mapped bits and changes come in as they are set.
 */
bool
lbf_is_current(const bloomfilter *filter, const struct stat *stamp)
{
	_Alignas(8) uint8_t room[FEED_PAGE];
	const uint8_t *page;

	if (!lbf_is_of_file(filter, stamp))
		return false;
	if (filter->told.place == BLOOMFILTER_PLACE_NONE)
		return lbf_is_same(&filter->stamp, stamp);
	if (filter->page != NULL || filter->told.kind != BLOOMFILTER_SERIAL_NOW)
		return true;
	page = page_of(filter, room);
	return page != NULL && feed_load(page, FEED_SERIAL) == filter->told.serial &&
		feed_load(page, FEED_TABLE_TO) == filter->told.changes_to;
}
