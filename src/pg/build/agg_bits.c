/*
 * agg_bits.c
 *	  The set bits of a filter's blocks as a list of gaps.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_tick.h"
#include "base/report.h"
#include "build/agg_bits.h"

#define GROUP_BITS 7
#define MORE 0x80

/* Bytes of the longest gap: filters have fewer than 2^35 bits. */
#define MOST_GROUPS 5

/* Bytes of a list between two looks at whether the query is cancelled. */
#define BYTES_BETWEEN_CHECKS 65536

/* A gap takes a second byte from 128 bits on, of which there are so many, and so on. */
uint64
bfpg_bits_room(uint64 bytes, uint64 bits_set)
{
	uint64		room = bits_set;
	uint64		gaps;

	for (gaps = bytes * 8 >> GROUP_BITS; gaps > 0; gaps >>= GROUP_BITS)
		room += gaps;
	return room;
}

static inline uint8 *
write_gap(uint8 *list, uint64 gap)
{
	while (gap >= MORE)
	{
		*list++ = (uint8) (gap | MORE);
		gap >>= GROUP_BITS;
	}
	*list++ = (uint8) gap;
	return list;
}

uint64
bfpg_bits_write(const uint8 *blocks, uint64 bytes, uint8 *list)
{
	uint8	   *end = list;
	uint64		next = 0;		/* the bit that a gap begins at */
	uint64		at = 0;

	while (at < bytes)
	{
		uint64		step = at + bf_tick_step(bytes - at, bfpg_tick);

		for (; at < step; at += sizeof(uint64))
		{
			uint64		word = bf_load_le64(blocks + at);

			for (; word != 0; word &= word - 1)
			{
				uint64		bit = at * 8 + pg_rightmost_one_pos64(word);

				end = write_gap(end, bit - next);
				next = bit + 1;
			}
		}
	}
	return (uint64) (end - list);
}

/* Reads the rest of a gap whose first byte has more behind it; false if it has no end. */
static bool
read_long_gap(const uint8 **list, const uint8 *end, uint64 *gap)
{
	const uint8 *at = *list;
	const uint8 *last = at + Min(end - at, MOST_GROUPS - 1);
	unsigned	shift = GROUP_BITS;

	*gap &= ~(uint64) MORE;
	for (; at < last; shift += GROUP_BITS)
	{
		uint8		byte = *at++;

		*gap |= (uint64) (byte & ~MORE) << shift;
		if ((byte & MORE) == 0)
		{
			*list = at;
			return true;
		}
	}
	return false;
}

bool
bfpg_bits_set(uint8 *blocks, uint64 bytes, const uint8 *list, uint64 length)
{
	const uint8 *end = list + length;
	uint64		bits = bytes * 8;
	uint64		bit = 0;

	while (list < end)
	{
		const uint8 *step = list + Min(end - list, BYTES_BETWEEN_CHECKS);

		bfpg_tick();
		for (; list < step; bit++)
		{
			uint64		gap = *list++;

			if (gap >= MORE && !read_long_gap(&list, end, &gap))
				return false;
			bit += gap;
			if (bit >= bits)
				return false;
			blocks[bit / 8] |= (uint8) (1 << bit % 8);
		}
	}
	return true;
}
