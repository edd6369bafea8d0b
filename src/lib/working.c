/*
 * working.c
 *	  Opening the working copy that a follower keeps of a file.
 *
 * It is mapped and then changes under its readers, by bits that are set; what they need
 * to tell which state they see is in its first page.
 */
#define _DEFAULT_SOURCE

#include "working.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_bits.h"
#include "bf_hash.h"
#include "bf_working.h"
#include "error.h"

/* A follower changes base and working copy one after the other: then look again. */
#define MOST_LOOKS 4

#define AT_CHECKSUM 56			/* of a filter's header */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static int
hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* All zeros where the system has none. */
static void
read_boot(uint8_t boot[BF_WORKING_ID_BYTES])
{
	char		text[64];
	int			fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t		got = fd < 0 ? 0 : read(fd, text, sizeof text);
	unsigned	digits = 0;
	ssize_t		i;

	memset(boot, 0, BF_WORKING_ID_BYTES);
	if (fd >= 0)
		close(fd);
	for (i = 0; i < got && digits < 2 * BF_WORKING_ID_BYTES; i++)
	{
		int			digit = hex_digit(text[i]);

		if (digit < 0)
			continue;
		boot[digits / 2] = (uint8_t) (boot[digits / 2] << 4 | digit);
		digits++;
	}
}

