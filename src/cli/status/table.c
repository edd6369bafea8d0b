/*
 * table.c
 *	  Names, values and units of what bloomfilter status tells, as text, JSON and metrics.
 */
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "output.h"

/* ------------------------------------------------------------------------
 * Making a table
 * ------------------------------------------------------------------------ */

void
status_wrong(status_table *table, const char *word)
{
	uint32_t	i;

	table->healthy = false;
	for (i = 0; table->kind->words[i] != NULL; i++)
		if (strcmp(table->kind->words[i], word) == 0)
			table->wrong |= UINT32_C(1) << i;
}

static status_value *
add(status_table *table, const char *name, status_unit unit, const char *help)
{
	status_value *new;

	table->values = allocate(table->values, table->count + 1, sizeof *new);
	new = &table->values[table->count++];
	memset(new, 0, sizeof *new);
	new->name = name;
	new->unit = unit;
	new->help = help;
	return new;
}

void
status_add_text(status_table *table, const char *name, const char *text)
{
	status_value *new;

	if (text == NULL || text[0] == '\0')
		return;
	new = add(table, name, UNIT_TEXT, NULL);
	new->text = text_of("%s", text);
	make_plain(new->text);
}

void
status_add_number(status_table *table, const char *name, status_unit unit, int64_t number, const char *help)
{
	status_value *new;
	char		time[TIME_TEXT_BYTES];

	if (number < 0 || (number == 0 && (unit == UNIT_SERIAL || unit == UNIT_TIME)))
		return;
	new = add(table, name, unit, help);
	new->number = unit == UNIT_TIME ? (double) number / 1e6 : (double) number;
	if (unit == UNIT_TIME)
		message_time(time, (time_t) (number / 1000000));
	new->text = unit == UNIT_TIME ? text_of("%s", time) : text_of("%" PRId64, number);
}

void
status_add_parsed(status_table *table, const char *name, status_unit unit, const char *text, const char *help)
{
	status_value *new;

	if (text == NULL)
		return;
	if (unit != UNIT_REAL)
	{
		status_add_number(table, name, unit, strtoll(text, NULL, 10), help);
		return;
	}
	new = add(table, name, unit, help);
	new->number = strtod(text, NULL);
	new->text = text_of("%g", new->number);
}

/* ------------------------------------------------------------------------
 * Text and JSON
 * ------------------------------------------------------------------------ */

static void
print_words(const status_table *table, const char *quote, const char *between)
{
	const char *before = "";
	uint32_t	i;

	for (i = 0; table->kind->words[i] != NULL; i++)
		if (table->wrong >> i & 1)
		{
			output_text("%s%s%s%s", before, quote, table->kind->words[i], quote);
			before = between;
		}
}

static void
print_text(const status_table *table)
{
	size_t		i;

	output_text("%-15s  %s\n", table->kind->name, table->path);
	for (i = 0; i < table->count; i++)
		output_text("%-15s  %s%s\n", table->values[i].name, table->values[i].text,
					table->values[i].unit == UNIT_SECONDS ? " s" : "");
	if (table->wrong == 0)
		return;
	output_text("%-15s  ", "wrong");
	print_words(table, "", " ");
	output_byte('\n');
}

static void
print_json(const status_table *table)
{
	size_t		i;

	output_text("{\"%s\": ", table->kind->name);
	output_json(table->path);
	output_text(", \"known\": %s, \"healthy\": %s, \"wrong\": [", table->known ? "true" : "false",
				table->healthy ? "true" : "false");
	print_words(table, "\"", ", ");
	output_byte(']');
	for (i = 0; i < table->count; i++)
	{
		const status_value *value = &table->values[i];

		output_text(", \"%s\": ", value->name);
		if (value->unit == UNIT_TEXT || value->unit == UNIT_TIME || value->unit == UNIT_SERIAL)
			output_json(value->text);
		else
			output_text("%s", value->text);
	}
	output_text("}\n");
}

/* ------------------------------------------------------------------------
 * Prometheus: all of a metric stand together
 * ------------------------------------------------------------------------ */

