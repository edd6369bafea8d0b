/*
 * accuracy.c
 *	  The false-positive rate that a filter has, beside the one it was asked for.
 *
 *		accuracy N P MOST_PROBES SEEDS
 *
 * A line for each fill: keys over n, rate measured, rate expected, false
 * positives counted, absent keys asked, keys estimated over keys.  Rates are means
 * over the seeds.  As many absent keys are asked as let about ENOUGH through;
 * where MOST_PROBES would let fewer than FEW, nothing is measured: "nan".
 */
#include <math.h>

#include "bench.h"
#include "bf_estimate.h"
#include "bf_filter.h"
#include "bf_rate.h"
#include "bf_sizing.h"

#define ENOUGH		1000.0
#define FEW			40.0
#define CHUNK		4096
#define STRANGERS	((uint64_t) 1 << 40)

/* Keys over n. */
static const double fills[] = {0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0};

#define FILLS (sizeof(fills) / sizeof(fills[0]))

typedef struct result
{
	double		expected;
	double		found;
	double		asked;
	double		estimated;
} result;

/* Goes through keys first .. first + count - 1 of a numbering, hashed. */
static size_t
hash_keys(uint64_t first, uint64_t count, uint64_t seed, uint64_t *hashes)
{
	size_t		length = count < CHUNK ? (size_t) count : CHUNK;
	size_t		i;

	for (i = 0; i < length; i++)
		hashes[i] = first + i;
	bf_hash_words(hashes, length, seed);
	return length;
}

static void
add_keys(bf_header *header, uint8_t *blocks, uint64_t first, uint64_t end)
{
	uint64_t	hashes[CHUNK];

	while (first < end)
	{
		size_t		length = hash_keys(first, end - first, header->seed, hashes);

		bf_add_hashes(header, blocks, hashes, length);
		first += length;
	}
}

static uint64_t
count_found(const bf_header *header, const uint8_t *blocks, uint64_t asked)
{
	uint64_t	hashes[CHUNK];
	uint8_t		found[CHUNK];
	uint64_t	total = 0;
	uint64_t	done = 0;
	size_t		i;

	while (done < asked)
	{
		size_t		length = hash_keys(STRANGERS + done, asked - done, header->seed, hashes);

		bf_contains_hashes(header, blocks, hashes, length, found);
		for (i = 0; i < length; i++)
			total += found[i];
		done += length;
	}
	return total;
}

static void
measure(const bf_header *header, const uint8_t *blocks, double keys, double most,
		unsigned seeds, result *sum)
{
	bf_geometry geometry = bf_header_geometry(header);
	double		rate = bf_expect(keys, &geometry).rate;
	double		ask = ceil(ENOUGH / rate / seeds);

	sum->expected += rate;
	sum->estimated += bf_estimate_keys(header) / keys;
	if (rate * most < FEW)
		return;
	ask = ask < most / seeds ? ask : floor(most / seeds);
	sum->found += (double) count_found(header, blocks, (uint64_t) ask);
	sum->asked += ask;
}

static void
fill_one(const bf_sizing *sizing, uint64_t seed, double most, unsigned seeds,
		 result *results)
{
	bf_header	header = bf_sizing_header(sizing, seed);
	uint8_t    *blocks = bench_memory(bf_blocks_bytes(&header));
	uint64_t	keys = 0;
	size_t		i;

	for (i = 0; i < FILLS; i++)
	{
		uint64_t	end = (uint64_t) (fills[i] * (double) sizing->capacity);

		add_keys(&header, blocks, keys, end);
		keys = end;
		measure(&header, blocks, (double) keys, most, seeds, &results[i]);
	}
	free(blocks);
}

int
main(int argc, char **argv)
{
	result		results[FILLS] = {{0, 0, 0, 0}};
	bf_sizing	sizing;
	unsigned	seeds;
	unsigned	seed;
	size_t		i;

	if (argc != 5 ||
		!bf_size_for_rate(strtoull(argv[1], NULL, 10), atof(argv[2]), &sizing))
	{
		fprintf(stderr, "usage: accuracy N P MOST_PROBES SEEDS\n");
		return 2;
	}
	seeds = (unsigned) atoi(argv[4]);
	for (seed = 0; seed < seeds; seed++)
		fill_one(&sizing, seed, atof(argv[3]), seeds, results);
	for (i = 0; i < FILLS; i++)
		printf("%g\t%g\t%g\t%.0f\t%.0f\t%.6f\n", fills[i],
			   results[i].asked > 0 ? results[i].found / results[i].asked : NAN,
			   results[i].expected / seeds, results[i].found, results[i].asked,
			   results[i].estimated / seeds);
	return 0;
}
