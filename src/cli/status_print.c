/*
 * status_print.c
 *	  The forms in which bloomfilter status tells what it found.
 */
#include "status_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output.h"

/* ------------------------------------------------------------------------
 * Text and JSON
 * ------------------------------------------------------------------------ */

/* One value: its name, and its text, "" where there is none. */
typedef struct shown_value
{
	const char *name;
	bool		is_number;
	char		text[512];
} shown_value;

#define MOST_VALUES 16

typedef struct shown_values
{
	int			count;
	shown_value values[MOST_VALUES];
} shown_values;

static char *
new_value(shown_values *list, const char *name, bool is_number)
{
	shown_value *new = &list->values[list->count++];

	new->name = name;
	new->is_number = is_number;
	new->text[0] = '\0';
	return new->text;
}

static void
add_text(shown_values *list, const char *name, const char *text)
{
	snprintf(new_value(list, name, false), sizeof list->values[0].text, "%s", text);
}

static void
add_time(shown_values *list, const char *name, int64_t time)
{
	char	   *text = new_value(list, name, false);

	if (time != 0)
		message_time(text, (time_t) time);
}

static void
add_number(shown_values *list, const char *name, bool there, int64_t number)
{
	char	   *text = new_value(list, name, true);

	if (there)
		snprintf(text, sizeof list->values[0].text, "%" PRId64, number);
}

/* The words of what is wrong, with something between them. */
static void
join_words(const file_status *found, const char *between, char *text, size_t size)
{
	size_t		i;

	text[0] = '\0';
	for (i = 0; i < STATUS_WORDS; i++)
		if (found->wrong[i])
			snprintf(text + strlen(text), size - strlen(text), "%s%s",
					 text[0] != '\0' ? between : "", status_words[i]);
}

static void
describe(const file_status *found, shown_values *list)
{
	const bloomfilter_status *status = &found->status;

	list->count = 0;
	add_text(list, "list", status->list);
	add_text(list, "identity", status->identity);
	if (status->serial != 0)
		snprintf(new_value(list, "serial", false), sizeof list->values[0].text, "%" PRId64, status->serial);
	add_time(list, "built", status->built);
	add_number(list, "built_age", status->built != 0, found->built_age);
	add_text(list, "server", status->server);
	snprintf(new_value(list, "checksum", false), sizeof list->values[0].text, "%016" PRIx64, status->checksum);
	add_time(list, "changed", status->changed);
	add_time(list, "looked", status->looked);
	add_number(list, "looked_age", status->looked != 0, found->looked_age);
	add_number(list, "failures", true, (int64_t) status->failures);
	add_time(list, "failed", status->failed);
	add_text(list, "error", status->error);
}

static void
print_text(const file_status *found, bool named)
{
	shown_values list;
	char		wrong[256];
	int			i;

	if (!found->known)
		return;
	describe(found, &list);
	join_words(found, " ", wrong, sizeof wrong);
	add_text(&list, "wrong", wrong);
	if (named)
		output_text("%-10s  %s\n", "file", found->file);
	for (i = 0; i < list.count; i++)
		if (list.values[i].text[0] != '\0')
			output_text("%-10s  %s%s\n", list.values[i].name, list.values[i].text,
						strstr(list.values[i].name, "_age") != NULL ? " s" : "");
}

static void
print_json(const file_status *found)
{
	shown_values list;
	char		wrong[256];
	int			i;

	output_text("{\"file\": ");
	output_json(found->file);
	output_text(", \"known\": %s, \"healthy\": %s", found->known ? "true" : "false",
				found->healthy ? "true" : "false");
	join_words(found, "\", \"", wrong, sizeof wrong);
	output_text(", \"wrong\": [%s%s%s]", wrong[0] != '\0' ? "\"" : "", wrong,
				wrong[0] != '\0' ? "\"" : "");
	describe(found, &list);
	for (i = 0; found->known && i < list.count; i++)
	{
		if (list.values[i].text[0] == '\0')
			continue;
		output_text(", \"%s\": ", list.values[i].name);
		if (list.values[i].is_number)
			output_text("%s", list.values[i].text);
		else
			output_json(list.values[i].text);
	}
	output_text("}\n");
}

/* ------------------------------------------------------------------------
 * Prometheus: all files of a metric stand together
 * ------------------------------------------------------------------------ */

void
status_print_label(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '\n')
			output_text("\\n");
		else if (*text == '"' || *text == '\\')
			output_text("\\%c", *text);
		else
			output_byte(*text);
}

static void
print_labels(const char *metric, const file_status *found)
{
	output_text("bloomfilter_%s{file=\"", metric);
	status_print_label(found->file);
	output_text("\",list=\"");
	status_print_label(found->status.list);
	output_byte('"');
}

static void
print_help(const char *metric, const char *text)
{
	output_text("# HELP bloomfilter_%s %s\n# TYPE bloomfilter_%s gauge\n", metric, text, metric);
}

/* Only of files that have the value: 0 would be a time long ago. */
static void
print_metric(const char *metric, const char *text, const file_status *found, int count,
			 int64_t (*value_of) (const file_status *))
{
	int			i;

	print_help(metric, text);
	for (i = 0; i < count; i++)
	{
		int64_t		number = value_of(&found[i]);

		if (number < 0)
			continue;
		print_labels(metric, &found[i]);
		output_text("} %" PRId64 "\n", number);
	}
}

static int64_t
none_if_zero(int64_t number)
{
	return number > 0 ? number : -1;
}

static int64_t
healthy_of(const file_status *found)
{
	return found->healthy;
}

static int64_t
looked_of(const file_status *found)
{
	return none_if_zero(found->status.looked);
}

static int64_t
built_of(const file_status *found)
{
	return none_if_zero(found->status.built);
}

static int64_t
changed_of(const file_status *found)
{
	return none_if_zero(found->status.changed);
}

static int64_t
serial_of(const file_status *found)
{
	return none_if_zero(found->status.serial);
}

static int64_t
failures_of(const file_status *found)
{
	return found->known ? (int64_t) found->status.failures : -1;
}

static void
print_prometheus(const file_status *found, int count)
{
	size_t		word;
	int			i;

	print_metric("healthy", "1 if nothing is wrong with the file.", found, count, healthy_of);
	print_help("wrong", "1 for what is wrong with the file, in a word.");
	for (i = 0; i < count; i++)
		for (word = 0; word < STATUS_WORDS; word++)
		{
			print_labels("wrong", &found[i]);
			output_text(",word=\"%s\"} %d\n", status_words[word], found[i].wrong[word]);
		}
	print_metric("looked_timestamp_seconds", "When the server was last looked at with success.", found, count, looked_of);
	print_metric("built_timestamp_seconds", "When the list was built on the server.", found, count, built_of);
	print_metric("changed_timestamp_seconds", "When the file was last replaced.", found, count, changed_of);
	print_metric("serial", "The serial of the list's content.", found, count, serial_of);
	print_metric("failures", "Looks that failed since the last one that went well.", found, count, failures_of);
}

void
status_print(const file_status *found, int count, status_form form)
{
	int			i;

	if (form == FORM_PROMETHEUS)
		print_prometheus(found, count);
	for (i = 0; i < count; i++)
		if (form == FORM_JSON)
			print_json(&found[i]);
		else if (form == FORM_TEXT)
			print_text(&found[i], count > 1);
}
