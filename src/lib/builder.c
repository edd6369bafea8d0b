/*
 * builder.c
 *	  Building filters.
 *
 * A builder of known size sets bits in a handle right away.  One of unknown size
 * keeps a list of hashes and throws out repeats whenever the list is full; what
 * is left at the end is the number of keys.  Sizes, bits and headers are the
 * core's, as in SQL, so the bytes are, too.
 */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "batch.h"
#include "bf_filter.h"
#include "bf_hashlist.h"
#include "bf_sizing.h"
#include "error.h"
#include "handle.h"
#include "keys.h"

/* Hashes that a list begins with: a page of memory. */
#define FIRST_HASHES 512

struct bloomfilter_builder
{
	bloomfilter *filter;		/* NULL while its size is not known */
	bool		finished;
	uint32_t	key_type;
	uint64_t	seed;
	double		rate;			/* for the size at the end */
	uint64_t   *hashes;
	size_t		count;
	size_t		room;
};

/* Makes a builder of a handle, which it owns then, or of none. */
static int
create(bloomfilter *filter, uint64_t seed, bloomfilter_builder **result)
{
	bloomfilter_builder *builder = calloc(1, sizeof *builder);

	if (builder == NULL)
	{
		bloomfilter_close(filter);
		return BLOOMFILTER_ERR_NO_MEMORY;
	}
	builder->filter = filter;
	builder->seed = seed;
	*result = builder;
	return BLOOMFILTER_OK;
}

