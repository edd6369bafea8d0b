/*
 * sort.h
 *	  The counting sort of numbers by a key that a function computes of each.
 *
 * Keys of look-ups and builds are brought into the order of the pages, parts or regions that they
 * belong to.  There are few of these, and no order is needed within one: a comparison sort of
 * whole numbers takes longer.
 */
#ifndef BFPG_SORT_H
#define BFPG_SORT_H

#include "miscadmin.h"

/* Numbers between two looks at whether the query is cancelled. */
#define BFPG_SORT_STEP 1048576

/* Until where numbers are taken before the next look. */
static inline Size
bfpg_sort_step(Size at, Size count)
{
	CHECK_FOR_INTERRUPTS();
	return Min(at + BFPG_SORT_STEP, count);
}

/* By what a number is sorted; context is the caller's. */
typedef uint32 (*BfpgSortKey) (uint64 number, const void *context);

/*
 * Sorts numbers into another array of the same size; numbers of one key stay in their order.
 * Keys are below keys, and ends, of which the caller has allocated as many, has the end of each
 * key's numbers afterwards.  Inlined, so that the key function is, too.
 */
static pg_attribute_always_inline void
bfpg_counting_sort(const uint64 *numbers, Size count, uint64 *sorted, Size *ends, uint32 keys,
				   BfpgSortKey key_of, const void *context)
{
	Size		start = 0;
	Size		next;
	uint32		key;
	Size		i;

	memset(ends, 0, keys * sizeof(Size));
	for (i = 0; i < count;)
		for (next = bfpg_sort_step(i, count); i < next; i++)
			ends[key_of(numbers[i], context)]++;
	for (key = 0; key < keys; key++)
	{
		Size		length = ends[key];

		ends[key] = start;
		start += length;
	}
	for (i = 0; i < count;)
		for (next = bfpg_sort_step(i, count); i < next; i++)
			sorted[ends[key_of(numbers[i], context)]++] = numbers[i];
}

#endif							/* BFPG_SORT_H */
