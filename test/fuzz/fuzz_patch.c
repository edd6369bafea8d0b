/*
 * fuzz_patch.c
 *	  Bytes of any origin as a patch for the parts of the golden patches.
 *
 * The input is tried as it is, and with the right length and checksum in it.  What is
 * taken has the positions that it promises, which rise and lie in the parts; turned back
 * into a patch it has the same again.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_format.h"
#include "feed_patch.h"

#define PARTS 2

static const uint8_t widths[PARTS] = {9, 12};
static const uint32_t blocks[PARTS] = {5, 3};

static feed_part parts[PARTS];

static void
demand(bool holds)
{
	if (!holds)
		abort();
}

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
		demand(feed_part_read(bytes, &parts[i]) == NULL);
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

	if (feed_patch_read(bytes, length, parts, PARTS, &patch) != FEED_PATCH_OK)
		return;
	memset(&all, 0, sizeof all);
	feed_patch_each(&patch, NULL, note, &all);
	demand(all.count == patch.positions);
	for (i = 0; i < PARTS; i++)
		changes[i] = (feed_change) {all.positions[i], all.counts[i], NULL, NULL};
	length = feed_patch_length(patch.kind, parts, changes, PARTS);
	demand(length <= sizeof again);
	feed_patch_write(&patch, parts, changes, PARTS, again);
	demand(feed_patch_read(again, length, parts, PARTS, &second) == FEED_PATCH_OK &&
		   second.positions == patch.positions);
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t    *bytes = malloc(size + 1);

	if (parts[0].blocks == 0)
		make_parts();
	if (bytes == NULL)
		return 0;
	memcpy(bytes, data, size);
	read_all(bytes, size);
	if (size >= FEED_PATCH_BYTES)
	{
		bf_store_le64(bytes + 72, size);
		feed_patch_seal(bytes, size);
		read_all(bytes, size);
	}
	free(bytes);
	return 0;
}
