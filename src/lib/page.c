/*
 * page.c
 *	  Opening files that begin with a page of facts.
 *
 * A mapped one changes under its readers, by bits that are set.  A copy takes the
 * serial first and then the bits, so it has all that the serial says.
 */
#define _DEFAULT_SOURCE

#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bf_bits.h"
#include "bf_key.h"
#include "bytes.h"
#include "error.h"
#include "feed_page.h"
#include "feed_sum.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* All zeros where the system has none. */
static void
read_boot(uint8_t boot[FEED_BOOT_BYTES])
{
	static const char hex[] = "0123456789abcdef";
	char		text[64];
	int			fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t		got = fd < 0 ? 0 : read(fd, text, sizeof text);
	unsigned	digits = 0;
	ssize_t		i;

	memset(boot, 0, FEED_BOOT_BYTES);
	if (fd >= 0)
		close(fd);
	for (i = 0; i < got && digits < 2 * FEED_BOOT_BYTES; i++)
	{
		const char *digit = memchr(hex, text[i], sizeof hex - 1);

		if (digit == NULL)
			continue;
		boot[digits / 2] = (uint8_t) (boot[digits / 2] << 4 | (digit - hex));
		digits++;
	}
}

/* Reads bytes that must be there: the file's length was looked at. */
static int
read_at(int fd, void *bytes, size_t length, uint64_t at, const char *path, bloomfilter_detail *detail)
{
	uint8_t    *rest = bytes;

	while (length > 0)
	{
		ssize_t		got = pread(fd, rest, length, (off_t) at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lbf_fail_system(detail, path, "read file");
		if (got == 0)
			return lbf_fail_text(detail, BLOOMFILTER_ERR_PAGE, path, feed_page_text(FEED_PAGE_LENGTH));
		rest += got;
		at += (uint64_t) got;
		length -= (size_t) got;
	}
	return BLOOMFILTER_OK;
}

bool
lbf_is_paged(int fd)
{
	uint8_t		bytes[4];

	return pread(fd, bytes, sizeof bytes, 0) == sizeof bytes && feed_page_is(bytes);
}

void
lbf_part_now(const lbf_part *part, bf_exact *shape)
{
	uint8_t		bytes[BF_HEADER_BYTES];
	bf_header  *header = &shape->level[0];

	*shape = part->shape;
	if (shape->levels > 1)
		return;
	header->bits_set = bf_count_bits(lbf_blocks(part), bf_blocks_bytes(header), NULL);
	bf_header_write(header, lbf_blocks(part), NULL, bytes);
}

/* Headers of plain parts say nothing of the bits there, and so don't count. */
uint64_t
lbf_part_sum(const lbf_part *part)
{
	size_t		skipped = part->shape.levels > 1 ? 0 : BF_HEADER_BYTES;

	return feed_sum(part->shape.level[0].part, 0, part->bytes.start + skipped, part->bytes.length - skipped);
}

/* What the page says that may be believed here. */
static lbf_told
told(const uint8_t *page, const feed_who *who, const lbf_stamp *stamp)
{
	static const bloomfilter_place places[] = {
		[FEED_HERE] = BLOOMFILTER_PLACE_HERE,
		[FEED_OTHER_BOOT] = BLOOMFILTER_PLACE_OTHER_BOOT,
		[FEED_COPY] = BLOOMFILTER_PLACE_COPY,
		[FEED_NOBODYS] = BLOOMFILTER_PLACE_NONE
	};
	static const bloomfilter_serial_kind kinds[] = {
		[FEED_SERIAL_NOW] = BLOOMFILTER_SERIAL_NOW,
		[FEED_SERIAL_SAVED] = BLOOMFILTER_SERIAL_SAVED,
		[FEED_SERIAL_BORN] = BLOOMFILTER_SERIAL_BORN
	};
	feed_place	seen = {{0}, stamp->device, stamp->inode};
	feed_where	where;
	feed_content content;
	feed_now	now;
	lbf_told	result;

	read_boot(seen.boot);
	where = feed_where_is(who, &seen);
	result.place = places[where];
	result.kind = kinds[feed_told(page, who, where, &content)];
	result.serial = content.serial;
	if (where == FEED_NOBODYS && result.serial == 0)
		result.kind = BLOOMFILTER_SERIAL_NONE;
	feed_now_read(page, &now);
	result.true_at = result.kind == BLOOMFILTER_SERIAL_NOW ? now.true_at : 0;
	return result;
}

/* A part in memory of its own. */
static int
copy_part(int fd, uint64_t at, unsigned flags, lbf_part *part, const char *path, bloomfilter_detail *detail)
{
	part->bytes.start = lbf_allocate(part->bytes.length, (flags & BLOOMFILTER_HUGE_PAGES) != 0);
	if (part->bytes.start == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	part->bytes.owner = LBF_ALLOCATED;
	return read_at(fd, part->bytes.start, part->bytes.length, at, path, detail);
}

/* What a part says of itself, of so many bytes of the file that are left. */
static int
read_header(int fd, uint64_t at, uint64_t left, lbf_part *part, const char *path, bloomfilter_detail *detail)
{
	uint8_t		bytes[BF_EXACT_HEADER_BYTES];
	uint64_t	length = 0;
	bf_status	status;
	int			code;

	/* no filter is shorter: its smallest block has 64 bytes */
	if (left < sizeof bytes)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_PAGE, path, feed_page_text(FEED_PAGE_LENGTH));
	code = read_at(fd, bytes, sizeof bytes, at, path, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	length = bf_any_length(bytes);
	status = bf_any_read(bytes, length, &part->shape);
	if (status != BF_OK)
		return lbf_fail_format(detail, status, path, bytes, sizeof bytes);
	if (length > left)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_PAGE, path, feed_page_text(FEED_PAGE_LENGTH));
	part->bytes.length = (size_t) length;
	return BLOOMFILTER_OK;
}

/* That a part is the one of this number, and like those before it. */
static int
check_member(const bloomfilter *filter, uint32_t number, uint32_t *key_type, const char *path,
			 bloomfilter_detail *detail)
{
	const bf_header *header = &filter->part[number].shape.level[0];

	if (header->part != number || header->parts != filter->open_parts)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, "a part is in another one's place");
	if (filter->part[number].shape.levels != filter->part[0].shape.levels)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, "some parts are exact and some are not");
	if (header->seed != filter->part[0].shape.level[0].seed)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, "parts have different seeds");
	if (*key_type == BF_KEY_NONE)
		*key_type = header->key_type;
	else if (header->key_type != BF_KEY_NONE && header->key_type != *key_type)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, "parts hold keys of different types");
	return BLOOMFILTER_OK;
}

