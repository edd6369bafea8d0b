/*
 * reader.c
 *	  A program that has a list open for long.
 *
 *	  reader FILE
 *
 * For each line FIRST LAST it says how many of these integers the list lacks.
 */
#include <stdio.h>

#include "../../src/lib/libbloomfilter.h"

int
main(int argc, char **argv)
{
	bloomfilter_watched *watched;
	bloomfilter_reader *reader;
	long long	first;
	long long	last;

	if (argc != 2 || bloomfilter_watched_open(argv[1], 0, &watched, NULL) != BLOOMFILTER_OK ||
		bloomfilter_reader_open(watched, &reader) != BLOOMFILTER_OK)
		return 2;
	while (scanf("%lld %lld", &first, &last) == 2)
	{
		const bloomfilter *filter = bloomfilter_reader_enter(reader);
		long long	lacking = 0;

		for (; first <= last; first++)
			lacking += bloomfilter_contains_int64(filter, first) != 1;
		bloomfilter_reader_leave(reader);
		printf("%lld\n", lacking);
		fflush(stdout);
	}
	bloomfilter_reader_close(reader);
	bloomfilter_watched_close(watched);
	return 0;
}
