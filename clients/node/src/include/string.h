/*
 * string.h
 *	  The few functions of the C library that the core needs, for WebAssembly.
 */
#ifndef READER_STRING_H
#define READER_STRING_H

#include <stddef.h>

extern void *memcpy(void *target, const void *source, size_t length);
extern void *memmove(void *target, const void *source, size_t length);
extern void *memset(void *target, int value, size_t length);
extern int	memcmp(const void *a, const void *b, size_t length);

#endif							/* READER_STRING_H */
