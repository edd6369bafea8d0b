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

#include "../lib/libbloomfilter.h"

/* Bytes of the longest column. */
#define RANDOM_COLUMN_BYTES 32

/* SplitMix64: a full period of 2^64, so no key comes twice. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t	value = (*state += UINT64_C(0x9e3779b97f4a7c15));

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/* 8 bytes, the lowest first: an integer, or the bits of a double. */
static size_t
put_word(uint64_t word, uint8_t *bytes)
{
	size_t		i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t) (word >> 8 * i);
	return 8;
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
	char		digits[RANDOM_COLUMN_BYTES];
	int			length = snprintf(digits, sizeof digits, "%" PRIu64,
								  next_random(state));

	memcpy(bytes, digits, (size_t) length);
	return (size_t) length;
}

/* A number below 1, in all 53 bits. */
static size_t
random_double(uint64_t *state, uint8_t *bytes)
{
	double		value = (double) (next_random(state) >> 11) * 0x1p-53;
	uint64_t	word;

	memcpy(&word, &value, sizeof word);
	return put_word(word, bytes);
}

/* An IPv6 address without a network: family, prefix length, and its bytes. */
static size_t
random_address(uint64_t *state, uint8_t *bytes)
{
	bytes[0] = 6;
	bytes[1] = 128;
	return 2 + random_bytes(state, 16, bytes + 2);
}

static size_t
random_column(uint64_t *state, int key_type, uint8_t *bytes)
{
	switch (key_type)
	{
		case BLOOMFILTER_KEY_TEXT:
		case BLOOMFILTER_KEY_NUMERIC:
			return random_digits(state, bytes);
		case BLOOMFILTER_KEY_BYTEA:
		case BLOOMFILTER_KEY_UUID:
			return random_bytes(state, 16, bytes);
		case BLOOMFILTER_KEY_FLOAT:
			return random_double(state, bytes);
		case BLOOMFILTER_KEY_DATE:
			return put_word(next_random(state) >> 34, bytes);
		case BLOOMFILTER_KEY_INET:
			return random_address(state, bytes);
		case BLOOMFILTER_KEY_MACADDR:
			return random_bytes(state, 6, bytes);
		default:
			return put_word(next_random(state), bytes);
	}
}

static size_t
random_row(uint64_t *state, const uint8_t *columns, uint8_t *bytes)
{
	bloomfilter_row row = {bytes, RANDOM_KEY_BYTES, 0};
	uint8_t		column[RANDOM_COLUMN_BYTES];

	for (; *columns != 0; columns++)
		bloomfilter_row_append(&row, *columns, column,
							   random_column(state, *columns, column));
	return row.length;
}

size_t
random_key(uint64_t *state, int key_type, const uint8_t *columns, uint8_t *bytes)
{
	if (key_type == BLOOMFILTER_KEY_ROW)
		return random_row(state, columns, bytes);
	return random_column(state, key_type, bytes);
}
