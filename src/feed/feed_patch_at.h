/*
 * feed_patch_at.h
 *	  Where the fields of a patch's header lie, for what reads and what writes patches.
 *
 * Behind it are Rice codes in a stream of bits: v >> b ones, a zero, the b low bits of v.  Bits are
 * packed from the lowest of a byte on.
 */
#ifndef FEED_PATCH_AT_H
#define FEED_PATCH_AT_H

#include <stddef.h>
#include <stdint.h>

#define PATCH_MAGIC "BLMP"
#define PATCH_VERSION 1
#define PATCH_VARINT_BYTES 5

enum
{
	PATCH_AT_VERSION = 4,
	PATCH_AT_KIND = 5,
	PATCH_AT_ZERO = 6,
	PATCH_AT_EPOCH = 8,
	PATCH_AT_IDENTITY = 16,
	PATCH_AT_FROM = 32,
	PATCH_AT_TO = 40,
	PATCH_AT_FROM_SUM = 48,
	PATCH_AT_TO_SUM = 56,
	PATCH_AT_POSITIONS = 64,
	PATCH_AT_LENGTH = 72,
	PATCH_AT_CHECKSUM = 80
};

/* Of all bytes but those of the checksum. */
extern uint64_t feed_patch_checksum(const uint8_t *bytes, size_t length);

#define FEED_MOST_RICE 31

/* The b for numbers whose mean is total / count: floor(log2(max(1, 709/1024 of it))). */
static inline unsigned
feed_rice_width(uint64_t total, uint64_t count)
{
	uint64_t	mean = 709 * total / (1024 * count);
	unsigned	width = 0;

	while (mean >> width > 1)
		width++;
	return width;
}

#endif							/* FEED_PATCH_AT_H */
