/*
 * fuzz_parse.c
 *	  Bytes of any origin as a filter: bf_any_parse, and all that a filter is for.
 *
 * The input is tried as it is, and once more with the numbers of bits set and all
 * checksums made right, so that the mutations reach what they guard.  What is taken gives
 * one answer to a key, however it is asked, and is written as the bytes that it was read
 * from; an exact filter is the same part to the programs that follow lists.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_estimate.h"
#include "bf_exact.h"
#include "bf_explain.h"
#include "bf_filter.h"
#include "bf_hash.h"
#include "bf_key.h"
#include "bf_sizing.h"
#include "demand.h"
#include "feed_part.h"

/* Fields that are made right. */
#define AT_VERSION	4
#define AT_BITS_SET	40
#define AT_HEADER_CHECKSUM	52
#define AT_CHECKSUM	56
#define AT_DIRECTORY_CHECKSUM 120

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
use_plain(bf_header header, const uint8_t *bytes, size_t length)
{
	const uint8_t *blocks = bytes + BF_HEADER_BYTES;

	demand(bf_total_bytes(&header) == length);
	write_again(header, bytes);
	ask(&header, blocks);
	look(&header);
	combine(&header, blocks);
	fold(&header, blocks);
}

/* Asks many keys, alone, as a batch and level by level. */
static void
ask_levels(const bf_shape *exact, const uint8_t *blocks)
{
	uint64_t	hashes[KEYS];
	uint8_t		found[KEYS];
	char		text[BF_EXPLAIN_ROOM];
	uint64_t	i;

	hash_keys(hashes, exact->level[0].seed);
	bf_shape_contains_hashes(exact, blocks, hashes, KEYS, found);
	for (i = 0; i < KEYS; i++)
	{
		bool		first = bf_exact_level_contains(exact, blocks, 0, hashes[i]);

		demand(found[i] == bf_shape_contains(exact, blocks, hashes[i]));
		demand(found[i] == (first && (!bf_exact_level_contains(exact, blocks, 1, hashes[i]) ||
									  bf_exact_level_contains(exact, blocks, 2, hashes[i]))));
	}
	bf_explain(text, exact, blocks, BF_KEY_INTEGER, (const uint8_t *) hashes, 8, 0);
	demand(strlen(text) < sizeof text);
}

/* A part of a list is nothing else than the filter, and nothing in it is made 0. */
static void
carry(const bf_shape *exact, const uint8_t *bytes, size_t length)
{
	feed_part	part;

	demand(feed_part_check(bytes, length, &part) == NULL && feed_is_exact(&part) && part.length == length &&
		   feed_level_at(&part, 2) == BF_EXACT_HEADER_BYTES + bf_shape_offset(exact, 2));
	feed_part_strip(&part);
	demand(memcmp(part.header, bytes, FEED_FRONT_BYTES) == 0 && feed_part_fits(&part, &part));
}

static void
use_exact(const bf_shape *exact, const uint8_t *bytes, size_t length)
{
	uint8_t    *again;
	bf_shape	written = *exact;

	demand(bf_shape_bytes(exact) == length && bf_any_length(bytes) == length);
	ask_levels(exact, bytes + BF_EXACT_HEADER_BYTES);
	carry(exact, bytes, length);
	again = malloc(length);
	if (again == NULL)
		return;
	memcpy(again, bytes, length);
	memset(again, 0, BF_EXACT_HEADER_BYTES);
	bf_exact_write(&written, again, NULL);
	demand(memcmp(again, bytes, length) == 0);
	free(again);
}

static void
use(const uint8_t *bytes, size_t length)
{
	bf_shape	shape;

	if (bf_any_parse(bytes, length, NULL, &shape) != BF_OK)
		return;
	if (shape.levels == 1)
		use_plain(shape.level[0], bytes, length);
	else
		use_exact(&shape, bytes, length);
}

/* The bits set of as many levels as the bytes have. */
static void
count_levels(uint8_t *bytes, size_t length)
{
	static const size_t at_bits_set[BF_EXACT_LEVELS] = {AT_BITS_SET, 92, 112};
	static const size_t at_blocks[BF_EXACT_LEVELS] = {8, 84, 104};
	static const size_t at_log2_block[BF_EXACT_LEVELS] = {6, 81, 101};
	uint64_t	at = BF_EXACT_HEADER_BYTES;
	unsigned	i;

	for (i = 0; i < BF_EXACT_LEVELS; i++)
	{
		unsigned	width = bytes[at_log2_block[i]];
		uint64_t	level = width < 9 || width > 16 ? 0 : bf_load_le(bytes + at_blocks[i], 4) << (width - 3);

		if (level > length - at)
			break;
		bf_store_le(bytes + at_bits_set[i], 8, bf_count_bits(bytes + at, level, NULL));
		at += level;
	}
}

static void
repair(uint8_t *bytes, size_t length)
{
	bool		exact = length >= BF_EXACT_HEADER_BYTES && bytes[AT_VERSION] == BF_EXACT_VERSION;
	uint64_t	behind = length - BF_HEADER_BYTES;

	if (exact)
		count_levels(bytes, length);
	else if (behind % 64 == 0)
		bf_store_le64(bytes + AT_BITS_SET, bf_count_bits(bytes + BF_HEADER_BYTES, behind, NULL));
	bf_store_le(bytes + AT_HEADER_CHECKSUM, 4, bf_hash(bytes, AT_HEADER_CHECKSUM, 0));
	if (exact)
		bf_store_le64(bytes + AT_DIRECTORY_CHECKSUM,
					  bf_checksum(bytes, AT_CHECKSUM, bytes + BF_HEADER_BYTES, AT_DIRECTORY_CHECKSUM - BF_HEADER_BYTES, NULL));
	bf_store_le64(bytes + AT_CHECKSUM, bf_checksum(bytes, AT_CHECKSUM, bytes + BF_HEADER_BYTES, behind, NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	use_twice(data, size, use, BF_HEADER_BYTES, repair);
	return 0;
}
