/*
 * batch.h
 *	  Turning arrays of keys into hashes, for asking and for adding.
 */
#ifndef LBF_BATCH_H
#define LBF_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "libbloomfilter.h"

/* An array of keys in one of the forms that callers have them in. */
typedef struct lbf_keys
{
	int			type;
	const bloomfilter_slice *slices;	/* one of these two */
	const int64_t *integers;
} lbf_keys;

/*
 * The type of keys, of which there is one, of rows with the first one's columns: all
 * must be alike.
 */
extern uint32_t lbf_keys_type(const lbf_keys *keys);

/*
 * Hashes keys from the one at start on, for a filter that holds keys of a type, or
 * none.  Returns how many of count were hashed; where these are fewer, *code says
 * what is wrong with the next one.
 */
extern size_t lbf_hash_keys(const lbf_keys *keys, size_t start, size_t count,
							uint32_t held, uint64_t seed, uint64_t *hashes,
							int *code);

#endif							/* LBF_BATCH_H */
