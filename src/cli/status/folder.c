/*
 * folder.c
 *	  bloomfilter status of a folder that export keeps: whether its exporter does what it
 *	  should, and what it counted.
 */
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export_status.h"
#include "folder_files.h"
#include "messages.h"
#include "system.h"

/* A rate so many times p wants a rebuild; VACUUM warns of the same. */
#define OUTGROWN 2.0

/* Heartbeats that may be missing before an exporter counts as silent. */
#define MISSED_HEARTBEATS 3

static const char *const words[] = {"old", "rate", "expires", "clock", NULL};

static const status_kind folder_kind = {"folder", "bloomfilter_export_", words};

/* What its exporter has written. */
typedef struct folder_values
{
	const char *folder;
	int64_t		now;			/* microseconds since 1970 */
	char	   *values[EXPORT_VALUES];	/* NULL: there is none */
} folder_values;

static void
take_line(folder_values *found, const char *line)
{
	size_t		length = strcspn(line, " ");
	int			i;

	if (line[length] == '\0')
		return;
	for (i = 0; i < EXPORT_VALUES; i++)
		if (strlen(export_value_kinds[i].name) == length && memcmp(export_value_kinds[i].name, line, length) == 0)
		{
			free(found->values[i]);
			found->values[i] = text_of("%s", line + length + 1);
		}
}

static bool
read_values(folder_values *found)
{
	int			folder = open(found->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t		length;
	char	   *text = folder < 0 ? NULL : (char *) folder_read(folder, EXPORT_STATUS, EXPORT_STATUS_BYTES, &length);
	int			error = errno;
	char	   *rest;
	char	   *line = text == NULL ? NULL : strtok_r(text, "\n", &rest);
	bool		right = line != NULL && strcmp(line, EXPORT_STATUS_FIRST_LINE) == 0;

	if (folder >= 0)
		close(folder);
	if (text == NULL)
		complain("cannot read \"%s/%s\": %s", found->folder, EXPORT_STATUS, strerror(error));
	else if (!right)
		complain("\"%s/%s\" is not an exporter's status", found->folder, EXPORT_STATUS);
	while (right && (line = strtok_r(NULL, "\n", &rest)) != NULL)
		take_line(found, line);
	free(text);
	return right;
}

/* 0 if there is none */
static int64_t
number_of(const folder_values *found, int value)
{
	return found->values[value] == NULL ? 0 : strtoll(found->values[value], NULL, 10);
}

static double
real_of(const folder_values *found, int value)
{
	return found->values[value] == NULL ? 0 : strtod(found->values[value], NULL);
}

/* Seconds since a time. */
static int64_t
age_of(const folder_values *found, int value)
{
	return (found->now - number_of(found, value)) / 1000000;
}

/* ------------------------------------------------------------------------
 * What is wrong
 * ------------------------------------------------------------------------ */

static void
check_look(status_table *table, const folder_values *found, int64_t most_age)
{
	const char *error = found->values[VALUE_ERROR];
	int64_t		heartbeat = (number_of(found, VALUE_NEXT_HEARTBEAT) - number_of(found, VALUE_PUBLISHED)) / 1000000;

	/* who doesn't stay has no heartbeat */
	if (most_age == INT64_MAX && found->values[VALUE_NEXT_HEARTBEAT] != NULL)
		most_age = MISSED_HEARTBEATS * heartbeat;
	if (found->values[VALUE_LOOKED] == NULL)
		complain("%s: nothing was exported yet%s%s", found->folder, error != NULL ? ": " : "", error != NULL ? error : "");
	else if (age_of(found, VALUE_LOOKED) > most_age)
		complain("%s: the last look that went well was %" PRId64 " s ago%s%s", found->folder,
				 age_of(found, VALUE_LOOKED), error != NULL ? ": " : "", error != NULL ? error : "");
	else
		return;
	status_wrong(table, "old");
}

static void
check_values(status_table *table, const folder_values *found)
{
	int64_t		expires = number_of(found, VALUE_EXPIRES);
	int64_t		published = number_of(found, VALUE_PUBLISHED);
	double		p = real_of(found, VALUE_P);

	if (p > 0 && real_of(found, VALUE_RATE) > OUTGROWN * p)
	{
		complain("%s: the false-positive rate is %s, and was to be %s: REINDEX, or publish with a larger n", found->folder,
				 found->values[VALUE_RATE], found->values[VALUE_P]);
		status_wrong(table, "rate");
	}
	if (expires != 0 && found->now - published > (expires - published) / 2)
	{
		complain("%s: hosts take its manifest for dead in %" PRId64 " s", found->folder, -age_of(found, VALUE_EXPIRES));
		status_wrong(table, "expires");
	}
	if (number_of(found, VALUE_LOOKED) > found->now ||
		number_of(found, VALUE_TRUE_AT) > found->now + CLOCKS_DIFFER * INT64_C(1000000))
	{
		complain("%s: its last look is in the future: the clock was set back", found->folder);
		status_wrong(table, "clock");
	}
}

/* ------------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------------ */

static void
add_value(status_table *table, const folder_values *found, int which)
{
	const export_value_kind *kind = &export_value_kinds[which];
	static const char *const ages[EXPORT_VALUES] = {
		[VALUE_TRUE_AT] = "true_at_age",[VALUE_LOOKED] = "looked_age",[VALUE_PUBLISHED] = "published_age"
	};
	bool		serial = which == VALUE_SERIAL || which == VALUE_CONTENT || which == VALUE_EPOCH;

	if (found->values[which] == NULL)
		return;
	if (kind->kind == KIND_TEXT)
		status_add_text(table, kind->name, found->values[which]);
	else
		status_add_parsed(table, kind->name, kind->kind == KIND_TIME ? UNIT_TIME : kind->kind == KIND_REAL ? UNIT_REAL :
						  serial ? UNIT_SERIAL : UNIT_COUNT, found->values[which], kind->help);
	if (ages[which] != NULL)
		status_add_number(table, ages[which], UNIT_SECONDS, age_of(found, which), NULL);
}

status_table
status_of_folder(const char *folder, const status_limits *limits)
{
	folder_values found;
	status_table table;
	int			i;

	memset(&found, 0, sizeof found);
	memset(&table, 0, sizeof table);
	table.kind = &folder_kind;
	table.path = found.folder = folder;
	found.now = (int64_t) time_now();
	table.known = table.healthy = read_values(&found);
	if (table.known)
	{
		snprintf(table.list, sizeof table.list, "%s", found.values[VALUE_LIST] != NULL ? found.values[VALUE_LIST] : "");
		check_look(&table, &found, limits->look);
		check_values(&table, &found);
	}
	for (i = 0; i < EXPORT_VALUES; i++)
	{
		add_value(&table, &found, i);
		free(found.values[i]);
	}
	return table;
}
