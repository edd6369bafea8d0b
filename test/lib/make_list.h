/*
 * make_list.h
 *	  Files of followed lists for tests, as a follower makes them.
 */
#ifndef MAKE_LIST_H
#define MAKE_LIST_H

#include <stdbool.h>

#include "feed_page.h"
#include "libbloomfilter.h"

/*
 * Writes filter, which is in memory, to path as a list of serial 100 that has its
 * place there, under a name of its own first.  *who, which may be NULL, is what it then says.
 */
extern void make_list(const char *path, const bloomfilter *filter, feed_who *who);

/* What a test watches, and who reads it. */
extern bloomfilter_watched *watched;
extern bloomfilter_reader *reader;
extern void begin_watching(const char *path, unsigned flags);
extern void end_watching(void);

/* What the filter of now says of an integer. */
extern int	asked(int64_t key);

/* Writes who anew, the checksum included; and that a file is in its place. */
extern void put_who(const char *path, const feed_who *who);
extern void put_here(const char *path);

/* Writes bytes, or a word, of the page. */
extern void put_bytes(const char *path, const void *bytes, size_t length, uint64_t at);
extern void put_word(const char *path, unsigned at, uint64_t value);

/* Sets all bits that filter has in its first part, and then serial. */
extern void put_keys(const char *path, const bloomfilter *filter, uint64_t serial);

#endif							/* MAKE_LIST_H */