/* A label's text. */
static void
print_label(const char *text)
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
print_labels(const status_table *table, const char *metric, const char *unit)
{
	output_text("%s%s%s{%s=\"", table->kind->prefix, metric, unit, table->kind->name);
	print_label(table->path);
	output_text("\",list=\"");
	print_label(table->list);
	output_byte('"');
}

static void
print_help(const status_kind *kind, const char *metric, const char *unit, const char *help)
{
	output_text("# HELP %s%s%s %s\n# TYPE %s%s%s gauge\n", kind->prefix, metric, unit, help, kind->prefix, metric, unit);
}

static void
print_health(const status_table *tables, size_t count, const status_kind *kind)
{
	size_t		i;
	uint32_t	word;

	print_help(kind, "healthy", "", "1 if nothing is wrong.");
	for (i = 0; i < count; i++)
		if (tables[i].kind == kind)
		{
			print_labels(&tables[i], "healthy", "");
			output_text("} %d\n", tables[i].healthy);
		}
	print_help(kind, "wrong", "", "1 for what is wrong, in a word.");
	for (i = 0; i < count; i++)
		for (word = 0; tables[i].kind == kind && kind->words[word] != NULL; word++)
		{
			print_labels(&tables[i], "wrong", "");
			output_text(",word=\"%s\"} %d\n", kind->words[word], (int) (tables[i].wrong >> word & 1));
		}
}

static const status_value *
find_value(const status_table *table, const char *name)
{
	size_t		i;

	for (i = 0; i < table->count; i++)
		if (strcmp(table->values[i].name, name) == 0)
			return &table->values[i];
	return NULL;
}

/* The metric of one name, where the first table that has it is at tables[0]. */
static void
print_metric(const status_table *tables, size_t count, const status_value *first)
{
	const char *unit = first->unit == UNIT_TIME ? "_timestamp_seconds" : first->unit == UNIT_SECONDS ? "_seconds" : "";
	const status_kind *kind = tables[0].kind;
	size_t		i;

	print_help(kind, first->name, unit, first->help);
	for (i = 0; i < count; i++)
	{
		const status_value *value = tables[i].kind == kind ? find_value(&tables[i], first->name) : NULL;

		if (value == NULL)
			continue;
		print_labels(&tables[i], first->name, unit);
		if (value->unit == UNIT_TIME)
			output_text("} %.3f\n", value->number);
		else
			output_text("} %s\n", value->text);
	}
}

/* Whether a table of the kind before this one has the value, and the metric was printed with it. */
static bool
was_printed(const status_table *tables, size_t before, const status_kind *kind, const char *name)
{
	size_t		i;

	for (i = 0; i < before; i++)
		if (tables[i].kind == kind && find_value(&tables[i], name) != NULL)
			return true;
	return false;
}

static void
print_prometheus(const status_table *tables, size_t count)
{
	size_t		i;
	size_t		j;

	for (i = 0; i < count; i++)
	{
		const status_table *table = &tables[i];

		for (j = 0; j < i && tables[j].kind != table->kind; j++)
			;
		if (j == i)
			print_health(tables, count, table->kind);
		for (j = 0; j < table->count; j++)
			if (table->values[j].help != NULL && !was_printed(tables, i, table->kind, table->values[j].name))
				print_metric(table, count - i, &table->values[j]);
	}
}

void
status_print(status_table *tables, size_t count, status_form form)
{
	size_t		i;
	size_t		j;

	if (form == FORM_PROMETHEUS)
		print_prometheus(tables, count);
	for (i = 0; i < count; i++)
	{
		if (form == FORM_JSON)
			print_json(&tables[i]);
		else if (form == FORM_TEXT && tables[i].known)
		{
			if (i > 0)
				output_byte('\n');
			print_text(&tables[i]);
		}
		for (j = 0; j < tables[i].count; j++)
			free(tables[i].values[j].text);
	}
	for (i = 0; i < count; i++)
		free(tables[i].values);
}
