/*
 * feed_files.h
 *	  Files that are there as a whole or not at all, also after a loss of power.
 */
#ifndef CLI_FEED_FILES_H
#define CLI_FEED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "feed_manifest.h"

/* Names of a list's folder: doc/FORMAT.md, section 19. */
#define MANIFEST "manifest"
#define WHOLE_ENDING ".bloom"
#define STEP_ENDING ".step"
#define DELTA_ENDING ".delta"

/* What unfinished files begin with. */
#define FEED_UNFINISHED ".tmp-"

typedef struct feed_piece
{
	const void *bytes;
	size_t		length;
} feed_piece;

/*
 * Writes a file of these pieces: under another name, synced, renamed, and the folder
 * synced.  Says what is wrong before it returns false.
 */
extern bool feed_write(int folder, const char *name, mode_t mode, const feed_piece *pieces, int count);

/* A whole regular file of at most so many bytes, in new memory with a zero byte behind; NULL, with errno. */
extern uint8_t *feed_read(int folder, const char *name, size_t most, size_t *length);

/* "<digest><ending>" */
#define FEED_FILE_NAME_BYTES (2 * FEED_DIGEST_BYTES + 8)
extern void feed_file_name(char name[FEED_FILE_NAME_BYTES], const feed_file *file, const char *ending);

extern void feed_digest(uint8_t digest[FEED_DIGEST_BYTES], const feed_piece *pieces, int count);

/* Whether a file is what a manifest says of it: its bytes in new memory, else NULL. */
extern uint8_t *feed_read_file(int folder, const feed_file *file, const char *ending);

/* What tells this boot of this host from all others; all zeros where the system has none. */
#define FEED_BOOT_BYTES FEED_IDENTITY_BYTES
extern void feed_boot(uint8_t boot[FEED_BOOT_BYTES]);

/* Microseconds since 1970. */
extern uint64_t feed_now(void);

extern bool feed_is_folder(const char *path);

#endif							/* CLI_FEED_FILES_H */
