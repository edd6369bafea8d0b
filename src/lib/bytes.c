/*
 * bytes.c
 *	  Getting the bytes of one filter: by mapping a file, or by reading.
 *
 * Reading takes memory for what has come, not for what a header or a length
 * promises: it starts small and doubles.  Bytes whose header is wrong are
 * refused after their first piece, before the rest is read.
 */
#define _DEFAULT_SOURCE

#include "bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_limits.h"
#include "error.h"

/* Bytes read before the header is looked at. */
#define FIRST_BYTES ((size_t) 64 * 1024)

/* One byte beyond the largest filter tells a longer one from it. */
#define MOST_BYTES ((size_t) BF_MAX_BYTES + 1)

static void
advise(const lbf_bytes *bytes, int advice)
{
	/* Advice only: the answers are right without it. */
	if (bytes->owner == LBF_MAPPED)
		(void) madvise(bytes->start, bytes->length, advice);
}

int
lbf_map_file(int fd, size_t length, unsigned flags, const char *subject,
			 lbf_bytes *bytes, bloomfilter_detail *detail)
{
	int			mode = MAP_SHARED;
	void	   *start;

#ifdef MAP_POPULATE
	if (flags & BLOOMFILTER_POPULATE)
		mode |= MAP_POPULATE;
#endif
	start = mmap(NULL, length, PROT_READ, mode, fd, 0);
	if (start == MAP_FAILED)
		return lbf_fail_system(detail, subject, "map file");
	bytes->start = start;
	bytes->length = length;
	bytes->owner = LBF_MAPPED;
#ifdef MADV_HUGEPAGE
	if (flags & BLOOMFILTER_HUGE_PAGES)
		advise(bytes, MADV_HUGEPAGE);
#endif
	return BLOOMFILTER_OK;
}

/* Refuses a file by its first bytes and its length, before the rest is touched. */
static int
check_start(int fd, uint64_t length, const char *subject,
			bloomfilter_detail *detail)
{
	uint8_t		start[BF_EXACT_HEADER_BYTES] = {0};
	bf_exact	shape;
	ssize_t		got = pread(fd, start, sizeof start, 0);
	bf_status	status;

	if (got < 0)
		return lbf_fail_system(detail, subject, "read file");
	if ((size_t) got < sizeof start)
		length = (uint64_t) got;
	status = bf_any_read(start, length, &shape);
	/* This rule comes after the one that needs the blocks. */
	if (status == BF_OK || status == BF_BAD_EMPTY)
		return BLOOMFILTER_OK;
	return lbf_fail_format(detail, status, subject, start, (size_t) got);
}

int
lbf_bytes_of_file(int fd, uint64_t length, unsigned flags, const char *subject,
				  lbf_bytes *bytes, bloomfilter_detail *detail)
{
	int			code = check_start(fd, length, subject, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	if (flags & BLOOMFILTER_COPY)
		return lbf_bytes_of_stream(fd, flags, subject, bytes, detail);
	return lbf_map_file(fd, (size_t) length, flags, subject, bytes, detail);
}

/* Gives a buffer another size; its first used bytes are kept. */
static bool
resize(lbf_bytes *buffer, size_t used, size_t length, bool huge)
{
	uint8_t    *larger = lbf_allocate(length, huge);

	if (larger == NULL)
		return false;
	if (used > 0)
		memcpy(larger, buffer->start, used);
	lbf_release(buffer);
	buffer->start = larger;
	buffer->length = length;
	buffer->owner = LBF_ALLOCATED;
	return true;
}

/*
 * How large the buffer is to be after its first so many bytes.  A regular file
 * says how long it is; one byte more shows its end without another step.
 */
static size_t
next_length(int fd, size_t used)
{
	struct stat st;
	size_t		length = used == 0 ? FIRST_BYTES : used * 2;

	if (used >= FIRST_BYTES && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size > (off_t) used && (uint64_t) st.st_size < MOST_BYTES)
		length = (size_t) st.st_size + 1;
	return length < MOST_BYTES ? length : MOST_BYTES;
}

/* Whether the bytes so far can still become a filter, whatever follows. */
static bf_status
check_beginning(const lbf_bytes *buffer, size_t used)
{
	bf_exact	shape;
	bf_status	status;

	if (used < BF_HEADER_BYTES)
		return BF_OK;
	status = bf_any_read(buffer->start, used, &shape);
	return status < BF_BAD_SIZE || status == BF_BAD_DIRECTORY || status == BF_BAD_LEVELS ? status : BF_OK;
}

/* Reads up to the end or until the buffer is full; -1 on an error. */
static ssize_t
fill(int fd, const lbf_bytes *buffer, size_t used)
{
	size_t		start = used;

	while (used < buffer->length)
	{
		ssize_t		got = read(fd, buffer->start + used, buffer->length - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		used += (size_t) got;
	}
	return (ssize_t) (used - start);
}

static int
read_all(int fd, unsigned flags, const char *subject, lbf_bytes *buffer,
		 size_t *used, bloomfilter_detail *detail)
{
	bool		huge = (flags & BLOOMFILTER_HUGE_PAGES) != 0;
	ssize_t		got;

	do
	{
		bf_status	status;

		if (!resize(buffer, *used, next_length(fd, *used), huge))
			return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, subject);
		got = fill(fd, buffer, *used);
		if (got < 0)
			return lbf_fail_system(detail, subject, "read");
		*used += (size_t) got;
		status = check_beginning(buffer, *used);
		if (status != BF_OK)
			return lbf_fail_format(detail, status, subject, buffer->start, *used);
	} while (*used == buffer->length && *used < MOST_BYTES);
	return BLOOMFILTER_OK;
}

int
lbf_bytes_of_stream(int fd, unsigned flags, const char *subject,
					lbf_bytes *bytes, bloomfilter_detail *detail)
{
	lbf_bytes	buffer = {NULL, 0, LBF_BORROWED};
	size_t		used = 0;
	int			code = read_all(fd, flags, subject, &buffer, &used, detail);

	if (code != BLOOMFILTER_OK)
	{
		lbf_release(&buffer);
		return code;
	}
	buffer.length = used;
	*bytes = buffer;
	return BLOOMFILTER_OK;
}

int
lbf_part_of_bytes(lbf_bytes *bytes, unsigned flags, const char *subject,
				  lbf_part *part, bloomfilter_detail *detail)
{
	bf_exact	shape;
	bf_status	status;
	int			code;

	if (flags & BLOOMFILTER_SKIP_CHECK)
		status = bf_any_read(bytes->start, bytes->length, &shape);
	else
	{
		advise(bytes, MADV_SEQUENTIAL);
		status = bf_any_parse(bytes->start, bytes->length, NULL, &shape);
	}
	if (status != BF_OK)
	{
		code = lbf_fail_format(detail, status, subject, bytes->start, bytes->length);
		lbf_release(bytes);
		return code;
	}
	advise(bytes, MADV_RANDOM);
	part->shape = shape;
	part->bytes = *bytes;
	return BLOOMFILTER_OK;
}
