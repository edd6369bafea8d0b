/*
 * reader.c
 *	  A program that has a list open for long.
 *
 * It answers two questions of test/readers/readers.py: "open", by which it begins, and "lacks".
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "../../src/lib/libbloomfilter.h"

int
main(void)
{
	bloomfilter_watched *watched;
	bloomfilter_reader *reader = NULL;
	char	   *line = NULL;
	size_t		room = 0;

	while (getline(&line, &room, stdin) > 0)
	{
		const char *command = strtok(line, "\t\n");
		const char *name = strtok(NULL, "\t\n");
		char	   *field = strtok(NULL, "\t\n");
		const bloomfilter *filter;
		bloomfilter_status status;
		long long	lacking = 0;
		long long	first;
		long long	last;
		int			answer = 0;

		if (command == NULL || name == NULL)
			return 2;
		if (strcmp(command, "open") == 0)
		{
			if (field == NULL || bloomfilter_watched_open(field, 0, NULL, &watched, NULL) != BLOOMFILTER_OK ||
				bloomfilter_reader_open(watched, &reader) != BLOOMFILTER_OK)
				return 2;
			puts("ok");
			fflush(stdout);
			continue;
		}
		filter = bloomfilter_reader_enter(reader);
		bloomfilter_get_status(filter, &status, sizeof status);
		for (; field != NULL && sscanf(field, "%lld-%lld", &first, &last) == 2; field = strtok(NULL, "\t\n"))
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
