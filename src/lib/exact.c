/*
 * exact.c
 *	  Building an exact filter, whose keys' hashes are all in memory.
 *
 * Level 1 is made of the members, level 2 of the others that it lets in, level 3 of the
 * members that level 2 lets in.  A level that gets more keys than it is sized for is sized
 * anew, and all is built again.
 */
#include "exact.h"

#include <stdlib.h>

/* Whether some hash is in both: such keys pass all levels alike. */
static bool
meet(const lbf_universe *u)
{
	size_t		at = 0;
	size_t		i;

	for (i = 0; i < u->member_count; i++)
	{
		while (at < u->other_count && u->others[at] < u->members[i])
			at++;
		if (at < u->other_count && u->others[at] == u->members[i])
			return true;
	}
	return false;
}

/* The shape, with room for at least so many keys in levels 2 and 3. */
static bool
plan(const lbf_universe *u, const uint64_t least[BF_EXACT_LEVELS], bf_exact *shape)
{
	const bf_universe universe = {u->member_count > 0 ? u->member_count : 1, u->other_count, u->rate};
	bool		planned = bf_exact_plan(&universe, u->seed, shape);
	unsigned	i;

	if (planned && least[1] > shape->level[1].capacity)
		planned = bf_exact_resize(shape, 1, least[1], universe.members) &&
			bf_exact_resize(shape, 2, shape->level[2].capacity, least[1]);
	if (planned && least[2] > shape->level[2].capacity)
		planned = bf_exact_resize(shape, 2, least[2], shape->level[1].capacity);
	for (i = 0; planned && i < BF_EXACT_LEVELS; i++)
		shape->level[i].key_type = u->key_type;
	return planned;
}

/* The hashes that a level lets in, into room for all; returns how many. */
static size_t
let_in(const lbf_part *part, unsigned level, const uint64_t *hashes, size_t count, uint64_t *in)
{
	size_t		left = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		if (bf_exact_level_contains(&part->shape, lbf_blocks(part), level, hashes[i]))
			in[left++] = hashes[i];
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
fill(const lbf_universe *u, lbf_part *part, uint64_t *in, uint64_t least[BF_EXACT_LEVELS])
{
	uint8_t    *blocks = part->bytes.start + BF_EXACT_HEADER_BYTES;
	uint64_t   *members = in + u->other_count;
	size_t		count;
	size_t		member_count;

	bf_exact_add(&part->shape, blocks, 0, u->members, u->member_count);
	count = let_in(part, 0, u->others, u->other_count, in);
	if (!has_room(part, 1, count, least))
		return false;
	bf_exact_add(&part->shape, blocks, 1, in, count);
	member_count = let_in(part, 1, u->members, u->member_count, members);
	if (!has_room(part, 2, member_count, least))
		return false;
	if (bf_exact_close(&part->shape, blocks, members, member_count, in, count, NULL))
		return true;
	least[2] = part->shape.level[2].capacity * 4;
	return false;
}

int
lbf_exact_build(const lbf_universe *u, bloomfilter **filter)
{
	uint64_t	least[BF_EXACT_LEVELS] = {0, 0, 0};
	uint64_t   *in;
	bf_exact	shape;
	int			code = BLOOMFILTER_OK;

	if (meet(u))
		return BLOOMFILTER_ERR_CONFLICT;
	in = malloc((u->member_count + u->other_count + 1) * sizeof *in);
	if (in == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	for (;;)
	{
		bool		planned = plan(u, least, &shape);

		if (!planned || !bf_exact_fits(&shape))
			code = planned ? BLOOMFILTER_ERR_TOO_LARGE : BLOOMFILTER_ERR_RATE;
		else if ((*filter = lbf_handle_allocate(&shape, 1)) == NULL)
			code = BLOOMFILTER_ERR_NO_MEMORY;
		if (code != BLOOMFILTER_OK || fill(u, &(*filter)->part[0], in, least))
			break;
		bloomfilter_close(*filter);
		*filter = NULL;
	}
	free(in);
	return code;
}
