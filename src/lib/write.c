/*
 * write.c
 *	  Writing filters to files: one part alone, several behind a page that says whose
 *	  they are.
 */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "feed_page.h"
#include "feed_sum.h"
#include "page.h"
#include "target.h"

/* One filter as it is everywhere. */
static int
write_single(const lbf_part *part, const lbf_target *target, bloomfilter_detail *detail)
{
	bf_exact	shape;
	uint8_t		bytes[BF_HEADER_BYTES];
	int			code;

	if (part->shape.levels > 1)
		return lbf_target_append(target, part->bytes.start, part->bytes.length, detail);
	lbf_part_now(part, &shape);
	bf_header_copy(&shape.level[0], bytes);
	code = lbf_target_append(target, bytes, sizeof bytes, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	return lbf_target_append(target, lbf_blocks(part), bf_blocks_bytes(&shape.level[0]), detail);
}

/* A part in a file with a page: its header says nothing of the bits, but for that of an exact one. */
static int
write_part(const lbf_part *part, uint64_t *at, const lbf_target *target, bloomfilter_detail *detail)
{
	static const uint8_t zeros[FEED_PAGE];
	uint8_t		bytes[BF_HEADER_BYTES];
	bf_header	header = part->shape.level[0];
	size_t		gap = (size_t) ((FEED_PAGE - *at % FEED_PAGE) % FEED_PAGE);
	int			code = lbf_target_append(target, zeros, gap, detail);

	*at += gap + part->bytes.length;
	if (code == BLOOMFILTER_OK && part->shape.levels > 1)
		return lbf_target_append(target, part->bytes.start, part->bytes.length, detail);
	header.bits_set = 0;
	header.checksum = 0;
	bf_header_copy(&header, bytes);
	if (code == BLOOMFILTER_OK)
		code = lbf_target_append(target, bytes, sizeof bytes, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_target_append(target, lbf_blocks(part), bf_blocks_bytes(&header), detail);
	return code;
}

/* A file of all parts that nobody follows: all of its place is 0. */
static int
write_set(const bloomfilter *filter, const lbf_target *target, bloomfilter_detail *detail)
{
	uint8_t		page[FEED_PAGE] = {0};
	feed_who	who;
	uint64_t	at = FEED_PAGE;
	uint32_t	i;
	int			code;

	memset(&who, 0, sizeof who);
	who.parts = filter->open_parts;
	who.born.serial = filter->told.serial;
	who.length = FEED_PAGE;
	for (i = 0; i < filter->open_parts; i++)
	{
		const lbf_part *part = &filter->part[i];

		who.length = (who.length + FEED_PAGE - 1) / FEED_PAGE * FEED_PAGE + part->bytes.length;
		who.born.sum += lbf_part_sum(part);
	}
	feed_who_write(&who, page);
	code = lbf_target_append(target, page, sizeof page, detail);
	for (i = 0; code == BLOOMFILTER_OK && i < filter->open_parts; i++)
		code = write_part(&filter->part[i], &at, target, detail);
	return code;
}

int
bloomfilter_write(const bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	lbf_target	target;
	int			code;

	if (lbf_is_live(filter))
		return lbf_fail(detail, BLOOMFILTER_ERR_FOLLOWED, NULL);
	code = lbf_target_open(&target, path, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	code = lbf_target_create(&target, detail);
	if (code == BLOOMFILTER_OK && filter->open_parts == 1)
		code = write_single(&filter->part[0], &target, detail);
	else if (code == BLOOMFILTER_OK)
		code = write_set(filter, &target, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_target_commit(&target, detail);
	lbf_target_close(&target);
	return code;
}

int
bloomfilter_can_write(const char *path, bloomfilter_detail *detail)
{
	lbf_target	target;
	int			code = lbf_target_open(&target, path, detail);

	if (code == BLOOMFILTER_OK)
		lbf_target_close(&target);
	return code;
}
