/*
 * page.c
 *	  What files that begin with a page of facts say of themselves.
 *
 * A mapped one changes under its readers, by bits that are set.  A copy takes the
 * serial first and then the bits, so it has all that the serial says.
 */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bf_bits.h"
#include "feed_table.h"
#include "feed_values.h"
#include "handle.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* All zeros where the system has none. */
static void
read_boot(uint8_t boot[FEED_BOOT_BYTES])
{
	char		text[FEED_UUID_TEXT_BYTES] = "";
	int			fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof text - 1) < 0 || !feed_uuid_read(boot, text))
		memset(boot, 0, FEED_BOOT_BYTES);
	if (fd >= 0)
		close(fd);
}

void
lbf_part_now(const lbf_part *part, bf_shape *shape)
{
	uint8_t		bytes[BF_HEADER_BYTES];
	bf_header  *header = &shape->level[0];

	*shape = part->shape;
	if (shape->levels > 1)
		return;
	header->bits_set = bf_count_bits(lbf_blocks(part), bf_blocks_bytes(header), NULL);
	bf_header_write(header, lbf_blocks(part), NULL, bytes);
}

void
lbf_shape_now(const bloomfilter *filter, const lbf_part *part, bf_shape *shape)
{
	*shape = part->shape;
	if (filter->page != NULL && !filter->uncounted)
		lbf_part_now(part, shape);
}

uint64_t
lbf_part_sum(const lbf_part *part)
{
	size_t		before = part->shape.levels > 1 ? 0 : BF_HEADER_BYTES;
	uint32_t	number = part->shape.level[0].part;

	return feed_sum_header(number, part->bytes.start) +
		feed_sum(number, 0, part->bytes.start + before, part->bytes.length - before);
}

_Static_assert((int) FEED_NOBODYS == BLOOMFILTER_PLACE_NONE && (int) FEED_HERE == BLOOMFILTER_PLACE_HERE &&
			   (int) FEED_OTHER_BOOT == BLOOMFILTER_PLACE_OTHER_BOOT && (int) FEED_COPY == BLOOMFILTER_PLACE_COPY &&
			   (int) FEED_SERIAL_NOW == BLOOMFILTER_SERIAL_NOW && (int) FEED_SERIAL_SAVED == BLOOMFILTER_SERIAL_SAVED &&
			   (int) FEED_SERIAL_BORN == BLOOMFILTER_SERIAL_BORN, "the public header has the same numbers");

void
lbf_page_tell(bloomfilter *filter, const uint8_t *page)
{
	feed_place	seen = {{0}, (uint64_t) filter->stamp.st_dev, (uint64_t) filter->stamp.st_ino};
	feed_where	where;
	feed_content content;
	lbf_told   *told = &filter->told;

	read_boot(seen.boot);
	where = feed_where_is(&filter->who, &seen);
	told->place = (bloomfilter_place) where;
	told->kind = (bloomfilter_serial_kind) feed_told(page, &filter->who, where, &content);
	told->serial = content.serial;
	if (where == FEED_NOBODYS && told->serial == 0)
		told->kind = BLOOMFILTER_SERIAL_NONE;
	told->changes_to = feed_load(page, FEED_TABLE_TO);
	told->true_at = told->kind == BLOOMFILTER_SERIAL_NOW ? feed_load(page, FEED_TRUE_AT) : 0;
	filter->who_checksum = feed_load(page, FEED_WHO_CHECKSUM);
}

/* Of a file that never changes: its bits are those that it was born with. */
static int
check_sum(const bloomfilter *filter, uint64_t wanted, const char *path, bloomfilter_detail *detail)
{
	uint64_t	sum = 0;
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
		sum += lbf_part_sum(&filter->part[i]);
	return sum == wanted ? BLOOMFILTER_OK :
		lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, "sum of its bits does not match: it is damaged, or was copied while it changed");
}

/* Readings of a file that changes, until it was the same before and after one. */
#define MOST_READINGS 20

/* Of one that is followed: in its place its follower may set bits meanwhile. */
static int
check_live_sum(const bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	const uint8_t *page = filter->page;
	int			reading;

	for (reading = 0; reading < MOST_READINGS; reading++)
	{
		uint64_t	changes = feed_load(page, FEED_WRITES);
		feed_now	now;
		int			code;

		feed_now_read(page, &now);
		code = check_sum(filter, now.content.sum, path, detail);
		if (filter->told.place != BLOOMFILTER_PLACE_HERE)
			return code;
		if (changes % 2 == 0 && feed_load(page, FEED_WRITES) == changes)
			return code;
	}
	return lbf_fail(detail, BLOOMFILTER_ERR_FOLLOWED, path);
}

/*
 * The table of changes: each is found from its hash, none twice, and the sum is the page's.  The
 * page's count is stored last, so it is too small where a follower was killed before that.  In its
 * place its follower may set some meanwhile; a loss of power takes some of them back.
 */
static int
check_table(const bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	const lbf_changes *changes = &filter->changes;
	int			reading;

	if (changes->slots == NULL || filter->told.place == BLOOMFILTER_PLACE_OTHER_BOOT)
		return BLOOMFILTER_OK;
	for (reading = 0; reading < MOST_READINGS; reading++)
	{
		feed_table	said = feed_table_read(changes->page);
		feed_table	counted;
		bool		right = feed_table_check(changes->slots, filter->who.log2_slots, &counted) &&
			said.count <= counted.count && (said.sum == 0 || said.sum == counted.sum);

		if (right)
			return BLOOMFILTER_OK;
		if (filter->told.place != BLOOMFILTER_PLACE_HERE || feed_table_read(changes->page).sum == said.sum)
			return lbf_fail(detail, BLOOMFILTER_ERR_CHANGES, path);
	}
	return lbf_fail(detail, BLOOMFILTER_ERR_FOLLOWED, path);
}

/* Gives the copied parts whole headers. */
static int
seal_parts(bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];
		bf_header  *header = &part->shape.level[0];

		/* Keys may have come to a part that had none when the file was made. */
		if (header->key_type == BF_KEY_NONE && bf_count_bits(lbf_blocks(part), bf_blocks_bytes(header), NULL) > 0)
			header->key_type = filter->key_type;
		lbf_part_now(part, &part->shape);
		if (header->bits_set > 0 && header->key_type == BF_KEY_NONE)
			return lbf_fail(detail, BLOOMFILTER_ERR_FORMAT_EMPTY, path);
		bf_header_copy(header, part->bytes.start);
	}
	return BLOOMFILTER_OK;
}

int
lbf_page_check(bloomfilter *filter, unsigned flags, const char *path, bloomfilter_detail *detail)
{
	int			code = BLOOMFILTER_OK;

	lbf_handle_complete(filter);
	if (filter->told.place == BLOOMFILTER_PLACE_NONE && (flags & BLOOMFILTER_SKIP_CHECK) == 0)
		code = check_sum(filter, filter->who.born.sum, path, detail);
	if (code == BLOOMFILTER_OK && filter->page != NULL && filter->told.place != BLOOMFILTER_PLACE_NONE &&
		(flags & BLOOMFILTER_CHECK_BITS) != 0)
		code = check_live_sum(filter, path, detail);
	if (code == BLOOMFILTER_OK && filter->changes.page != NULL && (flags & BLOOMFILTER_CHECK_BITS) != 0)
		code = check_table(filter, path, detail);
	if (code == BLOOMFILTER_OK && filter->page == NULL && !lbf_is_exact(filter))
		code = seal_parts(filter, path, detail);
	return code;
}
