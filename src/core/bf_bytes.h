/*
 * bf_bytes.h
 *	  Little-endian integers in bytes of any alignment.
 *
 * Written with shifts, so that the bytes are the same on every machine.  Those of
 * 8 bytes are written out, because compilers make one load or store of that but not
 * of a loop; and bytes stored one by one can't be loaded as a word without a stall.
 */
#ifndef BF_BYTES_H
#define BF_BYTES_H

#include <stdint.h>

static inline uint64_t
bf_load_le64(const uint8_t *bytes)
{
	return (uint64_t) bytes[0] | (uint64_t) bytes[1] << 8 |
		(uint64_t) bytes[2] << 16 | (uint64_t) bytes[3] << 24 |
		(uint64_t) bytes[4] << 32 | (uint64_t) bytes[5] << 40 |
		(uint64_t) bytes[6] << 48 | (uint64_t) bytes[7] << 56;
}

static inline void
bf_store_le64(uint8_t *bytes, uint64_t value)
{
	bytes[0] = (uint8_t) value;
	bytes[1] = (uint8_t) (value >> 8);
	bytes[2] = (uint8_t) (value >> 16);
	bytes[3] = (uint8_t) (value >> 24);
	bytes[4] = (uint8_t) (value >> 32);
	bytes[5] = (uint8_t) (value >> 40);
	bytes[6] = (uint8_t) (value >> 48);
	bytes[7] = (uint8_t) (value >> 56);
}

/* Of any size up to 8: for headers, where speed is no matter. */
static inline uint64_t
bf_load_le(const uint8_t *bytes, unsigned size)
{
	uint64_t	value = 0;
	unsigned	i;

	for (i = 0; i < size; i++)
		value |= (uint64_t) bytes[i] << (8 * i);
	return value;
}

static inline void
bf_store_le(uint8_t *bytes, unsigned size, uint64_t value)
{
	unsigned	i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t) (value >> (8 * i));
}

#endif							/* BF_BYTES_H */
