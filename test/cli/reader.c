/*
 * reader.c
 *	  A program that has a list open for long.
 *
 *	  reader FILE
 *
 * A line has ranges of integers such as 1-20; it answers the list's serial and how many of these
 * the list then lacks.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "../../src/lib/libbloomfilter.h"

int
main(int argc, char **argv)
{
	bloomfilter_watched *watched;
	bloomfilter_reader *reader;
	char	   *line = NULL;
	size_t		room = 0;

	if (argc != 2 || bloomfilter_watched_open(argv[1], 0, &watched, NULL) != BLOOMFILTER_OK ||
		bloomfilter_reader_open(watched, &reader) != BLOOMFILTER_OK)
		return 2;
	while (getline(&line, &room, stdin) > 0)
	{
		const bloomfilter *filter = bloomfilter_reader_enter(reader);
		bloomfilter_status status;
		long long	lacking = 0;
		long long	first;
		long long	last;
		char	   *range;

		bloomfilter_get_status(filter, &status, sizeof status);
		for (range = strtok(line, " \n"); range != NULL && sscanf(range, "%lld-%lld", &first, &last) == 2; range = strtok(NULL, " \n"))
			for (; first <= last; first++)
				lacking += bloomfilter_contains_int64(filter, first) != 1;
		bloomfilter_reader_leave(reader);
		printf("%llu %lld\n", (unsigned long long) status.serial, lacking);
		fflush(stdout);
	}
	bloomfilter_reader_close(reader);
	bloomfilter_watched_close(watched);
	return 0;
}
