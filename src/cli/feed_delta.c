/*
 * feed_delta.c
 *	  Deltas between the parts of a list in two epochs.
 *
 * src/delta does the work, and checks the result by its own checksum.  What the manifest
 * says of the result is compared besides: then a file that was made here is the one that
 * would have been fetched, byte for byte, whatever the copy was.
 */
#include "feed_delta.h"

#include <stdlib.h>
#include <string.h>

#include "bf_delta_malloc.h"
#include "feed_files.h"
#include "messages.h"

/* A delta as it grows. */
typedef struct growing
{
	uint8_t    *bytes;
	size_t		length;
	size_t		room;
	size_t		most;
} growing;

/* A sink that takes no more than most bytes. */
static bool
append(void *context, const void *bytes, size_t length)
{
	growing    *delta = context;

	if (length > delta->most - delta->length)
		return false;
	if (length > delta->room - delta->length)
	{
		delta->room = 2 * delta->room + length;
		delta->bytes = allocate(delta->bytes, delta->room, 1);
	}
	memcpy(delta->bytes + delta->length, bytes, length);
	delta->length += length;
	return true;
}

/* A part, whose header's checksum is then right. */
static bfd_filter
sealed(feed_copy *copy, uint32_t part)
{
	bfd_filter	filter = {&copy->headers[part], copy->blocks[part]};
	uint8_t		header[BF_HEADER_BYTES];

	feed_copy_seal(copy, part, header);
	return filter;
}

uint8_t *
feed_delta_write(feed_copy *old, feed_copy *now, uint32_t part, size_t most, size_t *length)
{
	growing		delta = {NULL, 0, 0, most};
	bfd_sink	sink = {append, &delta};

	if (bfd_diff(sealed(old, part), sealed(now, part), &bfd_by_malloc, NULL, &sink) == BFD_OK)
	{
		*length = delta.length;
		return delta.bytes;
	}
	free(delta.bytes);
	return NULL;
}

/* Whether bytes are what a delta's line says of its result. */
static bool
is_result(const uint8_t *bytes, size_t length, const feed_file *file)
{
	feed_piece	piece = {bytes, length};
	uint8_t		digest[FEED_DIGEST_BYTES];

	feed_digest(digest, &piece, 1);
	return memcmp(digest, file->result, sizeof digest) == 0;
}

const char *
feed_delta_apply(feed_copy *copy, uint32_t part, const uint8_t *delta, const feed_file *file)
{
	size_t		length = (size_t) bf_total_bytes(&copy->headers[part]);
	uint8_t    *result = allocate(NULL, length, 1);
	bf_header	header;
	bfd_status	status = bfd_apply(sealed(copy, part), delta, file->length, &bfd_by_malloc, NULL, result, &header);
	const char *problem = status != BFD_OK ? bfd_status_text(status) :
		is_result(result, length, file) ? NULL : "its result is not what the manifest says";

	if (problem == NULL)
	{
		copy->headers[part] = header;
		memcpy(copy->blocks[part], result + BF_HEADER_BYTES, length - BF_HEADER_BYTES);
	}
	free(result);
	return problem;
}
