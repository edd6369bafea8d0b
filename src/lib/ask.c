/*
 * ask.c
 *	  Asking for one key.
 *
 * All doors lead to the same steps: the type is compared, the key is hashed, the
 * hash chooses the part, and the core looks into its block.
 */
#include "ask.h"

#include "bf_filter.h"
#include "keys.h"

/* The answer for a hash, or that it belongs to a part which is not open. */
static inline int
ask_hash(const bloomfilter *filter, uint64_t hash)
{
	const lbf_part *part = filter->part;

	if (filter->open_parts > 1)
		part += bf_part_of(hash, filter->open_parts);
	else if (!bf_in_part(&part->shape.level[0], hash))
		return BLOOMFILTER_ERR_OTHER_PART;
	return bf_exact_contains(&part->shape, lbf_blocks(part), hash);
}

static int
ask_bytes(const bloomfilter *filter, uint32_t type, const void *bytes, size_t length)
{
	int			code = lbf_type_code(filter->key_type, type);

	if (code != BLOOMFILTER_OK)
		return code;
	return ask_hash(filter, bf_hash(bytes, length, filter->seed));
}

/* For a key that was made just now with this result. */
static int
ask_key(const bloomfilter *filter, lbf_key *key, int code)
{
	if (code != BLOOMFILTER_OK)
		return code;
	code = ask_bytes(filter, key->type, key->bytes, key->length);
	lbf_key_free(key);
	return code;
}

/* The most frequent keys take no way round. */
static int
ask_count(const bloomfilter *filter, uint32_t type, int64_t value)
{
	int			code = lbf_type_code(filter->key_type, type);

	if (code != BLOOMFILTER_OK)
		return code;
	return ask_hash(filter, bf_hash_word((uint64_t) value, filter->seed));
}

int
bloomfilter_contains(const bloomfilter *filter, int key_type, const void *bytes,
					 size_t length)
{
	uint32_t	type;
	int			code = lbf_key_check(key_type, bytes, &length, &type);

	if (code != BLOOMFILTER_OK)
		return code;
	return ask_bytes(filter, type, bytes, length);
}

int
bloomfilter_contains_int64(const bloomfilter *filter, int64_t value)
{
	return ask_count(filter, BF_KEY_INTEGER, value);
}

int
bloomfilter_contains_text(const bloomfilter *filter, const char *text, size_t length)
{
	return bloomfilter_contains(filter, BF_KEY_TEXT, text, length);
}

int
bloomfilter_contains_bytea(const bloomfilter *filter, const void *bytes,
						   size_t length)
{
	return bloomfilter_contains(filter, BF_KEY_BYTEA, bytes, length);
}

int
bloomfilter_contains_uuid(const bloomfilter *filter, const uint8_t *uuid)
{
	return bloomfilter_contains(filter, BF_KEY_UUID, uuid, 16);
}

int
bloomfilter_contains_numeric(const bloomfilter *filter, const char *decimal,
							 size_t length)
{
	lbf_key		key;

	return ask_key(filter, &key, lbf_key_numeric(&key, decimal, length));
}

int
bloomfilter_contains_double(const bloomfilter *filter, double value)
{
	lbf_key		key;

	return ask_key(filter, &key, lbf_key_double(&key, value));
}

int
bloomfilter_contains_date(const bloomfilter *filter, int64_t days)
{
	return ask_count(filter, BF_KEY_DATE, days);
}

int
bloomfilter_contains_timestamp(const bloomfilter *filter, int64_t microseconds)
{
	return ask_count(filter, BF_KEY_TIMESTAMP, microseconds);
}

int
bloomfilter_contains_timestamptz(const bloomfilter *filter, int64_t microseconds)
{
	return ask_count(filter, BF_KEY_TIMESTAMPTZ, microseconds);
}

int
bloomfilter_contains_inet(const bloomfilter *filter, int family, unsigned prefix,
						  const uint8_t *address)
{
	lbf_key		key;

	return ask_key(filter, &key, lbf_key_inet(&key, family, prefix, address));
}

int
bloomfilter_contains_macaddr(const bloomfilter *filter, const uint8_t *address,
							 size_t length)
{
	lbf_key		key;

	return ask_key(filter, &key, lbf_key_macaddr(&key, address, length));
}
