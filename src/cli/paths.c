/*
 * paths.c
 *	  Strings in new memory.
 */
#include "paths.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

const char *
name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

char *
folder_of(const char *path)
{
	const char *name = name_of(path);

	if (name == path)
		return text_of(".");
	return text_of("%.*s", (int) (name - path), path);
}
