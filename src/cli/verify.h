/*
 * verify.h
 *	  The pieces of bloomfilter verify.
 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include <stdbool.h>

#include "filter.h"
#include "messages.h"

/* Damage is an answer of verify, where for the other subcommands it is trouble. */
extern bool is_damage(int code);

/*
 * verify_working.c: the file itself, and whether its working copy has all of it.  Says
 * what is wrong; nothing is, where there is no working copy.
 */
extern exit_status verify_working(const char *path);

#endif							/* CLI_VERIFY_H */
