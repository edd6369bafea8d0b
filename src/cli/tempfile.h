/*
 * tempfile.h
 *	  A new file beside the one that it will replace.
 *
 * Whoever opens the target gets the old file or the whole new one, also after a
 * crash: the new one is synced before it is renamed.  Functions that return bool
 * say what is wrong before they return false.
 */
#ifndef CLI_TEMPFILE_H
#define CLI_TEMPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct temp_file
{
	int			fd;
	char	   *path;			/* NULL: there is none */
} temp_file;

extern bool temp_file_create(temp_file *file, const char *target);

/* Writes to a place in it. */
extern bool temp_file_write(const temp_file *file, const void *bytes,
							size_t length, uint64_t offset);

/* Makes its content durable; it is not written to any more. */
extern bool temp_file_sync(temp_file *file);

/* Puts it in the target's place. */
extern bool temp_file_rename(temp_file *file, const char *target);

/* Deletes it, if it was not renamed. */
extern void temp_file_remove(temp_file *file);

#endif							/* CLI_TEMPFILE_H */
