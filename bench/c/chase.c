/*
 * chase.c
 *	  What one cache miss costs: a pointer chase through memory of a given size.
 *
 *		chase BYTES ROUNDS		a line for each round: ns per step
 *
 * The lines of the memory form one random cycle; each step waits for the last.
 */
#include "bench.h"

#define LINE	64
#define STEPS	2000000

/* Sattolo's algorithm: a permutation that is a single cycle. */
static void
link_cycle(char *memory, uint64_t lines)
{
	uint64_t   *order = bench_memory(lines * sizeof(*order));
	uint64_t	i;

	for (i = 0; i < lines; i++)
		order[i] = i;
	for (i = lines - 1; i > 0; i--)
	{
		uint64_t	j = bench_mix(i) % i;
		uint64_t	swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	for (i = 0; i < lines; i++)
		*(char **) (memory + order[i] * LINE) = memory + order[(i + 1) % lines] * LINE;
	free(order);
}

int
main(int argc, char **argv)
{
	uint64_t	lines;
	char	   *memory;
	char	   *at;
	int			rounds;

	if (argc != 3 || (lines = strtoull(argv[1], NULL, 10) / LINE) < 2)
	{
		fprintf(stderr, "usage: chase BYTES ROUNDS\n");
		return 2;
	}
	memory = bench_memory(lines * LINE);
	link_cycle(memory, lines);
	at = memory;
	for (rounds = atoi(argv[2]); rounds > 0; rounds--)
	{
		double		start = bench_now();
		int			i;

		for (i = 0; i < STEPS; i++)
			at = *(char **) at;
		bench_use((uint64_t) (uintptr_t) at);
		printf("%.3f\n", (bench_now() - start) / STEPS);
	}
	return 0;
}
