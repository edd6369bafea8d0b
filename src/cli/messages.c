/*
 * messages.c
 *	  Exit statuses, and what is said on standard error.
 */
#include "messages.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "progress.h"

static void say(const char *format, va_list arguments) LIKE_PRINTF(1, 0);

static void
say(const char *format, va_list arguments)
{
	progress_clear();
	fputs("bloomfilter: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void
complain(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void
fail(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(format, arguments);
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
