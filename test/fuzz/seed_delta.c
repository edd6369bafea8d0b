/*
 * seed_delta.c
 *	  Writes a delta to begin with for fuzz_delta: seed_delta FILE [FIRST COUNT]
 *
 * From the filter that the target has, keys 0 to 9, to one of the keys FIRST and
 * so many following.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_delta_malloc.h"
#include "bf_filter.h"
#include "bf_hash.h"
#include "bf_key.h"

static bool
write_file(void *context, const void *bytes, size_t length)
{
	return fwrite(bytes, 1, length, context) == length;
}

static void
build(bf_header *header, uint8_t *blocks, uint64_t first, uint64_t count)
{
	uint8_t		bytes[BF_HEADER_BYTES];
	uint64_t	i;

	memset(header, 0, sizeof *header);
	header->probes = 7;
	header->log2_block_bits = 9;
	header->key_type = BF_KEY_INTEGER;
	header->blocks = 2;
	header->parts = 1;
	header->capacity = 100;
	header->rate = 0.01;
	for (i = first; i < first + count; i++)
		bf_add(header, blocks, bf_hash_word(i, 0));
	bf_header_write(header, blocks, NULL, bytes);
}

int
main(int count, char **arguments)
{
	uint8_t		old_blocks[128] = {0};
	uint8_t		new_blocks[128] = {0};
	bf_header	old_header;
	bf_header	new_header;
	bfd_filter	old_filter = {&old_header, old_blocks};
	bfd_filter	new_filter = {&new_header, new_blocks};
	bfd_sink	sink = {write_file, NULL};

	if (count != 4)
		return 2;
	sink.context = fopen(arguments[1], "wb");
	if (sink.context == NULL)
		return 2;
	build(&old_header, old_blocks, 0, 10);
	build(&new_header, new_blocks, strtoull(arguments[2], NULL, 10),
		  strtoull(arguments[3], NULL, 10));
	if (bfd_diff(old_filter, new_filter, &bfd_by_malloc, NULL, &sink) != BFD_OK)
		return 2;
	return fclose(sink.context) == 0 ? 0 : 2;
}
