/*
 * system.h
 *	  What the system knows and does: times, this boot, files, random numbers.
 */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* 0 to 1, by srandom(); what nobody can guess comes from libsodium. */
extern double random_share(void);

#endif							/* CLI_SYSTEM_H */
