/*
 * reader.c
 *	  A program that has a list open for long.
 *
 *	  reader FILE
 *
 * A line has ranges of integers such as 1-20; it answers the list's serial and how many of these
 * the list then lacks, or an error.
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

	if (argc != 2 || bloomfilter_watched_open(argv[1], 0, NULL, &watched, NULL) != BLOOMFILTER_OK ||
		bloomfilter_reader_open(watched, &reader) != BLOOMFILTER_OK)
		return 2;
	while (getline(&line, &room, stdin) > 0)
	{
		const bloomfilter *filter = bloomfilter_reader_enter(reader);
		bloomfilter_status status;
		long long	lacking = 0;
		long long	first;
		long long	last;
		int			answer = 0;
		char	   *range;

		bloomfilter_get_status(filter, &status, sizeof status);
		for (range = strtok(line, " \n"); range != NULL && sscanf(range, "%lld-%lld", &first, &last) == 2; range = strtok(NULL, " \n"))
			for (; answer >= 0 && first <= last; first++)
			{
				answer = bloomfilter_contains_int64(filter, first);
				lacking += answer == 0;
			}
		bloomfilter_reader_leave(reader);
		if (answer < 0)
			printf("error: %s\n", bloomfilter_strerror(answer));
		else
			printf("%llu %lld\n", (unsigned long long) status.serial, lacking);
		fflush(stdout);
	}
	bloomfilter_reader_close(reader);
	bloomfilter_watched_close(watched);
	return 0;
}
