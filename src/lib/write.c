/*
 * write.c
 *	  Writing filters to files: one part alone, several behind a page that says whose
 *	  they are.
 */
#define _DEFAULT_SOURCE
#include <string.h>

#include "error.h"
#include "feed_page.h"
#include "page.h"
#include "target.h"

/* A part as it is everywhere; or as in a file with a page, where its header says nothing of the bits. */
static int
write_part(const lbf_part *part, bool paged, const lbf_target *target, bloomfilter_detail *detail)
{
	uint8_t		bytes[BF_HEADER_BYTES];
	bf_shape	shape = part->shape;
	bf_header  *header = &shape.level[0];
	int			code;

	if (shape.levels > 1)
		return lbf_target_append(target, part->bytes.start, part->bytes.length, detail);
	if (paged)
		header->bits_set = header->checksum = 0;
	else
		lbf_part_now(part, &shape);
	bf_header_copy(header, bytes);
	code = lbf_target_append(target, bytes, sizeof bytes, detail);
	return code == BLOOMFILTER_OK ? lbf_target_append(target, lbf_blocks(part), bf_blocks_bytes(header), detail) : code;
}

/* A file of all parts that nobody follows: all of its place is 0. */
static int
write_set(const bloomfilter *filter, const lbf_target *target, bloomfilter_detail *detail)
{
	static const uint8_t zeros[FEED_PAGE];
	uint8_t		page[FEED_PAGE] = {0};
	feed_who	who;
	uint64_t	end = FEED_PAGE;
	uint32_t	i;
	int			code;

	memset(&who, 0, sizeof who);
	who.parts = filter->open_parts;
	who.born.serial = filter->told.serial;
	who.length = FEED_PAGE;
	for (i = 0; i < filter->open_parts; i++)
	{
		const lbf_part *part = &filter->part[i];

		who.length = feed_next_page(who.length) + part->bytes.length;
		who.born.sum += lbf_part_sum(part);
	}
	feed_who_write(&who, page);
	code = lbf_target_append(target, page, sizeof page, detail);
	for (i = 0; code == BLOOMFILTER_OK && i < filter->open_parts; i++)
	{
		code = lbf_target_append(target, zeros, feed_next_page(end) - end, detail);
		if (code == BLOOMFILTER_OK)
			code = write_part(&filter->part[i], true, target, detail);
		end = feed_next_page(end) + filter->part[i].bytes.length;
	}
	return code;
}

int
bloomfilter_write(const bloomfilter *filter, const char *path, bloomfilter_detail *detail)
{
	lbf_target	target;
	int			code;

	if (filter->key_type == LBF_LOST)
		return lbf_fail(detail, BLOOMFILTER_ERR_LOST, NULL);
	if (lbf_is_live(filter))
		return lbf_fail(detail, BLOOMFILTER_ERR_FOLLOWED, NULL);
	code = lbf_target_open(&target, path, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	code = lbf_target_create(&target, detail);
	if (code == BLOOMFILTER_OK && filter->open_parts == 1)
		code = write_part(&filter->part[0], false, &target, detail);
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
