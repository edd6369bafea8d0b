/*
 * table.c
 *	  Names, values and units of what bloomfilter status tells, as text, JSON and metrics.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------
 * Making a table
 * ------------------------------------------------------------------------ */

void
status_wrong(status_table *table, const char *word, const char *format,...)
{
	char		text[1024];
	va_list		arguments;
	uint32_t	i;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	complain("%s: %s: %s", table->path, word, text);
	table->healthy = false;
	for (i = 0; table->kind->words[i] != NULL; i++)
		if (strcmp(table->kind->words[i], word) == 0)
			table->wrong |= UINT32_C(1) << i;
}

void
status_add(status_table *table, const char *name, status_unit unit, const char *format,...)
{
	char		text[1024];
	status_value *new;
	va_list		arguments;
	bool		number = unit != UNIT_TEXT;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	make_plain(text);
	if (text[0] == '\0' || (number && text[0] == '-') ||
		(number && unit != UNIT_NUMBER && unit != UNIT_SECONDS && strcmp(text, "0") == 0))
		return;
	table->values = allocate(table->values, table->count + 1, sizeof *new);
	new = &table->values[table->count++];
	snprintf(new->name, sizeof new->name, "%s", name);
	new->unit = unit == UNIT_SINCE ? UNIT_TIME : unit;
	new->text = text_of("%s", text);
	if (unit == UNIT_SINCE)
	{
		char		age[sizeof new->name + sizeof "_age"];

		/* of true_at true_age, as a file has it */
		snprintf(age, sizeof age, "%.*s_age", (int) strlen(name) - (strstr(name, "_at") != NULL ? 3 : 0), name);
		status_add(table, age, UNIT_SECONDS, "%lld", ((long long) time_now() - strtoll(text, NULL, 10)) / 1000000);
	}
}

const char *
status_text(const status_table *table, const char *name)
{
	size_t		i;

	for (i = 0; i < table->count; i++)
		if (strcmp(table->values[i].name, name) == 0)
			return table->values[i].text;
	return "";
}

double
status_number(const status_table *table, const char *name)
{
	return strtod(status_text(table, name), NULL);
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
			printf("%s%s%s%s", before, quote, table->kind->words[i], quote);
			before = between;
		}
}

/* As people see it; time is where that of a time goes. */
static const char *
shown(const status_value *value, char time[TIME_TEXT_BYTES])
{
	if (value->unit != UNIT_TIME)
		return value->text;
	message_time(time, (time_t) (strtoll(value->text, NULL, 10) / 1000000));
	return time;
}

static void
print_text(const status_table *table)
{
	char		time[TIME_TEXT_BYTES];
	size_t		i;

	printf("%-15s  %s\n", table->kind->name, table->path);
	for (i = 0; i < table->count; i++)
		printf("%-15s  %s%s\n", table->values[i].name, shown(&table->values[i], time),
			   table->values[i].unit == UNIT_SECONDS ? " s" : "");
	if (table->wrong == 0)
		return;
	printf("%-15s  ", "wrong");
	print_words(table, "", " ");
	putchar('\n');
}

static void
print_json(const status_table *table)
{
	char		time[TIME_TEXT_BYTES];
	size_t		i;

	printf("{\"%s\": ", table->kind->name);
	output_json(table->path);
	printf(", \"known\": %s, \"healthy\": %s, \"wrong\": [", table->known ? "true" : "false",
		   table->healthy ? "true" : "false");
	print_words(table, "\"", ", ");
	putchar(']');
	for (i = 0; i < table->count; i++)
	{
		const status_value *value = &table->values[i];

		printf(", \"%s\": ", value->name);
		if (value->unit == UNIT_NUMBER || value->unit == UNIT_SECONDS)
			printf("%s", value->text);
		else
			output_json(shown(value, time));
	}
	printf("}\n");
}

/* ------------------------------------------------------------------------
 * Prometheus: all of a metric stand together, so its lines are sorted
 * ------------------------------------------------------------------------ */

typedef struct metric_lines
{
	char	  **lines;
	size_t		count;
} metric_lines;

static void
add_metric(metric_lines *to, const status_table *table, const char *name, const char *label, const char *value)
{
	char	   *path = text_of("%s", table->path);
	char	   *quoted;
	char	   *list = json_text(status_text(table, "list"));

	make_plain(path);
	quoted = json_text(path);
	to->lines = allocate(to->lines, to->count + 1, sizeof *to->lines);
	to->lines[to->count++] = text_of("%s%s{%s=%s,list=%s%s} %s\n", table->kind->prefix, name, table->kind->name, quoted, list,
									 label, value);
	free(list);
	free(quoted);
	free(path);
}

static void
add_metrics(metric_lines *to, const status_table *table)
{
	char		name[64];
	char		text[64];
	size_t		i;

	add_metric(to, table, "healthy", "", table->healthy ? "1" : "0");
	for (i = 0; table->kind->words[i] != NULL; i++)
	{
		snprintf(text, sizeof text, ",reason=\"%s\"", table->kind->words[i]);
		add_metric(to, table, "wrong", text, table->wrong >> i & 1 ? "1" : "0");
	}
	for (i = 0; i < table->count; i++)
	{
		const status_value *value = &table->values[i];
		bool		time = value->unit == UNIT_TIME;

		snprintf(name, sizeof name, "%s%s", value->name, time ? "_timestamp_seconds" : value->unit == UNIT_SECONDS ? "_seconds" : "");
		snprintf(text, sizeof text, "%.3f", strtod(value->text, NULL) / 1e6);
		if (value->unit != UNIT_TEXT)
			add_metric(to, table, name, "", time ? text : value->text);
	}
}

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static void
print_metrics(const status_table *tables, size_t count)
{
	metric_lines all = {NULL, 0};
	size_t		i;

	for (i = 0; i < count; i++)
		add_metrics(&all, &tables[i]);
	qsort(all.lines, all.count, sizeof *all.lines, compare_lines);
	for (i = 0; i < all.count; i++)
	{
		size_t		name = strcspn(all.lines[i], "{") + 1;

		if (i == 0 || strncmp(all.lines[i], all.lines[i - 1], name) != 0)
			printf("# TYPE %.*s gauge\n", (int) name - 1, all.lines[i]);
		fputs(all.lines[i], stdout);
	}
	for (i = 0; i < all.count; i++)
		free(all.lines[i]);
	free(all.lines);
}

void
status_print(status_table *tables, size_t count, status_form form)
{
	size_t		i;
	size_t		j;

	if (form == FORM_PROMETHEUS)
		print_metrics(tables, count);
	for (i = 0; i < count; i++)
	{
		if (form == FORM_JSON)
			print_json(&tables[i]);
		else if (form == FORM_TEXT && tables[i].known)
		{
			if (i > 0)
				putchar('\n');
			print_text(&tables[i]);
		}
		for (j = 0; j < tables[i].count; j++)
			free(tables[i].values[j].text);
		free(tables[i].values);
	}
}