static int
take_parts(bloomfilter *filter, int fd, uint64_t length, unsigned flags, const char *path,
		   bloomfilter_detail *detail)
{
	uint64_t	at = FEED_PAGE;
	uint32_t	key_type = BF_KEY_NONE;
	uint32_t	i;
	int			code;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];

		at = (at + FEED_PAGE - 1) / FEED_PAGE * FEED_PAGE;
		code = read_header(fd, at, at < length ? length - at : 0, part, path, detail);
		if (code == BLOOMFILTER_OK)
			code = check_member(filter, i, &key_type, path, detail);
		if (code == BLOOMFILTER_OK && filter->mapped.start != NULL)
			part->bytes.start = filter->mapped.start + at;
		else if (code == BLOOMFILTER_OK)
			code = copy_part(fd, at, flags, part, path, detail);
		if (code != BLOOMFILTER_OK)
			return code;
		at += part->bytes.length;
	}
	if (at != length)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_PAGE, path, feed_page_text(FEED_PAGE_LENGTH));
	lbf_handle_complete(filter);
	return BLOOMFILTER_OK;
}

/* Of a file that never changes: its bits are those that it was born with. */
static int
check_sum(const bloomfilter *filter, const feed_who *who, const char *path, bloomfilter_detail *detail)
{
	uint64_t	sum = 0;
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
		sum += lbf_part_sum(&filter->part[i]);
	return sum == who->born.sum ? BLOOMFILTER_OK :
		lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, "sum of its bits does not match");
}