/* What a working copy of these files has as its base; *known: they could be read. */
static int
read_base(const lbf_source *source, const char *path, uint64_t *base, bool *known,
		  bloomfilter_detail *detail)
{
	uint8_t    *checksums = malloc((size_t) source->count * 8);
	uint32_t	i;

	if (checksums == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	*known = true;
	for (i = 0; *known && i < source->count; i++)
	{
		int			fd = openat(source->folder, source->names[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		*known = fd >= 0 && pread(fd, checksums + 8 * (size_t) i, 8, AT_CHECKSUM) == 8;
		if (fd >= 0)
			close(fd);
	}
	*base = bf_hash(checksums, (size_t) source->count * 8, 0);
	free(checksums);
	return BLOOMFILTER_OK;
}

/*
 * -1 where there is none, and for a file of another user than who put FILE.working there:
 * after a boot that leads to a name which anybody may take, in a folder of all users.
 */
static int
open_working(const lbf_source *source)
{
	int			fd = openat(source->folder, source->working, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	struct stat name;

	if (fd < 0 || (fstat(fd, &file) == 0 && fstatat(source->folder, source->working, &name, AT_SYMLINK_NOFOLLOW) == 0 &&
				   file.st_uid == name.st_uid))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/*
 * Maps the file, read-only.  *length is 0, and nothing mapped, if there is no such
 * file; one that is too short to be mapped is mapped nowhere, either.
 */
static int
map_working(const lbf_source *source, const char *path, uint8_t **file, uint64_t *length,
			bool *found, bloomfilter_detail *detail)
{
	int			fd = open_working(source);
	struct stat st;
	void	   *start = NULL;
	int			code = BLOOMFILTER_OK;

	*file = NULL;
	*length = 0;
	*found = false;
	if (fd < 0)
		return errno == ENOENT || errno == ENAMETOOLONG ? BLOOMFILTER_OK :
			lbf_fail_system(detail, path, "open the working copy of");
	*found = true;
	if (fstat(fd, &st) != 0)
		code = lbf_fail_system(detail, path, "stat the working copy of");
	else if (S_ISREG(st.st_mode) && st.st_size >= BF_WORKING_PAGE)
	{
		start = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (start == MAP_FAILED)
			code = lbf_fail_system(detail, path, "map the working copy of");
		else
		{
			*file = start;
			*length = (uint64_t) st.st_size;
		}
	}
	close(fd);
	return code;
}

static int
refuse(bf_working_status status, const char *path, bloomfilter_detail *detail)
{
	return lbf_fail_text(detail, BLOOMFILTER_ERR_WORKING, path, bf_working_text(status));
}

/* All that a file of this length says of itself, without the bits. */
static bf_working_status
check_file(const uint8_t *file, uint64_t length, bf_working *working)
{
	bf_working_status status = bf_working_read(file, length, working);
	uint64_t	at = BF_WORKING_PAGE;
	bf_header	header;
	uint32_t	i;

	for (i = 0; status == BF_WORKING_OK && i < working->parts; i++)
		status = bf_working_part(file, working, i, &at, &header);
	return status;
}

/* Makes the parts of a mapped file those of a handle. */
static int
take_parts(bloomfilter *filter, const bf_working *working, const char *path, bloomfilter_detail *detail)
{
	uint64_t	at = BF_WORKING_PAGE;
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];
		uint64_t	begin = at;

		if (bf_working_part(filter->working.start, working, i, &at, &part->header) != BF_WORKING_OK)
			return refuse(BF_WORKING_PART, path, detail);
		if (part->header.seed != filter->part[0].header.seed ||
			(part->header.key_type != 0 && filter->part[0].header.key_type != 0 &&
			 part->header.key_type != filter->part[0].header.key_type))
			return refuse(BF_WORKING_PART, path, detail);
		part->bytes.start = filter->working.start + begin;
		part->bytes.length = (size_t) bf_total_bytes(&part->header);
		part->bytes.owner = LBF_BORROWED;
	}
	lbf_handle_complete(filter);
	return BLOOMFILTER_OK;
}

/* In place of what is mapped: the same as it is now, in memory of its own, with its checksum. */
static int
copy_parts(bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];
		uint8_t    *copy = lbf_allocate(part->bytes.length, false);

		if (copy == NULL)
			return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
		memcpy(copy + BF_HEADER_BYTES, lbf_blocks(part), part->bytes.length - BF_HEADER_BYTES);
		part->bytes.start = copy;
		part->bytes.owner = LBF_ALLOCATED;
		part->header.bits_set = bf_count_bits(lbf_blocks(part), bf_blocks_bytes(&part->header), NULL);
		if (part->header.bits_set > 0 && part->header.key_type == 0)
			return refuse(BF_WORKING_PART, path, detail);
		bf_header_write(&part->header, lbf_blocks(part), NULL, copy);
	}
	lbf_release(&filter->working);
	return BLOOMFILTER_OK;
}

static int
open_mapped(uint8_t *file, const bf_working *working, const char *path, unsigned flags,
			bloomfilter **result, bloomfilter_detail *detail)
{
	bloomfilter *filter = lbf_handle_create(working->parts);
	int			code;

	if (filter == NULL)
	{
		munmap(file, (size_t) working->length);
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	}
	filter->working.start = file;
	filter->working.length = (size_t) working->length;
	filter->working.owner = LBF_MAPPED;
	/* Before the blocks: a copy has everything of this serial. */
	filter->serial = bf_working_load(file, BF_WORKING_SERIAL);
	code = take_parts(filter, working, path, detail);
	if (code == BLOOMFILTER_OK && (flags & BLOOMFILTER_COPY))
		code = copy_parts(filter, path, detail);
	if (code == BLOOMFILTER_OK)
		*result = filter;
	else
		bloomfilter_close(filter);
	return code;
}

/* Whether the file is of this boot, and kept up to date. */
static bool
is_in_use(const uint8_t *file, const bf_working *working)
{
	uint8_t		boot[BF_WORKING_ID_BYTES];

	read_boot(boot);
	return memcmp(boot, working->boot, sizeof boot) == 0 &&
		bf_working_load(file, BF_WORKING_SUPERSEDED) == 0;
}

/* One look; *again if the base was replaced while it was looked at. */
static int
look(const lbf_source *source, const char *path, unsigned flags, bloomfilter **filter,
	 bool *again, bloomfilter_detail *detail)
{
	uint64_t	base;
	uint64_t	base_now;
	uint64_t	length;
	uint8_t    *file;
	bool		found;
	bool		known;
	bf_working	working;
	bf_working_status status;
	int			code;

	*again = false;
	code = read_base(source, path, &base, &known, detail);
	if (code != BLOOMFILTER_OK || !known)
		return code;
	code = map_working(source, path, &file, &length, &found, detail);
	if (code != BLOOMFILTER_OK || !found)
		return code;
	if (file == NULL)
		return refuse(BF_WORKING_LENGTH, path, detail);
	status = check_file(file, length, &working);
	if (status != BF_WORKING_OK)
	{
		munmap(file, (size_t) length);
		return refuse(status, path, detail);
	}
	if (is_in_use(file, &working) && bf_working_load(file, BF_WORKING_BASE) == base &&
		working.parts == source->count)
		return open_mapped(file, &working, path, flags, filter, detail);
	munmap(file, (size_t) length);
	code = read_base(source, path, &base_now, &known, detail);
	*again = known && base_now != base;
	return code;
}

int
lbf_working_open(const lbf_source *source, const char *path, unsigned flags,
				 bloomfilter **filter, bloomfilter_detail *detail)
{
	bool		again = true;
	int			looks;
	int			code = BLOOMFILTER_OK;

	*filter = NULL;
	for (looks = 0; looks < MOST_LOOKS && again && code == BLOOMFILTER_OK; looks++)
		code = look(source, path, flags, filter, &again, detail);
	return code;
}

uint64_t
lbf_working_identity(const lbf_source *source, uint64_t identity)
{
	int			fd = open_working(source);
	struct stat st;
	uint64_t	values[4] = {0};
	uint8_t		words[8];

	if (fd < 0)
		return identity;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
	{
		values[0] = (uint64_t) st.st_dev;
		values[1] = (uint64_t) st.st_ino;
		if (pread(fd, words, sizeof words, BF_WORKING_BASE) == sizeof words)
			memcpy(&values[2], words, sizeof words);
		if (pread(fd, words, sizeof words, BF_WORKING_SUPERSEDED) == sizeof words)
			memcpy(&values[3], words, sizeof words);
	}
	close(fd);
	return bf_hash(values, sizeof values, identity);
}

void
lbf_working_count(const lbf_part *part, bf_header *header)
{
	uint8_t		bytes[BF_HEADER_BYTES];

	*header = part->header;
	header->bits_set = bf_count_bits(lbf_blocks(part), bf_blocks_bytes(header), NULL);
	bf_header_write(header, lbf_blocks(part), NULL, bytes);
}

int
bloomfilter_get_working(const bloomfilter *filter, bloomfilter_working *working, size_t working_size)
{
	const uint8_t *file = filter->working.start;
	bloomfilter_working now;

	memset(&now, 0, sizeof now);
	if (file != NULL)
	{
		now.serial = bf_working_load(file, BF_WORKING_SERIAL);
		now.true_at = bf_working_load(file, BF_WORKING_TRUE_AT);
		now.looked = bf_working_load(file, BF_WORKING_LOOKED);
		now.looked_boot = bf_working_load(file, BF_WORKING_LOOKED_BOOT);
		now.failures = bf_working_load(file, BF_WORKING_FAILURES);
		now.superseded = bf_working_load(file, BF_WORKING_SUPERSEDED);
		now.every = bf_working_load(file, BF_WORKING_EVERY);
		now.expires = bf_working_load(file, BF_WORKING_EXPIRES);
	}
	else
		now.serial = filter->serial;
	if (working_size > sizeof now)
		memset(working, 0, working_size);
	memcpy(working, &now, working_size < sizeof now ? working_size : sizeof now);
	return file != NULL;
}
