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
#include "bf_filter.h"

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

void
lbf_chunk_assign(lbf_chunk *chunk, uint32_t parts)
{
	size_t		i;

	for (i = 0; i < chunk->count; i++)
		chunk->part[i] = bf_part_of(chunk->hashes[i], parts);
}

bool
lbf_chunk_take(lbf_chunk *chunk, lbf_group *group)
{
	size_t		i = 0;

	while (i < chunk->count && chunk->part[i] == LBF_TAKEN)
		i++;
	if (i == chunk->count)
		return false;
	group->part = chunk->part[i];
	group->count = 0;
	for (; i < chunk->count; i++)
	{
		if (chunk->part[i] != group->part)
			continue;
		group->hashes[group->count] = chunk->hashes[i];
		group->index[group->count++] = (uint16_t) i;
		chunk->part[i] = LBF_TAKEN;
	}
	return true;
}

/* How many hashes from the first on may be asked of what a handle has open. */
static size_t
count_own(const bloomfilter *filter, const uint64_t *hashes, size_t count)
{
	const bf_header *header = &filter->part[0].shape.level[0];
	size_t		own = 0;

	if (filter->open_parts > 1 || header->parts == 1)
		return count;
	while (own < count && bf_in_part(header, hashes[own]))
		own++;
	return own;
}

/* Answers a chunk whose hashes belong to several parts. */
static void
ask_set(const bloomfilter *filter, lbf_chunk *chunk, uint8_t *found)
{
	lbf_group	group;
	uint8_t		answers[LBF_CHUNK];
	size_t		i;

	lbf_chunk_assign(chunk, filter->open_parts);
	while (lbf_chunk_take(chunk, &group))
	{
		const lbf_part *part = &filter->part[group.part];

		bf_shape_contains_hashes(&part->shape, lbf_blocks(part), group.hashes,
								 group.count, answers);
		for (i = 0; i < group.count; i++)
			found[group.index[i]] = answers[i];
	}
}

/* Answers the chunk's hashes, as many as belong to what is open. */
static int
ask_chunk(const bloomfilter *filter, lbf_chunk *chunk, uint8_t *found,
		  size_t *answered)
{
	size_t		own = count_own(filter, chunk->hashes, chunk->count);
	int			code = own < chunk->count ? BLOOMFILTER_ERR_OTHER_PART : BLOOMFILTER_OK;
	const lbf_part *part = &filter->part[0];

	chunk->count = own;
	if (filter->open_parts > 1)
		ask_set(filter, chunk, found);
	else
		bf_shape_contains_hashes(&part->shape, lbf_blocks(part), chunk->hashes, own, found);
	*answered += own;
	return code;
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
take_changes(const bloomfilter *filter, const lbf_keys *keys, size_t start, const lbf_chunk *chunk, uint8_t *found,
			 size_t *answered)
{
	size_t		i;

	for (i = start; i < *answered; i++)
	{
		uint8_t		word[8];
		size_t		length;
		const void *key = key_of(keys, i, word, &length);
		uint64_t	state = lbf_change_of(filter, chunk->hashes[i - start], key, length);

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
	lbf_chunk	chunk;

	if (bf_key_is_kind((uint32_t) keys->type))
		code = lbf_type_code(bf_key_kind(filter->key_type), (uint32_t) keys->type);
	while (code == BLOOMFILTER_OK && done < count)
	{
		size_t		start = done;
		size_t		length = count - start < LBF_CHUNK ? count - start : LBF_CHUNK;
		bool		changes = lbf_has_changes(filter);
		int			ask_code;
		size_t		i;

		chunk.count = lbf_hash_keys(keys, start, length, filter->key_type,
									filter->seed, chunk.hashes, &code);
		for (i = 0; changes && i < chunk.count; i++)
			lbf_fetch_change(&filter->changes, chunk.hashes[i]);
		ask_code = ask_chunk(filter, &chunk, found + start, &done);
		if (changes && ask_code == BLOOMFILTER_OK)
			ask_code = take_changes(filter, keys, start, &chunk, found, &done);
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
