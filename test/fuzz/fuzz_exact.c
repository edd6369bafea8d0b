/*
 * fuzz_exact.c
 *	  Bytes of any origin as an exact filter, and as a part of a list: a half of fuzz_parse.
 *
 * The input is tried as it is, and once more with each level's bits set and all checksums
 * made right.  What is taken gives one answer to a key, however it is asked, is written as
 * the bytes that it was read from, and is the same part to the programs that follow lists.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_exact.h"
#include "bf_explain.h"
#include "bf_hash.h"
#include "bf_key.h"
#include "demand.h"
#include "feed_part.h"

#define AT_DIRECTORY_CHECKSUM 120

/* Asks many keys, alone, as a batch and level by level. */
static void
ask(const bf_shape *exact, const uint8_t *blocks)
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
		   part.level[2].at == BF_EXACT_HEADER_BYTES + bf_shape_offset(exact, 2));
	feed_part_strip(&part);
	demand(memcmp(part.header, bytes, FEED_FRONT_BYTES) == 0 && feed_part_fits(&part, &part));
}

static void
use(const uint8_t *bytes, size_t length)
{
	uint8_t    *again;
	bf_shape	exact;

	if (bf_any_parse(bytes, length, NULL, &exact) != BF_OK || exact.levels == 1)
		return;
	demand(bf_shape_bytes(&exact) == length && bf_any_length(bytes) == length);
	ask(&exact, bytes + BF_EXACT_HEADER_BYTES);
	carry(&exact, bytes, length);
	again = malloc(length);
	if (again == NULL)
		return;
	memcpy(again, bytes, length);
	memset(again, 0, BF_EXACT_HEADER_BYTES);
	bf_exact_write(&exact, again, NULL);
	demand(memcmp(again, bytes, length) == 0);
	free(again);
}

static void
repair(uint8_t *bytes, size_t length)
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
	bf_store_le(bytes + AT_HEADER_CHECKSUM, 4, bf_hash(bytes, AT_HEADER_CHECKSUM, 0));
	bf_store_le64(bytes + AT_DIRECTORY_CHECKSUM,
				  bf_checksum(bytes, AT_CHECKSUM, bytes + BF_HEADER_BYTES, AT_DIRECTORY_CHECKSUM - BF_HEADER_BYTES, NULL));
	bf_store_le64(bytes + AT_CHECKSUM,
				  bf_checksum(bytes, AT_CHECKSUM, bytes + BF_HEADER_BYTES, length - BF_HEADER_BYTES, NULL));
}

extern void fuzz_exact(const uint8_t *data, size_t size);

void
fuzz_exact(const uint8_t *data, size_t size)
{
	use_twice(data, size, use, BF_EXACT_HEADER_BYTES, repair);
}
