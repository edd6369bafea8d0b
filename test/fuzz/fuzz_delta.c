/*
 * fuzz_delta.c
 *	  Bytes of any origin as a delta for a filter.
 *
 * The input is tried as it is, and with its own checksum, the header's and that of
 * the old filter made right, so that the mutations reach what they guard.  What is
 * accepted must be a valid filter.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_delta_malloc.h"
#include "bf_filter.h"
#include "bf_hash.h"
#include "bf_key.h"

#define AT_OLD_CHECKSUM 8
#define AT_HEADER 24
#define AT_HEADER_CHECKSUM 52	/* in the header */

/* The filter that deltas are applied to: two blocks, of the keys 0 to 9. */
static void
make_base(bf_header *header, uint8_t *bytes)
{
	uint64_t	i;

	memset(header, 0, sizeof *header);
	header->probes = 7;
	header->log2_block_bits = 9;
	header->key_type = BF_KEY_INTEGER;
	header->blocks = 2;
	header->parts = 1;
	header->capacity = 100;
	header->rate = 0.01;
	for (i = 0; i < 10; i++)
		bf_add(header, bytes + BF_HEADER_BYTES, bf_hash_word(i, 0));
	bf_header_write(header, bytes + BF_HEADER_BYTES, NULL, bytes);
}

static void
apply(const uint8_t *delta, size_t length, bfd_filter old_filter)
{
	size_t		size = (size_t) bf_total_bytes(old_filter.header);
	uint8_t    *result = malloc(size);
	bf_header	header;

	if (result != NULL &&
		bfd_apply(old_filter, delta, length, &bfd_by_malloc, NULL, result, &header) == BFD_OK &&
		(bf_total_bytes(&header) != size ||
		 bf_parse(result, size, NULL, &header) != BF_OK))
		abort();
	free(result);
}

static void
repair(uint8_t *delta, size_t length, uint64_t old_checksum)
{
	uint8_t    *header = delta + AT_HEADER;

	bf_store_le(header + AT_HEADER_CHECKSUM, 4, bf_hash(header, AT_HEADER_CHECKSUM, 0));
	bf_store_le(delta + AT_OLD_CHECKSUM, 8, old_checksum);
	bf_store_le(delta + length - 8, 8, bf_checksum(delta, 0, delta, length - 8, NULL));
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t		base[BF_HEADER_BYTES + 128] = {0};
	uint8_t    *copy;
	bf_header	header;
	bfd_filter	old_filter = {&header, base + BF_HEADER_BYTES};

	make_base(&header, base);
	apply(data, size, old_filter);
	copy = size >= BFD_HEADER_BYTES + BFD_CHECKSUM_BYTES ? malloc(size) : NULL;
	if (copy != NULL)
	{
		memcpy(copy, data, size);
		repair(copy, size, header.checksum);
		apply(copy, size, old_filter);
	}
	free(copy);
	return 0;
}
