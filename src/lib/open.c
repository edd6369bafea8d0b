/*
 * open.c
 *	  Opening filters: from a path, from memory.
 *
 * A file of one filter, and one of several parts behind a page of facts, are opened alike: the
 * header of each part is read and checked, then its bytes are mapped, or copied, and checked.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_limits.h"
#include "handle.h"

#define ALL_FLAGS (BLOOMFILTER_COPY | BLOOMFILTER_SKIP_CHECK | BLOOMFILTER_CHECK_BITS | BLOOMFILTER_SKIP_COUNT)

/* A file that is being opened. */
typedef struct opening
{
	const char *path;
	int			fd;
	uint64_t	length;
	unsigned	flags;
	bool		paged;			/* it begins with a page of facts */
	bloomfilter_detail *detail;
} opening;

/* ------------------------------------------------------------------------
 * Bytes
 * ------------------------------------------------------------------------ */

/* Reads bytes that must be there: the file's length was looked at. */
static int
read_at(const opening *o, uint8_t *bytes, size_t length, uint64_t at)
{
	size_t		used = 0;

	while (used < length)
	{
		ssize_t		got = pread(o->fd, bytes + used, length - used, (off_t) (at + used));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lbf_fail_system(o->detail, o->path, "read file");
		if (got == 0)
			return lbf_fail_text(o->detail, o->paged ? BLOOMFILTER_ERR_PAGE : BLOOMFILTER_ERR_FORMAT_LENGTH, o->path,
								 "was cut while it was read");
		used += (size_t) got;
	}
	return BLOOMFILTER_OK;
}

static void
advise(const bloomfilter *filter, int advice)
{
	/* Advice only: the answers are right without it. */
	if (filter->mapped.start != NULL)
		(void) madvise(filter->mapped.start, filter->mapped.length, advice);
}

static int
map(bloomfilter *filter, const opening *o)
{
	void	   *start = mmap(NULL, (size_t) o->length, PROT_READ, MAP_SHARED, o->fd, 0);

	if (start == MAP_FAILED)
		return lbf_fail_system(o->detail, o->path, "map file");
	filter->mapped = (lbf_bytes) {start, (size_t) o->length, false};
	if (o->paged)
		filter->page = start;
	return BLOOMFILTER_OK;
}

/* ------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------ */

/* What a part says of itself, which begins at a byte; in a file of parts, where the next one begins is in *at then. */
static int
read_header(const bloomfilter *filter, const opening *o, uint32_t number, uint64_t *at, lbf_part *part)
{
	uint8_t		bytes[BF_EXACT_HEADER_BYTES] = {0};
	uint64_t	left = *at < o->length ? o->length - *at : 0;
	feed_part	head;
	bf_status	status;
	int			code = read_at(o, bytes, left < sizeof bytes ? (size_t) left : sizeof bytes, *at);

	if (code != BLOOMFILTER_OK)
		return code;
	if (o->paged && feed_who_part(&filter->who, number, bytes, at, &head))
	{
		part->shape = head.shape;
		part->bytes.length = (size_t) (feed_before(&head) + head.length);
		return BLOOMFILTER_OK;
	}
	part->bytes.length = (size_t) left;
	status = bf_any_read(bytes, left, &part->shape);
	/* what a later program made isn't damaged */
	if (o->paged && status != BF_BAD_VERSION)
		return lbf_fail(o->detail, BLOOMFILTER_ERR_SET, o->path);
	/* this rule comes after the one that needs the blocks */
	return status == BF_OK || status == BF_BAD_EMPTY ? BLOOMFILTER_OK : lbf_fail_format(o->detail, status, o->path, bytes);
}

/* That a part is like those before it. */
static int
check_member(bloomfilter *filter, const lbf_part *part, const opening *o)
{
	const bf_header *header = &part->shape.level[0];

	if (part->shape.levels != filter->part[0].shape.levels)
		return lbf_fail_text(o->detail, BLOOMFILTER_ERR_SET, o->path, "some parts are exact and some are not");
	if (header->seed != filter->part[0].shape.level[0].seed)
		return lbf_fail_text(o->detail, BLOOMFILTER_ERR_SET, o->path, "parts have different seeds");
	if (filter->key_type == BF_KEY_NONE)
		filter->key_type = header->key_type;
	else if (header->key_type != BF_KEY_NONE && header->key_type != filter->key_type)
		return lbf_fail_text(o->detail, BLOOMFILTER_ERR_SET, o->path, "parts hold keys of different types");
	return BLOOMFILTER_OK;
}

