/*
 * messages.c
 *	  What the program says: messages on standard error, answers on standard output.
 */
#include "messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_values.h"
#include "system.h"

/* A message's text is cut off where it is longer. */
#define MESSAGE_BYTES 1024

static bool timed;

void
message_time(char text[TIME_TEXT_BYTES], time_t time)
{
	struct tm	parts;

	gmtime_r(&time, &parts);
	strftime(text, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

void
messages_have_time(void)
{
	timed = true;
}

void
make_plain(char *text)
{
	while (*text != '\0')
	{
		bool		shown;
		size_t		length = feed_character(text, &shown);

		if (!shown)
			memset(text, '?', length > 0 ? length : 1);
		text += length > 0 ? length : 1;
	}
}

static LIKE_PRINTF(4, 0) void
say(FILE *to, const char *name, char said[MESSAGE_BYTES], const char *format, va_list arguments)
{
	char		time_text[TIME_TEXT_BYTES];
	char		text[MESSAGE_BYTES];
	char	   *rest;
	char	   *line;

	message_time(time_text, time(NULL));
	vsnprintf(text, sizeof text, format, arguments);
	/* the lines of libpq's are joined */
	said[0] = '\0';
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
	{
		size_t		length = strlen(said);

		snprintf(said + length, MESSAGE_BYTES - length, "%s%s", length > 0 ? "; " : "", line + strspn(line, "\t "));
	}
	make_plain(said);
	fprintf(to, "%s%s%s%s\n", timed ? time_text : "", timed ? " " : "", name, said);
}

static char complaint[MESSAGE_BYTES];

bool
complain(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(stderr, "bloomfilter: ", complaint, format, arguments);
	va_end(arguments);
	return false;
}

const char *
last_complaint(void)
{
	return complaint;
}

void
announce(const char *format,...)
{
	char		said[MESSAGE_BYTES];
	va_list		arguments;

	va_start(arguments, format);
	say(stdout, "", said, format, arguments);
	va_end(arguments);
	fflush(stdout);
}

void
fail(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(stderr, "bloomfilter: ", complaint, format, arguments);
	va_end(arguments);
	exit(STATUS_TROUBLE);
}

/* ------------------------------------------------------------------------
 * Standard output
 * ------------------------------------------------------------------------ */

void
output_flush(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("cannot write to standard output: %s", strerror(errno));
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

	fputs(quoted, stdout);
	free(quoted);
}
