/*
 * doors.h
 *	  All ways by which the bytes of a filter come into the library.
 */
#ifndef DOORS_H
#define DOORS_H

#include <stddef.h>

#include "libbloomfilter.h"

#define DOORS 4

extern const char *const door_names[DOORS];

/* Opens bytes through a door; the bytes must stay until the filter is closed. */
extern int	open_by_door(int door, const void *bytes, size_t length,
						 bloomfilter **filter, bloomfilter_detail *detail);

#endif							/* DOORS_H */
