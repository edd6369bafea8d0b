/*
 * settings.h
 *	  What can be said of a followed list, by an option of bloomfilter pull or by a line of
 *	  pull --config's file.
 *
 * Functions return what is wrong, in new memory, or NULL.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <getopt.h>
#include <stdbool.h>

#include "plan.h"

/* Sets what a line says; of_all: the line goes for all lists of a file. */
extern char *settings_set(pull_plan *plan, const char *name, const char *value, bool of_all);

/* Whether all is there and nothing contradicts; dashes: what names begin with. */
extern char *settings_check(pull_plan *plan, const char *dashes);

/* The same names as options: so many from *options on, whose values are first and so on. */
extern int	settings_options(struct option *options, int first);

/* A plan with texts of its own, to be freed. */
extern void settings_copy(pull_plan *plan, const pull_plan *from);
extern void settings_free(pull_plan *plan);
extern bool settings_are_same(const pull_plan *a, const pull_plan *b);

#endif							/* CLI_SETTINGS_H */
