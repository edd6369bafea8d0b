/*
 * pull_status.c
 *	  FILE.status of a followed list.
 *
 * It tells of FILE: the serial of its content, and the last look at which the server had
 * no other.  What a working copy has besides is told by the working copy, which is gone
 * with the memory that it lies in.  So after a loss of power no reader tells a serial whose
 * keys it doesn't have.
 */
#include "pull_url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "messages.h"
#include "status.h"

#define STATUS_SECONDS 5.0

static void
read_status(const url_host *host, bloomfilter_status *status)
{
	const char *problem;

	if (!status_read(host->plan->out, status, &problem))
		memset(status, 0, sizeof *status);
}

static bool
write_status(url_host *host, const bloomfilter_status *status, const bloomfilter_status *next)
{
	if (!status_write(host->plan->out, status, next))
	{
		complain("cannot write \"%s.status\": %s", host->plan->out, strerror(errno));
		return false;
	}
	host->status_written = monotonic_seconds();
	return true;
}

/* Of which list, and how old. */
static void
describe_list(const url_host *host, bloomfilter_status *status)
{
	feed_uuid_text(status->identity, host->mark.identity);
	snprintf(status->list, sizeof status->list, "%s", host->mark.name);
	status->serial = (int64_t) host->mark.base_serials[0];
	status->built = (int64_t) (host->built / 1000000);
}

static void
describe_file(const url_host *host, bloomfilter_status *status)
{
	bloomfilter *filter;
	bloomfilter_info info;

	if (bloomfilter_open(host->plan->out, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, NULL) >= 0)
	{
		bloomfilter_get_info(filter, &info, sizeof info);
		status->checksum = info.checksum;
		bloomfilter_close(filter);
	}
	if (host->base_changed != 0)
		status->changed = host->base_changed;
	describe_list(host, status);
	snprintf(status->server, sizeof status->server, "%.*s", (int) strcspn(host->plan->url, "?"), host->plan->url);
}

bool
status_is_due(const url_host *host)
{
	return host->status_written == 0 || host->base_written > host->status_written ||
		monotonic_seconds() - host->status_written >= STATUS_SECONDS;
}

void
status_looked(url_host *host, url_looked looked)
{
	bloomfilter_status status;

	read_status(host, &status);
	if (!host->changed && host->looked != 0)
		host->base_looked = host->looked;
	if (host->copy.parts > 0)
		status.looked = host->base_looked;
	if (looked == LOOKED_WELL)
	{
		status.failures = 0;
		status.error[0] = '\0';
	}
	else if (looked == LOOK_FAILED)
	{
		status.failed = (int64_t) time(NULL);
		status.failures = host->failures;
		snprintf(status.error, sizeof status.error, "%s", last_complaint());
	}
	if (looked == LOOKED_WELL)
		status.clock = host->clock;
	if (looked != NOT_LOOKED)
		snprintf(status.refused, sizeof status.refused, "%s", host->refused);
	/* content is known from the first look that went well on */
	if (host->content != 0)
		describe_file(host, &status);
	(void) write_status(host, &status, NULL);
}

bool
status_announce(url_host *host, uint64_t checksum)
{
	bloomfilter_status status;
	bloomfilter_status next;

	read_status(host, &status);
	memset(&next, 0, sizeof next);
	describe_list(host, &next);
	next.checksum = checksum;
	return write_status(host, &status, &next);
}

int64_t
status_last_look(const url_host *host)
{
	bloomfilter_status status;

	read_status(host, &status);
	return status.matches ? status.looked : 0;
}
