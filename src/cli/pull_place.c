/*
 * pull_place.c
 *	  Where a followed list lies on a host: the file that programs open, its working copy
 *	  in memory, and the mark behind which neither goes back.
 */
#include "pull_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "bf_working.h"
#include "feed_files.h"
#include "messages.h"
#include "status.h"

#define LOCK_ENDING ".lock"

/* The base is written so often while bits come in. */
#define FOLD_SECONDS 3600.0

/* ... and if that failed, as on a full disk, it is tried again so often. */
#define FOLD_AGAIN_SECONDS 60.0

char *
place_beside(const url_host *host, const char *ending)
{
	return text_of("%s%s", host->file, ending);
}

/* ------------------------------------------------------------------------
 * Beginning
 * ------------------------------------------------------------------------ */

static bool
lock_file(url_host *host, const char *folder)
{
	char	   *lock = place_beside(host, LOCK_ENDING);

	host->lock = openat(host->folder, lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	free(lock);
	if (host->lock < 0)
	{
		complain("cannot write to the folder \"%s\": %s", folder, strerror(errno));
		return false;
	}
	if (flock(host->lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	complain("another process keeps \"%s\"", host->plan->out);
	close(host->lock);
	host->lock = -1;
	return false;
}

static bool
open_folder(url_host *host)
{
	const char *slash = strrchr(host->plan->out, '/');
	char	   *folder = slash == NULL ? text_of(".") : text_of("%.*s", (int) (slash - host->plan->out) + 1, host->plan->out);
	bool		well;

	host->file = slash == NULL ? host->plan->out : slash + 1;
	host->lock = -1;
	host->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (host->folder < 0)
		complain("cannot open the folder \"%s\": %s", folder, strerror(errno));
	well = host->folder >= 0 && lock_file(host, folder);
	free(folder);
	return well;
}

/*
 * Whether FILE is of "bloomfilter pull --dsn", whose list has the same identity and
 * serials: then it is gone on from there, and not back.
 */
static bool
take_over(url_host *host, uint64_t base)
{
	url_mark   *mark = &host->mark;
	bloomfilter_status status;
	const char *problem;
	uint8_t		identity[FEED_IDENTITY_BYTES];

	if (!status_read(host->plan->out, &status, &problem) || !status.matches || status.serial <= 0 ||
		!feed_uuid_read(identity, status.identity) || !feed_is_name(mark->known ? mark->name : status.list) ||
		(mark->known && memcmp(identity, mark->identity, sizeof identity) != 0))
		return false;
	if (!mark->known)
		snprintf(mark->name, sizeof mark->name, "%.200s", status.list);
	if (mark->serial < (uint64_t) status.serial)
	{
		mark->serial = (uint64_t) status.serial;
		memset(mark->digest, 0, sizeof mark->digest);
	}
	memcpy(mark->identity, identity, sizeof identity);
	mark->known = true;
	mark->epochs[0] = 0;
	mark->bases[0] = base;
	mark->base_serials[0] = (uint64_t) status.serial;
	return true;
}

/*
 * A link that leads to nothing would let any user of the host put a file there.  A single
 * look leaves it, as the copy may be newer than FILE and a follower may take it up.
 */
static void
forget_working(const url_host *host)
{
	if (host->plan->follow)
		working_unlink(host);
}

static bool
take_file(url_host *host, const bloomfilter *filter, uint64_t base)
{
	if (!(host->mark.known && mark_settle(&host->mark, base)) && !take_over(host, base))
	{
		complain("\"%s\" is not what was pulled from this address: remove it, if it may be replaced", host->plan->out);
		return false;
	}
	host->serial = host->mark.base_serials[0];
	host->base_looked = status_last_look(host);
	host->base_written = monotonic_seconds();
	if (working_adopt(host, base))
		return true;
	forget_working(host);
	if (!base_load(host, filter))
		return false;
	working_begin(host);
	return true;
}

static void
let_go(url_host *host)
{
	feed_copy_free(&host->copy);
	working_unmap(host);
	if (host->lock >= 0)
		close(host->lock);
	if (host->folder >= 0)
		close(host->folder);
	host->lock = host->folder = -1;
	host->opened = false;
}

bool
place_open(url_host *host)
{
	bloomfilter *filter = NULL;
	uint64_t	base = 0;

	host->refused = "";
	host->serial = 0;
	host->looked = host->base_looked = host->base_changed = 0;
	host->fold_failed = 0;
	memset(&host->mark, 0, sizeof host->mark);
	host->opened = open_folder(host) && mark_read(host) && base_open(host, &filter, &base) &&
		(filter == NULL || take_file(host, filter, base));
	if (host->opened && filter == NULL)
		forget_working(host);
	bloomfilter_close(filter);
	if (host->opened)
		return true;
	/* what another process keeps is not ours to write to */
	if (host->lock >= 0)
	{
		host->failures++;
		status_looked(host, LOOK_FAILED);
	}
	let_go(host);
	return false;
}

/* ------------------------------------------------------------------------
 * What the look calls
 * ------------------------------------------------------------------------ */

bool
place_begin(url_host *host, feed_copy *copy, uint64_t serial, uint64_t epoch)
{
	if (!base_replace(host, copy, serial, epoch))
		return false;
	/* the old mapping stays until the new one is in place */
	feed_copy_free(&host->copy);
	host->copy = *copy;
	memset(copy, 0, sizeof *copy);
	host->serial = serial;
	working_begin(host);
	return true;
}

void
place_advance(url_host *host, uint64_t serial)
{
	host->serial = serial;
	if (host->map != NULL)
		bf_working_store(host->map, BF_WORKING_SERIAL, serial);
}

bool
place_fold(url_host *host)
{
	if (!host->changed || host->copy.parts == 0)
		return !host->changed;
	host->fold_failed = 0;
	if (!base_replace(host, &host->copy, host->serial, host->mark.epochs[0]))
	{
		host->fold_failed = monotonic_seconds();
		return false;
	}
	if (host->map != NULL)
		bf_working_store(host->map, BF_WORKING_BASE, host->mark.bases[0]);
	return true;
}

/* Without a working copy the file is what readers have. */
static bool
is_fold_due(const url_host *host)
{
	double		now = monotonic_seconds();

	return host->changed && (host->map == NULL || now - host->base_written >= FOLD_SECONDS) &&
		(host->fold_failed == 0 || now - host->fold_failed >= FOLD_AGAIN_SECONDS);
}

static uint64_t
boot_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

void
place_looked(url_host *host, bool well)
{
	host->failures = well ? 0 : host->failures + 1;
	/* who waits for its turn knows that there is something newer */
	if (well && !host->waiting)
		host->looked = (int64_t) time(NULL);
	if (well)
		working_again(host);
	if (host->map != NULL)
	{
		if (well && !host->waiting)
		{
			bf_working_store(host->map, BF_WORKING_TRUE_AT, host->true_at);
			bf_working_store(host->map, BF_WORKING_EXPIRES, host->expires);
			bf_working_store(host->map, BF_WORKING_LOOKED, feed_now());
			bf_working_store(host->map, BF_WORKING_LOOKED_BOOT, boot_now());
		}
		bf_working_store(host->map, BF_WORKING_FAILURES, host->failures);
	}
	if (well && is_fold_due(host))
		(void) place_fold(host);
	if (!well || status_is_due(host))
		status_looked(host, well ? LOOKED_WELL : LOOK_FAILED);
}

void
place_close(url_host *host)
{
	(void) place_fold(host);
	if (host->content != 0)
		status_looked(host, NOT_LOOKED);
	let_go(host);
}

void
place_remove(url_host *host)
{
	/* it has all that the working copy had, before readers are sent to it */
	if (place_fold(host) && host->map != NULL)
		working_remove(host);
	complain("\"%s\" stays as it is: its list is followed no more", host->plan->out);
	host->refused = "removed";
	status_looked(host, LOOK_FAILED);
	let_go(host);
}
