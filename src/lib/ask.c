/*
 * ask.c
 *	  Asking for one key, or for what such a look-up computes and sees, as text.
 *
 * All doors lead to the same steps: the type is compared, the key is hashed, a change by day
 * has the answer, or the hash chooses the part, and the core looks into its block.
 */
#include "ask.h"

#include "bf_bytes.h"
#include "bf_explain.h"
#include "bf_filter.h"

_Static_assert(BF_EXPLAIN_ROOM == BLOOMFILTER_EXPLAIN_TEXT, "the public header has the core's number");

/* What is wrong with a key's bytes, or with asking this filter for keys of their type. */
static inline int
check_key(const bloomfilter *filter, int key_type, const void *bytes, size_t *length, uint32_t *type)
{
	int			code = lbf_key_check(key_type, bytes, length, type);

	return code == BLOOMFILTER_OK ? lbf_type_code(filter->key_type, *type) : code;
}

/*
 * The answer for a key whose bytes are there to be looked up among the changes by day.  These have the
 * answer where they have the key, and yet the filter is asked first, while the memory of their
 * bit is fetched.
 */
static inline int
ask_key(const bloomfilter *filter, uint64_t hash, const void *bytes, size_t length)
{
	uint64_t	state;
	int			answer;

	if (!lbf_has_changes(filter))
		return lbf_ask_hash(filter, hash);
	lbf_fetch_change(filter, hash);
	answer = lbf_ask_hash(filter, hash);
	state = lbf_change_of(filter, hash, bytes, length);
	if (state == FEED_UNCHANGED)
		return answer;
	return state == FEED_DAMAGED ? BLOOMFILTER_ERR_CHANGES : (int) (state & 1);
}

int
bloomfilter_contains(const bloomfilter *filter, int key_type, const void *bytes,
					 size_t length)
{
	uint32_t	type;
	int			code = check_key(filter, key_type, bytes, &length, &type);

	if (code != BLOOMFILTER_OK)
		return code;
	return ask_key(filter, bf_hash(bytes, length, filter->seed), bytes, length);
}

/* The most frequent keys take no way round. */
int
bloomfilter_contains_int64(const bloomfilter *filter, int64_t value)
{
	int			code = lbf_type_code(filter->key_type, BF_KEY_INTEGER);
	uint8_t		bytes[8];

	if (code != BLOOMFILTER_OK)
		return code;
	bf_store_le64(bytes, (uint64_t) value);
	return ask_key(filter, bf_hash_word((uint64_t) value, filter->seed), bytes, sizeof bytes);
}

int
bloomfilter_explain(const bloomfilter *filter, int key_type, const void *bytes,
					size_t length, char *text)
{
	const lbf_part *part;
	bf_shape	shape;
	uint32_t	type;
	uint64_t	hash;
	uint64_t	state = FEED_UNCHANGED;
	int			code = check_key(filter, key_type, bytes, &length, &type);

	if (code != BLOOMFILTER_OK)
		return code;
	hash = bf_hash(bytes, length, filter->seed);
	if (lbf_has_changes(filter))
		state = lbf_change_of(filter, hash, bytes, length);
	if (state == FEED_DAMAGED)
		return BLOOMFILTER_ERR_CHANGES;
	part = &filter->part[lbf_part_of(filter, hash)];
	lbf_shape_now(filter, part, &shape);
	code = bf_explain(text, &shape, lbf_blocks(part), type, bytes, length, state);
	return code == BF_EXPLAIN_OTHER_PART ? BLOOMFILTER_ERR_OTHER_PART : code;
}
