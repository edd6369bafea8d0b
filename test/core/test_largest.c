/*
 * test_largest.c
 *	  The largest filter: no false negative, the expected rate.
 *
 * It takes 1 GiB of memory and is built once, without sanitizers.  The arguments
 * are the probes and the number of keys: few of both make it quick, 7 and
 * 430000000 are the filter at its capacity.
 */
#include <math.h>

#include "bf_bits.h"
#include "bf_estimate.h"
#include "tap.h"
#include "support.h"

#define LARGEST_BLOCKS	8388543

/* The least hash of a block. */
static uint64_t
hash_of_block(uint32_t block)
{
	uint64_t	hash = UINT64_MAX / LARGEST_BLOCKS * block;

	while (bf_block_of(hash, LARGEST_BLOCKS) < block)
		hash++;
	while (bf_block_of(hash, LARGEST_BLOCKS) > block)
		hash--;
	return hash;
}

static bool
holds_in_block(filter *f, uint32_t block)
{
	uint64_t	hash = hash_of_block(block) + 12345;
	uint64_t	before = f->header.bits_set;
	uint64_t	start = (uint64_t) block * 64;
	uint64_t	in_block;

	if (bf_contains(&f->header, f->blocks, hash))
		return false;
	bf_add(&f->header, f->blocks, hash);
	in_block = bf_count_bits(f->blocks + start, 64, NULL);
	return bf_contains(&f->header, f->blocks, hash) && in_block > 0 &&
		f->header.bits_set == before + in_block;
}

static void
test_positions(filter *f)
{
	/* Bit 2^31 is where block 2^31 / 512 begins. */
	static const uint32_t blocks[] = {
		0, 1, 4194302, 4194303, 4194304, 4194305, 6291456, LARGEST_BLOCKS - 2,
		LARGEST_BLOCKS - 1
	};
	bool		holds = true;
	size_t		i;

	for (i = 0; i < sizeof blocks / sizeof *blocks; i++)
		holds &= check(holds_in_block(f, blocks[i]), "block %u", blocks[i]);
	ok(holds, "the first and the last block and those around bit 2^31 hold their keys");
}

static void
test_keys(filter *f, uint64_t n)
{
	bf_geometry geometry = bf_header_geometry(&f->header);
	const uint64_t queries = 10000000;
	double		expected = bf_expect((double) n, &geometry).rate * (double) queries;
	double		found;
	uint64_t	bits;

	f->header.capacity = n;
	filter_add_integers(f, 0, n);
	bits = bf_count_bits(f->blocks, bf_blocks_bytes(&f->header), NULL);
	found = (double) filter_count_integers(f, UINT64_C(1) << 40, queries);
	ok(filter_count_integers(f, 0, n) == n, "all of %" PRIu64 " keys are found", n);
	ok(fabs(found - expected) < 4.0 * sqrt(expected),
	   "the measured rate is the expected one within 4 standard errors (%.0f of %.0f)",
	   found, expected);
	ok(bits == f->header.bits_set, "bits_set is right");
	ok(fabs(bf_estimate_keys(&f->header) / (double) n - 1.0) < 1e-3 &&
	   !bf_over_capacity(&f->header), "its keys are estimated within 0.1 %%");
}

static void
test_stored(filter *f)
{
	uint8_t    *bytes = filter_bytes(f);
	bf_header	header;

	ok(bf_total_bytes(&f->header) == 64 + (uint64_t) LARGEST_BLOCKS * 64 &&
	   BF_MAX_BYTES - bf_total_bytes(&f->header) < 64, "it is the largest that there is");
	ok(plain_parse(bytes, bf_total_bytes(&f->header), NULL, &header) == BF_OK,
	   "it is stored and accepted");
	bytes[bf_total_bytes(&f->header) - 1] ^= 0x80;
	ok(plain_parse(bytes, bf_total_bytes(&f->header), NULL, &header) == BF_BAD_BITS_SET,
	   "a flip of its last bit is detected");
	free(bytes);
}

int
main(int count, char **arguments)
{
	bf_header	header;
	filter		f;

	if (count != 3)
		return 2;
	header = shape(LARGEST_BLOCKS, 9, (unsigned) strtoul(arguments[1], NULL, 10));
	f = filter_new(&header);
	test_positions(&f);
	test_keys(&f, strtoull(arguments[2], NULL, 10));
	test_stored(&f);
	filter_free(&f);
	return tap_done();
}
