/*
 * bf_delta_malloc.h
 *	  An allocator for deltas by malloc and free, for programs outside of the server.
 */
#ifndef BF_DELTA_MALLOC_H
#define BF_DELTA_MALLOC_H

#include <stdlib.h>

#include "bf_delta.h"

static inline void *
bfd_malloc(void *context, size_t size)
{
	(void) context;
	return malloc(size);
}

static inline void
bfd_free(void *context, void *memory)
{
	(void) context;
	free(memory);
}

static const bfd_allocator bfd_by_malloc = {bfd_malloc, bfd_free, NULL};

#endif							/* BF_DELTA_MALLOC_H */
