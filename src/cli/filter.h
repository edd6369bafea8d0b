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
 * The type that the text of keys for a filter is read as: its keys' type, or what
 * is wanted (0: nothing), which must be another way to write these.  A filter
 * without keys takes what is wanted, and text by default.
 */
extern int	filter_text_type(const bloomfilter *filter, int wanted);

#endif							/* CLI_FILTER_H */
