/*
 * pull_base.c
 *	  The file of a followed list that programs open: writing it, and reading what is there.
 *
 * The mark is written before a file takes its name, with what the file was and what it
 * will be.  A kill between any two calls leaves a file that the mark knows.
 */
#include "pull_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_limits.h"
#include "messages.h"

/* FORMAT.md's "base" of parts with these checksums. */
static uint64_t
base_of(const uint64_t *checksums, uint32_t parts)
{
	uint8_t    *bytes = allocate(NULL, parts, 8);
	uint64_t	base;
	uint32_t	i;

	for (i = 0; i < parts; i++)
		bf_store_le64(bytes + 8 * (size_t) i, checksums[i]);
	base = bf_hash(bytes, (size_t) parts * 8, 0);
	free(bytes);
	return base;
}

static bool
say_detail(const bloomfilter_detail *detail)
{
	complain("%s", detail->text);
	return false;
}

/* Writes FILE: headers have the copy's checksums. */
static bool
write_base(url_host *host, const feed_copy *copy, uint8_t (*headers)[BF_HEADER_BYTES])
{
	bloomfilter_writer *writer;
	bloomfilter_detail detail;
	char		identity[FEED_UUID_TEXT_BYTES];
	char		serial[24];
	char		built[TIME_TEXT_BYTES];
	bool		written;
	uint32_t	i;

	if (bloomfilter_writer_begin(host->plan->out, copy->parts, &writer, &detail) < 0)
		return say_detail(&detail);
	feed_uuid_text(identity, host->mark.identity);
	snprintf(serial, sizeof serial, "%" PRIu64, host->mark.base_serials[0]);
	message_time(built, (time_t) (host->built / 1000000));
	written = bloomfilter_writer_note(writer, "list", host->mark.name, &detail) >= 0 &&
		bloomfilter_writer_note(writer, "identity", identity, &detail) >= 0 &&
		bloomfilter_writer_note(writer, "serial", serial, &detail) >= 0 &&
		(host->built == 0 || bloomfilter_writer_note(writer, "built", built, &detail) >= 0);
	for (i = 0; i < copy->parts && written; i++)
		written = bloomfilter_writer_append(writer, headers[i], BF_HEADER_BYTES, &detail) >= 0 &&
			bloomfilter_writer_append(writer, copy->blocks[i], (size_t) bf_blocks_bytes(&copy->headers[i]), &detail) >= 0;
	written = written && bloomfilter_writer_commit(writer, &detail) >= 0;
	bloomfilter_writer_free(writer);
	return written || say_detail(&detail);
}

/* FORMAT.md's "base" of an open file. */
static uint64_t
base_of_filter(const bloomfilter *filter)
{
	bloomfilter_info info;
	uint64_t   *checksums;
	uint64_t	base;
	uint32_t	parts;
	uint32_t	i;

	bloomfilter_get_info(filter, &info, sizeof info);
	parts = info.open_parts;
	checksums = allocate(NULL, parts, sizeof *checksums);
	for (i = 0; i < parts; i++)
	{
		bloomfilter_get_part_info(filter, i, &info, sizeof info);
		checksums[i] = info.checksum;
	}
	base = base_of(checksums, parts);
	free(checksums);
	return base;
}

/* Whether FILE still is what this process put there, or nothing. */
static bool
is_ours(url_host *host)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	bool		ours;
	int			code = bloomfilter_open(host->plan->out, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, &detail);

	if (code < 0)
		return code == BLOOMFILTER_ERR_SYSTEM && detail.system_error == ENOENT;
	ours = mark_settle(&host->mark, base_of_filter(filter));
	bloomfilter_close(filter);
	return ours;
}

/* The same, said. */
static bool
check_ours(url_host *host)
{
	if (is_ours(host))
		return true;
	complain("\"%s\" was replaced by another program and is left alone: remove it, if it may go", host->plan->out);
	return false;
}

