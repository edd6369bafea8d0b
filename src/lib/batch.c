/*
 * batch.c
 *	  Asking for many keys at once.
 *
 * A chunk of keys is hashed before the first one is looked up.  The core then
 * fetches the memory of several hashes together: with one cache miss after the
 * other, waiting would be most of the time.
 */
#include "ask.h"

#include <string.h>

#include "bf_bytes.h"

static size_t
hash_slices(int type, const bloomfilter_slice *slices, size_t count,
			uint32_t held, uint64_t seed, uint64_t *hashes, int *code)
{
	uint32_t	full;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		size_t		length = slices[i].length;

		*code = lbf_key_check(type, slices[i].bytes, &length, &full);
		if (*code == BLOOMFILTER_OK)
			*code = lbf_type_code(held, full);
		if (*code != BLOOMFILTER_OK)
			return i;
		hashes[i] = bf_hash(slices[i].bytes, length, seed);
	}
	return count;
}

size_t
lbf_hash_keys(const lbf_keys *keys, size_t start, size_t count, uint32_t held,
			  uint64_t seed, uint64_t *hashes, int *code)
{
	*code = BLOOMFILTER_OK;
	if (keys->slices != NULL)
		return hash_slices(keys->type, keys->slices + start, count, held, seed,
						   hashes, code);
	memcpy(hashes, keys->integers + start, count * sizeof hashes[0]);
	bf_hash_words(hashes, count, seed);
	return count;
}

/* Answers hashes of a set up to the first whose part is not open; returns how many these are. */
static size_t
ask_parts(const bloomfilter *filter, const uint64_t *hashes, size_t count, uint8_t *found)
{
	size_t		i;

	for (i = 0; i < count + BF_HASHES_AHEAD; i++)
	{
		int			answer;

		if (i < count)
			lbf_fetch(filter, hashes[i]);
		if (i < BF_HASHES_AHEAD)
			continue;
		answer = lbf_ask_hash(filter, hashes[i - BF_HASHES_AHEAD]);
		if (answer < 0)
			return i - BF_HASHES_AHEAD;
		found[i - BF_HASHES_AHEAD] = (uint8_t) answer;
	}
	return count;
}

/* Answers hashes, as many as belong to what is open. */
static int
ask_hashes(const bloomfilter *filter, const uint64_t *hashes, size_t count, uint8_t *found, size_t *answered)
{
	const lbf_part *part = &filter->part[0];
	size_t		own = count;

	if (part->shape.level[0].parts > 1)
		own = ask_parts(filter, hashes, count, found);
	else
		bf_shape_contains_hashes(&part->shape, lbf_blocks(part), hashes, count, found);
	*answered += own;
	return own < count ? BLOOMFILTER_ERR_OTHER_PART : BLOOMFILTER_OK;
}

/* A key of an array, and the bytes that count of it. */
static const void *
key_of(const lbf_keys *keys, size_t number, uint8_t word[8], size_t *length)
{
	const bloomfilter_slice *slice;

	if (keys->slices == NULL)
	{
		bf_store_le64(word, (uint64_t) keys->integers[number]);
		*length = 8;
		return word;
	}
	slice = &keys->slices[number];
	*length = keys->type == BF_KEY_TEXT ? bf_key_text(slice->bytes, slice->length) : slice->length;
	return slice->bytes;
}

/* Puts the changes by day in place of a chunk's first answers; *answered counts the array's. */
static int
take_changes(const bloomfilter *filter, const lbf_keys *keys, size_t start, const uint64_t *hashes, uint8_t *found,
			 size_t *answered)
{
	size_t		i;

	for (i = start; i < *answered; i++)
	{
		uint8_t		word[8];
		size_t		length;
		const void *key = key_of(keys, i, word, &length);
		uint64_t	state = lbf_change_of(filter, hashes[i - start], key, length);

		if (state == FEED_DAMAGED)
		{
			*answered = i;
			return BLOOMFILTER_ERR_CHANGES;
		}
		if (state != FEED_UNCHANGED)
			found[i] = (uint8_t) (state & 1);
	}
	return BLOOMFILTER_OK;
}

static int
ask_batch(const bloomfilter *filter, const lbf_keys *keys, size_t count,
		  uint8_t *found, size_t *answered)
{
	int			code = BLOOMFILTER_ERR_ARGUMENT;
	size_t		done = 0;
	uint64_t	hashes[LBF_CHUNK];

	if (bf_key_is_kind((uint32_t) keys->type))
		code = lbf_type_code(bf_key_kind(filter->key_type), (uint32_t) keys->type);
	while (code == BLOOMFILTER_OK && done < count)
	{
		size_t		start = done;
		size_t		length = count - start < LBF_CHUNK ? count - start : LBF_CHUNK;
		bool		changes = lbf_has_changes(filter);
		int			ask_code;
		size_t		i;

		length = lbf_hash_keys(keys, start, length, filter->key_type, filter->seed, hashes, &code);
		for (i = 0; changes && i < length; i++)
			lbf_fetch_change(filter, hashes[i]);
		ask_code = ask_hashes(filter, hashes, length, found + start, &done);
		if (changes && ask_code == BLOOMFILTER_OK)
			ask_code = take_changes(filter, keys, start, hashes, found, &done);
		/* A key of another part comes before one that could not be hashed. */
		if (ask_code != BLOOMFILTER_OK)
			code = ask_code;
	}
	if (answered != NULL)
		*answered = done;
	return code;
}

int
bloomfilter_contains_batch(const bloomfilter *filter, int key_type,
						   const bloomfilter_slice *keys, size_t count,
						   uint8_t *found, size_t *answered)
{
	lbf_keys	all = {key_type, keys, NULL};

	return ask_batch(filter, &all, count, found, answered);
}

int
bloomfilter_contains_int64_batch(const bloomfilter *filter, const int64_t *keys,
								 size_t count, uint8_t *found, size_t *answered)
{
	lbf_keys	all = {BF_KEY_INTEGER, NULL, keys};

	return ask_batch(filter, &all, count, found, answered);
}
