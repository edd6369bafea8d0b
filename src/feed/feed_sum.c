/*
 * feed_sum.c
 *	  The sum of a list's content.
 */
#include "feed_sum.h"

#include "bf_hash.h"

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
