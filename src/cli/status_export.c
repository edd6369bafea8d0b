/*
 * status_export.c
 *	  bloomfilter status of a folder that export keeps: whether its exporter does what it
 *	  should, and what it counted.
 */
#define _GNU_SOURCE
#include "status_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed_files.h"
#include "output.h"

/* A rate so many times p wants a rebuild; VACUUM warns of the same. */
#define OUTGROWN 2.0

/* Heartbeats that may be missing before an exporter counts as silent. */
#define MISSED_HEARTBEATS 3

static const char *const words[EXPORTER_WORDS] = {"old", "rate", "expires", "clock"};

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------ */

static void
take_line(folder_status *found, const char *line)
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
read_values(folder_status *found)
{
	int			folder = open(found->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t		length;
	char	   *text = folder < 0 ? NULL : (char *) feed_read(folder, EXPORT_STATUS, EXPORT_STATUS_BYTES, &length);
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
number_of(const folder_status *found, int value)
{
	return found->values[value] == NULL ? 0 : strtoll(found->values[value], NULL, 10);
}

static double
real_of(const folder_status *found, int value)
{
	return found->values[value] == NULL ? 0 : strtod(found->values[value], NULL);
}

/* Seconds since a time. */
static int64_t
age_of(const folder_status *found, int value)
{
	return (found->now - number_of(found, value)) / 1000000;
}

/* ------------------------------------------------------------------------
 * What is wrong
 * ------------------------------------------------------------------------ */

static void
mark(folder_status *found, exporter_word word)
{
	found->wrong[word] = true;
	found->healthy = false;
}

static void
check_look(folder_status *found, int64_t most_age)
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
	mark(found, EXPORTER_OLD);
}

static void
check_values(folder_status *found)
{
	int64_t		expires = number_of(found, VALUE_EXPIRES);
	int64_t		published = number_of(found, VALUE_PUBLISHED);
	double		p = real_of(found, VALUE_P);

	if (p > 0 && real_of(found, VALUE_RATE) > OUTGROWN * p)
	{
		complain("%s: the false-positive rate is %s, and was to be %s: REINDEX, or publish with a larger n", found->folder,
				 found->values[VALUE_RATE], found->values[VALUE_P]);
		mark(found, EXPORTER_RATE);
	}
	if (expires != 0 && found->now - published > (expires - published) / 2)
	{
		complain("%s: hosts take its manifest for dead in %" PRId64 " s", found->folder, -age_of(found, VALUE_EXPIRES));
		mark(found, EXPORTER_EXPIRES);
	}
	if (number_of(found, VALUE_LOOKED) > found->now ||
		number_of(found, VALUE_TRUE_AT) > found->now + CLOCKS_DIFFER * INT64_C(1000000))
	{
		complain("%s: its last look is in the future: the clock was set back", found->folder);
		mark(found, EXPORTER_CLOCK);
	}
}

folder_status
status_of_folder(const char *folder, int64_t most_age)
{
	folder_status found;

	memset(&found, 0, sizeof found);
	found.folder = folder;
	found.known = read_values(&found);
	found.now = (int64_t) feed_now();
	if (!found.known)
		return found;
	found.healthy = true;
	check_look(&found, most_age);
	check_values(&found);
	return found;
}

void
status_free_folder(folder_status *found)
{
	int			i;

	for (i = 0; i < EXPORT_VALUES; i++)
		free(found->values[i]);
}

/* ------------------------------------------------------------------------
 * Text and JSON
 * ------------------------------------------------------------------------ */

/* A value as people and JSON have it. */
static void
show_value(const folder_status *found, int value, char *text, size_t size)
{
	char		time[TIME_TEXT_BYTES];

	if (export_value_kinds[value].kind == KIND_TIME)
	{
		message_time(time, (time_t) (number_of(found, value) / 1000000));
		snprintf(text, size, "%s", time);
	}
	else
		snprintf(text, size, "%s", found->values[value]);
}

/* Ages of what has passed, beside its time. */
static bool
has_age(int value)
{
	return value == VALUE_TRUE_AT || value == VALUE_LOOKED || value == VALUE_PUBLISHED;
}

static void
print_words(const folder_status *found, const char *quote, const char *between)
{
	const char *before = "";
	int			i;

	for (i = 0; i < EXPORTER_WORDS; i++)
		if (found->wrong[i])
		{
			output_text("%s%s%s%s", before, quote, words[i], quote);
			before = between;
		}
}

static void
print_text(const folder_status *found)
{
	char		text[1024];
	int			i;

	output_text("%-15s  %s\n", "folder", found->folder);
	for (i = 0; i < EXPORT_VALUES; i++)
	{
		if (found->values[i] == NULL)
			continue;
		show_value(found, i, text, sizeof text);
		output_text("%-15s  %s\n", export_value_kinds[i].name, text);
		if (has_age(i))
			output_text("%s_age%*s  %" PRId64 " s\n", export_value_kinds[i].name,
						(int) (11 - strlen(export_value_kinds[i].name)), "", age_of(found, i));
	}
	if (found->healthy)
		return;
	output_text("%-15s  ", "wrong");
	print_words(found, "", " ");
	output_byte('\n');
}

static void
print_json(const folder_status *found)
{
	char		text[1024];
	int			i;

	output_text("{\"folder\": ");
	output_json(found->folder);
	output_text(", \"known\": %s, \"healthy\": %s, \"wrong\": [", found->known ? "true" : "false",
				found->healthy ? "true" : "false");
	print_words(found, "\"", ", ");
	output_byte(']');
	for (i = 0; i < EXPORT_VALUES; i++)
	{
		export_kind kind = export_value_kinds[i].kind;

		if (found->values[i] == NULL)
			continue;
		show_value(found, i, text, sizeof text);
		output_text(", \"%s\": ", export_value_kinds[i].name);
		/* serials are beyond what some readers take for numbers, as in a file's status */
		if (kind == KIND_TEXT || kind == KIND_TIME || i == VALUE_SERIAL || i == VALUE_CONTENT || i == VALUE_EPOCH)
			output_json(text);
		else
			output_text("%s", text);
		if (has_age(i))
			output_text(", \"%s_age\": %" PRId64, export_value_kinds[i].name, age_of(found, i));
	}
	output_text("}\n");
}

/* ------------------------------------------------------------------------
 * Prometheus
 * ------------------------------------------------------------------------ */

static void
print_labels(const char *metric, const folder_status *found)
{
	output_text("bloomfilter_export_%s{folder=\"", metric);
	status_print_label(found->folder);
	output_text("\",list=\"");
	status_print_label(found->values[VALUE_LIST] != NULL ? found->values[VALUE_LIST] : "");
	output_byte('"');
}

static void
print_help(const char *metric, const char *text)
{
	output_text("# HELP bloomfilter_export_%s %s\n# TYPE bloomfilter_export_%s gauge\n", metric, text, metric);
}

static void
print_metric(int value, const folder_status *found, int count)
{
	const export_value_kind *kind = &export_value_kinds[value];
	char		metric[64];
	int			i;

	snprintf(metric, sizeof metric, "%s%s", kind->name, kind->kind == KIND_TIME ? "_timestamp_seconds" : "");
	print_help(metric, kind->help);
	for (i = 0; i < count; i++)
	{
		if (found[i].values[value] == NULL)
			continue;
		print_labels(metric, &found[i]);
		if (kind->kind == KIND_TIME)
			output_text("} %.3f\n", (double) number_of(&found[i], value) / 1e6);
		else
			output_text("} %s\n", found[i].values[value]);
	}
}

static void
print_wholes(const folder_status *found, int count)
{
	int			i;
	int			value;

	print_help("wholes", export_value_kinds[VALUE_WHOLES].help);
	for (i = 0; i < count; i++)
		for (value = VALUE_WHOLES; value < VALUE_WHOLES_END; value++)
			if (found[i].values[value] != NULL)
			{
				print_labels("wholes", &found[i]);
				output_text(",reason=\"%s\"} %s\n", export_value_kinds[value].name + strlen("wholes_"), found[i].values[value]);
			}
}

static void
print_prometheus(const folder_status *found, int count)
{
	int			i;
	int			word;
	int			value;

	print_help("healthy", "1 if nothing is wrong with the exporter.");
	for (i = 0; i < count; i++)
	{
		print_labels("healthy", &found[i]);
		output_text("} %d\n", found[i].healthy);
	}
	print_help("wrong", "1 for what is wrong with the exporter, in a word.");
	for (i = 0; i < count; i++)
		for (word = 0; word < EXPORTER_WORDS; word++)
		{
			print_labels("wrong", &found[i]);
			output_text(",word=\"%s\"} %d\n", words[word], found[i].wrong[word]);
		}
	for (value = 0; value < EXPORT_VALUES; value++)
		if (value == VALUE_WHOLES)
			print_wholes(found, count);
		else if (export_value_kinds[value].help != NULL)
			print_metric(value, found, count);
}

void
status_print_folders(const folder_status *found, int count, status_form form)
{
	int			i;

	if (form == FORM_PROMETHEUS && count > 0)
		print_prometheus(found, count);
	for (i = 0; i < count; i++)
		if (form == FORM_JSON)
			print_json(&found[i]);
		else if (form == FORM_TEXT && found[i].known)
			print_text(&found[i]);
}
