/*
 * bf_filter.c
 *	  Adding many hashes, and combining filters.
 */
#include "bf_batch.h"

#include <string.h>

#include "bf_bits.h"

void
bf_add_hashes(bf_header *header, uint8_t *blocks, const uint64_t *hashes, size_t count)
{
	bf_header	own = *header;
	size_t		ahead = bf_fetch_first(&own, blocks, hashes, count);
	size_t		i;

	for (i = 0; i < count; i++)
	{
		if (ahead < count)
			bf_fetch(&own, blocks, hashes[ahead++]);
		bf_add(&own, blocks, hashes[i]);
	}
	header->bits_set = own.bits_set;
}

bool
bf_compatible(const bf_header *a, const bf_header *b)
{
	return a->probes == b->probes &&
		a->log2_block_bits == b->log2_block_bits &&
		a->blocks == b->blocks &&
		a->seed == b->seed &&
		a->part == b->part &&
		a->parts == b->parts &&
		(a->key_type == b->key_type || a->key_type == 0 || b->key_type == 0);
}

/* The header fields that a combination takes from the other filter. */
static void
merge_parameters(bf_header *header, const bf_header *other)
{
	if (header->key_type == 0)
		header->key_type = other->key_type;
	if (header->capacity < other->capacity)
		header->capacity = other->capacity;
	if (header->rate < other->rate)
		header->rate = other->rate;
}

void
bf_union(bf_header *header, uint8_t *blocks, const bf_header *other,
		 const uint8_t *other_blocks, bf_tick tick)
{
	merge_parameters(header, other);
	header->bits_set = bf_or_bits(blocks, other_blocks,
								  bf_blocks_bytes(header), tick);
}

void
bf_intersect(bf_header *header, uint8_t *blocks, const bf_header *other,
			 const uint8_t *other_blocks, bf_tick tick)
{
	merge_parameters(header, other);
	header->bits_set = bf_and_bits(blocks, other_blocks,
								   bf_blocks_bytes(header), tick);
}

/* One block of a fold: the OR of divisor blocks.  Ticks every BF_TICK_BYTES read. */
static void
fold_block(uint8_t *target, const uint8_t *source, uint64_t size,
		   uint32_t divisor, uint64_t *since_tick, bf_tick tick)
{
	uint32_t	i;

	memmove(target, source, (size_t) size);
	for (i = 1; i < divisor; i++)
	{
		source += size;
		bf_or_bits(target, source, size, NULL);
		*since_tick += size;
		if (*since_tick >= BF_TICK_BYTES && tick != NULL)
		{
			*since_tick = 0;
			tick();
		}
	}
}

void
bf_fold(bf_header *header, uint8_t *blocks, uint32_t divisor, bf_tick tick)
{
	uint64_t	size = bf_block_bytes(header);
	uint64_t	since_tick = 0;
	uint64_t	i;

	if (divisor <= 1)
		return;
	if (tick != NULL)
		tick();
	header->blocks /= divisor;
	for (i = 0; i < header->blocks; i++)
		fold_block(blocks + i * size, blocks + i * size * divisor, size, divisor,
				   &since_tick, tick);
	header->bits_set = bf_count_bits(blocks, bf_blocks_bytes(header), tick);
}
