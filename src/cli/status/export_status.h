/*
 * export_status.h
 *	  FOLDER/.status: what an exporter tells of itself, which bloomfilter status shows.
 *
 * A text file: a first line that says so, then a line for each value, after its name.
 * Times are microseconds since 1970.
 */
#ifndef CLI_STATUS_EXPORT_STATUS_H
#define CLI_STATUS_EXPORT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "folder.h"
#include "source.h"

#define EXPORT_STATUS ".status"
#define EXPORT_STATUS_FIRST_LINE "bloomfilter-export-status 1"
#define EXPORT_STATUS_BYTES 8192

typedef enum export_kind
{
	KIND_TEXT,
	KIND_NUMBER,
	KIND_REAL,
	KIND_TIME
} export_kind;

typedef enum export_value
{
	VALUE_LIST,
	VALUE_IDENTITY,
	VALUE_EXPORTER,
	VALUE_SERVER,
	VALUE_STANDBY,
	VALUE_LAG,
	VALUE_SERIAL,
	VALUE_CONTENT,
	VALUE_EPOCH,
	VALUE_TRUE_AT,
	VALUE_LOOKED,
	VALUE_PUBLISHED,
	VALUE_NEXT_HEARTBEAT,
	VALUE_EXPIRES,
	VALUE_KEYS,
	VALUE_N,
	VALUE_P,
	VALUE_RATE,
	VALUE_UNITED,
	VALUE_LOOKS,
	VALUE_WHOLE_READS,
	VALUE_PAGES,
	VALUE_DATABASE_MS,
	VALUE_BITS,
	VALUE_PATCHES,
	VALUE_PATCH_BYTES,
	VALUE_WHOLES,				/* of WHOLE_REASONS reasons */
	VALUE_WHOLES_END = VALUE_WHOLES + WHOLE_REASONS,
	VALUE_FILES = VALUE_WHOLES_END,
	VALUE_BYTES,
	VALUE_FAILURES,
	VALUE_FAILED,
	VALUE_ERROR,
	EXPORT_VALUES
} export_value;

/* Its name in the file, in JSON and, with a prefix, among metrics. */
typedef struct export_value_kind
{
	const char *name;
	export_kind kind;
	const char *help;			/* of the metric; NULL: it is none */
} export_value_kind;

extern const export_value_kind export_value_kinds[EXPORT_VALUES];

/* How its looks went. */
typedef struct export_health
{
	uint64_t	looked;			/* when one went well and all of it was published */
	uint64_t	failures;		/* since then */
	uint64_t	failed;			/* when the first of them was */
	double		written;		/* when the file was; monotonic seconds */
} export_health;

/* After a look that went well to its end; published: there was something. */
extern void export_note_success(export_health *health, const list_folder *f, const source *s, bool published);

/* After anything that failed; the last complaint says why. */
extern void export_note_failure(export_health *health, const list_folder *f, const source *s);

#endif							/* CLI_STATUS_EXPORT_STATUS_H */
