/*
 * header_cache.h
 *	  Headers of stored filters, kept for a moment from statement to statement.
 *
 * A look-up by primary key is a statement of its own and reads two slices, of the
 * header and of the block.  The header is the same each time; remembering it saves
 * half of the work.
 *
 * A stored value is known by its TOAST pointer.  Its identifier is taken from a
 * 32-bit counter and is not given to another value before the counter has gone
 * round, which takes four billion new objects.  So what was read within the last
 * second is of the same value, whatever has been deleted and vacuumed since.
 */
#ifndef BFPG_HEADER_CACHE_H
#define BFPG_HEADER_CACHE_H

#include "bf_format.h"
#include "pg_compat.h"

#pragma GCC visibility push(hidden)

/* Reads the header of a stored value, or remembers it. */
extern void bfpg_stored_header(Datum value, const struct varatt_external *pointer,
							   bf_header *header);

#pragma GCC visibility pop

#endif							/* BFPG_HEADER_CACHE_H */
