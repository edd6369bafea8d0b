/*
 * filter.h
 *	  Opening and writing a filter for a subcommand, and what its errors are called.
 */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include <stdbool.h>

#include "../../lib/libbloomfilter.h"

/* Whether a path is -, which stands for standard input or output. */
extern bool is_standard(const char *path);

/* Opens and checks a filter or a set, or says why not as bloomfilter_open does. */
extern int	try_open_filter(const char *path, bloomfilter **filter,
							bloomfilter_detail *detail);

/* The same, or ends the program. */
extern bloomfilter *open_filter(const char *path);

/* What is in it; part -1: in all open parts together. */
extern bloomfilter_info filter_info(const bloomfilter *filter, int64_t part);

/*
 * The type that the text of keys for a filter is read as: its keys' type, or what
 * is wanted (0: nothing), which must be another way to write these.  A filter
 * without keys takes what is wanted, and text by default.
 */
extern int	filter_text_type(const bloomfilter *filter, int wanted);

/* Ends the program before its work if a path can't be written to, as far as that shows. */
extern void check_target(const char *path);

/* Writes it to a file in one step, or to standard output, or ends the program. */
extern void write_filter(const bloomfilter *filter, const char *path);

#endif							/* CLI_FILTER_H */
