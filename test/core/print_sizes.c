/*
 * print_sizes.c
 *	  Prints the table of sizes that test_sizing compares with.
 *
 * sizes.tsv was made by it once.  It is made anew only when filters shall have
 * other sizes than before, which users see.
 */
#include <stdio.h>

#include "bf_sizing.h"

static const uint64_t capacities[] = {
	1, 2, 10, 53, 54, 100, 1000, 12345, 100000, 1000000, 7654321, 10000000,
	100000000, 430000000, UINT64_C(1000000000), UINT64_C(100000000000)
};

static const double rates[] = {
	0.9, 0.5, 0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 1e-4, 1e-5, 1e-6, 1e-7,
	2e-8, 1e-9
};

int
main(void)
{
	size_t		i;
	size_t		j;

	puts("#n\tp\tblocks\tlog2_block_bits\tk");
	for (i = 0; i < sizeof capacities / sizeof *capacities; i++)
		for (j = 0; j < sizeof rates / sizeof *rates; j++)
		{
			bf_sizing	sizing;

			if (!bf_size_for_rate(capacities[i], rates[j], &sizing))
				continue;
			printf("%llu\t%g\t%llu\t%u\t%u\n", (unsigned long long) capacities[i],
				   rates[j], (unsigned long long) sizing.geometry.blocks,
				   sizing.geometry.log2_block_bits, sizing.geometry.probes);
		}
	return 0;
}
