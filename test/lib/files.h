/*
 * files.h
 *	  A scratch folder, deleted by tap_done(), and the files in it.
 */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new folder for this program's files, deleted with all in it at its end. */
extern const char *scratch(void);

/* A path in that folder, in memory that lasts to the end of the program. */
extern const char *scratch_path(const char *name);

extern void write_file(const char *path, const void *bytes, size_t length);

/* The content of a file, in memory to be freed, with a zero byte after it. */
extern uint8_t *read_file(const char *path, size_t *length);

/* How many entries a folder has, hidden ones too. */
extern int	count_entries(const char *folder);

/* Bytes from hex digits; returns how many. */
extern size_t from_hex(const char *hex, size_t digits, uint8_t *bytes);

#endif							/* FILES_H */
