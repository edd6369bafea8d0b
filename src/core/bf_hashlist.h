/*
 * bf_hashlist.h
 *	  A list of hashes made into a set: sorted, each once.
 *
 * While a build's keys are few, or their number is not known, their hashes are
 * kept in a list.  Sorted, it is the same for the same keys, adding it to a
 * filter walks through memory in order (blocks rise with hashes), and no keys,
 * however chosen, make it slow.
 */
#ifndef BF_HASHLIST_H
#define BF_HASHLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_limits.h"

/* Sorts numbers in place: hashes, or others, in the same bounded time. */
extern void bf_hashlist_sort(uint64_t *numbers, size_t count, bf_tick tick);

/* Sorts hashes in place, drops repeats, and returns how many are left. */
extern size_t bf_hashlist_unique(uint64_t *hashes, size_t count, bf_tick tick);

/* Whether hashes are sorted, each once. */
extern bool bf_hashlist_is_set(const uint64_t *hashes, size_t count);

/*
 * Merges another set into a set whose list has room for both, and returns how many
 * there are then.
 */
extern size_t bf_hashlist_merge(uint64_t *hashes, size_t count,
								const uint64_t *other, size_t other_count,
								bf_tick tick);

#endif							/* BF_HASHLIST_H */
