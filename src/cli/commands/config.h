/*
 * config.h
 *	  The files of bloomfilter pull --config: which lists a host follows.
 *
 * A file has lines "name = value".  "[users]" begins a list; what stands before the first
 * one goes for all lists of the file that don't say else.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

typedef struct config_entry
{
	char	   *name;
	char	   *file;			/* that it stands in, ... */
	unsigned	line;			/* ... from this line on */
	char	   *place;			/* out, by its folder's real name: what is the same file */
	pull_plan	plan;			/* whose texts are in memory of their own */
	bool		bad;			/* an error was said */
} config_entry;

typedef struct pull_config
{
	config_entry **entries;		/* without errors */
	size_t		count;
	unsigned	errors;
} pull_config;

/*
 * Reads a file, or each *.conf of a folder.  Errors are said, counted, and take away
 * the entry that they are in; false if there is nothing to read.
 */
extern bool config_read(const char *path, pull_config *config);
extern void config_free_entry(config_entry *entry);

/* With all entries that are still in it. */
extern void config_free(pull_config *config);

/* Whether following the one is following the other. */
extern bool config_is_same(const config_entry *a, const config_entry *b);

/* What tells, in new memory, whether the files have changed: names, times and lengths. */
extern char *config_state(const char *path);

#endif							/* CLI_CONFIG_H */