/* Gives a part its bytes: where they are mapped, or a copy. */
static int
take_bytes(const bloomfilter *filter, const opening *o, uint64_t at, lbf_part *part)
{
	if (filter->mapped.start != NULL)
	{
		part->bytes.start = filter->mapped.start + at;
		return BLOOMFILTER_OK;
	}
	if (!lbf_allocate(&part->bytes, part->bytes.length))
		return lbf_fail(o->detail, BLOOMFILTER_ERR_NO_MEMORY, o->path);
	return read_at(o, part->bytes.start, part->bytes.length, at);
}

static int
take_parts(bloomfilter *filter, const opening *o)
{
	uint64_t	next = o->paged ? FEED_PAGE : 0;
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];
		uint64_t	at = next;
		int			code = read_header(filter, o, i, &next, part);

		/* what can't be a filter is not mapped */
		if (code == BLOOMFILTER_OK && i == 0 && (o->flags & BLOOMFILTER_COPY) == 0)
			code = map(filter, o);
		if (code == BLOOMFILTER_OK && o->paged)
			code = check_member(filter, part, o);
		if (code == BLOOMFILTER_OK)
			code = take_bytes(filter, o, at, part);
		if (code != BLOOMFILTER_OK)
			return code;
	}
	return BLOOMFILTER_OK;
}

/* The table of changes, and the page that counts them: where they are mapped, or a copy of both. */
static int
take_changes(bloomfilter *filter, const opening *o, const uint8_t *page)
{
	lbf_changes *changes = &filter->changes;
	uint64_t	at = feed_table_at(&filter->who);
	size_t		length = (size_t) (o->length - at);
	uint8_t    *copy;

	changes->page = filter->page;
	if (filter->page != NULL)
	{
		changes->slots = length == 0 ? NULL : filter->page + at;
		return BLOOMFILTER_OK;
	}
	if (!lbf_allocate(&changes->copy, FEED_PAGE + length))
		return lbf_fail(o->detail, BLOOMFILTER_ERR_NO_MEMORY, o->path);
	copy = changes->copy.start;
	changes->page = copy;
	changes->slots = length == 0 ? NULL : copy + FEED_PAGE;
	/* as it was opened: it may have more entries than it counts, and never less */
	memcpy(copy, page, FEED_PAGE);
	return read_at(o, copy + FEED_PAGE, length, at);
}

/* Checks parts whose headers say all of their bytes, as flags say. */
static int
check_parts(bloomfilter *filter, unsigned flags, const char *subject, bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];
		const lbf_bytes *bytes = &part->bytes;
		bf_status	status = (flags & BLOOMFILTER_SKIP_CHECK) != 0 ? bf_any_read(bytes->start, bytes->length, &part->shape) :
			bf_any_parse(bytes->start, bytes->length, NULL, &part->shape);

		if (status != BF_OK)
			return lbf_fail_format(detail, status, subject, bytes->start);
	}
	lbf_handle_complete(filter);
	return BLOOMFILTER_OK;
}

/* ------------------------------------------------------------------------
 * Doors
 * ------------------------------------------------------------------------ */

static int
fill(bloomfilter *filter, const opening *o, const uint8_t *page)
{
	int			code = take_parts(filter, o);

	if (code == BLOOMFILTER_OK && filter->who.tracked)
		code = take_changes(filter, o, page);
	if (code != BLOOMFILTER_OK)
		return code;
	if ((o->flags & BLOOMFILTER_SKIP_CHECK) == 0)
		advise(filter, MADV_SEQUENTIAL);
	if (o->paged)
		code = lbf_page_check(filter, o->flags, o->path, o->detail);
	/* exact parts lie there as they were published, and never change */
	if (code == BLOOMFILTER_OK && (!o->paged || lbf_is_exact(filter)))
		code = check_parts(filter, o->flags, o->path, o->detail);
	advise(filter, MADV_RANDOM);
	return code;
}

