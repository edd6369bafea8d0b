/*
 * support.c
 *	  What several tests need: filters that own their memory, and hex.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_exact.h"
#include "bf_key.h"
#include "bf_sizing.h"
#include "files.h"
#include "tap.h"

const uint32_t most_blocks[8] = {8388543, 4194271, 2097135, 1048567, 524283, 262141, 131070, 65535};

static void
give_up(const char *what, const char *which)
{
	fprintf(stderr, "%s: %s\n", what, which);
	exit(2);
}

void *
allocate(size_t size)
{
	void	   *memory = calloc(size > 0 ? size : 1, 1);

	if (memory == NULL)
		give_up("out of memory", "allocate");
	return memory;
}

bf_header
shape(uint32_t blocks, unsigned log2_block_bits, unsigned probes)
{
	bf_header	header = {0};

	header.blocks = blocks;
	header.log2_block_bits = (uint8_t) log2_block_bits;
	header.probes = (uint8_t) probes;
	header.parts = 1;
	header.capacity = 1000;
	header.rate = 0.01;
	return header;
}

filter
filter_new(const bf_header *header)
{
	filter		f;

	f.header = *header;
	f.blocks = allocate((size_t) bf_blocks_bytes(header));
	return f;
}

filter
filter_for_rate(uint64_t n, double p, uint64_t seed)
{
	static bf_sizing sizing;	/* the last one: to find it takes longer than most filters do */
	bf_header	header;

	if ((sizing.capacity != n || sizing.rate != p) &&
		(!bf_size_for_rate(n, p, &sizing) || !bf_sizing_fits(&sizing)))
		give_up("no such filter", "filter_for_rate");
	header = bf_sizing_header(&sizing, seed);
	return filter_new(&header);
}

filter
filter_copy(const filter *source)
{
	filter		f = filter_new(&source->header);

	memcpy(f.blocks, source->blocks, (size_t) bf_blocks_bytes(&source->header));
	return f;
}

void
filter_free(filter *f)
{
	free(f->blocks);
	f->blocks = NULL;
}

void
filter_add_integers(filter *f, uint64_t first, uint64_t count)
{
	uint64_t	i;

	if (count > 0)
		f->header.key_type = BF_KEY_INTEGER;
	for (i = 0; i < count; i++)
		bf_add(&f->header, f->blocks, bf_hash_word(first + i, f->header.seed));
}

uint64_t
filter_count_integers(const filter *f, uint64_t first, uint64_t count)
{
	uint64_t	found = 0;
	uint64_t	i;

	for (i = 0; i < count; i++)
		found += bf_contains(&f->header, f->blocks,
							 bf_hash_word(first + i, f->header.seed));
	return found;
}

uint8_t *
filter_bytes(filter *f)
{
	uint64_t	length = bf_blocks_bytes(&f->header);
	uint8_t    *bytes = allocate((size_t) (BF_HEADER_BYTES + length));

	memcpy(bytes + BF_HEADER_BYTES, f->blocks, (size_t) length);
	bf_header_write(&f->header, f->blocks, NULL, bytes);
	return bytes;
}

bool
filter_same(filter *a, filter *b)
{
	uint8_t    *a_bytes;
	uint8_t    *b_bytes;
	bool		same;

	if (bf_total_bytes(&a->header) != bf_total_bytes(&b->header))
		return false;
	a_bytes = filter_bytes(a);
	b_bytes = filter_bytes(b);
	same = memcmp(a_bytes, b_bytes, (size_t) bf_total_bytes(&a->header)) == 0;
	free(a_bytes);
	free(b_bytes);
	return same;
}

bf_status
plain_read(const void *bytes, uint64_t total_bytes, bf_header *header)
{
	bf_shape	shape;
	bf_status	status = bf_any_read(bytes, total_bytes, &shape);

	if (status == BF_OK)
		*header = shape.level[0];
	return status;
}

bf_status
plain_parse(const void *bytes, uint64_t length, bf_tick tick, bf_header *header)
{
	bf_shape	shape;
	bf_status	status = bf_any_parse(bytes, length, tick, &shape);

	if (status == BF_OK)
		*header = shape.level[0];
	return status;
}

void
fill_random(uint8_t *bytes, size_t length, uint64_t *random)
{
	size_t		i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t) next_random(random);
}

uint8_t *
exact_copy(const void *bytes, size_t length)
{
	uint8_t    *copy = malloc(length > 0 ? length : 1);

	if (copy == NULL)
		give_up("out of memory", "exact_copy");
	if (length > 0)
		memcpy(copy, bytes, length);
	return copy;
}

uint8_t *
hex_bytes(const char *hex, size_t *length)
{
	uint8_t    *bytes = allocate(strlen(hex) / 2);

	*length = from_hex(hex, strlen(hex), bytes);
	return bytes;
}
