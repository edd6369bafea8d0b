/*
 * fuzz_patch.c
 *	  Bytes of any origin as a patch for the parts of the golden patches, plain and exact.
 *
 * The input is tried as it is, and with the right length and checksum in it.  What is
 * taken has the positions that it promises, which rise and lie in the parts; turned back
 * into a patch it has the same again.  Of exact parts only flips are taken, which applied
 * to a state leave the front that they have, and lead to the sum of all bytes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_exact.h"
#include "demand.h"
#include "feed_patch.h"
#include "feed_patch_at.h"

#define PARTS 2

static const uint8_t widths[PARTS] = {9, 12};
static const uint32_t blocks[PARTS] = {5, 3};

static feed_part parts[PARTS];
static feed_part exact_parts[PARTS];

/* Header, directory, and the blocks of levels of 3, 1 and 1 blocks. */
#define BODY (128 + 3 * 64 + 128 + 64)

static void
make_parts(void)
{
	unsigned	i;

	for (i = 0; i < PARTS; i++)
	{
		bf_header	header;
		uint8_t		bytes[FEED_HEADER_BYTES];

		memset(&header, 0, sizeof header);
		header.probes = 7;
		header.log2_block_bits = widths[i];
		header.blocks = blocks[i];
		header.part = (uint16_t) i;
		header.parts = PARTS;
		header.capacity = 50;
		header.rate = 0.01;
		header.key_type = 1;
		bf_header_copy(&header, bytes);
		demand(feed_part_read(bytes, sizeof bytes, &parts[i]) == NULL);
	}
}

static void
make_exact_parts(void)
{
	static const uint8_t level_widths[BF_EXACT_LEVELS] = {9, 10, 9};
	static const uint8_t probes[BF_EXACT_LEVELS] = {4, 3, 12};
	unsigned	i;
	unsigned	level;

	for (i = 0; i < PARTS; i++)
	{
		static uint8_t bytes[BODY];
		bf_shape	exact;

		memset(&exact, 0, sizeof exact);
		exact.levels = BF_EXACT_LEVELS;
		for (level = 0; level < BF_EXACT_LEVELS; level++)
		{
			exact.level[level].probes = probes[level];
			exact.level[level].log2_block_bits = level_widths[level];
			exact.level[level].blocks = level == 0 ? 3 : 1;
			exact.level[level].part = (uint16_t) i;
			exact.level[level].parts = PARTS;
			exact.level[level].capacity = 50;
			exact.level[level].rate = 0.01;
			exact.level[level].key_type = 1;
		}
		bf_exact_write(&exact, bytes, NULL);
		demand(feed_part_read(bytes, sizeof bytes, &exact_parts[i]) == NULL && exact_parts[i].length == BODY);
	}
}

typedef struct seen
{
	uint64_t	count;
	uint64_t	next[PARTS];
	uint64_t	positions[PARTS][3 << 12];
	size_t		counts[PARTS];
} seen;

static void
note(void *state, uint32_t part, uint64_t position)
{
	seen	   *all = state;

	demand(part < PARTS && position >= all->next[part] && position >> widths[part] < blocks[part]);
	all->next[part] = position + 1;
	all->positions[part][all->counts[part]++] = position;
	all->count++;
}

static void
read_all(const uint8_t *bytes, size_t length)
{
	static seen all;
	static uint8_t again[200000];
	feed_patch	patch;
	feed_patch	second;
	feed_change changes[PARTS];
	unsigned	i;

	if (feed_patch_read(bytes, length, parts, PARTS, &patch) != NULL)
		return;
	memset(&all, 0, sizeof all);
	feed_patch_each(&patch, NULL, note, &all);
	demand(all.count == patch.positions);
	for (i = 0; i < PARTS; i++)
		changes[i] = (feed_change) {all.positions[i], all.counts[i], NULL, NULL};
	length = feed_patch_write(&patch, parts, changes, PARTS, NULL);
	demand(length <= sizeof again);
	feed_patch_write(&patch, parts, changes, PARTS, again);
	demand(feed_patch_read(again, length, parts, PARTS, &second) == NULL &&
		   second.positions == patch.positions);
}

static void
note_exact(void *state, uint32_t part, uint64_t position)
{
	uint64_t   *next = state;

	demand(part < PARTS && position >= next[part] && position < (uint64_t) BODY * 8);
	next[part] = position + 1;
}

static void
read_exact(const uint8_t *bytes, size_t length)
{
	uint64_t	next[PARTS] = {FEED_FRONT_BYTES * 8, FEED_FRONT_BYTES * 8};
	feed_patch	patch;

	if (feed_patch_read(bytes, length, exact_parts, PARTS, &patch) != NULL)
		return;
	demand(patch.kind == FEED_FLIP);
	feed_patch_each(&patch, NULL, note_exact, next);
}

static void
read_both(const uint8_t *bytes, size_t length)
{
	read_all(bytes, length);
	read_exact(bytes, length);
}

static void
repair(uint8_t *bytes, size_t length)
{
	bf_store_le64(bytes + PATCH_AT_LENGTH, length);
	bf_store_le64(bytes + PATCH_AT_CHECKSUM, feed_patch_checksum(bytes, length));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (parts[0].shape.levels == 0)
	{
		make_parts();
		make_exact_parts();
	}
	use_twice(data, size, read_both, FEED_PATCH_BYTES, repair);
	return 0;
}
