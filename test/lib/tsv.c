/*
 * tsv.c
 *	  Reading the golden files of test/vectors.
 */
#include "tsv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "tap.h"

#define MOST_COLUMNS 32

struct tsv
{
	char	   *text;
	char	   *at;
	char	   *names[MOST_COLUMNS];
	char	   *fields[MOST_COLUMNS];
	int			columns;
};

/* Splits a line, which ends at a newline, at its tabs; returns what follows. */
static char *
split(char *line, char **fields, int *count)
{
	char	   *newline = strchr(line, '\n');

	need(newline != NULL, "line without end");
	*newline = '\0';
	*count = 0;
	for (;;)
	{
		char	   *tab = strchr(line, '\t');

		need(*count < MOST_COLUMNS, "too many columns");
		fields[(*count)++] = line;
		if (tab == NULL)
			return newline + 1;
		*tab = '\0';
		line = tab + 1;
	}
}

tsv *
tsv_open(const char *name)
{
	tsv		   *table = calloc(1, sizeof *table);
	char		path[4096];
	size_t		length;

	need(table != NULL, "memory");
	snprintf(path, sizeof path, "%s/%s", VECTORS, name);
	table->text = (char *) read_file(path, &length);
	need(table->text[0] == '#', "header line");
	table->at = split(table->text + 1, table->names, &table->columns);
	return table;
}

void
tsv_close(tsv *table)
{
	free(table->text);
	free(table);
}

int
tsv_next(tsv *table)
{
	int			count;

	if (*table->at == '\0')
		return 0;
	table->at = split(table->at, table->fields, &count);
	need(count == table->columns, "columns of a row");
	return 1;
}

void
tsv_each(const char *name, tsv_row call)
{
	tsv		   *table = tsv_open(name);

	while (tsv_next(table))
		call(table);
	tsv_close(table);
}

const char *
tsv_text(const tsv *table, const char *column)
{
	int			i;

	for (i = 0; i < table->columns; i++)
		if (strcmp(table->names[i], column) == 0)
			return table->fields[i];
	need(false, column);
	return NULL;
}

uint64_t
tsv_number(const tsv *table, const char *column)
{
	return strtoull(tsv_text(table, column), NULL, 10);
}

uint64_t
tsv_hex_number(const tsv *table, const char *column)
{
	return strtoull(tsv_text(table, column), NULL, 16);
}

uint8_t *
tsv_bytes(const tsv *table, const char *column, size_t *length)
{
	const char *hex = tsv_text(table, column);
	/* Of its exact length, so that reading beyond it is seen. */
	uint8_t    *bytes = malloc(strlen(hex) > 1 ? strlen(hex) / 2 : 1);

	need(bytes != NULL, "memory");
	*length = from_hex(hex, strlen(hex), bytes);
	return bytes;
}

void
tsv_keys(const tsv *table, const char *column, tsv_key call, void *context)
{
	const char *list = tsv_text(table, column);

	if (strcmp(list, "-") == 0)
		return;
	for (;;)
	{
		size_t		digits = strcspn(list, ",");
		uint8_t    *bytes = malloc(digits / 2 + 1);

		need(bytes != NULL, "memory");
		call(context, bytes, from_hex(list, digits, bytes));
		free(bytes);
		if (list[digits] == '\0')
			return;
		list += digits + 1;
	}
}