static int
open_file(opening *o, const struct stat *st, bloomfilter **result)
{
	_Alignas(8) uint8_t page[FEED_PAGE] = {0};
	feed_who	who = {.parts = 1};
	const feed_rule *problem;
	bloomfilter *filter;
	int			code = read_at(o, page, o->length < FEED_PAGE ? (size_t) o->length : FEED_PAGE, 0);

	if (code != BLOOMFILTER_OK)
		return code;
	o->paged = feed_page_is(page);
	problem = o->paged ? feed_who_read(page, o->length, &who) : NULL;
	if (problem != NULL)
		return lbf_fail_text(o->detail, BLOOMFILTER_ERR_PAGE, o->path, problem->text);
	if (o->paged && feed_load(page, FEED_SUPERSEDED) == FEED_LOST)
		return lbf_fail(o->detail, BLOOMFILTER_ERR_LOST, o->path);
	filter = lbf_handle_create(who.parts);
	if (filter == NULL)
		return lbf_fail(o->detail, BLOOMFILTER_ERR_NO_MEMORY, o->path);
	filter->stamp = *st;
	filter->uncounted = (o->flags & BLOOMFILTER_SKIP_COUNT) != 0;
	filter->who = who;
	if (o->paged)
		lbf_page_tell(filter, page);
	code = fill(filter, o, page);
	if (code != BLOOMFILTER_OK)
	{
		bloomfilter_close(filter);
		return code;
	}
	/* So the number of its inode is not another file's while the copy is there. */
	if (o->flags & BLOOMFILTER_COPY)
		filter->fd = o->fd;
	*result = filter;
	return BLOOMFILTER_OK;
}

int
bloomfilter_open(const char *path, unsigned flags, bloomfilter **filter, bloomfilter_detail *detail)
{
	opening		o = {.path = path, .flags = flags, .detail = detail};
	struct stat st;
	int			code;

	if (path == NULL || filter == NULL || (flags & ~ALL_FLAGS) != 0)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	/* O_NONBLOCK: a pipe that nobody writes to must not hang us before it is refused */
	o.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (o.fd < 0)
		return lbf_fail_system(detail, path, "open file");
	if (fstat(o.fd, &st) != 0)
		code = lbf_fail_system(detail, path, "stat file");
	else if (!S_ISREG(st.st_mode))
		code = lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, path,
							 "is no regular file; a pipe can be read as standard input only");
	else
	{
		o.length = (uint64_t) st.st_size;
		code = open_file(&o, &st, filter);
	}
	if (code != BLOOMFILTER_OK || (flags & BLOOMFILTER_COPY) == 0)
		close(o.fd);
	return code;
}

/* Gives a part the caller's bytes, which are never written to, or a copy of them; false: no memory. */
static bool
take_memory(lbf_part *part, const void *bytes, size_t length, unsigned flags)
{
	part->bytes = (lbf_bytes) {(uint8_t *) (uintptr_t) bytes, length, false};
	/* What can't be a filter is not copied, but refused afterwards. */
	if ((flags & BLOOMFILTER_COPY) == 0 || length == 0 || length > BF_MAX_BYTES)
		return true;
	if (!lbf_allocate(&part->bytes, length))
		return false;
	memcpy(part->bytes.start, bytes, length);
	return true;
}

int
bloomfilter_open_memory(const void *bytes, size_t length, unsigned flags, bloomfilter **result,
						bloomfilter_detail *detail)
{
	bloomfilter *filter;
	int			code;

	if ((bytes == NULL && length > 0) || result == NULL || (flags & ~ALL_FLAGS) != 0)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	filter = lbf_handle_create(1);
	if (filter == NULL || !take_memory(&filter->part[0], bytes, length, flags))
		code = lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	else
		code = check_parts(filter, flags, NULL, detail);
	if (code == BLOOMFILTER_OK)
		*result = filter;
	else
		bloomfilter_close(filter);
	return code;
}
