/*
 * pull_settings.h
 *	  What can be said of a followed list, by an option of bloomfilter pull --url or by a line
 *	  of pull --config's file.
 *
 * Functions return what is wrong, in new memory, or NULL.
 */
#ifndef CLI_PULL_SETTINGS_H
#define CLI_PULL_SETTINGS_H

#include <stdbool.h>

#include "pull_url.h"

#define LONGEST_EVERY 86400
#define LEAST_RATE 1000

/* Sets what a line says; of_all: the line goes for all lists of a file. */
extern char *settings_set(url_plan *plan, const char *name, const char *value, bool of_all);

/* Whether all is there and nothing contradicts; dashes: what names begin with. */
extern char *settings_check(url_plan *plan, const char *dashes);

/* A key in addition to those that are there. */
extern char *settings_add_key(url_plan *plan, const char *text);

/* A plan with texts of its own, to be freed. */
extern void settings_copy(url_plan *plan, const url_plan *from);
extern void settings_free(url_plan *plan);
extern bool settings_are_same(const url_plan *a, const url_plan *b);

#endif							/* CLI_PULL_SETTINGS_H */
