/*
 * feed_rice.h
 *	  Rice codes in a stream of bits: v >> b ones, a zero, the b low bits of v.
 *
 * Bits are packed from the lowest of a byte on.
 */
#ifndef FEED_RICE_H
#define FEED_RICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

typedef struct feed_bit_reader
{
	const uint8_t *at;
	const uint8_t *end;
	uint64_t	bits;
	unsigned	held;
} feed_bit_reader;

static inline void
feed_bits_fill(feed_bit_reader *r)
{
	while (r->held <= 56 && r->at < r->end)
	{
		r->bits |= (uint64_t) *r->at++ << r->held;
		r->held += 8;
	}
}

static inline void
feed_bits_drop(feed_bit_reader *r, unsigned count)
{
	r->bits = count < 64 ? r->bits >> count : 0;
	r->held -= count;
}

/* Ones up to a zero, which is taken too; false if there are more than most, or no zero. */
static inline bool
feed_bits_run(feed_bit_reader *r, uint64_t most, uint64_t *run)
{
	for (*run = 0;;)
	{
		unsigned	ones;

		feed_bits_fill(r);
		ones = ~r->bits == 0 ? 64 : (unsigned) __builtin_ctzll(~r->bits);
		if (ones < r->held)
		{
			*run += ones;
			feed_bits_drop(r, ones + 1);
			return *run <= most;
		}
		*run += r->held;
		if (r->held == 0 || *run > most)
			return false;
		feed_bits_drop(r, r->held);
	}
}

/* A number whose run of ones is no longer than most. */
static inline bool
feed_rice_read(feed_bit_reader *r, unsigned width, uint64_t most, uint64_t *value)
{
	if (!feed_bits_run(r, most, value))
		return false;
	feed_bits_fill(r);
	if (r->held < width)
		return false;
	*value = *value << width | (r->bits & (((uint64_t) 1 << width) - 1));
	feed_bits_drop(r, width);
	return true;
}

/* Where the next byte begins; NULL if a bit that is left over isn't 0. */
static inline const uint8_t *
feed_bits_end(const feed_bit_reader *r)
{
	unsigned	left = r->held % 8;

	if ((r->bits & (((uint64_t) 1 << left) - 1)) != 0)
		return NULL;
	return r->at - r->held / 8;
}

/* Without bytes to write to it only counts. */
typedef struct feed_bit_writer
{
	uint8_t    *at;				/* or NULL */
	uint64_t	count;			/* bits so far */
	uint64_t	bits;
	unsigned	held;			/* below 8 between calls */
} feed_bit_writer;

/* At most 32 bits. */
static inline void
feed_bits_write(feed_bit_writer *w, uint64_t bits, unsigned count)
{
	w->count += count;
	if (w->at == NULL)
		return;
	w->bits |= bits << w->held;
	for (w->held += count; w->held >= 8; w->held -= 8, w->bits >>= 8)
		*w->at++ = (uint8_t) w->bits;
}

static inline void
feed_rice_write(feed_bit_writer *w, unsigned width, uint64_t value)
{
	uint64_t	run;

	for (run = value >> width; run >= 32; run -= 32)
		feed_bits_write(w, UINT32_MAX, 32);
	feed_bits_write(w, ((uint64_t) 1 << run) - 1, (unsigned) run + 1);
	feed_bits_write(w, value & (((uint64_t) 1 << width) - 1), width);
}

/* Bytes of all that was written. */
static inline size_t
feed_bits_flush(feed_bit_writer *w)
{
	if (w->at != NULL && w->held > 0)
		*w->at++ = (uint8_t) w->bits;
	return (size_t) ((w->count + 7) / 8);
}

#endif							/* FEED_RICE_H */
