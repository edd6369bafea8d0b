/*
 * string.h
 *	  The few functions of the C library that our sources need, for WebAssembly.
 */
#ifndef READER_STRING_H
#define READER_STRING_H

#include <stddef.h>

extern void *memcpy(void *target, const void *source, size_t length);
extern void *memmove(void *target, const void *source, size_t length);
extern void *memset(void *target, int value, size_t length);
extern int	memcmp(const void *a, const void *b, size_t length);
extern void *memchr(const void *bytes, int byte, size_t length);
extern size_t strlen(const char *text);
extern int	strcmp(const char *a, const char *b);

/*
 * Without a C library the compiler calls these functions for the smallest copy,
 * unless it is told that they are what their names say.
 */
#ifndef READER_DEFINES_STRING
#define memcpy(target, source, length) __builtin_memcpy(target, source, length)
#define memmove(target, source, length) __builtin_memmove(target, source, length)
#define memset(target, value, length) __builtin_memset(target, value, length)
#define memcmp(a, b, length) __builtin_memcmp(a, b, length)
#endif

#endif							/* READER_STRING_H */
