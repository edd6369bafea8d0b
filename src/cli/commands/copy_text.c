/*
 * copy_text.c
 *	  Rows as PostgreSQL's COPY prints them in its text format.
 *
 * What COPY FROM reads is read here alike: a backslash before any other character means that one.
 */
#include "input.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What at most so many digits behind a backslash mean, of which the first is one; *at is moved behind them. */
static char
numbered(const char **at, const char *end, int base, int most)
{
	char		digits[4] = "";
	char	   *after;
	long		value;

	memcpy(digits, *at, (size_t) (end - *at < most ? end - *at : most));
	value = strtol(digits, &after, base);
	*at += after - digits;
	return (char) (value & 0xff);
}

/* What stands behind a backslash; *at is moved behind it. */
static char
escaped(const char **at, const char *end)
{
	static const char letters[] = "bfnrtv";
	static const char meant[] = "\b\f\n\r\t\v";
	char		character = **at;
	const char *letter = character == '\0' ? NULL : strchr(letters, character);

	if (character >= '0' && character <= '7')
		return numbered(at, end, 8, 3);
	++*at;
	if (character == 'x' && *at < end && isxdigit((unsigned char) **at))
		return numbered(at, end, 16, 2);
	return letter != NULL ? meant[letter - letters] : character;
}

/* A column that ends at the next tab, or at the row's end. */
static text_line
read_column(const char **at, const char *end, char **plain)
{
	const char *tab = memchr(*at, '\t', (size_t) (end - *at));
	text_line	column = {*plain, 0};

	if (tab != NULL)
		end = tab;
	if (end - *at == 2 && memcmp(*at, "\\N", 2) == 0)
	{
		*at = end;
		return (text_line) {NULL, 0};
	}
	while (*at < end)
	{
		char		character = *(*at)++;

		*(*plain)++ = character == '\\' && *at < end ? escaped(at, end) : character;
	}
	column.length = (size_t) (*plain - column.text);
	*(*plain)++ = '\0';
	return column;
}

size_t
copy_text_split(const text_line *row, char *plain, text_line *columns, size_t most)
{
	const char *at = row->text;
	const char *end = at + row->length;
	text_line	column;
	size_t		count = 0;

	for (;;)
	{
		/* of those that are too many nothing is kept but their number */
		char	   *begin = plain;

		column = read_column(&at, end, &plain);
		if (count < most)
			columns[count] = column;
		else
			plain = begin;
		count++;
		if (at == end)
			return count;
		/* behind the tab */
		at++;
	}
}
