/*
 * export_status.h
 *	  FOLDER/.status: what an exporter tells of itself, which bloomfilter status shows.
 *
 * A text file: a first line that says so, then a line for each value, after its name.
 * Times are microseconds since 1970.
 */
#ifndef CLI_EXPORT_STATUS_H
#define CLI_EXPORT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#define EXPORT_STATUS ".status"
#define EXPORT_STATUS_FIRST_LINE "bloomfilter-export-status 1"
#define EXPORT_STATUS_BYTES 8192

/* Why whole files were written. */
typedef enum export_reason
{
	WHOLE_FIRST,				/* nothing was exported before */
	WHOLE_FOLDER,				/* files of the folder are missing or damaged */
	WHOLE_REBUILD,				/* REINDEX, TRUNCATE, DROP and CREATE */
	WHOLE_GEOMETRY,				/* the same, and of another size */
	WHOLE_REMOVED,				/* a list lost keys, or got very many */
	WHOLE_LONG,					/* more news than are worth a step */
	WHOLE_RENEWED,				/* all steps together would be */
	WHOLE_REASONS
} export_reason;

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
	VALUE_STEPS,
	VALUE_STEP_BYTES,
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

/* What an exporter has counted since it began. */
typedef struct export_counts
{
	uint64_t	looks;
	uint64_t	whole_reads;
	uint64_t	pages;
	uint64_t	bits;
	uint64_t	steps;
	uint64_t	step_bytes;
	uint64_t	wholes[WHOLE_REASONS];
	double		database_seconds;
	uint64_t	files;			/* of the folder */
	uint64_t	bytes;
	uint64_t	looked;			/* when a look went well and all of it was published */
	uint64_t	published;
	uint64_t	united;			/* since when there are bits that the server has not */
	uint64_t	failures;		/* since the last look that went well */
	uint64_t	failed;			/* when the first of them was */
	uint64_t	lag;			/* of a standby, seconds */
} export_counts;

#endif							/* CLI_EXPORT_STATUS_H */
