/*
 * copy_text.h
 *	  Rows as PostgreSQL's COPY prints them in its text format.
 */
#ifndef CLI_COPY_TEXT_H
#define CLI_COPY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A text of so many bytes: text[length] may be read, as it is a delimiter or a zero byte.  So
 * functions that stop at the first foreign character, as strtod does, need no copy.
 */
typedef struct text_line
{
	const char *text;			/* NULL: COPY's \N */
	size_t		length;
} text_line;

/*
 * The columns of a row without their escapes; plain has room for the row's length and a byte
 * for each column.  Returns how many there are, of which at most so many are in columns.
 */
extern size_t copy_text_split(const text_line *row, char *plain, text_line *columns, size_t most);

#endif							/* CLI_COPY_TEXT_H */
