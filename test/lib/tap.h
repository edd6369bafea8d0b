/*
 * tap.h
 *	  A line "ok" or "not ok" for each property, and what tests share.
 *
 * A program ends with tap_done(), whose result is its exit status.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One property; returns holds. */
extern bool ok(bool holds, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* The same for two numbers, which are printed where they differ. */
extern bool same(long long got, long long wanted, const char *format,...)
			__attribute__((format(printf, 3, 4)));

/* Ends the program's output; 0 if all properties held. */
extern int	tap_done(void);

/* For what a test can't do without: stops the program if it failed. */
extern void need(bool holds, const char *what);

/* Pseudo-random numbers, the same in every run. */
extern uint64_t next_random(uint64_t *state);

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

#endif							/* TAP_H */
