/*
 * feed_part.c
 *	  Headers of a list's parts, read and written by the core's rules, and the sum of its content.
 */
#include "feed_part.h"

#include <string.h>

#include "bf_bits.h"
#include "bf_estimate.h"
#include "bf_exact.h"
#include "bf_format.h"
#include "bf_hash.h"

static void
describe(const bf_shape *shape, const uint8_t *bytes, feed_part *part)
{
	const bf_header *header = &shape->level[0];
	unsigned	i;

	memset(part, 0, sizeof *part);
	part->levels = shape->levels;
	memcpy(part->header, bytes, feed_front(part));
	part->length = bf_shape_bytes(shape) - feed_before(part);
	for (i = 0; i < part->levels; i++)
	{
		part->level[i].at = feed_front(part) - feed_before(part) + bf_shape_offset(shape, i);
		part->level[i].blocks = shape->level[i].blocks;
		part->level[i].log2_block_bits = shape->level[i].log2_block_bits;
	}
	part->part = header->part;
	part->parts = header->parts;
	part->bits_set = header->bits_set;
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
	bf_shape	shape;

	if (there >= (exact ? FEED_FRONT_BYTES : FEED_HEADER_BYTES))
		status = bf_any_read(bytes, bf_any_length(bytes), &shape);
	if (status != BF_OK)
		return bf_status_text(status);
	describe(&shape, bytes, part);
	return NULL;
}

const char *
feed_part_check(const uint8_t *filter, uint64_t length, feed_part *part)
{
	bf_shape	shape;
	bf_status	status = bf_any_parse(filter, length, NULL, &shape);

	if (status != BF_OK)
		return bf_status_text(status);
	describe(&shape, filter, part);
	return NULL;
}

/* The levels of a part that was read: it can't fail. */
static bf_shape
shape_of(const feed_part *part)
{
	bf_shape	shape;

	memset(&shape, 0, sizeof shape);
	(void) bf_any_read(part->header, feed_before(part) + part->length, &shape);
	return shape;
}

void
feed_part_strip(feed_part *part)
{
	bf_header	header = shape_of(part).level[0];

	if (feed_is_exact(part))
		return;
	header.bits_set = 0;
	header.checksum = 0;
	bf_header_copy(&header, part->header);
	part->bits_set = 0;
}

bool
feed_part_is_stripped(const feed_part *part)
{
	const bf_header header = shape_of(part).level[0];

	return feed_is_exact(part) || (header.bits_set == 0 && header.checksum == 0);
}

void
feed_part_seal(feed_part *part, const uint8_t *body)
{
	bf_header	header = shape_of(part).level[0];

	if (feed_is_exact(part))
		return;
	header.bits_set = bf_count_bits(body, part->length, NULL);
	bf_header_write(&header, body, NULL, part->header);
	part->bits_set = header.bits_set;
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
	bf_shape	one = shape_of(a);
	bf_shape	other = shape_of(b);
	bool		fits = one.levels == other.levels;
	unsigned	i;

	for (i = 0; i < one.levels && fits; i++)
	{
		const bf_header *x = &one.level[i];
		const bf_header *y = &other.level[i];

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
	bf_header	header = shape_of(part).level[0];

	header.bits_set = part->bits_set;
	figures->n = header.capacity;
	figures->p = header.rate;
	figures->keys = bf_estimate_keys(&header);
	figures->rate = bf_estimate_rate(&header);
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
