/*
 * measure.c
 *	  How long a delta is when a share of the keys was replaced: the numbers in
 *	  bf_delta.h.
 *
 *	measure [N [P]]		default 10000000 keys at 0.01
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libbloomfilter.h"

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void
check(int code)
{
	if (code == BLOOMFILTER_OK)
		return;
	fprintf(stderr, "%s\n", bloomfilter_strerror(code));
	exit(1);
}

static bloomfilter *
make(uint64_t n, double p, int64_t first, int64_t end)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;
	int64_t		i;

	check(bloomfilter_builder_create(n, p, 0, &builder));
	for (i = first; i < end; i++)
		check(bloomfilter_builder_add_int64(builder, i));
	check(bloomfilter_builder_finish(builder, &filter, NULL));
	bloomfilter_builder_free(builder);
	return filter;
}

/* Of a live index the old filter has the new keys already, and the removed ones still. */
static void
measure(uint64_t n, double p, double share, int live)
{
	int64_t		replaced = (int64_t) ((double) n * share);
	bloomfilter *old_filter = make(n, p, 0, (int64_t) n + (live ? replaced : 0));
	bloomfilter *new_filter = make(n, p, replaced, (int64_t) n + replaced);
	bloomfilter *result;
	bloomfilter_info info;
	void	   *delta;
	size_t		length;
	double		start = seconds();
	double		middle;

	check(bloomfilter_diff(old_filter, new_filter, &delta, &length, NULL));
	middle = seconds();
	check(bloomfilter_apply(old_filter, delta, length, &result, NULL));
	bloomfilter_get_info(new_filter, &info, sizeof info);
	printf("%8.2f %% %12zu %8.2f %% %9.3f s %9.3f s\n", share * 100,
		   length, 100.0 * (double) length / (double) info.total_bytes,
		   middle - start, seconds() - middle);
	bloomfilter_free(delta);
	bloomfilter_close(result);
	bloomfilter_close(old_filter);
	bloomfilter_close(new_filter);
}

int
main(int argc, char **argv)
{
	static const double shares[] = {0, 0.0001, 0.001, 0.01, 0.1, 0.2, 0.3, 1};
	uint64_t	n = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	double		p = argc > 2 ? strtod(argv[2], NULL) : 0.01;
	int			live;
	size_t		i;

	printf("%llu keys at %g\n", (unsigned long long) n, p);
	for (live = 0; live < 2; live++)
	{
		printf("%s\n%10s %12s %10s %11s %11s\n", live ? "a live index that is rebuilt" : "a list that is published again",
			   "replaced", "delta", "share", "diff", "apply");
		for (i = 0; i < sizeof shares / sizeof shares[0]; i++)
			measure(n, p, shares[i], live);
	}
	return 0;
}
