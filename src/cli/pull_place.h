/*
 * pull_place.h
 *	  What a place is made of: the mark, the file that programs open, and its working copy.
 *	  For pull_place.c and these pieces alone.
 */
#ifndef CLI_PULL_PLACE_H
#define CLI_PULL_PLACE_H

#include "pull_url.h"

/* The name in the folder of a file beside FILE, in new memory. */
extern char *place_beside(const url_host *host, const char *ending);

/* ------------------------------------------------------------------------
 * pull_mark.c
 * ------------------------------------------------------------------------ */

extern bool mark_write(url_host *host);

/* mark.known: there is one. */
extern bool mark_read(url_host *host);

/*
 * Makes the base that FILE is the mark's first one; false if it is neither.  It is the
 * second one after a kill, or on a full disk, between the mark and FILE.
 */
extern bool mark_settle(url_mark *mark, uint64_t base);

/* Writes the mark of what FILE is about to be. */
extern bool mark_base(url_host *host, uint64_t base, uint64_t serial, uint64_t epoch);

/* ------------------------------------------------------------------------
 * pull_base.c
 * ------------------------------------------------------------------------ */

/* Makes FILE what a copy is, with the mark and FILE.status before. */
extern bool base_replace(url_host *host, feed_copy *copy, uint64_t serial, uint64_t epoch);

/* FILE as it is, checked; NULL if it isn't there. */
extern bool base_open(url_host *host, bloomfilter **filter, uint64_t *base);

/* The base's bits, into the host's copy. */
extern bool base_load(url_host *host, const bloomfilter *filter);

/* ------------------------------------------------------------------------
 * pull_working.c
 * ------------------------------------------------------------------------ */

/* Puts the copy into memory that all readers of this host map, if there is such memory. */
extern void working_begin(url_host *host);

/* Tries it again, now and then, where there was no room. */
extern void working_again(url_host *host);

/*
 * Takes up a working copy that a process before this one left: of this boot, of this
 * list and epoch, of a base that the mark knows, and not older than FILE.
 */
extern bool working_adopt(url_host *host, uint64_t base);

extern void working_unmap(url_host *host);

/* Removes FILE.working, whatever it leads to. */
extern void working_unlink(const url_host *host);

/* Tells readers that it stands for nothing any more, and removes it. */
extern void working_remove(url_host *host);

#endif							/* CLI_PULL_PLACE_H */
