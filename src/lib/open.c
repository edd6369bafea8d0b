/*
 * open.c
 *	  Opening filters and whole sets of parts.
 *
 * A handle is returned only when all is checked: each file by itself, and that
 * the parts fit together.  Between a look at a path and opening what it names, a
 * writer may rename something new into place and delete the old parts; then the
 * path is looked at again.
 */
#define _DEFAULT_SOURCE

#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bf_limits.h"
#include "bytes.h"
#include "error.h"
#include "handle.h"
#include "source.h"
#include "working.h"

/* How often a set may be replaced while it is being opened. */
#define MOST_ATTEMPTS 8

#define ALL_FLAGS (BLOOMFILTER_COPY | BLOOMFILTER_SKIP_CHECK | \
				   BLOOMFILTER_POPULATE | BLOOMFILTER_HUGE_PAGES | \
				   BLOOMFILTER_BASE)

static int
open_part(const lbf_source *source, uint32_t index, const char *path,
		  unsigned flags, lbf_part *part, bloomfilter_detail *detail)
{
	/* O_NONBLOCK: a pipe that nobody writes to must not hang us before it is refused */
	int			fd = openat(source->folder, source->names[index],
							O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	lbf_bytes	bytes;
	int			code;

	if (fd < 0)
		return lbf_fail_system(detail, path, "open file");
	code = lbf_bytes_of_file(fd, flags, path, &bytes, detail);
	close(fd);
	if (code != BLOOMFILTER_OK)
		return code;
	return lbf_part_of_bytes(&bytes, flags, path, part, detail);
}

static int
fail_set(bloomfilter_detail *detail, const char *path, const char *reason)
{
	return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, reason);
}

/* Whether a part that was just opened from path is the set's part number at. */
static int
check_member(const bloomfilter *filter, const lbf_part *part, uint32_t at,
			 const char *path, bloomfilter_detail *detail)
{
	const bf_header *header = &part->header;
	char		text[128];
	uint64_t	promised;
	int			code;

	code = lbf_check_parts(header, filter->open_parts, path, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	if (header->part != at)
	{
		snprintf(text, sizeof text, "is part %u, not part %lu as the manifest has it",
				 (unsigned) header->part, (unsigned long) at);
		return fail_set(detail, path, text);
	}
	if (lbf_name_checksum(path, &promised) && promised != header->checksum)
		return fail_set(detail, path, "is another filter than its name says");
	return BLOOMFILTER_OK;
}

/* That all parts have one seed and one key type. */
static int
check_agreement(const bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		const bf_header *header = &filter->part[i].header;

		if (header->seed != filter->seed)
			return fail_set(detail, path, "parts have different seeds");
		if (header->key_type != 0 && header->key_type != filter->key_type)
			return fail_set(detail, path, "parts hold keys of different types");
	}
	return BLOOMFILTER_OK;
}

/* Opens a part into its place. */
static int
place_part(bloomfilter *filter, const lbf_source *source, uint32_t index,
		   const char *path, unsigned flags, bloomfilter_detail *detail)
{
	lbf_part	part;
	int			code = open_part(source, index, path, flags, &part, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	if (source->kind == LBF_SOURCE_MANIFEST)
		code = check_member(filter, &part, index, path, detail);
	if (code == BLOOMFILTER_OK)
		filter->part[index] = part;
	else
		lbf_release(&part.bytes);
	return code;
}

static int
open_parts(bloomfilter *filter, const lbf_source *source, unsigned flags,
		   bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < source->count; i++)
	{
		char	   *path = lbf_source_path(source, source->names[i]);
		int			code;

		if (path == NULL)
			return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, source->names[i]);
		code = place_part(filter, source, i, path, flags, detail);
		free(path);
		if (code != BLOOMFILTER_OK)
			return code;
	}
	lbf_handle_complete(filter);
	return BLOOMFILTER_OK;
}

