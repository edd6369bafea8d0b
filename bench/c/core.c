/*
 * core.c
 *	  Nanoseconds per key of the core's hot paths, beside the textbook's filter.
 *
 *		core time KEYS P ROUNDS			a line for each operation and round:
 *										operation, filter, ns per key
 *		core count OPERATION FILTER N	the operation N times, once, in a small
 *										filter: for tools that count instructions
 *
 * Keys are 8-byte words; hashing them is part of each operation.  A filter of up
 * to REALLY_FILLED keys gets its keys one by one, and its false-positive rate is
 * measured; a larger one gets random bits in the proportion that its keys would
 * set, and members besides.  "portable C" is our filter by the kernel for any
 * processor.
 */
#include <stdbool.h>

#include "batch.h"
#include "bench.h"
#include "bf_filter.h"
#include "bf_sizing.h"
#include "textbook.h"

#define ASKED			((size_t) 1 << 20)
#define MEMBERS			((uint64_t) 4000000)
#define REALLY_FILLED	((uint64_t) 20000000)
#define COUNT_KEYS		((uint64_t) 100000)
#define STRANGERS		((uint64_t) 1 << 40)

typedef struct filters
{
	bf_header	header;
	uint8_t    *blocks;
	textbook	book;
	uint64_t	members;		/* keys 0 .. members - 1 are in both */
} filters;

static uint64_t there[ASKED];
static uint64_t strange[ASKED];

/* An operation goes through count keys and returns how many were found. */
typedef uint64_t (*operation) (filters *f, const uint64_t *keys, size_t count);

static uint64_t
ours_single(filters *f, const uint64_t *keys, size_t count)
{
	uint64_t	found = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		found += bf_contains(&f->header, f->blocks, bf_hash_word(keys[i], 0));
	return found;
}

static uint64_t
book_single(filters *f, const uint64_t *keys, size_t count)
{
	uint64_t	found = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		found += textbook_contains(&f->book, bf_hash_word(keys[i], 0));
	return found;
}

/*
 * The next key waits for the last answer: the latency of a lone look-up.  The
 * textbook has no counterpart: it branches on every bit, and the processor goes on
 * before the answer is there.
 */
static uint64_t
ours_chained(filters *f, const uint64_t *keys, size_t count)
{
	uint64_t	found = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		found += bf_contains(&f->header, f->blocks,
							 bf_hash_word(keys[i] + (found >> 40), 0));
	return found;
}

static uint64_t
ours_batch(filters *f, const uint64_t *keys, size_t count)
{
	return batch_contains(&f->header, f->blocks, keys, count);
}

static uint64_t
book_batch(filters *f, const uint64_t *keys, size_t count)
{
	uint64_t	hashes[BATCH_CHUNK];
	uint64_t	found = 0;
	size_t		i;
	size_t		j;

	for (i = 0; i < count; i += BATCH_CHUNK)
	{
		size_t		length = batch_hash(hashes, keys + i, count - i);

		for (j = 0; j < length; j++)
		{
			textbook_fetch_batch(&f->book, hashes, j, length);
			found += textbook_contains(&f->book, hashes[j]);
		}
	}
	return found;
}

static uint64_t
ours_add(filters *f, const uint64_t *keys, size_t count)
{
	size_t		i;

	for (i = 0; i < count; i++)
		bf_add(&f->header, f->blocks, bf_hash_word(keys[i], 0));
	return 0;
}

static uint64_t
book_add(filters *f, const uint64_t *keys, size_t count)
{
	size_t		i;

	for (i = 0; i < count; i++)
		textbook_add(&f->book, bf_hash_word(keys[i], 0));
	return 0;
}

static uint64_t
ours_add_batch(filters *f, const uint64_t *keys, size_t count)
{
	batch_add(&f->header, f->blocks, keys, count);
	return 0;
}

static uint64_t
book_add_batch(filters *f, const uint64_t *keys, size_t count)
{
	uint64_t	hashes[BATCH_CHUNK];
	size_t		i;
	size_t		j;

	for (i = 0; i < count; i += BATCH_CHUNK)
	{
		size_t		length = batch_hash(hashes, keys + i, count - i);

		for (j = 0; j < length; j++)
		{
			textbook_fetch_batch(&f->book, hashes, j, length);
			textbook_add(&f->book, hashes[j]);
		}
	}
	return 0;
}

static const char portable[] = "portable C";

