/*
 * table.h
 *	  What bloomfilter status tells: of each file or folder a table of names, values and
 *	  units, and the forms in which it is printed.
 */
#ifndef CLI_STATUS_TABLE_H
#define CLI_STATUS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum status_form
{
	FORM_TEXT,
	FORM_JSON,
	FORM_PROMETHEUS,
	FORM_QUIET
} status_form;

typedef enum status_unit
{
	UNIT_TEXT,
	UNIT_SERIAL,				/* beyond what many readers of JSON take for a number */
	UNIT_COUNT,
	UNIT_REAL,
	UNIT_TIME,					/* microseconds since 1970 */
	UNIT_SECONDS
} status_unit;

typedef struct status_value
{
	const char *name;
	status_unit unit;
	const char *help;			/* of the metric; NULL: it is none */
	char	   *text;			/* as people see it */
	double		number;			/* as a metric */
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
	char		list[256];		/* its name */
	bool		known;
	bool		healthy;
	uint32_t	wrong;			/* a bit for each word of the kind */
	status_value *values;
	size_t		count;
} status_table;

/* Something is wrong, in a word of its kind's. */
extern void status_wrong(status_table *table, const char *word);

/* Each adds a value, unless it isn't known: "" or 0 (of a count or seconds below 0). */
extern void status_add_text(status_table *table, const char *name, const char *text);
extern void status_add_number(status_table *table, const char *name, status_unit unit, int64_t number, const char *help);

/* The same of a text that is a number. */
extern void status_add_parsed(status_table *table, const char *name, status_unit unit, const char *text, const char *help);

/* Prints all tables, and frees what is in them. */
extern void status_print(status_table *tables, size_t count, status_form form);

#endif							/* CLI_STATUS_TABLE_H */
