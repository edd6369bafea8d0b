/*
 * feed_part.c
 *	  Headers of a list's parts, read and written by the core's rules.
 */
#include "feed_part.h"

#include <string.h>

#include "bf_bits.h"
#include "bf_estimate.h"
#include "bf_exact.h"
#include "bf_format.h"

static void
describe(const bf_header *header, const uint8_t *bytes, feed_part *part)
{
	memcpy(part->header, bytes, FEED_HEADER_BYTES);
	part->at = 0;
	part->length = bf_blocks_bytes(header);
	part->blocks = header->blocks;
	part->log2_block_bits = header->log2_block_bits;
	part->part = header->part;
	part->parts = header->parts;
	part->bits_set = header->bits_set;
}

/* Only the library reads exact filters. */
static const char *
problem(bf_status status, const uint8_t *bytes)
{
	if (status == BF_BAD_VERSION && bf_format_version(bytes) == BF_EXACT_VERSION)
		return "is exact, and this version does not carry exact lists";
	return bf_status_text(status);
}

const char *
feed_part_read(const uint8_t *bytes, feed_part *part)
{
	bf_header	header;
	bf_status	status = bf_header_read(bytes, bf_header_length(bytes), &header);

	if (status != BF_OK)
		return problem(status, bytes);
	describe(&header, bytes, part);
	return NULL;
}

const char *
feed_part_check(const uint8_t *filter, uint64_t length, feed_part *part)
{
	bf_header	header;
	bf_status	status = bf_parse(filter, length, NULL, &header);

	if (status != BF_OK)
		return problem(status, filter);
	describe(&header, filter, part);
	return NULL;
}

/* The header of a part that was read: it can't fail. */
static bf_header
header_of(const feed_part *part)
{
	bf_header	header;

	memset(&header, 0, sizeof header);
	(void) bf_header_read(part->header, FEED_HEADER_BYTES + part->length, &header);
	return header;
}

void
feed_part_strip(feed_part *part)
{
	bf_header	header = header_of(part);

	header.bits_set = 0;
	header.checksum = 0;
	bf_header_copy(&header, part->header);
	part->bits_set = 0;
}

void
feed_part_seal(feed_part *part, const uint8_t *blocks)
{
	bf_header	header = header_of(part);

	header.bits_set = bf_count_bits(blocks, part->length, NULL);
	bf_header_write(&header, blocks, NULL, part->header);
	part->bits_set = header.bits_set;
}

bool
feed_part_fits(const feed_part *a, const feed_part *b)
{
	bf_header	one = header_of(a);
	bf_header	other = header_of(b);

	return one.probes == other.probes && one.log2_block_bits == other.log2_block_bits &&
		one.blocks == other.blocks && one.seed == other.seed && one.part == other.part &&
		one.parts == other.parts && one.key_type == other.key_type;
}

void
feed_part_figures(const feed_part *part, uint64_t bits_set, feed_figures *figures)
{
	bf_header	header = header_of(part);

	header.bits_set = bits_set;
	figures->n = header.capacity;
	figures->p = header.rate;
	figures->keys = bf_estimate_keys(&header);
	figures->rate = bf_estimate_rate(&header);
}

uint64_t
feed_count_bits(const uint8_t *bytes, uint64_t length)
{
	return bf_count_bits(bytes, length, NULL);
}
