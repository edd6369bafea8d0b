/*
 * memory.c
 *	  string.h for WebAssembly, whose own instructions copy and fill.
 *
 * The core copies and fills a few bytes at a time, which compilers turn into
 * loads and stores; these are for the rest.
 */
#define READER_DEFINES_STRING
#include <stdint.h>
#include <string.h>

void *
memcpy(void *target, const void *source, size_t length)
{
	return __builtin_memmove(target, source, length);
}

void *
memmove(void *target, const void *source, size_t length)
{
	return __builtin_memmove(target, source, length);
}

void *
memset(void *target, int value, size_t length)
{
	return __builtin_memset(target, value, length);
}

int
memcmp(const void *a, const void *b, size_t length)
{
	const unsigned char *x = a;
	const unsigned char *y = b;
	size_t		i;

	for (i = 0; i < length; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

void *
memchr(const void *bytes, int byte, size_t length)
{
	const unsigned char *at = bytes;
	const unsigned char *end = at + length;

	for (; at < end; at++)
		if (*at == (unsigned char) byte)
			return (void *) (uintptr_t) at;
	return NULL;
}

size_t
strlen(const char *text)
{
	size_t		length = 0;

	while (text[length] != '\0')
		length++;
	return length;
}

int
strcmp(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b)
	{
		a++;
		b++;
	}
	return (unsigned char) *a - (unsigned char) *b;
}
