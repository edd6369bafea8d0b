/*
 * bf_bits.c
 *	  Counting, OR and AND over blocks, with a tick every few MiB.
 */
#include "bf_bits.h"

#include <string.h>

#define BF_INLINE static inline __attribute__((always_inline))

/*
 * Everything is done in strips that fit the first-level cache twice over, so
 * that combining and counting together read memory once.
 */
#define STRIP_BYTES 8192

static inline uint64_t
load_word(const uint8_t *bytes)
{
	uint64_t	word;

	memcpy(&word, bytes, sizeof word);
	return word;
}

/* The loop that both of the functions below are; four sums keep popcnt busy. */
BF_INLINE uint64_t
count_words(const uint8_t *bytes, uint64_t length)
{
	uint64_t	sum[4] = {0, 0, 0, 0};
	uint64_t	i;

	for (i = 0; i < length; i += 32)
	{
		sum[0] += (uint64_t) __builtin_popcountll(load_word(bytes + i));
		sum[1] += (uint64_t) __builtin_popcountll(load_word(bytes + i + 8));
		sum[2] += (uint64_t) __builtin_popcountll(load_word(bytes + i + 16));
		sum[3] += (uint64_t) __builtin_popcountll(load_word(bytes + i + 24));
	}
	return sum[0] + sum[1] + sum[2] + sum[3];
}

#if defined(__x86_64__)
/*
 * The one instruction, which the first x86-64 processors lack.  Not by target_clones,
 * which would do the same: C libraries other than glibc have no place for its choice,
 * and sanitizers are not awake yet when it is made.
 */
__attribute__((target("popcnt")))
static uint64_t
count_popcnt(const uint8_t *bytes, uint64_t length)
{
	return count_words(bytes, length);
}
#endif

static uint64_t
count_strip(const uint8_t *bytes, uint64_t length)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("popcnt"))
		return count_popcnt(bytes, length);
#endif
	return count_words(bytes, length);
}

uint64_t
bf_count_bits(const uint8_t *bytes, uint64_t length, bf_tick tick)
{
	uint64_t	sum = 0;
	uint64_t	at = 0;

	while (at < length)
	{
		uint64_t	step = bf_tick_step(length - at, tick);

		sum += count_strip(bytes + at, step);
		at += step;
	}
	return sum;
}

static void
or_strip(uint8_t *target, const uint8_t *source, uint64_t length)
{
	uint64_t	i;

	for (i = 0; i < length; i++)
		target[i] = (uint8_t) (target[i] | source[i]);
}

static void
and_strip(uint8_t *target, const uint8_t *source, uint64_t length)
{
	uint64_t	i;

	for (i = 0; i < length; i++)
		target[i] = (uint8_t) (target[i] & source[i]);
}

typedef void (*strip_operation) (uint8_t *target, const uint8_t *source,
								 uint64_t length);

/* Applies an operation strip by strip and counts what it leaves. */
static uint64_t
combine_bits(uint8_t *target, const uint8_t *source, uint64_t length,
			 bf_tick tick, strip_operation operation)
{
	uint64_t	sum = 0;
	uint64_t	at = 0;

	while (at < length)
	{
		uint64_t	strip = length - at < STRIP_BYTES ? length - at : STRIP_BYTES;

		if (at % BF_TICK_BYTES == 0 && tick != NULL)
			tick();
		operation(target + at, source + at, strip);
		sum += count_strip(target + at, strip);
		at += strip;
	}
	return sum;
}

uint64_t
bf_or_bits(uint8_t *target, const uint8_t *source, uint64_t length, bf_tick tick)
{
	return combine_bits(target, source, length, tick, or_strip);
}

uint64_t
bf_and_bits(uint8_t *target, const uint8_t *source, uint64_t length, bf_tick tick)
{
	return combine_bits(target, source, length, tick, and_strip);
}
