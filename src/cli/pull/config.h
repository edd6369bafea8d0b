/*
 * config.h
 *	  The files of bloomfilter pull --config: which lists a host follows.
 *
 * A file has lines "name = value", or "name" alone, each an option of bloomfilter pull.
 * "[users]" begins a list; what stands before the first one goes for all lists of the file
 * that don't say else.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* Arguments, each in memory of its own, and NULL behind them. */
typedef struct config_options
{
	char	  **texts;
	int			count;
} config_options;

typedef struct config_list
{
	char	   *name;
	config_options options;		/* of a command line, whose first one is the command's name */
} config_list;

typedef struct pull_config
{
	config_list *lists;
	size_t		count;
} pull_config;

/* Reads a file, or each *.conf of a folder; or says what is wrong, and has nothing of it. */
extern bool config_read(const char *path, pull_config *config);
extern void config_free(pull_config *config);

/* The file that a list is followed in; NULL: it isn't said. */
extern const char *config_out(const config_list *list);

#endif							/* CLI_CONFIG_H */
