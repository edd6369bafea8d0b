/*
 * questions.c
 *	  What a question costs through the library, in a followed file and in a plain one.
 *
 *		questions FOLLOWED PLAIN PAIRS	a line for each pair: ns per look-up of random integers in each
 */
#include "bench.h"

#include "libbloomfilter.h"

#define QUESTIONS	1000000

static bloomfilter *
open_file(const char *path)
{
	bloomfilter *filter;
	bloomfilter_detail detail;

	if (bloomfilter_open(path, 0, &filter, &detail) < 0)
	{
		fprintf(stderr, "%s: %s\n", path, detail.text);
		exit(1);
	}
	return filter;
}

static double
measure(bloomfilter *filter)
{
	static uint64_t key = 0;
	double		start = bench_now();
	uint64_t	found = 0;
	int			i;

	for (i = 0; i < QUESTIONS; i++)
		found += (uint64_t) bloomfilter_contains_int64(filter, (int64_t) bench_mix(++key));
	bench_use(found);
	return (bench_now() - start) / QUESTIONS;
}

int
main(int argc, char **argv)
{
	bloomfilter *followed;
	bloomfilter *plain;
	int			pairs;

	if (argc != 4)
	{
		fprintf(stderr, "usage: questions FOLLOWED PLAIN PAIRS\n");
		return 2;
	}
	followed = open_file(argv[1]);
	plain = open_file(argv[2]);
	for (pairs = atoi(argv[3]); pairs > 0; pairs--)
	{
		double		first = measure(followed);

		printf("%.3f %.3f\n", first, measure(plain));
	}
	bloomfilter_close(followed);
	bloomfilter_close(plain);
	return 0;
}
