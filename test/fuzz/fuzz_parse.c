/*
 * fuzz_parse.c
 *	  Bytes of any origin as a filter: bf_any_parse, and all that a filter is for.
 *
 * The input is tried as it is, and once more with the number of bits set and both
 * checksums made right, so that the mutations reach what they guard.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_estimate.h"
#include "bf_exact.h"
#include "bf_filter.h"
#include "bf_sizing.h"
#include "demand.h"

/* Asks many keys, alone and as a batch: the answers agree. */
static void
ask(const bf_header *header, const uint8_t *blocks)
{
	uint64_t	hashes[KEYS];
	uint8_t		found[KEYS];
	uint64_t	i;

	hash_keys(hashes, header->seed);
	bf_contains_hashes(header, blocks, hashes, KEYS, found);
	for (i = 0; i < KEYS; i++)
	{
		demand(found[i] == bf_contains(header, blocks, hashes[i]));
		demand(header->bits_set > 0 || !found[i]);
		bf_in_part(header, hashes[i]);
	}
}

static void
look(const bf_header *header)
{
	double		keys = bf_estimate_keys(header);

	demand(keys >= 0.0 && keys < 1e18);
	demand(bf_fill(header) >= 0.0 && bf_fill(header) <= 1.0);
	if (header->blocks > 64)
		return;					/* the sums below take their time */
	demand(bf_estimate_rate(header) >= 0.0 && bf_estimate_rate(header) <= 1.0);
	bf_over_capacity(header);
}

/* Whether the blocks of a filter have the bits set that it says. */
static bool
counted(const bf_header *header, const uint8_t *blocks)
{
	return header->bits_set == bf_count_bits(blocks, bf_blocks_bytes(header), NULL);
}

static void
combine(const bf_header *header, const uint8_t *blocks)
{
	size_t		length = (size_t) bf_blocks_bytes(header);
	uint8_t    *copy = malloc(length);
	bf_header	result = *header;

	if (copy == NULL)
		return;
	memcpy(copy, blocks, length);
	demand(bf_compatible(header, &result));
	bf_union(&result, copy, header, blocks, NULL);
	demand(memcmp(copy, blocks, length) == 0 && result.bits_set == header->bits_set);
	bf_intersect(&result, copy, header, blocks, NULL);
	demand(memcmp(copy, blocks, length) == 0 && result.bits_set == header->bits_set);
	bf_add(&result, copy, UINT64_MAX);
	demand(counted(&result, copy) && bf_contains(&result, copy, UINT64_MAX));
	free(copy);
}

static void
fold(const bf_header *header, const uint8_t *blocks)
{
	size_t		length = (size_t) bf_blocks_bytes(header);
	uint32_t	divisor;

	for (divisor = 1; divisor <= header->blocks && divisor <= 16; divisor++)
	{
		uint8_t    *copy = header->blocks % divisor == 0 ? malloc(length) : NULL;
		bf_header	result = *header;

		if (copy == NULL)
			continue;
		memcpy(copy, blocks, length);
		bf_fold(&result, copy, divisor, NULL);
		demand(counted(&result, copy) && result.blocks == header->blocks / divisor);
		ask(&result, copy);
		free(copy);
	}
}

/* A valid filter is written as the bytes that it was read from. */
static void
write_again(bf_header header, const uint8_t *bytes)
{
	uint8_t		written[BF_HEADER_BYTES];

	bf_header_write(&header, bytes + BF_HEADER_BYTES, NULL, written);
	demand(memcmp(written, bytes, BF_HEADER_BYTES) == 0);
}

static void
use(const uint8_t *bytes, size_t length)
{
	const uint8_t *blocks = bytes + BF_HEADER_BYTES;
	bf_shape	shape;
	bf_header	header;

	if (bf_any_parse(bytes, length, NULL, &shape) != BF_OK || shape.levels > 1)
		return;
	header = shape.level[0];
	demand(bf_total_bytes(&header) == length);
	write_again(header, bytes);
	ask(&header, blocks);
	look(&header);
	combine(&header, blocks);
	fold(&header, blocks);
}

static void
repair(uint8_t *bytes, size_t length)
{
	const uint8_t *blocks = bytes + BF_HEADER_BYTES;
	uint64_t	blocks_length = length - BF_HEADER_BYTES;

	if (blocks_length % 64 == 0)
		bf_store_le(bytes + AT_BITS_SET, 8, bf_count_bits(blocks, blocks_length, NULL));
	bf_store_le(bytes + AT_HEADER_CHECKSUM, 4, bf_hash(bytes, AT_HEADER_CHECKSUM, 0));
	bf_store_le(bytes + AT_CHECKSUM, 8,
				bf_checksum(bytes, AT_CHECKSUM, blocks, blocks_length, NULL));
}

extern void fuzz_exact(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	use_twice(data, size, use, BF_HEADER_BYTES, repair);
	fuzz_exact(data, size);
	return 0;
}
