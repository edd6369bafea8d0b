/*
 * bf_bytes.h
 *	  Little-endian integers in bytes of any alignment.
 *
 * Written with shifts: compilers make single loads and stores of them, and the
 * bytes are the same on every machine.
 */
#ifndef BF_BYTES_H
#define BF_BYTES_H

#include <stdint.h>

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
