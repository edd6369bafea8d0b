/*
 * status.h
 *	  What bloomfilter status tells: of each file or folder a table of names, values and
 *	  units.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "system.h"

typedef enum status_form
{
	FORM_TEXT,
	FORM_JSON,
	FORM_PROMETHEUS,
	FORM_QUIET
} status_form;

/* Letters, as an exporter's file has them. */
typedef enum status_unit
{
	UNIT_TEXT = 't',
	UNIT_SERIAL = 's',			/* beyond what many readers of JSON take for a number */
	UNIT_NUMBER = 'n',
	UNIT_TIME = 'm',			/* microseconds since 1970 */
	UNIT_SINCE = 'a',			/* the same, of which also the age is told */
	UNIT_SECONDS = 'd'
} status_unit;

typedef struct status_value
{
	char		name[32];
	status_unit unit;
	char	   *text;			/* as it was added */
} status_value;

/* What files and folders differ in. */
typedef struct status_kind
{
	const char *name;			/* "file" */
	const char *prefix;			/* of metrics */
	const char *const *words;	/* all that may be wrong, to a NULL */
} status_kind;

typedef struct status_table
{
	const status_kind *kind;
	const char *path;
	bool		known;
	bool		healthy;
	uint32_t	wrong;			/* a bit for each word of the kind */
	status_value *values;
	size_t		count;
} status_table;

/* Prints all tables, and frees what is in them. */
extern void status_print(status_table *tables, size_t count, status_form form);

/* Something is wrong, in a word of its kind's; says what. */
extern void status_wrong(status_table *table, const char *word, const char *format,...) LIKE_PRINTF(3, 4);

/* Adds a value, unless it isn't known: "", below 0, or 0 of a serial or a time. */
extern void status_add(status_table *table, const char *name, status_unit unit, const char *format,...) LIKE_PRINTF(4, 5);

/* The text of one, "" if there is none; and as a number. */
extern const char *status_text(const status_table *table, const char *name);
extern double status_number(const status_table *table, const char *name);

#endif							/* CLI_STATUS_H */
