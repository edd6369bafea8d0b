/*
 * make_filters.h
 *	  Filters for tests: of the integers from first to last.
 */
#ifndef MAKE_FILTERS_H
#define MAKE_FILTERS_H

#include "libbloomfilter.h"
#include "tsv.h"

/* Adds the integers and finishes; the builder is freed. */
extern bloomfilter *finish_range(bloomfilter_builder *builder, int64_t first,
								 int64_t last);

/* A single filter for n keys at 1 %, or a set of so many parts. */
extern bloomfilter *make_range(uint64_t n, uint32_t parts, int64_t first,
							   int64_t last);

/* How many of the integers are not answered with 1. */
extern int	count_missing(const bloomfilter *filter, int64_t first, int64_t last);

/* How many keys of a list column get another answer than wanted, alone and in a batch; type 0 is integer. */
extern int	wrong_keys(const bloomfilter *filter, int type, const tsv *table, const char *column, int wanted);

/* Whether the open parts of two handles have equal bytes. */
extern int	equal_bytes(const bloomfilter *a, const bloomfilter *b);

/* What of the bytes of its parts breaks a rule of the format: a code. */
extern int	check_bytes(const bloomfilter *filter);

#endif							/* MAKE_FILTERS_H */
