/*
 * status.h
 *	  FILE.status: what is known about a file that was pulled.
 *
 * It is written at every look at the server, so that a host that looks no more is
 * not taken for one where nothing changes.  The file itself is left alone, since its
 * readers watch it.  The library reads it: bloomfilter_get_status.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include <stdbool.h>

#include "../lib/libbloomfilter.h"

/*
 * next is the filter that is about to take the file's name, or NULL.  False, with
 * errno, if it can't be written.
 */
extern bool status_write(const char *file, const bloomfilter_status *status,
						 const bloomfilter_status *next);

/*
 * False if nothing is known; *problem is then why, valid until the next call, or
 * NULL where there is no FILE.status.
 */
extern bool status_read(const char *file, bloomfilter_status *status,
						const char **problem);

#endif							/* CLI_STATUS_H */
