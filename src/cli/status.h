/*
 * status.h
 *	  What is known about a file that was pulled: when, from where, how old.
 *
 * It stands beside the file, as FILE.status, and is written at every look at the
 * server, so that a host that looks no more is not taken for one where nothing
 * changes.  The file itself is left alone, since its readers watch it.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define STATUS_VALUE_BYTES 512

typedef struct pull_status
{
	time_t		looked;			/* at the server, the last time that it went well */
	time_t		changed;		/* when the file was replaced */
	uint64_t	checksum;		/* of the file's filter, or of the set */
	char		list[STATUS_VALUE_BYTES];	/* "" where there is no list */
	char		generation[STATUS_VALUE_BYTES];
	char		built[STATUS_VALUE_BYTES];
	char		server[STATUS_VALUE_BYTES];
} pull_status;

/* False, with errno, if it can't be written. */
extern bool status_write(const char *file, const pull_status *status);

/* False, with errno, if there is none; errno 0 if it is not one. */
extern bool status_read(const char *file, pull_status *status);

#endif							/* CLI_STATUS_H */
