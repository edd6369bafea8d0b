/*
 * test_filter.c
 *	  Adding, asking, combining, folding.
 */
#include <string.h>

#include "bf_bits.h"
#include "bf_key.h"
#include "tap.h"
#include "support.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

static bool
bits_set_is_right(const filter *f)
{
	return f->header.bits_set ==
		bf_count_bits(f->blocks, bf_blocks_bytes(&f->header), NULL);
}

static void
test_every_size(void)
{
	bool		holds = true;
	uint64_t	n;

	for (n = 1; n <= 1500; n += n < 200 ? 1 : 13)
	{
		filter		f = filter_for_rate(n, n % 2 == 0 ? 0.01 : 1e-6, n);

		filter_add_integers(&f, n * 10000, n);
		holds &= check(filter_count_integers(&f, n * 10000, n) == n, "n = %" PRIu64, n);
		filter_free(&f);
	}
	ok(holds, "all keys are found in filters for 1 to 1500 keys, all sizes to 200");
}

/* The place of a hash's bit number i, from 1, among all bits, by FORMAT.md's words. */
static uint64_t
naive_bit(const bf_header *header, uint64_t hash, unsigned i)
{
	uint64_t	start = (uint64_t) bf_block_of(hash, header->blocks) <<
		header->log2_block_bits;

	while (i-- > 0)
		hash *= UINT64_C(0x9e3779b97f4a7c15);
	return start + (hash >> (64 - header->log2_block_bits));
}

static bool
sets_just_its_bits(unsigned log2_block_bits, unsigned probes)
{
	bf_header	header = shape(5, log2_block_bits, probes);
	filter		f = filter_new(&header);
	uint8_t    *bits = allocate((size_t) bf_total_bits(&header));
	bool		same = true;
	unsigned	k;
	uint64_t	i;

	for (i = 0; i < 40; i++)
	{
		uint64_t	hash = bf_hash_word(i, probes);

		bf_add(&f.header, f.blocks, hash);
		for (k = 1; k <= probes; k++)
			bits[naive_bit(&header, hash, k)] = 1;
	}
	for (i = 0; i < bf_total_bits(&header); i++)
		same &= bits[i] == (f.blocks[i / 8] >> i % 8 & 1);
	same &= bits_set_is_right(&f);
	free(bits);
	filter_free(&f);
	return same;
}

static void
put_bit(filter *f, uint64_t bit, bool set)
{
	uint8_t		mask = (uint8_t) (1u << bit % 8);

	f->blocks[bit / 8] = (uint8_t) (set ? f->blocks[bit / 8] | mask : f->blocks[bit / 8] & ~mask);
}

/* Its bits are enough for a hash to be found, and all others aren't. */
static bool
asks_just_its_bits(unsigned log2_block_bits, unsigned probes)
{
	bf_header	header = shape(2, log2_block_bits, probes);
	size_t		length = (size_t) bf_blocks_bytes(&header);
	filter		f = filter_new(&header);
	bool		holds = true;
	unsigned	k;
	uint64_t	i;

	for (i = 0; i < 8; i++)
	{
		uint64_t	hash = bf_hash_word(i, probes);

		memset(f.blocks, 0, length);
		for (k = 1; k <= probes; k++)
			put_bit(&f, naive_bit(&header, hash, k), true);
		holds &= bf_contains(&header, f.blocks, hash);
		memset(f.blocks, 0xff, length);
		for (k = 1; k <= probes; k++)
		{
			put_bit(&f, naive_bit(&header, hash, k), false);
			holds &= !bf_contains(&header, f.blocks, hash);
			put_bit(&f, naive_bit(&header, hash, k), true);
		}
	}
	filter_free(&f);
	return holds;
}

/* Whether something holds for blocks of 2^9 to 2^16 bits and 1 to 32 probes. */
static bool
of_all_shapes(bool (*holds) (unsigned log2_block_bits, unsigned probes))
{
	bool		all = true;
	unsigned	log2;
	unsigned	k;

	for (log2 = 9; log2 <= 16; log2++)
		for (k = 1; k <= 32; k++)
			all &= check(holds(log2, k), "2^%u bits, k = %u", log2, k);
	return all;
}