static const struct
{
	const char *name;
	const char *filter;
	operation	run;
	const uint64_t *keys;
}			operations[] = {
	{"contains there", "bloomfilter", ours_single, there},
	{"contains there", portable, ours_single, there},
	{"contains there", "textbook", book_single, there},
	{"contains absent", "bloomfilter", ours_single, strange},
	{"contains absent", portable, ours_single, strange},
	{"contains absent", "textbook", book_single, strange},
	{"contains chained", "bloomfilter", ours_chained, there},
	{"batch there", "bloomfilter", ours_batch, there},
	{"batch there", portable, ours_batch, there},
	{"batch there", "textbook", book_batch, there},
	{"batch absent", "bloomfilter", ours_batch, strange},
	{"batch absent", portable, ours_batch, strange},
	{"batch absent", "textbook", book_batch, strange},
	{"add", "bloomfilter", ours_add, there},
	{"add", "textbook", book_add, there},
	{"add batch", "bloomfilter", ours_add_batch, there},
	{"add batch", portable, ours_add_batch, there},
	{"add batch", "textbook", book_add_batch, there},
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* Words whose bits are set with this probability, to 1/65536. */
static void
fill_randomly(uint8_t *bytes, uint64_t length, double probability)
{
	unsigned	digits = (unsigned) (probability * 65536);
	uint64_t	i;
	unsigned	bit;

	for (i = 0; i < length; i += 8)
	{
		uint64_t	word = 0;

		for (bit = 0; bit < 16; bit++)
		{
			uint64_t	random = bench_mix(i * 16 + bit);

			word = digits >> bit & 1 ? word | random : word & random;
		}
		memcpy(bytes + i, &word, 8);
	}
}

static void
add_members(filters *f)
{
	uint64_t	key;

	for (key = 0; key < f->members; key++)
	{
		uint64_t	hash = bf_hash_word(key, 0);

		bf_add(&f->header, f->blocks, hash);
		textbook_add(&f->book, hash);
	}
}

static filters
make_filters(uint64_t keys, double p)
{
	filters		f;
	bf_sizing	sizing;
	double		load;

	if (!bf_size_for_rate(keys, p, &sizing) || !bf_sizing_fits(&sizing))
	{
		fprintf(stderr, "no filter for %llu keys\n", (unsigned long long) keys);
		exit(1);
	}
	f.header = bf_sizing_header(&sizing, 0);
	f.blocks = bench_memory(bf_blocks_bytes(&f.header));
	f.book = textbook_create(keys, p);
	f.members = keys;
	if (keys > REALLY_FILLED)
	{
		f.members = MEMBERS;
		load = (double) keys * f.header.probes / (double) bf_total_bits(&f.header);
		fill_randomly(f.blocks, bf_blocks_bytes(&f.header), 1 - exp(-load));
		fill_randomly(f.book.bytes, f.book.bits / 8, 0.5);
	}
	add_members(&f);
	return f;
}

static void
make_keys(const filters *f, size_t count)
{
	size_t		i;

	for (i = 0; i < count; i++)
	{
		there[i] = bf_reduce(bench_mix(i), f->members);
		strange[i] = STRANGERS + (bench_mix(i) >> 8);
	}
}

/* Runs an operation on count keys by the kernel that it is for. */
static uint64_t
run_operation(filters *f, size_t which, size_t count)
{
	const bf_kernel_functions *best = bf_kernel;
	uint64_t	found;

	if (operations[which].filter == portable)
		bf_kernel = bf_usable_kernel(0);
	found = operations[which].run(f, operations[which].keys, count);
	bf_kernel = best;
	return found;
}

static void
time_operation(filters *f, size_t which)
{
	double		start = bench_now();
	uint64_t	found = run_operation(f, which, ASKED);

	printf("%s\t%s\t%.3f\n", operations[which].name, operations[which].filter,
		   (bench_now() - start) / (double) ASKED);
	bench_use(found);
}

static void
print_rates(filters *f)
{
	printf("rate\tbloomfilter\t%.8f\n", (double) ours_batch(f, strange, ASKED) / (double) ASKED);
	printf("rate\ttextbook\t%.8f\n", (double) book_batch(f, strange, ASKED) / (double) ASKED);
}

static int
time_all(uint64_t keys, double p, int rounds)
{
	filters		f = make_filters(keys, p);
	size_t		i;

	make_keys(&f, ASKED);
	printf("bytes\tbloomfilter\t%llu\n", (unsigned long long) bf_total_bytes(&f.header));
	printf("bytes\ttextbook\t%llu\n", (unsigned long long) (f.book.bits / 8));
	while (rounds-- > 0)
		for (i = 0; i < OPERATIONS; i++)
			time_operation(&f, i);
	if (keys <= REALLY_FILLED)
		print_rates(&f);
	return 0;
}

static int
count_one(const char *name, const char *filter, size_t n)
{
	filters		f = make_filters(COUNT_KEYS, 0.01);
	size_t		i;

	/* As many keys whatever n, so that two runs differ by the operations alone. */
	make_keys(&f, COUNT_KEYS);
	n = n < COUNT_KEYS ? n : COUNT_KEYS;
	for (i = 0; i < OPERATIONS; i++)
		if (strcmp(operations[i].name, name) == 0 &&
			strcmp(operations[i].filter, filter) == 0)
		{
			bench_use(run_operation(&f, i, n));
			return 0;
		}
	fprintf(stderr, "no operation %s of %s\n", name, filter);
	return 1;
}

int
main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "time") == 0)
		return time_all(strtoull(argv[2], NULL, 10), atof(argv[3]), atoi(argv[4]));
	if (argc == 5 && strcmp(argv[1], "count") == 0)
		return count_one(argv[2], argv[3], (size_t) strtoull(argv[4], NULL, 10));
	fprintf(stderr, "usage: core time KEYS P ROUNDS | core count OPERATION FILTER N\n");
	return 2;
}
