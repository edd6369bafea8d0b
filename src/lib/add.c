/*
 * add.c
 *	  Adding one key of each type to a builder.
 */
#include "builder.h"
#include "keys.h"

/* For a key that was made just now with this result. */
static int
add_key(bloomfilter_builder *builder, lbf_key *key, int code)
{
	if (code != BLOOMFILTER_OK)
		return code;
	code = lbf_builder_add_hash(builder, key->type, key->bytes, key->length);
	lbf_key_free(key);
	return code;
}

int
bloomfilter_builder_add(bloomfilter_builder *builder, int key_type,
						const void *bytes, size_t length)
{
	lbf_key		key;

	return add_key(builder, &key, lbf_key_bytes(&key, key_type, bytes, length));
}

int
bloomfilter_builder_add_int64(bloomfilter_builder *builder, int64_t value)
{
	lbf_key		key;

	return add_key(builder, &key, lbf_key_count(&key, BF_KEY_INTEGER, value));
}

int
bloomfilter_builder_add_text(bloomfilter_builder *builder, const char *text,
							 size_t length)
{
	return bloomfilter_builder_add(builder, BF_KEY_TEXT, text, length);
}

int
bloomfilter_builder_add_bytea(bloomfilter_builder *builder, const void *bytes,
							  size_t length)
{
	return bloomfilter_builder_add(builder, BF_KEY_BYTEA, bytes, length);
}

int
bloomfilter_builder_add_uuid(bloomfilter_builder *builder, const uint8_t *uuid)
{
	return bloomfilter_builder_add(builder, BF_KEY_UUID, uuid, 16);
}

int
bloomfilter_builder_add_numeric(bloomfilter_builder *builder,
								const char *decimal, size_t length)
{
	lbf_key		key;

	return add_key(builder, &key, lbf_key_numeric(&key, decimal, length));
}

int
bloomfilter_builder_add_double(bloomfilter_builder *builder, double value)
{
	lbf_key		key;

	return add_key(builder, &key, lbf_key_double(&key, value));
}

int
bloomfilter_builder_add_date(bloomfilter_builder *builder, int64_t days)
{
	lbf_key		key;

	return add_key(builder, &key, lbf_key_count(&key, BF_KEY_DATE, days));
}

int
bloomfilter_builder_add_timestamp(bloomfilter_builder *builder,
								  int64_t microseconds)
{
	lbf_key		key;

	return add_key(builder, &key,
				   lbf_key_count(&key, BF_KEY_TIMESTAMP, microseconds));
}

int
bloomfilter_builder_add_timestamptz(bloomfilter_builder *builder,
									int64_t microseconds)
{
	lbf_key		key;

	return add_key(builder, &key,
				   lbf_key_count(&key, BF_KEY_TIMESTAMPTZ, microseconds));
}

int
bloomfilter_builder_add_inet(bloomfilter_builder *builder, int family,
							 unsigned prefix, const uint8_t *address)
{
	lbf_key		key;

	return add_key(builder, &key, lbf_key_inet(&key, family, prefix, address));
}

int
bloomfilter_builder_add_macaddr(bloomfilter_builder *builder,
								const uint8_t *address, size_t length)
{
	lbf_key		key;

	return add_key(builder, &key, lbf_key_macaddr(&key, address, length));
}
