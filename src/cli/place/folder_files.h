/*
 * folder_files.h
 *	  Files that are there as a whole or not at all, also after a loss of power.
 */
#ifndef CLI_PLACE_FOLDER_FILES_H
#define CLI_PLACE_FOLDER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "feed_manifest.h"

#define FOLDER_MANIFEST "manifest"

/* What unfinished files begin with. */
#define FOLDER_UNFINISHED ".tmp-"

typedef struct folder_piece
{
	const void *bytes;
	size_t		length;
} folder_piece;

/*
 * Writes a file of these pieces: under another name, synced, renamed, and the folder
 * synced.  Says what is wrong before it returns false.
 */
extern bool folder_write(int folder, const char *name, mode_t mode, const folder_piece *pieces, int count);

/* A whole regular file of at most so many bytes, in new memory with a zero byte behind; NULL, with errno. */
extern uint8_t *folder_read(int folder, const char *name, size_t most, size_t *length);

extern void folder_digest(uint8_t digest[FEED_DIGEST_BYTES], const folder_piece *pieces, int count);

/* Whether a file is what a manifest says of it: its bytes in new memory, else NULL. */
extern uint8_t *folder_read_file(int folder, const feed_file *file, bool patch);

#endif							/* CLI_PLACE_FOLDER_FILES_H */