static void
test_ends(void)
{
	bool		holds = true;
	unsigned	log2;

	for (log2 = 9; log2 <= 16; log2++)
	{
		bf_header	header = shape(most_blocks[log2 - 9], log2, 7);

		holds &= bf_block_offset(&header, 0) == 0 &&
			bf_block_offset(&header, UINT64_MAX) + bf_block_bytes(&header) ==
			bf_blocks_bytes(&header) &&
			bf_total_bits(&header) < UINT64_C(0x100000000) &&
			bf_total_bytes(&header) <= BF_MAX_BYTES;
	}
	ok(holds, "the last block of the largest filter of each shape ends with it");
}

static bool
batch_is_single(const bf_header *header, size_t count)
{
	filter		single = filter_new(header);
	filter		batch = filter_new(header);
	uint64_t   *hashes = allocate(count * sizeof *hashes);
	uint8_t    *found = allocate(count);
	bool		same = true;
	size_t		i;

	for (i = 0; i < count; i++)
		hashes[i] = bf_hash_word(i, count);
	for (i = 0; i < count / 2; i++)
		bf_add(&single.header, single.blocks, hashes[i]);
	bf_add_hashes(&batch.header, batch.blocks, hashes, count / 2);
	same &= filter_same(&single, &batch);
	memset(found, 0xaa, count);
	bf_contains_hashes(&batch.header, batch.blocks, hashes, count, found);
	for (i = 0; i < count; i++)
		same &= found[i] == bf_contains(&single.header, single.blocks, hashes[i]);
	free(hashes);
	free(found);
	filter_free(&single);
	filter_free(&batch);
	return same;
}

static void
test_batches(void)
{
	bool		holds = true;
	size_t		count;

	for (count = 0; count <= 160; count++)
	{
		bf_header	small = shape(1 + (uint32_t) count, 9, 7);
		bf_header	large = shape(3, 9 + count % 8, 1 + count % 32);

		holds &= check(batch_is_single(&small, count) && batch_is_single(&large, count),
					   "%zu hashes", count);
	}
	ok(holds, "batches of 0 to 160 hashes add and find what single ones do");
}

/* A filter of keys first .. first + count - 1, of one shape for all. */
static filter
keys_from(uint64_t first, uint64_t count)
{
	bf_header	header = shape(37, 10, 6);
	filter		f = filter_new(&header);

	filter_add_integers(&f, first, count);
	return f;
}

typedef void (*combination) (bf_header *header, uint8_t *blocks,
							 const bf_header *other, const uint8_t *other_blocks,
							 bf_tick tick);

static filter
combined(combination combine, const filter *a, const filter *b)
{
	filter		f = filter_copy(a);

	combine(&f.header, f.blocks, &b->header, b->blocks, NULL);
	return f;
}

/* Takes both filters' memory. */
static bool
same_and_free(filter a, filter b)
{
	bool		same = filter_same(&a, &b) && bits_set_is_right(&a);

	filter_free(&a);
	filter_free(&b);
	return same;
}

static void
test_promise(combination combine, const char *name)
{
	filter		a = keys_from(0, 500);
	filter		b = keys_from(300, 700);
	filter		ab;
	filter		ba;

	b.header.rate = 0.02;
	a.header.capacity = 3000;
	ab = combined(combine, &a, &b);
	ba = combined(combine, &b, &a);
	ok(ab.header.capacity == 3000 && ab.header.rate == 0.02 && filter_same(&ab, &ba),
	   "%s is promised for the larger n at the larger p, in either order", name);
	filter_free(&a);
	filter_free(&b);
	filter_free(&ab);
	filter_free(&ba);
}

static void
test_union(void)
{
	filter		a = keys_from(0, 500);
	filter		b = keys_from(300, 700);
	filter		nothing = keys_from(0, 0);
	filter		both = combined(bf_intersect, &a, &b);

	ok(same_and_free(combined(bf_union, &a, &b), keys_from(0, 1000)),
	   "the union is the filter of all keys");
	ok(same_and_free(combined(bf_union, &a, &nothing), filter_copy(&a)) &&
	   same_and_free(combined(bf_union, &nothing, &a), filter_copy(&a)),
	   "the union with a filter of no key type is the other filter");
	ok(filter_count_integers(&both, 300, 200) == 200,
	   "the intersection holds all common keys");
	filter_free(&both);
	both = combined(bf_intersect, &nothing, &a);
	ok(both.header.key_type == BF_KEY_INTEGER && both.header.bits_set == 0,
	   "the intersection with a filter of no key type is empty and has a key type");
	filter_free(&both);
	filter_free(&a);
	filter_free(&b);
	filter_free(&nothing);
}

