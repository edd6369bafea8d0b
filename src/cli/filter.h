/*
 * filter.h
 *	  Opening a filter for a subcommand, and what its errors are called.
 */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "../lib/libbloomfilter.h"

/* Opens and checks a filter or a set, or ends the program. */
extern bloomfilter *open_filter(const char *path);

/* What is in it; part -1: in all open parts together. */
extern bloomfilter_info filter_info(const bloomfilter *filter, int64_t part);

/*
 * The type that keys for a filter are read as: the filter's own.  wanted (0:
 * none) may only differ where the filter has none; text is the default there.
 */
extern int	filter_key_type(const bloomfilter *filter, int wanted);

#endif							/* CLI_FILTER_H */
