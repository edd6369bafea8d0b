/*
 * feed_sum.c
 *	  The sum of a list's content.
 */
#include "feed_sum.h"

#include <string.h>

#include "bf_format.h"
#include "bf_hash.h"

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
