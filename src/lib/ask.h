/*
 * ask.h
 *	  What asking and adding share: changes by day, hashes of arrays of keys, parts of a set.
 */
#ifndef LBF_ASK_H
#define LBF_ASK_H

#include "bf_batch.h"
#include "feed_table.h"
#include "handle.h"

/*
 * Whether keys were changed by day: else the filters say all.  Of most filters this is one load
 * from the handle.
 */
static inline bool
lbf_has_changes(const bloomfilter *filter)
{
	return filter->changes.page != NULL && feed_load(filter->changes.page, FEED_TABLE_COUNT) != 0;
}

/* Fetches what lbf_change_of reads of most keys. */
static inline void
lbf_fetch_change(const bloomfilter *filter, uint64_t hash)
{
	if (filter->changes.slots != NULL)
		__builtin_prefetch(filter->changes.slots + feed_bit_at(hash, filter->who.log2_slots));
}

/* What the table of such a filter says of a key. */
static inline uint64_t
lbf_change_of(const bloomfilter *filter, uint64_t hash, const void *key, size_t length)
{
	if (filter->changes.slots == NULL)
		return FEED_DAMAGED;
	return feed_table_ask(filter->changes.slots, filter->who.log2_slots, hash, key, length);
}

/* An array of keys in one of the forms that callers have them in. */
typedef struct lbf_keys
{
	int			type;
	const bloomfilter_slice *slices;	/* one of these two */
	const int64_t *integers;
} lbf_keys;

/*
 * Hashes keys from the one at start on, for a filter that holds keys of a type, or
 * none.  Returns how many of count were hashed; where these are fewer, *code says
 * what is wrong with the next one.
 */
extern size_t lbf_hash_keys(const lbf_keys *keys, size_t start, size_t count, uint32_t held,
							uint64_t seed, uint64_t *hashes, int *code);

/* Hashes handled at a time. */
#define LBF_CHUNK 256

/* The number of the part that a hash belongs to; of what is open, the only one. */
static inline uint32_t
lbf_part_of(const bloomfilter *filter, uint64_t hash)
{
	return filter->open_parts > 1 ? bf_part_of(hash, filter->open_parts) : 0;
}

/* The answer for a hash, or that it belongs to a part which is not open. */
static inline int
lbf_ask_hash(const bloomfilter *filter, uint64_t hash)
{
	const lbf_part *part = &filter->part[lbf_part_of(filter, hash)];

	if (filter->open_parts == 1 && !bf_in_part(&part->shape.level[0], hash))
		return BLOOMFILTER_ERR_OTHER_PART;
	return bf_shape_contains(&part->shape, lbf_blocks(part), hash);
}

/* Has the block of a hash on its way.  Inlined by force: see bf_batch.h. */
BF_INLINE void
lbf_fetch(const bloomfilter *filter, uint64_t hash)
{
	const lbf_part *part = &filter->part[lbf_part_of(filter, hash)];

	bf_fetch(&part->shape.level[0], lbf_blocks(part), hash);
}

/*
 * What asking and adding refuse: keys of a type that is not the one held.  Of rows
 * both have their columns, or neither.
 */
static inline int
lbf_type_code(uint32_t held, uint32_t type)
{
	return held == 0 || held == type ? BLOOMFILTER_OK :
		held == LBF_LOST ? BLOOMFILTER_ERR_LOST : BLOOMFILTER_ERR_KEY_TYPE;
}

#endif							/* LBF_ASK_H */
