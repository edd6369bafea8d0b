/*
 * system.h
 *	  What the system gives: memory, whose lack ends the program, clocks, random numbers, files.
 */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include <stdarg.h>

#include "messages.h"

/* Memory, or the end of the program.  That of zeros is all zero. */
extern void *allocate(void *old, size_t count, size_t size);
extern void *zeros(size_t count, size_t size);

/* As sprintf and vsprintf, in new memory. */
extern char *text_of(const char *format,...) LIKE_PRINTF(1, 2);
extern char *text_of_list(const char *format, va_list values) LIKE_PRINTF(1, 0);

/* Seconds by which the clocks of two machines may differ where both are right. */
#define CLOCKS_DIFFER 60

/* By a clock that nobody sets: since some moment. */
extern double monotonic_seconds(void);

/* Microseconds since 1970, and since the boot. */
extern uint64_t time_now(void);
extern uint64_t boot_time_now(void);

/* What tells this boot of this host from all others; all zeros where the system has none. */
extern void read_boot_id(uint8_t boot[16]);

/* All of it, from this byte of a file on; false with errno.  A file that is shorter gives EIO. */
extern bool write_all(int fd, const void *bytes, size_t length, uint64_t at);
extern bool read_all(int fd, void *bytes, size_t length, uint64_t at);

/* A whole regular file of at most so many bytes, in new memory with a zero byte behind; NULL, with errno. */
extern uint8_t *read_file(int folder, const char *name, size_t most, size_t *length);

/* Whether a path still leads to a folder that is open.  Not so once that was moved, or another was mounted over it. */
extern bool is_folder_at(int folder, const char *path);

/* 0 to 1, by srandom(); what nobody can guess comes from libsodium. */
extern double random_share(void);

#endif							/* CLI_SYSTEM_H */
