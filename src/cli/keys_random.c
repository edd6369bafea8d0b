/*
 * keys_random.c
 *	  Random keys, for measuring a filter's false-positive rate.
 *
 * They are spread over so many values of their type that a filter's own keys are
 * hardly ever among them: 2^30 for dates, 2^48 and more for all others.
 */
#include "keys_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../core/bf_key.h"
#include "../lib/libbloomfilter.h"

/* SplitMix64: a full period of 2^64, so no key comes twice. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t	value = (*state += UINT64_C(0x9e3779b97f4a7c15));

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/* Random bytes: the same on machines of either byte order. */
static size_t
random_bytes(uint64_t *state, size_t count, uint8_t *bytes)
{
	size_t		i;

	for (i = 0; i < count; i++)
		bytes[i] = (uint8_t) (next_random(state) >> 56);
	return count;
}

/* Digits that are a numeric, and as good a text. */
static size_t
random_digits(uint64_t *state, uint8_t *bytes)
{
	char		digits[RANDOM_KEY_BYTES];
	int			length = snprintf(digits, sizeof digits, "%" PRIu64,
								  next_random(state));

	memcpy(bytes, digits, (size_t) length);
	return (size_t) length;
}

/* A number below 1, in all 53 bits. */
static double
random_double(uint64_t *state)
{
	return (double) (next_random(state) >> 11) * 0x1p-53;
}

size_t
random_key(uint64_t *state, int key_type, uint8_t *bytes)
{
	uint8_t		address[16];

	switch (key_type)
	{
		case BLOOMFILTER_KEY_TEXT:
		case BLOOMFILTER_KEY_NUMERIC:
			return random_digits(state, bytes);
		case BLOOMFILTER_KEY_BYTEA:
		case BLOOMFILTER_KEY_UUID:
			return random_bytes(state, 16, bytes);
		case BLOOMFILTER_KEY_FLOAT:
			return bf_key_float(random_double(state), bytes);
		case BLOOMFILTER_KEY_DATE:
			return bf_key_integer((int64_t) (next_random(state)  >> 34), bytes);
		case BLOOMFILTER_KEY_INET:
			random_bytes(state, sizeof address, address);
			return bf_key_inet(6, 128, address, bytes);
		case BLOOMFILTER_KEY_MACADDR:
			return random_bytes(state, 6, bytes);
		default:
			return bf_key_integer((int64_t) next_random(state), bytes);
	}
}
