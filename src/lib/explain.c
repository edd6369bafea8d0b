/*
 * explain.c
 *	  What a look-up of one key computes and sees, as text.
 */
#include "bf_explain.h"

#include <stdlib.h>

#include "ask.h"
#include "bf_filter.h"
#include "bf_text.h"
#include "error.h"
#include "keys.h"
#include "page.h"

_Static_assert(BF_EXPLAIN_ROOM == BLOOMFILTER_EXPLAIN_TEXT, "the public header has the core's number");

int
bloomfilter_explain(const bloomfilter *filter, int key_type, const void *bytes,
					size_t length, char *text)
{
	const lbf_part *part = filter->part;
	bf_exact	shape;
	uint32_t	type;
	int			code = lbf_key_check(key_type, bytes, &length, &type);

	if (code == BLOOMFILTER_OK)
		code = lbf_type_code(filter->key_type, type);
	if (code != BLOOMFILTER_OK)
		return code;
	if (filter->open_parts > 1)
		part += bf_part_of(bf_hash(bytes, length, filter->seed), filter->open_parts);
	shape = part->shape;
	/* In a mapped file with a page headers say nothing of the bits: it is counted now. */
	if (filter->mapped.start != NULL)
		lbf_part_now(part, &shape);
	code = bf_explain(text, &shape, lbf_blocks(part), type, bytes, length);
	return code == BF_EXPLAIN_OTHER_PART ? BLOOMFILTER_ERR_OTHER_PART : code;
}

int
bloomfilter_explain_from_text(const bloomfilter *filter, int text_type, const char *key,
							  size_t length, char *text, bloomfilter_detail *detail)
{
	size_t		room = bloomfilter_text_room(text_type, key, length);
	void	   *buffer = malloc(room + 1);
	bloomfilter_slice slice;
	int			code;

	if (buffer == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	code = bloomfilter_text_key(text_type, key, length, buffer, room, &slice, detail);
	if (code == BLOOMFILTER_OK)
	{
		code = bloomfilter_explain(filter, bloomfilter_text_key_type(text_type),
								   slice.bytes, slice.length, text);
		if (code < 0)
			lbf_fail(detail, code, NULL);
	}
	free(buffer);
	return code;
}
