/*
 * verify.h
 *	  The pieces of bloomfilter verify.
 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include <stdbool.h>

#include "filter.h"
#include "messages.h"

/*
 * What an opening gave, by its code and detail: the filter, or NULL, said, where it is
 * damaged, which is an answer of verify.  All else ends the program.
 */
extern bloomfilter *sound_filter(int code, bloomfilter *filter, const bloomfilter_detail *detail);

/*
 * verify_working.c: the file itself, and whether its working copy has all of it.  Says
 * what is wrong; nothing is, where there is no working copy.
 */
extern exit_status verify_working(const char *path);

#endif							/* CLI_VERIFY_H */