/* Exact parts lie there as they were published, and never change. */
static int
check_exact(const bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		const lbf_bytes *bytes = &filter->part[i].bytes;
		bf_exact	shape;
		bf_status	status = bf_exact_parse(bytes->start, bytes->length, NULL, &shape);

		if (status != BF_OK)
			return lbf_fail_format(detail, status, path, bytes->start, bytes->length);
	}
	return BLOOMFILTER_OK;
}

/* Gives the copied parts whole headers. */
static int
seal_parts(bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];

		lbf_part_now(part, &part->shape);
		/* Keys may have come to a part that had none when the file was made. */
		if (part->shape.level[0].bits_set > 0 && part->shape.level[0].key_type == BF_KEY_NONE)
		{
			part->shape.level[0].key_type = filter->key_type;
			lbf_part_now(part, &part->shape);
		}
		if (part->shape.level[0].bits_set > 0 && part->shape.level[0].key_type == BF_KEY_NONE)
			return lbf_fail(detail, BLOOMFILTER_ERR_FORMAT_EMPTY, path);
		bf_header_copy(&part->shape.level[0], part->bytes.start);
	}
	return BLOOMFILTER_OK;
}

int
lbf_page_check(const bloomfilter *filter, bloomfilter_detail *detail)
{
	feed_who	who;
	feed_page_status status = feed_who_read(filter->mapped.start, filter->mapped.length, &who);

	return status == FEED_PAGE_OK ? check_sum(filter, &who, NULL, detail) :
		lbf_fail_text(detail, BLOOMFILTER_ERR_PAGE, NULL, feed_page_text(status));
}

static int
map_all(bloomfilter *filter, int fd, uint64_t length, unsigned flags, const char *path,
		bloomfilter_detail *detail)
{
	int			code = lbf_map_file(fd, (size_t) length, flags, path, &filter->mapped, detail);

	if (code == BLOOMFILTER_OK)
		(void) madvise(filter->mapped.start, filter->mapped.length, MADV_RANDOM);
	return code;
}

static int
fill(bloomfilter *filter, int fd, const feed_who *who, unsigned flags, const char *path,
	 bloomfilter_detail *detail)
{
	bool		copied = (flags & BLOOMFILTER_COPY) != 0;
	int			code = copied ? BLOOMFILTER_OK : map_all(filter, fd, who->length, flags, path, detail);

	if (code == BLOOMFILTER_OK)
		code = take_parts(filter, fd, who->length, flags, path, detail);
	if (code == BLOOMFILTER_OK && filter->told.place == BLOOMFILTER_PLACE_NONE &&
		(flags & BLOOMFILTER_SKIP_CHECK) == 0)
		code = check_sum(filter, who, path, detail);
	if (code == BLOOMFILTER_OK && lbf_is_exact(filter))
		return (flags & BLOOMFILTER_SKIP_CHECK) != 0 ? code : check_exact(filter, path, detail);
	if (code == BLOOMFILTER_OK && copied)
		code = seal_parts(filter, path, detail);
	return code;
}

int
lbf_page_open(int fd, const struct stat *st, unsigned flags, const char *path, bloomfilter **result,
			  bool *kept, bloomfilter_detail *detail)
{
	_Alignas(8) uint8_t page[FEED_PAGE] = {0};
	size_t		length = st->st_size < FEED_PAGE ? (size_t) st->st_size : FEED_PAGE;
	bloomfilter *filter;
	feed_who	who;
	feed_page_status status;
	int			code = read_at(fd, page, length, 0, path, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	status = feed_who_read(page, (uint64_t) st->st_size, &who);
	if (status != FEED_PAGE_OK)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_PAGE, path, feed_page_text(status));
	filter = lbf_handle_create(who.parts);
	if (filter == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	filter->paged = true;
	filter->stamp = lbf_stamp_of(st);
	filter->told = told(page, &who, &filter->stamp);
	code = fill(filter, fd, &who, flags, path, detail);
	if (code != BLOOMFILTER_OK)
	{
		bloomfilter_close(filter);
		return code;
	}
	if (flags & BLOOMFILTER_COPY)
	{
		filter->fd = fd;
		*kept = true;
	}
	*result = filter;
	return BLOOMFILTER_OK;
}
