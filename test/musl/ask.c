/*
 * ask.c
 *	  A program that is linked statically: it writes a filter, watches the file, and looks up
 *	  each of its keys.
 *
 *	ask FILE
 */
#include <stdio.h>

#include "libbloomfilter.h"

#define KEYS 1000

int
main(int argc, char **argv)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;
	bloomfilter_watched *watched;
	bloomfilter_reader *reader;
	bloomfilter_detail detail = {0};
	int			missed = 0;
	int			absent = 0;

	if (argc != 2 || bloomfilter_builder_create(KEYS, 0.001, 0, 0, &builder) != BLOOMFILTER_OK)
		return 2;
	for (int64_t key = 1; key <= KEYS; key++)
		if (bloomfilter_builder_add_int64(builder, key) != BLOOMFILTER_OK)
			return 2;
	if (bloomfilter_builder_finish(builder, &filter, &detail) != BLOOMFILTER_OK ||
		bloomfilter_write(filter, argv[1], &detail) != BLOOMFILTER_OK ||
		bloomfilter_watched_open(argv[1], 0, NULL, &watched, &detail) != BLOOMFILTER_OK ||
		bloomfilter_reader_open(watched, &reader) != BLOOMFILTER_OK)
	{
		fprintf(stderr, "%s\n", detail.text);
		return 2;
	}
	bloomfilter_builder_free(builder);
	bloomfilter_close(filter);
	for (int64_t key = 1; key <= KEYS; key++)
	{
		const bloomfilter *now = bloomfilter_reader_enter(reader);

		missed += bloomfilter_contains_int64(now, key) != 1;
		absent += bloomfilter_contains_int64(now, -key) != 0;
		bloomfilter_reader_leave(reader);
	}
	bloomfilter_reader_close(reader);
	bloomfilter_watched_close(watched);
	printf("%d of %d keys missed, %d others found\n", missed, KEYS, absent);
	return missed == 0 && absent < KEYS / 50 ? 0 : 1;
}
