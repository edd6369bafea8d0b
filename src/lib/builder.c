/*
 * builder.c
 *	  Building filters.
 *
 * A builder of known size sets bits in a handle right away.  One of unknown size
 * keeps a list of hashes and throws out repeats whenever the list is full; what
 * is left at the end is the number of keys.  One of an exact filter keeps two.  Sizes, bits and headers are the
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
#include "exact.h"
#include "handle.h"
#include "keys.h"

/* Hashes that a list begins with: a page of memory. */
#define FIRST_HASHES 512

typedef struct lbf_hashes
{
	uint64_t   *hashes;
	size_t		count;
	size_t		room;
} lbf_hashes;

struct bloomfilter_builder
{
	bloomfilter *filter;		/* NULL while its size is not known */
	bool		finished;
	uint32_t	key_type;
	uint64_t	seed;
	double		rate;			/* for the size at the end */
	bool		exact;
	unsigned	adding;			/* to which list: */
	lbf_hashes	lists[2];		/* of members, and of an exact filter's others */
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
	bf_exact   *shapes;
	bloomfilter *filter;
	uint32_t	i;

	if (!bf_sizing_fits(sizing))
		return BLOOMFILTER_ERR_TOO_LARGE;
	shapes = malloc(parts * sizeof *shapes);
	if (shapes == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	header = bf_sizing_header(sizing, seed);
	header.parts = (uint16_t) parts;
	for (i = 0; i < parts; i++)
	{
		header.part = (uint16_t) i;
		bf_exact_of(&header, &shapes[i]);
	}
	filter = lbf_handle_allocate(shapes, parts);
	free(shapes);
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
bloomfilter_builder_create_exact(double p, uint64_t seed, bloomfilter_builder **builder)
{
	int			code = bloomfilter_builder_create_unsized(p, seed, builder);

	if (code == BLOOMFILTER_OK)
		(*builder)->exact = true;
	return code;
}

int
bloomfilter_builder_others(bloomfilter_builder *builder)
{
	if (!builder->exact || builder->finished)
		return BLOOMFILTER_ERR_ARGUMENT;
	builder->adding = 1;
	return BLOOMFILTER_OK;
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
	bf_exact   *shapes;
	bloomfilter *filter;
	uint32_t	i;

	if (lbf_is_exact(model))
		return BLOOMFILTER_ERR_EXACT;
	shapes = malloc(model->open_parts * sizeof *shapes);
	if (shapes == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	for (i = 0; i < model->open_parts; i++)
	{
		shapes[i] = model->part[i].shape;
		shapes[i].level[0].bits_set = 0;
		shapes[i].level[0].key_type = BF_KEY_NONE;
	}
	filter = lbf_handle_allocate(shapes, model->open_parts);
	free(shapes);
	return filter == NULL ? BLOOMFILTER_ERR_NO_MEMORY :
		create(filter, model->seed, builder);
}

void
bloomfilter_builder_free(bloomfilter_builder *builder)
{
	if (builder == NULL)
		return;
	bloomfilter_close(builder->filter);
	free(builder->lists[0].hashes);
	free(builder->lists[1].hashes);
	free(builder);
}

/* Makes room for more hashes, first by dropping repeats. */
static bool
grow_list(lbf_hashes *list, size_t more)
{
	size_t		room = list->room;
	uint64_t   *larger;

	if (more <= room - list->count)
		return true;
	list->count = bf_hashlist_unique(list->hashes, list->count, NULL);
	while (room - list->count < more || list->count > room / 2)
	{
		if (room > SIZE_MAX / sizeof *larger / 2)
			return false;
		room = room == 0 ? FIRST_HASHES : room * 2;
	}
	if (room == list->room)
		return true;
	larger = realloc(list->hashes, room * sizeof *larger);
	if (larger == NULL)
		return false;
	list->hashes = larger;
	list->room = room;
	return true;
}

static void
add_to_part(lbf_part *part, uint32_t type, const uint64_t *hashes, size_t count)
{
	if (count == 0)
		return;
	part->shape.level[0].key_type = type;
	bf_add_hashes(&part->shape.level[0], part->bytes.start + BF_HEADER_BYTES, hashes, count);
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
		lbf_hashes *list = &builder->lists[builder->adding];

		if (!grow_list(list, own))
			return BLOOMFILTER_ERR_NO_MEMORY;
		if (own > 0)
			memcpy(list->hashes + list->count, chunk->hashes, own * sizeof chunk->hashes[0]);
		list->count += own;
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
	lbf_hashes *list = &builder->lists[0];
	bloomfilter_builder *sized;
	int			code;
	uint64_t	n;

	list->count = bf_hashlist_unique(list->hashes, list->count, NULL);
	n = list->count > 0 ? list->count : 1;
	code = bloomfilter_builder_create(n, builder->rate, builder->seed, &sized);
	if (code != BLOOMFILTER_OK)
		return lbf_fail(detail, code, NULL);
	builder->filter = sized->filter;
	sized->filter = NULL;
	bloomfilter_builder_free(sized);
	add_to_part(&builder->filter->part[0], builder->key_type, list->hashes, list->count);
	return BLOOMFILTER_OK;
}

static int
build_exact(bloomfilter_builder *builder, bloomfilter_detail *detail)
{
	lbf_hashes *members = &builder->lists[0];
	lbf_hashes *others = &builder->lists[1];
	const lbf_universe universe = {
		members->hashes, bf_hashlist_unique(members->hashes, members->count, NULL),
		others->hashes, bf_hashlist_unique(others->hashes, others->count, NULL),
		builder->rate, builder->seed, builder->key_type
	};
	int			code = lbf_exact_build(&universe, &builder->filter);

	return code == BLOOMFILTER_OK ? code : lbf_fail(detail, code, NULL);
}

int
bloomfilter_builder_finish(bloomfilter_builder *builder, bloomfilter **filter,
						   bloomfilter_detail *detail)
{
	int			code = BLOOMFILTER_OK;

	if (builder->finished || filter == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	if (builder->filter == NULL)
		code = builder->exact ? build_exact(builder, detail) : build_from_list(builder, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	lbf_handle_seal(builder->filter);
	*filter = builder->filter;
	builder->filter = NULL;
	builder->finished = true;
	return BLOOMFILTER_OK;
}
