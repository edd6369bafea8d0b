/*
 * export_status.h
 *	  FOLDER/.status: what an exporter tells of itself, which bloomfilter status shows.
 *
 * A text file: a first line that says so, then a line for each value, after its name and its
 * status_unit.  What isn't known is "" or 0.
 */
#ifndef CLI_EXPORT_STATUS_H
#define CLI_EXPORT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "folder.h"
#include "source.h"

#define EXPORT_STATUS ".status"
#define EXPORT_STATUS_FIRST_LINE "bloomfilter-export-status 2"
#define EXPORT_STATUS_BYTES 8192

/* How its looks went. */
typedef struct export_health
{
	uint64_t	looked;			/* when one went well and all of it was exported */
	uint64_t	failures;		/* since then */
	uint64_t	failed;			/* when the first of them was */
	double		written;		/* when the file was; monotonic seconds */
	uint64_t	serial;			/* that it has */
} export_health;

/* After a look that went well to its end, or anything that failed: then the last complaint says why. */
extern void export_note(export_health *health, const list_folder *f, const source *s, bool well);

#endif							/* CLI_EXPORT_STATUS_H */
