/*
 * builder.c
 *	  Building filters.
 *
 * A builder of known size sets bits in a handle right away.  One of unknown size
 * keeps a list of hashes and throws out repeats whenever the list is full; what
 * is left at the end is the number of keys.  One of an exact filter keeps two.  Sizes,
 * bits and headers are the core's, as in SQL, so the bytes are, too.
 */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "bf_hashlist.h"
#include "bf_sizing.h"

/* Hashes that a list begins with: a page of memory.  Half of it has room for a chunk. */
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

/* An empty filter for n keys at rate p, of so many parts; 0: the fewest that are enough. */
static int
make_filter(uint64_t n, double p, uint64_t seed, uint32_t parts, bloomfilter **filter)
{
	bf_sizing	sizing;
	bf_header	header;
	bf_shape	shape;

	if (!bf_capacity_valid(n))
		return BLOOMFILTER_ERR_ARGUMENT;
	if (!bf_size_for_rate(n, p, &sizing))
		return BLOOMFILTER_ERR_RATE;
	if (parts == 0)
		parts = bf_parts_for_rate(n, p);
	if (parts > 1 && !bf_size_for_rate(bf_part_capacity(n, parts), p, &sizing))
		return BLOOMFILTER_ERR_RATE;
	if (parts == 0 || !bf_sizing_fits(&sizing))
		return BLOOMFILTER_ERR_TOO_LARGE;
	header = bf_sizing_header(&sizing, seed);
	header.parts = (uint16_t) parts;
	bf_shape_of(&header, &shape);
	*filter = lbf_handle_allocate(&shape, parts);
	return *filter == NULL ? BLOOMFILTER_ERR_NO_MEMORY : BLOOMFILTER_OK;
}

