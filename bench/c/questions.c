/*
 * questions.c
 *	  What a question costs through the library, by the way in which a file is opened.
 *
 *		questions FILE ROUNDS	a line for each round: ns per look-up of random integers
 */
#include "bench.h"

#include "libbloomfilter.h"

#define QUESTIONS	1000000

int
main(int argc, char **argv)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	uint64_t	key = 0;
	int			rounds;

	if (argc != 3)
	{
		fprintf(stderr, "usage: questions FILE ROUNDS\n");
		return 2;
	}
	if (bloomfilter_open(argv[1], 0, &filter, &detail) < 0)
	{
		fprintf(stderr, "%s: %s\n", argv[1], detail.text);
		return 1;
	}
	for (rounds = atoi(argv[2]); rounds > 0; rounds--)
	{
		double		start = bench_now();
		uint64_t	found = 0;
		int			i;

		for (i = 0; i < QUESTIONS; i++)
			found += (uint64_t) bloomfilter_contains_int64(filter, (int64_t) bench_mix(++key));
		bench_use(found);
		printf("%.3f\n", (bench_now() - start) / QUESTIONS);
	}
	bloomfilter_close(filter);
	return 0;
}
