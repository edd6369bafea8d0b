/*
 * open.c
 *	  Opening filters: from a path, from memory, from a pipe.
 */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_limits.h"
#include "bytes.h"
#include "error.h"
#include "page.h"

#define ALL_FLAGS (BLOOMFILTER_COPY | BLOOMFILTER_SKIP_CHECK | \
				   BLOOMFILTER_POPULATE | BLOOMFILTER_HUGE_PAGES)

/* A handle of one filter, which owns its bytes then; on an error they are released. */
static int
open_bytes(lbf_bytes *bytes, unsigned flags, const char *subject, bloomfilter **result,
		   bloomfilter_detail *detail)
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

/* Opens one filter alone. */
static int
open_single(int fd, const struct stat *st, unsigned flags, const char *path, bloomfilter **filter,
			bool *kept, bloomfilter_detail *detail)
{
	lbf_bytes	bytes;
	int			code = lbf_bytes_of_file(fd, (uint64_t) st->st_size, flags, path, &bytes, detail);

	if (code == BLOOMFILTER_OK)
		code = open_bytes(&bytes, flags, path, filter, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	(*filter)->stamp = lbf_stamp_of(st);
	/* So the number of its inode is not another file's while the copy is there. */
	if (flags & BLOOMFILTER_COPY)
	{
		(*filter)->fd = fd;
		*kept = true;
	}
	return BLOOMFILTER_OK;
}

int
bloomfilter_open(const char *path, unsigned flags, bloomfilter **filter, bloomfilter_detail *detail)
{
	struct stat st;
	bool		kept = false;
	int			fd;
	int			code;

	if (path == NULL || filter == NULL || (flags & ~ALL_FLAGS) != 0)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	/* O_NONBLOCK: a pipe that nobody writes to must not hang us before it is refused */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return lbf_fail_system(detail, path, "open file");
	if (fstat(fd, &st) != 0)
		code = lbf_fail_system(detail, path, "stat file");
	else if (!S_ISREG(st.st_mode))
		code = lbf_fail_no_file(detail, path);
	else if (lbf_is_paged(fd))
		code = lbf_page_open(fd, &st, flags, path, filter, &kept, detail);
	else
		code = open_single(fd, &st, flags, path, filter, &kept, detail);
	if (!kept)
		close(fd);
	return code;
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
	return open_bytes(&taken, flags, NULL, filter, detail);
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
	return open_bytes(&bytes, flags, NULL, filter, detail);
}

int
bloomfilter_check(const bloomfilter *filter, bloomfilter_detail *detail)
{
	uint32_t	i;

	if (lbf_is_live(filter))
		return lbf_fail(detail, BLOOMFILTER_ERR_FOLLOWED, NULL);
	if (filter->mapped.start != NULL)
		return lbf_page_check(filter, detail);
	for (i = 0; i < filter->open_parts; i++)
	{
		const lbf_bytes *bytes = &filter->part[i].bytes;
		bf_exact	shape;
		bf_status	status = bf_any_parse(bytes->start, bytes->length, NULL, &shape);

		if (status != BF_OK)
			return lbf_fail_format(detail, status, NULL, bytes->start, bytes->length);
	}
	return BLOOMFILTER_OK;
}
