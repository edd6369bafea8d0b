/*
 * feed_part.c
 *	  Headers of a list's parts, read and written by the core's rules, and the sum of its content.
 */
#include "feed_part.h"

#include <string.h>

#include "bf_bits.h"
#include "bf_estimate.h"
#include "bf_hash.h"

/* What a header says that was read with this status; or why it is not valid. */
static const char *
take(bf_status status, const bf_shape *shape, const uint8_t *bytes, feed_part *part)
{
	if (status != BF_OK)
		return bf_status_text(status);
	memset(part, 0, sizeof *part);
	part->shape = *shape;
	memcpy(part->header, bytes, feed_front(part));
	part->length = bf_shape_bytes(shape) - feed_before(part);
	return NULL;
}

bool
feed_are_exact(const feed_part *parts, uint32_t count)
{
	uint32_t	i;

	for (i = 0; i < count; i++)
		if (feed_is_exact(&parts[i]))
			return true;
	return false;
}

const char *
feed_part_read(const uint8_t *bytes, uint64_t there, feed_part *part)
{
	bool		exact = there >= FEED_HEADER_BYTES && bf_format_version(bytes) == BF_EXACT_VERSION;
	bf_status	status = BF_BAD_LENGTH;
	bf_shape	shape = {0};

	if (there >= (exact ? FEED_FRONT_BYTES : FEED_HEADER_BYTES))
		status = bf_any_read(bytes, bf_any_length(bytes), &shape);
	return take(status, &shape, bytes, part);
}

const char *
feed_part_check(const uint8_t *filter, uint64_t length, feed_part *part)
{
	bf_shape	shape = {0};

	return take(bf_any_parse(filter, length, NULL, &shape), &shape, filter, part);
}

void
feed_part_strip(feed_part *part)
{
	bf_header  *header = &part->shape.level[0];

	if (feed_is_exact(part))
		return;
	header->bits_set = 0;
	header->checksum = 0;
	bf_header_copy(header, part->header);
}

bool
feed_part_is_stripped(const feed_part *part)
{
	return feed_is_exact(part) || (part->shape.level[0].bits_set == 0 && part->shape.level[0].checksum == 0);
}

void
feed_part_seal(feed_part *part, const uint8_t *body)
{
	bf_header  *header = &part->shape.level[0];

	if (feed_is_exact(part))
		return;
	header->bits_set = bf_count_bits(body, part->length, NULL);
	bf_header_write(header, body, NULL, part->header);
}

void
feed_part_take(feed_part *part, const uint8_t *header)
{
	uint64_t	at = part->at;

	(void) feed_part_read(header, FEED_FRONT_BYTES, part);
	part->at = at;
	feed_part_strip(part);
}

bool
feed_part_fits(const feed_part *a, const feed_part *b)
{
	bool		fits = a->shape.levels == b->shape.levels;
	unsigned	i;

	for (i = 0; i < a->shape.levels && fits; i++)
	{
		const bf_header *x = &a->shape.level[i];
		const bf_header *y = &b->shape.level[i];

		fits = x->probes == y->probes && x->log2_block_bits == y->log2_block_bits && x->blocks == y->blocks &&
			x->seed == y->seed && x->part == y->part && x->parts == y->parts && x->key_type == y->key_type;
	}
	return fits;
}

bool
feed_part_is(const feed_part *filter, const feed_part *here, const uint8_t *body)
{
	feed_part	sealed = *filter;

	if (!feed_part_fits(filter, here))
		return false;
	/* of an exact one the whole header lies here */
	if (feed_is_exact(filter))
		return memcmp(filter->header, here->header, FEED_FRONT_BYTES) == 0;
	/* n and p may differ from those that came with the bits before */
	feed_part_seal(&sealed, body);
	return memcmp(filter->header, sealed.header, FEED_HEADER_BYTES) == 0;
}

void
feed_part_figures(const feed_part *part, feed_figures *figures)
{
	const bf_header *header = &part->shape.level[0];

	figures->n = header->capacity;
	figures->p = header->rate;
	figures->keys = bf_estimate_keys(header);
	figures->rate = bf_estimate_rate(header);
}

/* ------------------------------------------------------------------------
 * The sum of a list's content
 * ------------------------------------------------------------------------ */

/* Bytes before n, and from the hash's number to the columns: n, p and what follows the bits may change. */
enum
{
	BEFORE_N = 24,
	HASH_AT = 48,
	BEFORE_CHECKSUM = 52
};

/* Of a header: no part has so many pieces. */
#define HEADER_NUMBER UINT32_MAX

uint64_t
feed_sum_header(uint32_t part, const uint8_t *header)
{
	uint8_t		fixed[BEFORE_N + BEFORE_CHECKSUM - HASH_AT];

	if (bf_format_version(header) == BF_EXACT_VERSION)
		return 0;
	memcpy(fixed, header, BEFORE_N);
	memcpy(fixed + BEFORE_N, header + HASH_AT, BEFORE_CHECKSUM - HASH_AT);
	return bf_hash(fixed, sizeof fixed, (uint64_t) part << 32 | HEADER_NUMBER);
}

uint64_t
feed_sum(uint32_t part, uint64_t first, const uint8_t *bytes, uint64_t length)
{
	uint64_t	sum = 0;
	uint64_t	at;

	for (at = 0; at < length; at += FEED_PIECE, first++)
		sum += bf_hash(bytes + at, (size_t) (length - at < FEED_PIECE ? length - at : FEED_PIECE),
					   (uint64_t) part << 32 | first);
	return sum;
}

uint64_t
feed_sum_piece(uint32_t part, uint64_t byte, const uint8_t *blocks, uint64_t length)
{
	uint64_t	first = byte / FEED_PIECE;
	uint64_t	at = first * FEED_PIECE;

	return feed_sum(part, first, blocks + at, length - at < FEED_PIECE ? length - at : FEED_PIECE);
}