/* The new file lies beside the old one until it is whole. */
static bool
has_room(const url_host *host, uint64_t bytes)
{
	struct statvfs fs;
	uint64_t	room;

	/* where nothing is known, the writing tells */
	if (fstatvfs(host->folder, &fs) != 0 || fs.f_blocks == 0)
		return true;
	/* root may take what is kept for it */
	room = (uint64_t) (geteuid() == 0 ? fs.f_bfree : fs.f_bavail) * fs.f_frsize;
	if (room >= bytes)
		return true;
	complain("cannot write \"%s\": %s: it needs %" PRIu64 " bytes, and %" PRIu64 " are free", host->plan->out,
			 strerror(ENOSPC), bytes, room);
	return false;
}

bool
base_is_writable(url_host *host, uint32_t parts, uint64_t bytes)
{
	bloomfilter_writer *writer;
	bloomfilter_detail detail;

	if (!check_ours(host))
		return false;
	/* a writer that begins deletes what a killed one left */
	if (bloomfilter_writer_begin(host->plan->out, parts, &writer, &detail) < 0)
		return say_detail(&detail);
	bloomfilter_writer_free(writer);
	return has_room(host, bytes);
}

bool
base_replace(url_host *host, feed_copy *copy, uint64_t serial, uint64_t epoch)
{
	uint8_t		(*headers)[BF_HEADER_BYTES];
	uint64_t   *checksums;
	bool		replaced;
	uint32_t	i;

	if (!check_ours(host))
		return false;
	headers = allocate(NULL, copy->parts, sizeof *headers);
	checksums = allocate(NULL, copy->parts, sizeof *checksums);
	for (i = 0; i < copy->parts; i++)
	{
		feed_copy_seal(copy, i, headers[i]);
		checksums[i] = copy->headers[i].checksum;
	}
	replaced = mark_base(host, base_of(checksums, copy->parts), serial, epoch) &&
		status_announce(host, checksums[0]) && write_base(host, copy, headers);
	if (replaced)
	{
		host->base_written = monotonic_seconds();
		host->base_changed = (int64_t) time(NULL);
		host->changed = false;
	}
	else
		(void) is_ours(host);
	free(headers);
	free(checksums);
	return replaced;
}

bool
base_open(url_host *host, bloomfilter **filter, uint64_t *base)
{
	bloomfilter_detail detail;
	int			code = bloomfilter_open(host->plan->out, BLOOMFILTER_BASE, filter, &detail);

	if (code < 0)
	{
		*filter = NULL;
		if (code == BLOOMFILTER_ERR_SYSTEM && detail.system_error == ENOENT)
			return true;
		complain("%s; it is not replaced: remove it, if it may go", detail.text);
		return false;
	}
	*base = base_of_filter(*filter);
	return true;
}

bool
base_load(url_host *host, const bloomfilter *filter)
{
	bloomfilter_info info;
	bf_header  *headers;
	uint32_t	i;

	bloomfilter_get_info(filter, &info, sizeof info);
	headers = allocate(NULL, info.open_parts, sizeof *headers);
	for (i = 0; i < info.open_parts; i++)
	{
		const void *bytes;
		size_t		length;

		if (bloomfilter_get_bytes(filter, i, &bytes, &length) < 0 || bf_header_read(bytes, length, &headers[i]) != BF_OK)
		{
			complain("\"%s\" changed while it was read", host->plan->out);
			free(headers);
			return false;
		}
	}
	feed_copy_create(&host->copy, headers, info.open_parts);
	for (i = 0; i < info.open_parts; i++)
	{
		const void *bytes;
		size_t		length;

		bloomfilter_get_bytes(filter, i, &bytes, &length);
		feed_copy_or(&host->copy, i, 0, (const uint8_t *) bytes + BF_HEADER_BYTES, length - BF_HEADER_BYTES, false);
	}
	free(headers);
	return true;
}
