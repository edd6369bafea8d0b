/*
 * filter.h
 *	  Opening and writing a filter for a subcommand, and what its errors are called.
 */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "../../lib/libbloomfilter.h"
#include "options.h"

/* Opens and checks a filter or a set, as these flags say, or ends the program. */
extern bloomfilter *open_filter(const char *path, unsigned flags);

/* What is in it; part -1: in all open parts together. */
extern bloomfilter_info filter_info(const bloomfilter *filter, int64_t part);

/* "about", to stand before its estimated keys; "more than" where its bits can't tell any more. */
extern const char *estimate_word(const bloomfilter_info *info);

/*
 * The types that the text of keys for a filter is read as: its keys', or what is wanted, which
 * must be another way to write these.  A filter without keys takes what is wanted, and text by
 * default.
 */
extern text_types filter_text_types(const bloomfilter *filter, const text_types *wanted);

/* Writes it to a file in one step, or ends the program. */
extern void write_filter(const bloomfilter *filter, const char *path);

#endif							/* CLI_FILTER_H */
