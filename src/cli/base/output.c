/*
 * output.c
 *	  Standard output, buffered, with every failure to write noticed.
 */
#include "output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/libbloomfilter.h"

#define BUFFER_BYTES ((size_t) 64 * 1024)

static char buffer[BUFFER_BYTES];
static size_t used;

/* Writes all of it, or gives the rest up and returns false with errno. */
static bool
write_all(const char *bytes, size_t length)
{
	while (length > 0)
	{
		ssize_t		written = write(STDOUT_FILENO, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		bytes += written;
		length -= (size_t) written;
	}
	return true;
}

bool
output_try_flush(void)
{
	size_t		length = used;

	used = 0;
	return write_all(buffer, length);
}

static _Noreturn void
give_up(void)
{
	fail("cannot write to standard output: %s", strerror(errno));
}

void
output_flush(void)
{
	if (!output_try_flush())
		give_up();
}

void
output_bytes(const char *bytes, size_t length)
{
	if (length > BUFFER_BYTES - used)
		output_flush();
	if (length > BUFFER_BYTES)
	{
		if (!write_all(bytes, length))
			give_up();
	}
	else
	{
		memcpy(buffer + used, bytes, length);
		used += length;
	}
}

void
output_byte(char byte)
{
	if (used == BUFFER_BYTES)
		output_flush();
	buffer[used++] = byte;
}

void
output_text(const char *format,...)
{
	char		text[OUTPUT_TEXT_BYTES];
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t) length >= sizeof text)
		fail("cannot format a line of output");
	output_bytes(text, (size_t) length);
}

bool
output_news(const char *format,...)
{
	char		prefix[TIME_TEXT_BYTES + 1];
	char		text[OUTPUT_TEXT_BYTES / 2];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	message_prefix(prefix);
	progress_clear();
	output_text("%s%s%s\n", prefix, message_subject(), text);
	return output_try_flush();
}

/* The bytes of a character in UTF-8 at most. */
#define CHARACTER_BYTES 4

/* Bytes of the character at the beginning of text, 0 if there is none. */
static size_t
character_length(const char *text)
{
	bloomfilter_slice key;
	size_t		length;

	for (length = 1; length <= CHARACTER_BYTES && text[length - 1] != '\0'; length++)
		if (bloomfilter_text_key(BLOOMFILTER_KEY_TEXT, text, length, NULL, 0, &key, NULL) == BLOOMFILTER_OK)
			return length;
	return 0;
}

/*
 * A string in quotes.  Bytes that are not UTF-8, as file names may have, become
 * U+FFFD: JSON has no others.
 */
void
output_json(const char *text)
{
	output_byte('"');
	while (*text != '\0')
	{
		size_t		length = character_length(text);

		if (length == 0)
			output_text("\\ufffd");
		else if (*text == '"' || *text == '\\')
			output_text("\\%c", *text);
		else if ((unsigned char) *text < ' ')
			output_text("\\u%04x", (unsigned) *text);
		else
			output_bytes(text, length);
		text += length > 0 ? length : 1;
	}
	output_byte('"');
}
