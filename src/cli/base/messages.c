/*
 * messages.c
 *	  What is said on standard error, and memory, whose lack ends the program.
 */
#include "messages.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../lib/libbloomfilter.h"

/* A message's text is cut off where it is longer. */
#define MESSAGE_BYTES 1024

double
monotonic_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------ */

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

static char subject[128];

void
message_about(const char *about)
{
	snprintf(subject, sizeof subject, "%s%s", about != NULL ? about : "", about != NULL ? ": " : "");
}

/* The bytes of a character in UTF-8 at most. */
#define CHARACTER_BYTES 4

size_t
character_bytes(const char *text)
{
	bloomfilter_slice key;
	size_t		length;

	for (length = 1; length <= CHARACTER_BYTES && text[length - 1] != '\0'; length++)
		if (bloomfilter_text_key(BLOOMFILTER_KEY_TEXT, text, length, NULL, 0, &key, NULL) == BLOOMFILTER_OK)
			return length;
	return 0;
}

static bool
is_plain(const unsigned char *text, size_t length)
{
	/* U+0080 to U+009F, U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 */
	if (length == 2)
		return !(text[0] == 0xc2 && text[1] < 0xa0) && !(text[0] == 0xd8 && text[1] == 0x9c);
	if (length == 3 && text[0] == 0xe2)
		return !(text[1] == 0x80 && (text[2] == 0x8e || text[2] == 0x8f || (text[2] >= 0xaa && text[2] <= 0xae))) &&
			!(text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
	return length > 0 && text[0] >= ' ' && text[0] != 0x7f;
}

void
make_plain(char *text)
{
	while (*text != '\0')
	{
		size_t		length = character_bytes(text);

		if (!is_plain((const unsigned char *) text, length))
			memset(text, '?', length > 0 ? length : 1);
		text += length > 0 ? length : 1;
	}
}

/* Copies a text, its lines joined by "; ": those of libpq. */
static void
copy_line(char line[MESSAGE_BYTES], const char *text)
{
	size_t		length = 0;

	while (*text != '\0' && length + 3 < MESSAGE_BYTES)
	{
		if (*text != '\n')
			line[length++] = *text;
		else if (text[1] != '\0')
		{
			line[length++] = ';';
			line[length++] = ' ';
		}
		text += 1 + (*text == '\n' ? strspn(text + 1, "\n\t ") : 0);
	}
	line[length] = '\0';
}

static void say(FILE *to, const char *name, char said[MESSAGE_BYTES], const char *format, va_list arguments) LIKE_PRINTF(4, 0);

static void
say(FILE *to, const char *name, char said[MESSAGE_BYTES], const char *format, va_list arguments)
{
	char		time_text[TIME_TEXT_BYTES];
	char		text[MESSAGE_BYTES];

	message_time(time_text, time(NULL));
	vsnprintf(text, sizeof text, format, arguments);
	copy_line(said, text);
	make_plain(said);
	fprintf(to, "%s%s%s%s%s\n", timed ? time_text : "", timed ? " " : "", name, subject, said);
}

static char complaint[MESSAGE_BYTES];

void
complain(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(stderr, "bloomfilter: ", complaint, format, arguments);
	va_end(arguments);
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

void *
allocate(void *old, size_t count, size_t size)
{
	void	   *memory;

	if (size != 0 && count > SIZE_MAX / size)
		fail("out of memory");
	memory = realloc(old, count * size);
	if (memory == NULL && count * size != 0)
		fail("out of memory: %zu bytes are not to be had", count * size);
	return memory;
}

char *
text_of(const char *format,...)
{
	va_list		arguments;
	char	   *text;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		fail("cannot format a text");
	text = allocate(NULL, (size_t) length + 1, 1);
	va_start(arguments, format);
	vsnprintf(text, (size_t) length + 1, format, arguments);
	va_end(arguments);
	return text;
}
