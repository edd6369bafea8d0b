/*
 * output.c
 *	  Standard output, buffered, with every failure to write noticed.
 */
#include "output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_values.h"

static void
check(bool written)
{
	if (!written)
		fail("cannot write to standard output: %s", strerror(errno));
}

void
output_flush(void)
{
	check(fflush(stdout) == 0);
}

void
output_bytes(const char *bytes, size_t length)
{
	check(fwrite(bytes, 1, length, stdout) == length);
}

void
output_byte(char byte)
{
	check(putchar(byte) != EOF);
}

void
output_text(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	check(vprintf(format, arguments) >= 0);
	va_end(arguments);
}

char *
json_text(const char *text)
{
	char	   *quoted = allocate(NULL, 6 * strlen(text) + 3, 1);
	char	   *end = quoted;

	*end++ = '"';
	while (*text != '\0')
	{
		bool		shown;
		size_t		length = feed_character(text, &shown);

		if (length == 0)
			end += sprintf(end, "\\ufffd");
		else if (*text == '"' || *text == '\\')
			end += sprintf(end, "\\%c", *text);
		else if ((unsigned char) *text < ' ')
			end += sprintf(end, "\\u%04x", (unsigned) *text);
		else
			end += sprintf(end, "%.*s", (int) length, text);
		text += length > 0 ? length : 1;
	}
	strcpy(end, "\"");
	return quoted;
}

void
output_json(const char *text)
{
	char	   *quoted = json_text(text);

	output_bytes(quoted, strlen(quoted));
	free(quoted);
}
