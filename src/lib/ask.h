/*
 * ask.h
 *	  Turning arrays of keys into hashes, and sorting these by the part of a set that they
 *	  belong to: for asking and for adding.
 *
 * Batches are worked off in chunks.  Within a chunk, the hashes of one part are
 * gathered, so that the core's loops with their prefetching work on one filter
 * at a time.
 */
#ifndef LBF_ASK_H
#define LBF_ASK_H

#include "feed_table.h"
#include "handle.h"

/*
 * Whether keys were changed by day: else the filters say all.  Of most filters this is one load
 * from the handle.
 */
static inline bool
lbf_has_changes(const bloomfilter *filter)
{
	return filter->changes.page != NULL && !feed_is_zero(filter->changes.page, FEED_TABLE_COUNT);
}

/* Fetches what lbf_change_of reads of most keys. */
static inline void
lbf_fetch_change(const lbf_changes *changes, uint64_t hash)
{
	if (changes->slots != NULL)
		__builtin_prefetch(changes->slots + feed_bit_at(hash, changes->log2_slots));
}

/* What the table of such a filter says of a key. */
static inline uint64_t
lbf_change_of(const bloomfilter *filter, uint64_t hash, const void *key, size_t length)
{
	const lbf_changes *changes = &filter->changes;

	if (changes->slots == NULL)
		return FEED_DAMAGED;
	return feed_table_ask(changes->slots, changes->log2_slots, hash, key, length);
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

/* Hashes handled at a time: some batches of the core for each of a few parts. */
#define LBF_CHUNK 256

typedef struct lbf_chunk
{
	size_t		count;
	uint64_t	hashes[LBF_CHUNK];
	uint32_t	part[LBF_CHUNK];	/* LBF_TAKEN where done */
} lbf_chunk;

#define LBF_TAKEN UINT32_MAX

/* Some hashes of a chunk that belong to one part. */
typedef struct lbf_group
{
	uint32_t	part;
	size_t		count;
	uint64_t	hashes[LBF_CHUNK];
	uint16_t	index[LBF_CHUNK];	/* where each is in the chunk */
} lbf_group;

/* Says of each hash of a chunk which of so many parts it belongs to. */
extern void lbf_chunk_assign(lbf_chunk *chunk, uint32_t parts);

/* Takes the hashes of some part that is left out of a chunk; false if none is. */
extern bool lbf_chunk_take(lbf_chunk *chunk, lbf_group *group);

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
