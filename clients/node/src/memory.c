/*
 * memory.c
 *	  string.h for WebAssembly, whose own instructions copy and fill.
 *
 * The core copies and fills a few bytes at a time, which compilers turn into
 * loads and stores; these are for the rest.
 */
#define READER_DEFINES_STRING
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