static void
test_compatible(void)
{
	static const char *const names[] = {"probes", "block sizes", "numbers of blocks", "seeds", "parts", "numbers of parts"};
	bf_header	others[COUNT(names)];
	bf_header	a = shape(8, 10, 6);
	bf_header	b = a;
	unsigned	i;

	a.parts = b.parts = 4;
	b.capacity = 5;
	b.rate = 0.5;
	b.bits_set = 12;
	b.checksum = 7;
	ok(bf_compatible(&a, &b), "n, p, bits set and checksum may differ in a union");
	a.key_type = BF_KEY_TEXT;
	ok(bf_compatible(&a, &b) && bf_compatible(&b, &a), "one key type may be missing");
	b.key_type = BF_KEY_BYTEA;
	ok(!bf_compatible(&a, &b), "key types may not differ");
	for (i = 0; i < COUNT(names); i++)
		others[i] = a;
	others[0].probes++;
	others[1].log2_block_bits++;
	others[2].blocks++;
	others[3].seed++;
	others[4].part++;
	others[5].parts++;
	for (i = 0; i < COUNT(names); i++)
		ok(!bf_compatible(&a, &others[i]), "%s may not differ", names[i]);
}

static bool
fold_is_smaller_build(uint32_t blocks, unsigned log2_block_bits, uint32_t divisor)
{
	bf_header	header = shape(blocks, log2_block_bits, 7);
	bf_header	smaller = shape(blocks / divisor, log2_block_bits, 7);
	filter		folded;
	filter		built;

	header.capacity = 500;
	smaller.capacity = 500;
	folded = filter_new(&header);
	built = filter_new(&smaller);
	filter_add_integers(&folded, 0, 3000);
	filter_add_integers(&built, 0, 3000);
	bf_fold(&folded.header, folded.blocks, divisor, NULL);
	return same_and_free(folded, built);
}

static void
test_fold(void)
{
	static const uint32_t counts[] = {1, 2, 97, 720, 5040};
	bool		holds = true;
	bool		large = true;
	unsigned	i;
	uint32_t	divisor;

	for (i = 0; i < COUNT(counts); i++)
		for (divisor = 1; divisor <= counts[i]; divisor++)
			if (counts[i] % divisor == 0)
				holds &= check(fold_is_smaller_build(counts[i], 9, divisor),
							   "%u / %u blocks", counts[i], divisor);
	ok(holds, "folding by every divisor is building in fewer blocks");
	for (i = 10; i <= 16; i++)
		large &= check(fold_is_smaller_build(24, i, 4) && fold_is_smaller_build(24, i, 24),
					   "2^%u bits", i);
	ok(large, "for blocks of every size");
}

/* Each kernel that this processor runs does everything. */
static void
test_kernel(const bf_kernel_functions *kernel)
{
	printf("# kernel %s\n", kernel->name);
	bf_kernel = kernel;
	ok(of_all_shapes(sets_just_its_bits), "adding sets the bits of FORMAT.md and no others, for every shape");
	ok(of_all_shapes(asks_just_its_bits), "a key is found if those bits are set, and not if one of them isn't");
	test_batches();
	test_fold();
}

/* The last kernel that this processor runs is its best. */
static void
test_choice(void)
{
	unsigned	i = 0;

	while (bf_usable_kernel(i + 1) != NULL)
		i++;
	ok(bf_kernel == bf_usable_kernel(i), "%s is chosen when the program is loaded", bf_usable_kernel(i)->name);
}

int
main(void)
{
	unsigned	i;

	test_choice();

	for (i = 0; bf_usable_kernel(i) != NULL; i++)
		test_kernel(bf_usable_kernel(i));
	ok(i >= 1 && bf_usable_kernel(0) == &bf_portable_kernel, "there is a portable kernel");
	if (i == 1)
		ok(true, "the kernel for AVX2 # skip not for this processor");
	test_every_size();
	test_ends();
	test_promise(bf_union, "union");
	test_promise(bf_intersect, "intersection");
	test_union();
	test_compatible();
	return tap_done();
}
