/*
 * stdlib.h
 *	  Names that xxhash.h mentions in functions that are never called here.
 */
#ifndef READER_STDLIB_H
#define READER_STDLIB_H

#include <stddef.h>

extern void *malloc(size_t length);
extern void free(void *memory);

#endif							/* READER_STDLIB_H */
