/*
 * union.c
 *	  The filter of all keys of two.
 *
 * The result is what a builder would make of all keys, byte for byte, so the
 * order of the two doesn't show in it.
 */
#include <string.h>

#include "bf_filter.h"
#include "handle.h"

/* Whether two handles have the same parts open and each pair can be combined. */
static bool
are_compatible(const bloomfilter *a, const bloomfilter *b)
{
	uint32_t	i;

	if (a->open_parts != b->open_parts ||
		(a->key_type != b->key_type && a->key_type != 0 && b->key_type != 0))
		return false;
	for (i = 0; i < a->open_parts; i++)
		if (!bf_compatible(&a->part[i].shape.level[0], &b->part[i].shape.level[0]))
			return false;
	return true;
}

/* A copy of a handle in memory of its own. */
static bloomfilter *
copy_handle(const bloomfilter *filter)
{
	bloomfilter *copy = lbf_handle_create(filter->open_parts);
	uint32_t	i;

	for (i = 0; copy != NULL && i < filter->open_parts; i++)
	{
		const lbf_part *from = &filter->part[i];
		lbf_part   *to = &copy->part[i];

		to->shape = from->shape;
		to->bytes.start = lbf_allocate(from->bytes.length, false);
		if (to->bytes.start == NULL)
		{
			bloomfilter_close(copy);
			return NULL;
		}
		to->bytes.length = from->bytes.length;
		to->bytes.owner = LBF_ALLOCATED;
		memcpy(to->bytes.start, from->bytes.start, from->bytes.length);
	}
	return copy;
}

int
bloomfilter_union(const bloomfilter *a, const bloomfilter *b,
				  bloomfilter **result)
{
	bloomfilter *sum;
	uint32_t	i;

	if (lbf_is_live(a) || lbf_is_live(b))
		return BLOOMFILTER_ERR_FOLLOWED;
	if (lbf_is_exact(a) || lbf_is_exact(b))
		return BLOOMFILTER_ERR_EXACT;
	if (!are_compatible(a, b))
		return BLOOMFILTER_ERR_INCOMPATIBLE;
	sum = copy_handle(a);
	if (sum == NULL)
		return BLOOMFILTER_ERR_NO_MEMORY;
	for (i = 0; i < sum->open_parts; i++)
		bf_union(&sum->part[i].shape.level[0], sum->part[i].bytes.start + BF_HEADER_BYTES,
				 &b->part[i].shape.level[0], lbf_blocks(&b->part[i]), NULL);
	lbf_handle_seal(sum);
	*result = sum;
	return BLOOMFILTER_OK;
}
