/*
 * fuse.c
 *	  A binary fuse filter of 8 bits a fingerprint, by its authors' C header, beside ours at the rate
 *	  that it has, 1/256.
 *
 *		fuse KEYS ROUNDS		a line for each operation and round: operation, filter, ns per key, or
 *								bytes, or the share of the absent found
 *
 * It can't be added to and needs all keys at once; ours is built from them in one call, too.  It has no
 * call for many keys.  The header, binaryfusefilter.h of FastFilter/xor_singleheader, isn't part of this
 * tree: make -C bench/c FUSE=FOLDER.
 */
#include "binaryfusefilter.h"

#include "batch.h"
#include "bench.h"
#include "bf_filter.h"
#include "bf_sizing.h"

#define ASKED	((size_t) 1 << 20)
#define RATE	(1.0 / 256)

static uint64_t there[ASKED];
static uint64_t absent[ASKED];

static void
print(const char *operation, const char *filter, double start, uint64_t keys)
{
	printf("%s\t%s\t%.3f\n", operation, filter, (bench_now() - start) / (double) keys);
}

static void
ask(const char *operation, const bf_header *header, const uint8_t *blocks, const binary_fuse8_t *fuse,
	const uint64_t *keys)
{
	char		batch[64];
	double		start = bench_now();
	uint64_t	found = 0;

	for (size_t i = 0; i < ASKED; i++)
		found += bf_contains(header, blocks, bf_hash_word(keys[i], 0));
	print(operation, "bloomfilter", start, ASKED);
	start = bench_now();
	for (size_t i = 0; i < ASKED; i++)
		found += binary_fuse8_contain(keys[i], fuse);
	print(operation, "binary_fuse8", start, ASKED);
	snprintf(batch, sizeof(batch), "%s, many in a call", operation);
	start = bench_now();
	found += batch_contains(header, blocks, keys, ASKED);
	print(batch, "bloomfilter", start, ASKED);
	bench_use(found);
}

static double
rate(const binary_fuse8_t *fuse)
{
	uint64_t	found = 0;

	for (size_t i = 0; i < ASKED; i++)
		found += binary_fuse8_contain(absent[i], fuse);
	return (double) found / (double) ASKED;
}

int
main(int argc, char **argv)
{
	uint64_t	count = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t   *keys;
	bf_sizing	sizing;
	bf_header	header;
	uint8_t    *blocks;
	binary_fuse8_t fuse;
	double		start;

	if (count == 0 || count > UINT32_MAX || !bf_size_for_rate(count, RATE, &sizing) || !bf_sizing_fits(&sizing))
	{
		fprintf(stderr, "usage: fuse KEYS ROUNDS\n");
		return 2;
	}
	keys = bench_memory(count * sizeof(*keys));
	for (uint64_t i = 0; i < count; i++)
		keys[i] = bench_mix(i);
	for (size_t i = 0; i < ASKED; i++)
	{
		there[i] = bench_mix(bf_reduce(bench_mix(~(uint64_t) i), count));
		absent[i] = bench_mix(count + i);
	}
	header = bf_sizing_header(&sizing, 0);
	blocks = bench_memory(bf_blocks_bytes(&header));
	start = bench_now();
	batch_add(&header, blocks, keys, count);
	print("build", "bloomfilter", start, count);
	start = bench_now();
	if (!binary_fuse8_allocate((uint32_t) count, &fuse) || !binary_fuse8_populate(keys, (uint32_t) count, &fuse))
		return 1;
	print("build", "binary_fuse8", start, count);
	printf("bytes\tbloomfilter\t%llu\n", (unsigned long long) bf_total_bytes(&header));
	printf("bytes\tbinary_fuse8\t%zu\n", binary_fuse8_size_in_bytes(&fuse));
	printf("rate\tbloomfilter\t%.6f\n", (double) batch_contains(&header, blocks, absent, ASKED) / (double) ASKED);
	printf("rate\tbinary_fuse8\t%.6f\n", rate(&fuse));
	for (int rounds = atoi(argv[2]); rounds > 0; rounds--)
	{
		ask("contains there", &header, blocks, &fuse, there);
		ask("contains absent", &header, blocks, &fuse, absent);
	}
	return 0;
}
