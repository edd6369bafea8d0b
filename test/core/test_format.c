/*
 * test_format.c
 *	  The header: what is written, what is accepted, and which rule is reported.
 *
 * A second validator, written from doc/FORMAT.md and sharing no code with the
 * core, is asked the same about many damaged headers.
 */
#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_key.h"
#include "tap.h"
#include "support.h"

/* The worked example of doc/FORMAT.md, section 13: header and two blocks. */
static const char worked_header[] =
"424c4d460107090102000000000001000000000000000000640000000000000"
"07b14ae47e17a843f07000000000000000100000022af682cf8272352e84db1a4";

static filter
worked_example(void)
{
	bf_header	header = shape(2, 9, 7);
	filter		f;

	header.capacity = 100;
	f = filter_new(&header);
	filter_add_integers(&f, 42, 1);
	return f;
}

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

static void
test_written_bytes(void)
{
	filter		f = worked_example();
	uint8_t    *bytes = filter_bytes(&f);
	size_t		length;
	uint8_t    *wanted = from_hex(worked_header, &length);

	ok(length == BF_HEADER_BYTES && memcmp(bytes, wanted, length) == 0,
	   "the header of the worked example is the one in FORMAT.md");
	ok(f.header.checksum == UINT64_C(0xa4b14de8522327f8),
	   "bf_header_write puts the checksum into the header");
	f.header.checksum = UINT64_C(0x1122334455667788);
	bf_header_copy(&f.header, bytes);
	ok(bf_load_le(bytes + 56, 8) == UINT64_C(0x1122334455667788) &&
	   memcmp(bytes, wanted, 56) == 0,
	   "bf_header_copy writes the checksum that the header has");
	free(bytes);
	free(wanted);
	filter_free(&f);
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

static void
test_round_trip(void)
{
	filter		f = various_fields();
	uint8_t    *bytes = filter_bytes(&f);
	uint8_t    *header_alone = exact_copy(bytes, BF_HEADER_BYTES);
	uint64_t	length = bf_total_bytes(&f.header);
	bf_header	header;

	ok(plain_parse(bytes, length, NULL, &header) == BF_OK &&
	   same_fields(&header, &f.header),
	   "bf_any_parse reads every field that bf_header_write wrote");
	ok(plain_read(header_alone, length, &header) == BF_OK &&
	   same_fields(&header, &f.header),
	   "bf_any_read needs no byte beyond the header");
	ok(bytes[12] == 0x02 && bytes[13] == 0x01 && bytes[14] == 0x04 &&
	   bytes[15] == 0x03 && bytes[16] == 0x0c && bytes[23] == 0x05 &&
	   bytes[24] == 0x14 && bytes[31] == 0x0d,
	   "numbers are stored with their least byte first");
	ok(bytes[7] == 15 && bytes[49] == 0xb2 && bytes[50] == 0x01 && bytes[51] == 0,
	   "columns are stored in four bits each, the first lowest");
	ok(bf_load_le(bytes + 52, 4) == (bf_hash(bytes, 52, 0) & UINT32_MAX),
	   "the header's checksum is the low half of XXH64 of the 52 bytes before it");
	free(bytes);
	free(header_alone);
	filter_free(&f);
}

/* Parses the first bytes of a filter from memory that ends with them. */
static bf_status
parse_exact(const uint8_t *bytes, size_t length, bf_header *header)
{
	uint8_t    *copy = exact_copy(bytes, length);
	bf_status	status = plain_parse(copy, length, NULL, header);

	free(copy);
	return status;
}

static void
test_truncation(void)
{
	filter		f = worked_example();
	uint8_t    *bytes = filter_bytes(&f);
	size_t		total = (size_t) bf_total_bytes(&f.header);
	uint8_t    *longer = allocate(total + 64);
	bf_header	header;
	bool		holds = true;
	size_t		length;

	for (length = 0; length < total; length++)
		holds &= check(parse_exact(bytes, length, &header) ==
					   (length < 64 ? BF_BAD_LENGTH : BF_BAD_SIZE),
					   "length %zu", length);
	ok(holds, "a filter cut at any byte is refused, for its length");
	memcpy(longer, bytes, total);
	holds = true;
	for (length = total + 1; length <= total + 64; length++)
		holds &= check(parse_exact(longer, length, &header) == BF_BAD_SIZE,
					   "length %zu", length);
	ok(holds, "a filter with bytes after it is refused");
	free(longer);
	free(bytes);
	filter_free(&f);
}

static void
test_bit_flips(void)
{
	filter		f = various_fields();
	uint8_t    *bytes = filter_bytes(&f);
	size_t		total = (size_t) bf_total_bytes(&f.header);
	bf_header	untouched = shape(77, 11, 3);
	bf_header	header = untouched;
	bool		refused = true;
	bool		kept = true;
	size_t		bit;

	for (bit = 0; bit < 8 * total; bit++)
	{
		bytes[bit / 8] = (uint8_t) (bytes[bit / 8] ^ 1u << bit % 8);
		refused &= check(plain_parse(bytes, total, NULL, &header) != BF_OK,
						 "bit %zu", bit);
		kept &= same_fields(&header, &untouched);
		bytes[bit / 8] = (uint8_t) (bytes[bit / 8] ^ 1u << bit % 8);
	}
	ok(refused, "a flip of any single bit of a filter is detected");
	ok(kept, "*header is not touched when bytes are refused");
	ok(plain_parse(bytes, total, NULL, &header) == BF_OK,
	   "the same bytes without a flip are accepted");
	free(bytes);
	filter_free(&f);
}

/* What a look-up by slices reads and nothing else. */
static void
test_header_flips(void)
{
	filter		f = various_fields();
	uint8_t    *bytes = filter_bytes(&f);
	uint8_t    *header_alone = exact_copy(bytes, BF_HEADER_BYTES);
	uint64_t	total = bf_total_bytes(&f.header);
	bf_header	header;
	bool		refused = true;
	size_t		bit;

	for (bit = 0; bit < 8 * 56; bit++)
	{
		header_alone[bit / 8] = (uint8_t) (header_alone[bit / 8] ^ 1u << bit % 8);
		refused &= check(plain_read(header_alone, total, &header) != BF_OK, "bit %zu", bit);
		header_alone[bit / 8] = (uint8_t) (header_alone[bit / 8] ^ 1u << bit % 8);
	}
	ok(refused, "a flip of any bit of the first 56 bytes is detected by the header alone");
	bytes[16] = (uint8_t) (bytes[16] ^ 1);
	ok(plain_parse(bytes, total, NULL, &header) == BF_BAD_HEADER_CHECKSUM,
	   "and called damage of the header");
	free(header_alone);
	free(bytes);
	filter_free(&f);
}

static unsigned
count_ones(const uint8_t *bytes, size_t length)
{
	unsigned	ones = 0;
	size_t		i;

	for (i = 0; i < 8 * length; i++)
		ones += (unsigned) bytes[i / 8] >> i % 8 & 1u;
	return ones;
}

static bool
rate_in_model(uint64_t bits)
{
	/* Positive, not zero, and below the bits of 1.0: the order of doubles. */
	return bits > 0 && bits < UINT64_C(0x3ff0000000000000);
}

/* Types of columns in the lowest of six groups of four bits, and nothing above them. */
static bool
columns_in_model(unsigned key_type, uint32_t columns)
{
	if (key_type != 15)
		return columns == 0;
	for (; columns != 0; columns >>= 4)
		if (columns % 16 < 1 || columns % 16 > BF_KEY_LAST)
			return false;
		else if (columns < 16)
			return true;
	return false;
}

/* The first broken rule of doc/FORMAT.md, section 7. */
static bf_status
model(const uint8_t *bytes, uint64_t length)
{
	uint64_t	blocks;
	uint64_t	capacity;

	if (length < 64)
		return BF_BAD_LENGTH;
	if (bf_load_le(bytes, 4) != 0x464d4c42)
		return BF_BAD_MAGIC;
	if (bytes[4] != 1)
		return BF_BAD_VERSION;
	if (bf_load_le(bytes + 52, 4) != bf_hash(bytes, 52, 0) % UINT64_C(0x100000000))
		return BF_BAD_HEADER_CHECKSUM;
	if (bytes[48] != 1)
		return BF_BAD_HASH;
	if (bytes[5] < 1 || bytes[5] > 32)
		return BF_BAD_PROBES;
	if (bytes[6] < 9 || bytes[6] > 16)
		return BF_BAD_BLOCK_BITS;
	if (bytes[7] > BF_KEY_LAST && bytes[7] != BF_KEY_ROW)
		return BF_BAD_KEY_TYPE;
	if (!columns_in_model(bytes[7], (uint32_t) bf_load_le(bytes + 49, 3)))
		return BF_BAD_COLUMNS;
	blocks = bf_load_le(bytes + 8, 4);
	if (blocks == 0)
		return BF_BAD_BLOCKS;
	if (length != 64 + (blocks << (bytes[6] - 3)) || length > 536866816)
		return BF_BAD_SIZE;
	if (bf_load_le(bytes + 12, 2) >= bf_load_le(bytes + 14, 2))
		return BF_BAD_PARTS;
	capacity = bf_load_le(bytes + 24, 8);
	if (capacity < 1 || capacity > UINT64_C(9223372036854775807))
		return BF_BAD_CAPACITY;
	if (!rate_in_model(bf_load_le(bytes + 32, 8)))
		return BF_BAD_RATE;
	if (bf_load_le(bytes + 40, 8) != count_ones(bytes + 64, (size_t) length - 64))
		return BF_BAD_BITS_SET;
	if (bytes[7] == 0 && bf_load_le(bytes + 40, 8) != 0)
		return BF_BAD_EMPTY;
	return BF_OK;
}

/* Values at and around the limits of one of the fields, or anything. */
static void
damage_field(uint8_t *bytes, uint64_t *random)
{
	static const uint8_t starts[] = {
		0, 4, 5, 6, 7, 7, 8, 12, 14, 16, 24, 32, 40, 48, 49, 49, 49, 51, 64
	};
	static const uint8_t sizes[] = {
		4, 1, 1, 1, 1, 1, 4, 2, 2, 8, 8, 8, 8, 1, 1, 1, 3, 1, 8
	};
	static const uint64_t values[] = {
		0, 1, 2, 3, 8, 9, 10, 11, 12, 15, 15, 16, 17, 32, 33, 0xb1, 0xc1, 0xb0,
		0x1b2, 0x1011, 0xabcdef, 65535, 4294967295u,
		UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_MAX,
		UINT64_C(0x3fefffffffffffff), UINT64_C(0x3ff0000000000000),
		UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000),
		UINT64_C(0xbfe0000000000000)
	};
	uint64_t	choice = next_random(random);
	size_t		field = choice % sizeof starts;
	uint64_t	value = values[(choice >> 16) % (sizeof values / sizeof *values)];

	if ((choice >> 60) == 0)
		value = next_random(random);
	bf_store_le(bytes + starts[field], sizes[field], value);
}

