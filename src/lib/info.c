/*
 * info.c
 *	  What is in a filter: its header, and what its fill says.
 */
#include <string.h>

#include "bf_bytes.h"
#include "bf_estimate.h"
#include "bf_hash.h"
#include "handle.h"

#ifndef BLOOMFILTER_VERSION
#error "BLOOMFILTER_VERSION must be defined, see Makefile"
#endif

const char *
bloomfilter_version(void)
{
	return BLOOMFILTER_VERSION;
}

static void
fill_info(const bloomfilter *filter, uint32_t index, bloomfilter_info *info)
{
	bf_shape	shape;
	const bf_header *header = &shape.level[0];
	unsigned	i;

	lbf_shape_now(filter, &filter->part[index], &shape);
	memset(info, 0, sizeof *info);
	info->exact = shape.levels > 1;
	info->others = shape.others;
	info->version = info->exact ? BF_EXACT_VERSION : BF_FORMAT_VERSION;
	info->key_type = (int) bf_key_kind(header->key_type);
	for (i = 0; i < BF_KEY_MAX_COLUMNS; i++)
		info->columns[i] = (uint8_t) bf_key_column(header->key_type, i);
	info->probes = header->probes;
	info->block_bits = (uint32_t) (bf_block_bytes(header) * 8);
	info->blocks = header->blocks;
	info->part = header->part;
	info->parts = header->parts;
	info->open_parts = 1;
	info->over_capacity = bf_over_capacity(header);
	info->seed = header->seed;
	info->capacity = header->capacity;
	info->rate = header->rate;
	info->bits_set = header->bits_set;
	info->total_bits = bf_total_bits(header);
	info->total_bytes = bf_shape_bytes(&shape);
	info->checksum = header->checksum;
	info->fill = bf_fill(header);
	info->estimated_keys = bf_estimate_keys(header);
	info->estimated_rate = bf_estimate_rate(header);
}

/*
 * Adds a part to what is known of the parts before it.  The rate of a set is the
 * mean of its parts' rates, since an absent key goes to each as likely.
 */
static void
add_info(bloomfilter_info *sum, const bloomfilter_info *part)
{
	uint8_t		checksums[16];

	bf_store_le(checksums, 8, sum->checksum);
	bf_store_le(checksums + 8, 8, part->checksum);
	sum->checksum = bf_hash(checksums, sizeof checksums, 0);
	if (sum->key_type == 0)
	{
		sum->key_type = part->key_type;
		memcpy(sum->columns, part->columns, sizeof sum->columns);
	}
	sum->blocks += part->blocks;
	sum->over_capacity |= part->over_capacity;
	sum->capacity = part->capacity > UINT64_MAX - sum->capacity ? UINT64_MAX :
		sum->capacity + part->capacity;
	if (sum->rate < part->rate)
		sum->rate = part->rate;
	sum->bits_set += part->bits_set;
	sum->total_bits += part->total_bits;
	sum->total_bytes += part->total_bytes;
	sum->others += part->others;
	sum->estimated_keys += part->estimated_keys;
	sum->estimated_rate += part->estimated_rate;
}

/* What all parts are together. */
static void
fill_sum(const bloomfilter *filter, bloomfilter_info *sum)
{
	bloomfilter_info part;
	uint32_t	i;

	fill_info(filter, 0, sum);
	for (i = 1; i < filter->open_parts; i++)
	{
		fill_info(filter, i, &part);
		add_info(sum, &part);
	}
	if (filter->changes.page != NULL)
		sum->changes = feed_load(filter->changes.page, FEED_TABLE_COUNT);
	if (filter->changes.slots != NULL)
		sum->slots = (uint64_t) 1 << filter->who.log2_slots;
	sum->open_parts = filter->open_parts;
	sum->fill = (double) sum->bits_set / (double) sum->total_bits;
	sum->estimated_rate /= filter->open_parts;
	if (filter->page != NULL && filter->uncounted && !lbf_is_exact(filter))
		sum->checksum = 0;
}

int
bloomfilter_get_info(const bloomfilter *filter, int part, bloomfilter_info *result, size_t size)
{
	bloomfilter_info info;

	if (filter->key_type == LBF_LOST)
		return BLOOMFILTER_ERR_LOST;
	if (part >= 0 && (uint32_t) part >= filter->open_parts)
		return BLOOMFILTER_ERR_ARGUMENT;
	if (part < 0)
		fill_sum(filter, &info);
	else
		fill_info(filter, (uint32_t) part, &info);
	if (size > sizeof info)
		memset(result, 0, size);
	memcpy(result, &info, size < sizeof info ? size : sizeof info);
	return BLOOMFILTER_OK;
}

int
bloomfilter_get_bytes(const bloomfilter *filter, uint32_t index,
					  const void **bytes, size_t *length)
{
	if (filter->key_type == LBF_LOST)
		return BLOOMFILTER_ERR_LOST;
	if (index >= filter->open_parts)
		return BLOOMFILTER_ERR_ARGUMENT;
	if (filter->page != NULL)
		return BLOOMFILTER_ERR_FOLLOWED;
	*bytes = filter->part[index].bytes.start;
	*length = filter->part[index].bytes.length;
	return BLOOMFILTER_OK;
}

const char *
bloomfilter_describe_keys(const bloomfilter_info *info, char *text)
{
	uint32_t	type = (uint32_t) info->key_type;
	int			i;

	for (i = 0; i < BF_KEY_MAX_COLUMNS && info->columns[i] != 0; i++)
		bf_key_row_add(&type, info->columns[i]);
	return bf_key_type_text(type, text);
}