/* An empty builder whose filter has this many parts of a shape. */
static int
create_sized(const bf_sizing *sizing, uint64_t seed, uint32_t parts,
			 bloomfilter_builder **result)
{
	bf_header	header;
	bf_header  *headers;
	bloomfilter *filter;
	uint32_t	i;

	if (!bf_sizing_fits(sizing))
		return BLOOMFILTER_ERR_TOO_LARGE;
	headers = malloc(parts * sizeof *headers);
	if (headers == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	header = bf_sizing_header(sizing, seed);
	header.parts = (uint16_t) parts;
	for (i = 0; i < parts; i++)
	{
		headers[i] = header;
		headers[i].part = (uint16_t) i;
	}
	filter = lbf_handle_allocate(headers, parts);
	free(headers);
	return filter == NULL ? BLOOMFILTER_ERR_NO_MEMORY : create(filter, seed, result);
}

/* The shape for n keys at rate p, whether it fits or not. */
static int
size_for_rate(uint64_t n, double p, bf_sizing *sizing)
{
	if (!bf_capacity_valid(n) || !bf_rate_valid(p))
		return BLOOMFILTER_ERR_ARGUMENT;
	return bf_size_for_rate(n, p, sizing) ? BLOOMFILTER_OK : BLOOMFILTER_ERR_RATE;
}

int
bloomfilter_builder_create(uint64_t n, double p, uint64_t seed,
						   bloomfilter_builder **builder)
{
	return bloomfilter_builder_create_set(n, p, seed, 1, builder);
}

int
bloomfilter_builder_create_bits(uint64_t n, double bits_per_key, uint64_t seed,
								bloomfilter_builder **builder)
{
	bf_sizing	sizing;

	if (!bf_capacity_valid(n) || !bf_bits_per_key_valid(bits_per_key))
		return BLOOMFILTER_ERR_ARGUMENT;
	bf_size_for_bits_per_key(n, bits_per_key, &sizing);
	return create_sized(&sizing, seed, 1, builder);
}

int
bloomfilter_builder_create_unsized(double p, uint64_t seed,
								   bloomfilter_builder **builder)
{
	int			code;

	if (!bf_rate_valid(p))
		return BLOOMFILTER_ERR_ARGUMENT;
	code = create(NULL, seed, builder);
	if (code == BLOOMFILTER_OK)
		(*builder)->rate = p;
	return code;
}

int
bloomfilter_builder_create_set(uint64_t n, double p, uint64_t seed,
							   uint32_t parts, bloomfilter_builder **builder)
{
	bf_sizing	sizing;
	int			code = size_for_rate(n, p, &sizing);

	if (parts > BF_MAX_PARTS)
		return BLOOMFILTER_ERR_ARGUMENT;
	if (code == BLOOMFILTER_OK && parts == 0)
	{
		parts = bf_parts_for_rate(n, p);
		if (parts == 0)
			return BLOOMFILTER_ERR_TOO_LARGE;
	}
	if (code == BLOOMFILTER_OK && parts > 1)
		code = size_for_rate(bf_part_capacity(n, parts), p, &sizing);
	return code == BLOOMFILTER_OK ? create_sized(&sizing, seed, parts, builder) : code;
}

int
bloomfilter_builder_create_like(const bloomfilter *model,
								bloomfilter_builder **builder)
{
	bf_header  *headers = malloc(model->open_parts * sizeof *headers);
	bloomfilter *filter;
	uint32_t	i;

	if (headers == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	for (i = 0; i < model->open_parts; i++)
	{
		headers[i] = model->part[i].header;
		headers[i].bits_set = 0;
		headers[i].key_type = BF_KEY_NONE;
	}
	filter = lbf_handle_allocate(headers, model->open_parts);
	free(headers);
	return filter == NULL ? BLOOMFILTER_ERR_NO_MEMORY :
		create(filter, model->seed, builder);
}

void
bloomfilter_builder_free(bloomfilter_builder *builder)
{
	if (builder == NULL)
		return;
	bloomfilter_close(builder->filter);
	free(builder->hashes);
	free(builder);
}

/* Makes room for more hashes, first by dropping repeats. */
static bool
grow_list(bloomfilter_builder *builder, size_t more)
{
	size_t		room = builder->room;
	uint64_t   *larger;

	if (more <= room - builder->count)
		return true;
	builder->count = bf_hashlist_unique(builder->hashes, builder->count, NULL);
	while (room - builder->count < more || builder->count > room / 2)
	{
		if (room > SIZE_MAX / sizeof *larger / 2)
			return false;
		room = room == 0 ? FIRST_HASHES : room * 2;
	}
	if (room == builder->room)
		return true;
	larger = realloc(builder->hashes, room * sizeof *larger);
	if (larger == NULL)
		return false;
	builder->hashes = larger;
	builder->room = room;
	return true;
}

static void
add_to_part(lbf_part *part, uint32_t type, const uint64_t *hashes, size_t count)
{
	if (count == 0)
		return;
	part->header.key_type = type;
	bf_add_hashes(&part->header, part->bytes.start + BF_HEADER_BYTES, hashes, count);
}

static void
add_to_set(bloomfilter *filter, uint32_t type, lbf_chunk *chunk)
{
	lbf_group	group;

	lbf_chunk_assign(chunk, filter->open_parts);
	while (lbf_chunk_take(chunk, &group))
		add_to_part(&filter->part[group.part], type, group.hashes, group.count);
}

/* Adds a chunk of hashes; *added of them were when an error is returned. */
static int
add_chunk(bloomfilter_builder *builder, uint32_t type, lbf_chunk *chunk, size_t *added)
{
	bloomfilter *filter = builder->filter;
	size_t		own = chunk->count;

	*added = 0;
	if (filter == NULL)
	{
		if (!grow_list(builder, own))
			return BLOOMFILTER_ERR_NO_MEMORY;
		memcpy(builder->hashes + builder->count, chunk->hashes, own * sizeof chunk->hashes[0]);
		builder->count += own;
	}
	else if (filter->open_parts > 1)
		add_to_set(filter, type, chunk);
	else
	{
		own = lbf_count_own(filter, chunk->hashes, chunk->count);
		add_to_part(&filter->part[0], type, chunk->hashes, own);
	}
	*added = own;
	if (own > 0)
		builder->key_type = type;
	return own < chunk->count ? BLOOMFILTER_ERR_OTHER_PART : BLOOMFILTER_OK;
}

/* Whether keys of a type, rows of whatever columns, can be added now. */
static int
check_builder(const bloomfilter_builder *builder, unsigned kind)
{
	if (builder->finished || kind == BF_KEY_NONE || kind > BF_KEY_LAST)
		return BLOOMFILTER_ERR_ARGUMENT;
	return lbf_type_code(bf_key_kind(builder->key_type), kind);
}

static int
add_all(bloomfilter_builder *builder, const lbf_keys *keys, size_t count,
		size_t *added)
{
	int			code = check_builder(builder, (unsigned) keys->type);
	uint32_t	type = builder->key_type;
	lbf_chunk	chunk;

	if (type == BF_KEY_NONE && count > 0)
		type = lbf_keys_type(keys);
	while (code == BLOOMFILTER_OK && *added < count)
	{
		size_t		length = count - *added < LBF_CHUNK ? count - *added : LBF_CHUNK;
		size_t		done;
		int			add_code;

		chunk.count = lbf_hash_keys(keys, *added, length, type, builder->seed,
									chunk.hashes, &code);
		add_code = add_chunk(builder, type, &chunk, &done);
		*added += done;
		if (add_code != BLOOMFILTER_OK)
			code = add_code;
	}
	return code;
}

static int
add_batch(bloomfilter_builder *builder, const lbf_keys *keys, size_t count,
		  size_t *added)
{
	size_t		done = 0;
	int			code = add_all(builder, keys, count, &done);

	if (added != NULL)
		*added = done;
	return code;
}

int
bloomfilter_builder_add_batch(bloomfilter_builder *builder, int key_type,
							  const bloomfilter_slice *keys, size_t count,
							  size_t *added)
{
	lbf_keys	all = {key_type, keys, NULL};

	return add_batch(builder, &all, count, added);
}

int
bloomfilter_builder_add_int64_batch(bloomfilter_builder *builder,
									const int64_t *keys, size_t count,
									size_t *added)
{
	lbf_keys	all = {BF_KEY_INTEGER, NULL, keys};

	return add_batch(builder, &all, count, added);
}

int
lbf_builder_add_hash(bloomfilter_builder *builder, uint32_t type, const void *bytes,
					 size_t length)
{
	int			code = check_builder(builder, bf_key_kind(type));
	lbf_chunk	chunk;
	size_t		added;

	if (code == BLOOMFILTER_OK)
		code = lbf_type_code(builder->key_type, type);
	if (code != BLOOMFILTER_OK)
		return code;
	chunk.count = 1;
	chunk.hashes[0] = bf_hash(bytes, length, builder->seed);
	return add_chunk(builder, type, &chunk, &added);
}

/* Sizes the filter for the hashes in the list and adds them. */
static int
build_from_list(bloomfilter_builder *builder, bloomfilter_detail *detail)
{
	bloomfilter_builder *sized;
	int			code;
	uint64_t	n;

	builder->count = bf_hashlist_unique(builder->hashes, builder->count, NULL);
	n = builder->count > 0 ? builder->count : 1;
	code = bloomfilter_builder_create(n, builder->rate, builder->seed, &sized);
	if (code != BLOOMFILTER_OK)
		return lbf_fail(detail, code, NULL);
	builder->filter = sized->filter;
	sized->filter = NULL;
	bloomfilter_builder_free(sized);
	add_to_part(&builder->filter->part[0], builder->key_type, builder->hashes,
				builder->count);
	free(builder->hashes);
	builder->hashes = NULL;
	return BLOOMFILTER_OK;
}

int
bloomfilter_builder_finish(bloomfilter_builder *builder, bloomfilter **filter,
						   bloomfilter_detail *detail)
{
	int			code = BLOOMFILTER_OK;

	if (builder->finished || filter == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	if (builder->filter == NULL)
		code = build_from_list(builder, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	lbf_handle_seal(builder->filter);
	*filter = builder->filter;
	builder->filter = NULL;
	builder->finished = true;
	return BLOOMFILTER_OK;
}
