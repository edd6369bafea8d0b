/*
 * test_format.c
 *	  The header: what is accepted, and which rule is reported.
 *
 * test/lib/test_vectors.c has the rows of invalid.tsv: each rule at its limits, and all in their order.
 * That what was read is written as the same bytes is in test/fuzz/fuzz_parse.c, of all golden filters.
 */
#include <string.h>

#include "bf_key.h"
#include "tap.h"
#include "support.h"

/* A row of a text, a macaddr and an integer. */
#define SOME_ROW (BF_KEY_ROW | 0x1b2u << 8)

/* A filter in which every field of the header differs from its neighbours. */
static filter
various_fields(void)
{
	bf_header	header = shape(3, 10, 5);
	filter		f;

	header.part = 0x0102;
	header.parts = 0x0304;
	header.seed = UINT64_C(0x05060708090a0b0c);
	header.capacity = UINT64_C(0x0d0e0f1011121314);
	header.rate = 0.123;
	f = filter_new(&header);
	filter_add_integers(&f, 0, 30);
	f.header.key_type = SOME_ROW;
	return f;
}

static bool
same_fields(const bf_header *a, const bf_header *b)
{
	return a->probes == b->probes && a->log2_block_bits == b->log2_block_bits &&
		a->key_type == b->key_type && a->blocks == b->blocks &&
		a->part == b->part && a->parts == b->parts && a->seed == b->seed &&
		a->capacity == b->capacity && a->rate == b->rate &&
		a->bits_set == b->bits_set && a->checksum == b->checksum;
}

/* The first 56 bytes are what a look-up by slices reads, and nothing else. */
static void
test_bit_flips(void)
{
	filter		f = various_fields();
	uint8_t    *bytes = filter_bytes(&f);
	size_t		total = (size_t) bf_total_bytes(&f.header);
	bf_header	untouched = shape(77, 11, 3);
	bf_header	header = untouched;
	bool		refused = true;
	bool		by_header = true;
	size_t		bit;

	for (bit = 0; bit < 8 * total; bit++)
	{
		bytes[bit / 8] = (uint8_t) (bytes[bit / 8] ^ 1u << bit % 8);
		refused &= check(plain_parse(bytes, total, NULL, &header) != BF_OK, "bit %zu", bit);
		by_header &= bit >= 8 * 56 || check(plain_read(bytes, total, &header) != BF_OK, "bit %zu", bit);
		bytes[bit / 8] = (uint8_t) (bytes[bit / 8] ^ 1u << bit % 8);
	}
	ok(refused, "a flip of any single bit of a filter is detected");
	ok(by_header, "that of any bit of the first 56 bytes by the header alone");
	ok(same_fields(&header, &untouched), "*header is not touched when bytes are refused");
	ok(plain_parse(bytes, total, NULL, &header) == BF_OK && same_fields(&header, &f.header),
	   "the same bytes without a flip are accepted, with every field that was written");
	free(bytes);
	filter_free(&f);
}

static bf_status
read_shape(uint32_t blocks, unsigned log2_block_bits, uint64_t length)
{
	bf_header	header = shape(blocks, log2_block_bits, 7);
	uint8_t    *bytes = allocate(BF_HEADER_BYTES);
	bf_status	status;

	bf_header_copy(&header, bytes);
	status = plain_read(bytes, length, &header);
	free(bytes);
	return status;
}

static bf_status
read_bits_set(uint64_t bits_set)
{
	bf_header	header = shape(3, 9, 7);
	uint8_t		bytes[BF_HEADER_BYTES];

	header.key_type = BF_KEY_INTEGER;
	header.bits_set = bits_set;
	bf_header_copy(&header, bytes);
	return plain_read(bytes, bf_total_bytes(&header), &header);
}

static void
test_bits_set(void)
{
	ok(read_bits_set(3 * 512) == BF_OK, "a header whose filter is full is read");
	ok(read_bits_set(3 * 512 + 1) == BF_BAD_BITS_SET, "one of more bits than there are is refused, without its blocks");
}

static void
test_largest(void)
{
	bool		accepted = true;
	bool		refused = true;
	bool		wrapped = true;
	unsigned	log2;

	ok(BF_MAX_BYTES == 536866816, "the largest filter has 536866816 bytes");
	for (log2 = 9; log2 <= 16; log2++)
	{
		uint32_t	blocks = most_blocks[log2 - 9];
		uint64_t	bytes = (uint64_t) 1 << (log2 - 3);

		accepted &= check(read_shape(blocks, log2, 64 + blocks * bytes) == BF_OK,
						  "2^%u bits", log2);
		refused &= check(read_shape(blocks + 1, log2, 64 + (blocks + 1) * bytes) ==
						 BF_BAD_SIZE, "2^%u bits", log2);
		wrapped &= check(read_shape((uint32_t) (UINT64_C(0x100000000) / bytes + 2),
									log2, 64 + 2 * bytes) == BF_BAD_SIZE,
						 "2^%u bits", log2);
	}
	ok(accepted, "the most blocks of FORMAT.md are accepted for each block size");
	ok(refused, "one block more is refused for each block size");
	ok(wrapped, "block counts whose size is right in 32 bits only are refused");
	ok(read_shape(UINT32_MAX, 16, 64 + ((uint64_t) UINT32_MAX << 13)) == BF_BAD_SIZE,
	   "the largest block count is refused even where the length agrees");
}

int
main(void)
{
	test_bit_flips();
	test_bits_set();
	test_largest();
	return tap_done();
}
