/*
 * handle.c
 *	  Making and closing handles.
 */
#define _DEFAULT_SOURCE

#include "handle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES		((size_t) 2 * 1024 * 1024)

bool
lbf_allocate(lbf_bytes *bytes, size_t length)
{
	bool		huge = length >= HUGE_PAGE_BYTES;
	void	   *memory;

	if (posix_memalign(&memory, huge ? HUGE_PAGE_BYTES : BF_CACHE_LINE, length) != 0)
		return false;
	/* They save a look-up its TLB miss.  A hint: small pages do as well. */
	if (huge)
		(void) madvise(memory, length, MADV_HUGEPAGE);
	*bytes = (lbf_bytes) {memory, length, true};
	return true;
}

static void
release(lbf_bytes *bytes)
{
	if (bytes->allocated)
		free(bytes->start);
}

bloomfilter *
lbf_handle_create(uint32_t parts)
{
	bloomfilter *filter = calloc(1, sizeof *filter + parts * sizeof filter->part[0]);

	if (filter == NULL)
		return NULL;
	filter->open_parts = parts;
	filter->fd = -1;
	return filter;
}

bloomfilter *
lbf_handle_allocate(const bf_shape *shape, uint32_t parts)
{
	bloomfilter *filter = lbf_handle_create(parts);
	size_t		length = (size_t) bf_shape_bytes(shape);
	uint32_t	i;

	for (i = 0; filter != NULL && i < parts; i++)
	{
		lbf_part   *part = &filter->part[i];

		part->shape = *shape;
		part->shape.level[0].part = (uint16_t) i;
		if (!lbf_allocate(&part->bytes, length))
		{
			bloomfilter_close(filter);
			return NULL;
		}
		memset(part->bytes.start, 0, length);
	}
	return filter;
}

void
lbf_handle_complete(bloomfilter *filter)
{
	uint32_t	i;

	filter->seed = filter->part[0].shape.level[0].seed;
	filter->key_type = 0;
	for (i = 0; i < filter->open_parts; i++)
		if (filter->part[i].shape.level[0].key_type != 0)
			filter->key_type = filter->part[i].shape.level[0].key_type;
}

void
lbf_handle_seal(bloomfilter *filter)
{
	uint32_t	i;

	for (i = 0; i < filter->open_parts; i++)
	{
		lbf_part   *part = &filter->part[i];

		if (lbf_is_exact(filter))
			bf_exact_write(&part->shape, part->bytes.start, NULL);
		else
			bf_header_write(&part->shape.level[0], lbf_blocks(part), NULL, part->bytes.start);
	}
	lbf_handle_complete(filter);
}

void
bloomfilter_close(bloomfilter *filter)
{
	uint32_t	i;

	if (filter == NULL)
		return;
	for (i = 0; i < filter->open_parts; i++)
		release(&filter->part[i].bytes);
	release(&filter->changes.copy);
	if (filter->mapped.start != NULL)
		munmap(filter->mapped.start, filter->mapped.length);
	if (filter->fd >= 0)
		close(filter->fd);
	free(filter);
}
