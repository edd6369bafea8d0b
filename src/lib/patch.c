/*
 * patch.c
 *	  Deltas between open filters.
 *
 * src/delta does the work; here are its sink and its codes.
 */
#include <stdlib.h>
#include <string.h>

#include "bf_delta_malloc.h"
#include "error.h"
#include "handle.h"

/* A delta as it grows. */
typedef struct growing
{
	uint8_t    *bytes;
	size_t		length;
	size_t		room;
} growing;

static bool
append(void *context, const void *bytes, size_t length)
{
	growing    *delta = context;

	if (length > delta->room - delta->length)
	{
		size_t		room = delta->room * 2 + length;
		uint8_t    *larger = realloc(delta->bytes, room);

		if (larger == NULL)
			return false;
		delta->bytes = larger;
		delta->room = room;
	}
	memcpy(delta->bytes + delta->length, bytes, length);
	delta->length += length;
	return true;
}

/* The code of what went wrong with a delta. */
static int
fail_delta(bloomfilter_detail *detail, bfd_status status)
{
	int			code = BLOOMFILTER_ERR_DELTA;

	if (status == BFD_NO_MEMORY || status == BFD_SINK_FAILED)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	if (status == BFD_INCOMPATIBLE)
		code = BLOOMFILTER_ERR_INCOMPATIBLE;
	else if (status == BFD_OTHER_BASE)
		code = BLOOMFILTER_ERR_DELTA_BASE;
	else if (status == BFD_BAD_RESULT)
		code = BLOOMFILTER_ERR_DELTA_RESULT;
	return lbf_fail_text(detail, code, NULL, bfd_status_text(status));
}

static bfd_filter
delta_filter(const bloomfilter *filter)
{
	bfd_filter	result = {&filter->part[0].header, lbf_blocks(&filter->part[0])};

	return result;
}

static int
check_single(const bloomfilter *filter, bloomfilter_detail *detail)
{
	if (filter->working.start != NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_WORKING, NULL);
	if (filter->open_parts == 1)
		return BLOOMFILTER_OK;
	return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, NULL,
						 "a set has a delta for each part, not one");
}

int
bloomfilter_diff(const bloomfilter *old_filter, const bloomfilter *new_filter,
				 void **delta, size_t *length, bloomfilter_detail *detail)
{
	growing		result = {NULL, 0, 0};
	bfd_sink	sink = {append, NULL};
	bfd_status	status;

	int			code = check_single(old_filter, detail);

	if (code == BLOOMFILTER_OK)
		code = check_single(new_filter, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	sink.context = &result;
	status = bfd_diff(delta_filter(old_filter), delta_filter(new_filter),
					  &bfd_by_malloc, NULL, &sink);
	if (status != BFD_OK)
	{
		free(result.bytes);
		return fail_delta(detail, status);
	}
	*delta = result.bytes;
	*length = result.length;
	return BLOOMFILTER_OK;
}

/* Applies a delta to memory for the result, which becomes part of a handle. */
static int
apply_to(bloomfilter *target, const bloomfilter *old_filter, const void *delta,
		 size_t length, bloomfilter_detail *detail)
{
	lbf_part   *part = &target->part[0];
	bfd_status	status;

	part->bytes.length = old_filter->part[0].bytes.length;
	part->bytes.start = lbf_allocate(part->bytes.length, false);
	if (part->bytes.start == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	part->bytes.owner = LBF_ALLOCATED;
	status = bfd_apply(delta_filter(old_filter), delta, length, &bfd_by_malloc,
					   NULL, part->bytes.start, &part->header);
	if (status != BFD_OK)
		return fail_delta(detail, status);
	lbf_handle_complete(target);
	return BLOOMFILTER_OK;
}

int
bloomfilter_apply(const bloomfilter *old_filter, const void *delta, size_t length,
				  bloomfilter **new_filter, bloomfilter_detail *detail)
{
	bloomfilter *target;
	int			code = check_single(old_filter, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	target = lbf_handle_create(1);
	if (target == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	code = apply_to(target, old_filter, delta, length, detail);
	if (code == BLOOMFILTER_OK)
		*new_filter = target;
	else
		bloomfilter_close(target);
	return code;
}

int
bloomfilter_get_delta_info(const void *delta, size_t length,
						   bloomfilter_delta_info *info, size_t info_size)
{
	bloomfilter_delta_info result;
	bfd_info	read;
	bfd_status	status = bfd_read(delta, length, NULL, &read);

	if (status != BFD_OK)
		return fail_delta(NULL, status);
	memset(&result, 0, sizeof result);
	result.old_checksum = read.old_checksum;
	result.new_checksum = read.header.checksum;
	result.new_bytes = bf_total_bytes(&read.header);
	if (info_size > sizeof result)
		memset(info, 0, info_size);
	memcpy(info, &result, info_size < sizeof result ? info_size : sizeof result);
	return BLOOMFILTER_OK;
}