/* One without a filter. */
static int
create(double p, uint64_t seed, bool exact, bloomfilter_builder **result)
{
	bloomfilter_builder *builder;

	if (!bf_rate_valid(p))
		return BLOOMFILTER_ERR_ARGUMENT;
	builder = calloc(1, sizeof *builder);
	if (builder == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	builder->seed = seed;
	builder->rate = p;
	builder->exact = exact;
	*result = builder;
	return BLOOMFILTER_OK;
}

int
bloomfilter_builder_create(uint64_t n, double p, uint64_t seed, uint32_t parts, bloomfilter_builder **result)
{
	bloomfilter_builder *builder;
	int			code;

	if (parts > BF_MAX_PARTS || (n == 0 && parts != 1))
		return BLOOMFILTER_ERR_ARGUMENT;
	code = create(p, seed, false, &builder);
	if (code == BLOOMFILTER_OK && n > 0)
	{
		code = make_filter(n, p, seed, parts, &builder->filter);
		if (code != BLOOMFILTER_OK)
			free(builder);
	}
	if (code == BLOOMFILTER_OK)
		*result = builder;
	return code;
}

int
bloomfilter_builder_create_exact(double p, uint64_t seed, bloomfilter_builder **builder)
{
	return create(p, seed, true, builder);
}

int
bloomfilter_builder_others(bloomfilter_builder *builder)
{
	if (!builder->exact || builder->finished)
		return BLOOMFILTER_ERR_ARGUMENT;
	builder->adding = 1;
	return BLOOMFILTER_OK;
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

/* Makes room for a chunk of hashes, first by dropping repeats. */
static bool
grow_list(lbf_hashes *list)
{
	size_t		room = list->room == 0 ? FIRST_HASHES : list->room * 2;
	uint64_t   *larger;

	list->count = bf_hashlist_unique(list->hashes, list->count, NULL);
	if (list->count < list->room / 2)
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
add_to_set(bloomfilter *filter, uint32_t type, const uint64_t *hashes, size_t count)
{
	size_t		i;

	for (i = 0; i < count + BF_HASHES_AHEAD; i++)
	{
		lbf_part   *part;

		if (i < count)
			lbf_fetch(filter, hashes[i]);
		if (i < BF_HASHES_AHEAD)
			continue;
		part = &filter->part[lbf_part_of(filter, hashes[i - BF_HASHES_AHEAD])];
		add_to_part(part, type, &hashes[i - BF_HASHES_AHEAD], 1);
	}
}

static bool
add_to_list(lbf_hashes *list, const uint64_t *hashes, size_t count)
{
	if (count > list->room - list->count && !grow_list(list))
		return false;
	memcpy(list->hashes + list->count, hashes, count * sizeof hashes[0]);
	list->count += count;
	return true;
}

/* False where there is no memory. */
static bool
add_hashes(bloomfilter_builder *builder, uint32_t type, const uint64_t *hashes, size_t count)
{
	if (count == 0)
		return true;
	if (builder->filter != NULL && builder->filter->open_parts == 1)
		add_to_part(&builder->filter->part[0], type, hashes, count);
	else if (builder->filter != NULL)
		add_to_set(builder->filter, type, hashes, count);
	else if (!add_to_list(&builder->lists[builder->adding], hashes, count))
		return false;
	builder->key_type = type;
	return true;
}

/* Whether keys of a type, rows of whatever columns, can be added now. */
static int
check_builder(const bloomfilter_builder *builder, unsigned kind)
{
	if (builder->finished || !bf_key_is_kind(kind))
		return BLOOMFILTER_ERR_ARGUMENT;
	return lbf_type_code(bf_key_kind(builder->key_type), kind);
}

/* The type of keys, of which there is one, of rows with the first one's columns: all must be alike. */
static uint32_t
type_of_keys(const lbf_keys *keys)
{
	uint32_t	full = (uint32_t) keys->type;
	size_t		length;

	if (keys->type == BF_KEY_ROW && keys->slices != NULL)
	{
		length = keys->slices[0].length;
		lbf_key_check(keys->type, keys->slices[0].bytes, &length, &full);
	}
	return full;
}

static int
add_batch(bloomfilter_builder *builder, const lbf_keys *keys, size_t count,
		  size_t *added)
{
	int			code = check_builder(builder, (unsigned) keys->type);
	uint32_t	type = builder->key_type;
	size_t		done = 0;
	uint64_t	hashes[LBF_CHUNK];

	if (type == BF_KEY_NONE && count > 0)
		type = type_of_keys(keys);
	while (code == BLOOMFILTER_OK && done < count)
	{
		size_t		length = count - done < LBF_CHUNK ? count - done : LBF_CHUNK;

		length = lbf_hash_keys(keys, done, length, type, builder->seed, hashes, &code);
		if (add_hashes(builder, type, hashes, length))
			done += length;
		else
			code = BLOOMFILTER_ERR_NO_MEMORY;
	}
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
bloomfilter_builder_add(bloomfilter_builder *builder, int key_type, const void *bytes, size_t length)
{
	const bloomfilter_slice key = {bytes, length};

	return bloomfilter_builder_add_batch(builder, key_type, &key, 1, NULL);
}

int
bloomfilter_builder_add_int64(bloomfilter_builder *builder, int64_t value)
{
	return bloomfilter_builder_add_int64_batch(builder, &value, 1, NULL);
}

/* Sizes the filter for the hashes in the list and adds them. */
static int
build_from_list(bloomfilter_builder *builder)
{
	lbf_hashes *list = &builder->lists[0];
	int			code;

	list->count = bf_hashlist_unique(list->hashes, list->count, NULL);
	code = make_filter(list->count > 0 ? list->count : 1, builder->rate, builder->seed, 1, &builder->filter);
	if (code == BLOOMFILTER_OK)
		add_to_part(&builder->filter->part[0], builder->key_type, list->hashes, list->count);
	return code;
}

/* ------------------------------------------------------------------------
 * Exact filters
 *
 * Level 1 is made of the members, level 2 of the others that it lets in, level 3 of the
 * members that level 2 lets in.  A level that gets more keys than it is sized for is sized
 * anew, and all is built again.
 * ------------------------------------------------------------------------ */

/* Whether some hash is in both lists: such keys pass all levels alike. */
static bool
meet(const lbf_hashes *members, const lbf_hashes *others)
{
	size_t		at = 0;
	size_t		i;

	for (i = 0; i < members->count; i++)
	{
		while (at < others->count && others->hashes[at] < members->hashes[i])
			at++;
		if (at < others->count && others->hashes[at] == members->hashes[i])
			return true;
	}
	return false;
}

/* The hashes that a level lets in, into room for all; returns how many. */
static size_t
let_in(const lbf_part *part, unsigned level, const lbf_hashes *list, uint64_t *in)
{
	size_t		left = 0;
	size_t		i;

	for (i = 0; i < list->count; i++)
		if (bf_exact_level_contains(&part->shape, lbf_blocks(part), level, list->hashes[i]))
			in[left++] = list->hashes[i];
	return left;
}

/* Whether a level has room for its keys; else it is to have more the next time. */
static bool
has_room(const lbf_part *part, unsigned level, size_t count, uint64_t least[BF_EXACT_LEVELS])
{
	if (count <= part->shape.level[level].capacity)
		return true;
	least[level] = count + count / 5;
	return false;
}

/* Fills an empty filter; false where it was too small.  in has room for all hashes. */
static bool
fill(const lbf_hashes lists[2], lbf_part *part, uint64_t *in, uint64_t least[BF_EXACT_LEVELS])
{
	uint8_t    *blocks = part->bytes.start + BF_EXACT_HEADER_BYTES;
	uint64_t   *members = in + lists[1].count;
	size_t		count;
	size_t		member_count;

	bf_exact_add(&part->shape, blocks, 0, lists[0].hashes, lists[0].count, NULL);
	count = let_in(part, 0, &lists[1], in);
	if (!has_room(part, 1, count, least))
		return false;
	bf_exact_add(&part->shape, blocks, 1, in, count, NULL);
	member_count = let_in(part, 1, &lists[0], members);
	if (!has_room(part, 2, member_count, least))
		return false;
	if (bf_exact_close(&part->shape, blocks, members, member_count, in, count, NULL))
		return true;
	least[2] = part->shape.level[2].capacity * 4;
	return false;
}

/* Builds it, with levels of at least so many keys; false where one was too small. */
static bool
build_levels(bloomfilter_builder *builder, uint64_t *in, uint64_t least[BF_EXACT_LEVELS], int *code)
{
	const bf_universe universe = {builder->lists[0].count > 0 ? builder->lists[0].count : 1, builder->lists[1].count, builder->rate};
	bf_shape	shape;
	unsigned	i;

	*code = BLOOMFILTER_ERR_RATE;
	if (!bf_exact_plan_least(&universe, builder->seed, least, &shape))
		return true;
	*code = BLOOMFILTER_ERR_TOO_LARGE;
	if (!bf_exact_fits(&shape))
		return true;
	for (i = 0; i < BF_EXACT_LEVELS; i++)
		shape.level[i].key_type = builder->key_type;
	*code = BLOOMFILTER_ERR_NO_MEMORY;
	builder->filter = lbf_handle_allocate(&shape, 1);
	if (builder->filter == NULL)
		return true;
	*code = BLOOMFILTER_OK;
	if (fill(builder->lists, &builder->filter->part[0], in, least))
		return true;
	bloomfilter_close(builder->filter);
	builder->filter = NULL;
	return false;
}

static int
build_exact(bloomfilter_builder *builder)
{
	lbf_hashes *members = &builder->lists[0];
	lbf_hashes *others = &builder->lists[1];
	uint64_t	least[BF_EXACT_LEVELS] = {0, 0, 0};
	uint64_t   *in = malloc((members->count + others->count + 1) * sizeof *in);
	int			code = in == NULL ? BLOOMFILTER_ERR_NO_MEMORY : BLOOMFILTER_OK;

	members->count = bf_hashlist_unique(members->hashes, members->count, NULL);
	others->count = bf_hashlist_unique(others->hashes, others->count, NULL);
	if (code == BLOOMFILTER_OK && meet(members, others))
		code = BLOOMFILTER_ERR_CONFLICT;
	while (code == BLOOMFILTER_OK && !build_levels(builder, in, least, &code))
		;
	free(in);
	return code;
}

int
bloomfilter_builder_finish(bloomfilter_builder *builder, bloomfilter **filter,
						   bloomfilter_detail *detail)
{
	int			code = BLOOMFILTER_OK;

	if (builder->finished || filter == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	if (builder->filter == NULL)
		code = builder->exact ? build_exact(builder) : build_from_list(builder);
	if (code != BLOOMFILTER_OK)
		return lbf_fail(detail, code, NULL);
	lbf_handle_seal(builder->filter);
	*filter = builder->filter;
	builder->filter = NULL;
	builder->finished = true;
	return BLOOMFILTER_OK;
}