/* Opens the files that a source names. */
static int
open_base(const lbf_source *source, const char *path, unsigned flags,
			bloomfilter **result, bloomfilter_detail *detail)
{
	bloomfilter *filter = lbf_handle_create(source->count);
	int			code;

	if (filter == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	code = open_parts(filter, source, flags, detail);
	if (code == BLOOMFILTER_OK)
		code = check_agreement(filter, path, detail);
	if (code == BLOOMFILTER_OK)
		*result = filter;
	else
		bloomfilter_close(filter);
	return code;
}

/* Opens what a source names.  The identity is older than the content, if at all. */
static int
open_source(const lbf_source *source, const char *path, unsigned flags,
			bloomfilter **result, bloomfilter_detail *detail)
{
	uint64_t	identity = lbf_source_identity(source);
	bloomfilter *filter = NULL;
	int			code = BLOOMFILTER_OK;

	if ((flags & BLOOMFILTER_BASE) == 0)
		code = lbf_working_open(source, path, flags, &filter, detail);
	if (code == BLOOMFILTER_OK && filter == NULL)
		code = open_base(source, path, flags, &filter, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	filter->identity = identity;
	*result = filter;
	return BLOOMFILTER_OK;
}

/* Whether path now names other files than a source that could not be opened. */
static bool
was_replaced(const char *path, const lbf_source *source)
{
	lbf_source	now;
	bool		replaced;

	if (lbf_source_find(path, &now, NULL) != BLOOMFILTER_OK)
		return false;
	replaced = lbf_source_identity(&now) != lbf_source_identity(source);
	lbf_source_free(&now);
	return replaced;
}

int
bloomfilter_open(const char *path, unsigned flags, bloomfilter **filter,
				 bloomfilter_detail *detail)
{
	int			attempt;
	int			code;
	bool		again;

	if (path == NULL || filter == NULL || (flags & ~ALL_FLAGS) != 0)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	for (attempt = 1;; attempt++)
	{
		lbf_source	source;

		code = lbf_source_find(path, &source, detail);
		if (code != BLOOMFILTER_OK)
			return code;
		code = open_source(&source, path, flags, filter, detail);
		again = code != BLOOMFILTER_OK && attempt < MOST_ATTEMPTS &&
			was_replaced(path, &source);
		lbf_source_free(&source);
		if (!again)
			return code;
	}
}

int
lbf_path_identity(const char *path, uint64_t *identity,
				  bloomfilter_detail *detail)
{
	lbf_source	source;
	int			code = lbf_source_find(path, &source, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	*identity = lbf_source_identity(&source);
	lbf_source_free(&source);
	return BLOOMFILTER_OK;
}

int
lbf_open_bytes(lbf_bytes *bytes, unsigned flags, const char *subject,
			   bloomfilter **result, bloomfilter_detail *detail)
{
	bloomfilter *filter = lbf_handle_create(1);
	int			code;

	if (filter == NULL)
	{
		lbf_release(bytes);
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, subject);
	}
	code = lbf_part_of_bytes(bytes, flags, subject, &filter->part[0], detail);
	if (code != BLOOMFILTER_OK)
	{
		bloomfilter_close(filter);
		return code;
	}
	lbf_handle_complete(filter);
	*result = filter;
	return BLOOMFILTER_OK;
}

/* The caller's bytes are never written to, whatever pointer holds them. */
static uint8_t *
without_const(const void *bytes)
{
	return (uint8_t *) (uintptr_t) bytes;
}

int
bloomfilter_open_memory(const void *bytes, size_t length, unsigned flags,
						bloomfilter **filter, bloomfilter_detail *detail)
{
	lbf_bytes	taken = {NULL, length, LBF_BORROWED};

	if ((bytes == NULL && length > 0) || filter == NULL || (flags & ~ALL_FLAGS) != 0)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	taken.start = without_const(bytes);
	/* What can't be a filter is not copied, but refused below. */
	if ((flags & BLOOMFILTER_COPY) && length > 0 && length <= BF_MAX_BYTES)
	{
		taken.start = lbf_allocate(length, (flags & BLOOMFILTER_HUGE_PAGES) != 0);
		if (taken.start == NULL)
			return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
		taken.owner = LBF_ALLOCATED;
		memcpy(taken.start, bytes, length);
	}
	return lbf_open_bytes(&taken, flags, NULL, filter, detail);
}

int
bloomfilter_open_fd(int fd, unsigned flags, bloomfilter **filter,
					bloomfilter_detail *detail)
{
	lbf_bytes	bytes;
	int			code;

	if (fd < 0 || filter == NULL || (flags & ~ALL_FLAGS) != 0)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	code = lbf_bytes_of_stream(fd, flags, NULL, &bytes, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	return lbf_open_bytes(&bytes, flags, NULL, filter, detail);
}

int
bloomfilter_check(const bloomfilter *filter, bloomfilter_detail *detail)
{
	uint32_t	i;

	if (filter->working.start != NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_WORKING, NULL);
	for (i = 0; i < filter->open_parts; i++)
	{
		const lbf_bytes *bytes = &filter->part[i].bytes;
		bf_header	header;
		bf_status	status = bf_parse(bytes->start, bytes->length, NULL, &header);

		if (status != BF_OK)
			return lbf_fail_format(detail, status, NULL, bytes->start, bytes->length);
	}
	return BLOOMFILTER_OK;
}
