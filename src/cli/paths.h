/*
 * paths.h
 *	  Strings in new memory.
 */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "messages.h"

/* As sprintf. */
extern char *text_of(const char *format,...) LIKE_PRINTF(1, 2);

/* The folder that a path's file is in, "." where it names none. */
extern char *folder_of(const char *path);

/* The path's last name, in the path itself. */
extern const char *name_of(const char *path);

#endif							/* CLI_PATHS_H */