/* The verdict of the core on bytes whose last checksum is made right first. */
static bf_status
verdict(uint8_t *bytes, uint64_t length)
{
	bf_header	header;

	bf_store_le(bytes + 56, 8, bf_checksum(bytes, 56, bytes + 64, length - 64, NULL));
	return plain_parse(bytes, length, NULL, &header);
}

static void
test_against_model(void)
{
	uint64_t	random = 20;
	unsigned	seen[BF_BAD_CHECKSUM + 1] = {0};
	bool		holds = true;
	unsigned	round;
	unsigned	i;

	for (round = 0; round < 200000; round++)
	{
		filter		f = worked_example();
		uint8_t    *bytes = filter_bytes(&f);
		uint64_t	length = bf_total_bytes(&f.header);
		unsigned	damages = (unsigned) next_random(&random) % 4;
		bf_status	wanted;

		for (i = 0; i < damages; i++)
			damage_field(bytes, &random);
		if (bytes[4] == 2)
			bytes[4] = 3;		/* test_exact has version 2 */
		if (next_random(&random) % 8 == 0)
			bf_store_le(bytes + 40, 8, count_ones(bytes + 64, (size_t) length - 64));
		if (next_random(&random) % 8 != 0)
			bf_store_le(bytes + 52, 4, bf_hash(bytes, 52, 0));
		wanted = model(bytes, length);
		seen[wanted]++;
		holds = holds && check(verdict(bytes, length) == wanted,
							   "round %u: \"%s\", not \"%s\"", round,
							   bf_status_text(verdict(bytes, length)),
							   bf_status_text(wanted));
		free(bytes);
		filter_free(&f);
	}
	ok(holds, "the first broken rule of FORMAT.md is reported, "
	   "for 200000 headers with up to three damaged fields");
	holds = true;
	for (i = BF_OK; i < BF_BAD_CHECKSUM; i++)
		if (i != BF_BAD_LENGTH)
			holds &= check(seen[i] > 0, "status %u", i);
	ok(holds, "these headers break every rule of a header");
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
	/* doc/FORMAT.md, section 6. */
	static const uint32_t most[] = {
		8388543, 4194271, 2097135, 1048567, 524283, 262141, 131070, 65535
	};
	bool		accepted = true;
	bool		refused = true;
	bool		wrapped = true;
	unsigned	log2;

	ok(BF_MAX_BYTES == 536866816, "the largest filter has 536866816 bytes");
	for (log2 = 9; log2 <= 16; log2++)
	{
		uint32_t	blocks = most[log2 - 9];
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

static void
test_texts(void)
{
	bool		holds = true;
	int			i;
	int			j;

	for (i = BF_OK; i <= BF_BAD_CHECKSUM; i++)
	{
		const char *text = bf_status_text((bf_status) i);

		holds &= text[0] >= 'a' && text[0] <= 'z' &&
			text[strlen(text) - 1] != '.' && strchr(text, '\n') == NULL;
		for (j = BF_OK; j < i; j++)
			holds &= strcmp(text, bf_status_text((bf_status) j)) != 0;
	}
	ok(holds, "every status has a text of its own, without a capital or a period");
}

static void
test_little_endian(void)
{
	uint8_t		bytes[10] = {0xff, 1, 2, 3, 4, 5, 6, 7, 8, 0xff};

	ok(bf_load_le(bytes + 1, 8) == UINT64_C(0x0807060504030201) &&
	   bf_load_le(bytes + 1, 4) == 0x04030201 && bf_load_le(bytes + 1, 2) == 0x0201 &&
	   bf_load_le(bytes + 1, 1) == 1,
	   "bf_load_le reads 1, 2, 4 and 8 bytes at any address");
	bf_store_le(bytes + 1, 2, 0xaabbccdd);
	ok(bytes[0] == 0xff && bytes[1] == 0xdd && bytes[2] == 0xcc && bytes[3] == 3,
	   "bf_store_le writes just the bytes asked for");
}

int
main(void)
{
	test_written_bytes();
	test_round_trip();
	test_truncation();
	test_bit_flips();
	test_header_flips();
	test_against_model();
	test_bits_set();
	test_largest();
	test_texts();
	test_little_endian();
	return tap_done();
}
