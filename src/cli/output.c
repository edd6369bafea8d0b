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
