/*
 * support.h
 *	  What several tests need: filters that own their memory, and hex.
 *
 * Every allocation has exactly the size that is used, so that the sanitizers see
 * the first byte read or written too much.  A lack of memory ends the program.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_filter.h"
#include "bf_format.h"

typedef struct filter
{
	bf_header	header;
	uint8_t    *blocks;
} filter;

/* The most blocks of 2^9, 2^10, ..., 2^16 bits: doc/FORMAT.md, section 6. */
extern const uint32_t most_blocks[8];

extern void *allocate(size_t size);

/* The header of an empty whole filter of this shape, seed 0, n 1000, p 0.01. */
extern bf_header shape(uint32_t blocks, unsigned log2_block_bits, unsigned probes);

/* An empty filter with this header; and one sized for n keys at rate p. */
extern filter filter_new(const bf_header *header);
extern filter filter_for_rate(uint64_t n, double p, uint64_t seed);
extern filter filter_copy(const filter *source);
extern void filter_free(filter *f);

/* Adds integer keys first, first + 1, ..., as bf_hash_word hashes them; counts those that are found. */
extern void filter_add_integers(filter *f, uint64_t first, uint64_t count);
extern uint64_t filter_count_integers(const filter *f, uint64_t first,
									  uint64_t count);

/* The whole filter as stored, of bf_total_bytes. */
extern uint8_t *filter_bytes(filter *f);

/* bf_any_read and bf_any_parse of a filter of one level. */
extern bf_status plain_read(const void *bytes, uint64_t total_bytes, bf_header *header);
extern bf_status plain_parse(const void *bytes, uint64_t length, bf_tick tick, bf_header *header);

/* Whether two filters are stored as the same bytes. */
extern bool filter_same(filter *a, filter *b);

/* Bytes of a sequence of random numbers. */
extern void fill_random(uint8_t *bytes, size_t length, uint64_t *random);

/* A copy of bytes that ends where its memory ends. */
extern uint8_t *exact_copy(const void *bytes, size_t length);

/* The bytes of hex digits; *length is set. */
extern uint8_t *hex_bytes(const char *hex, size_t *length);

#endif							/* SUPPORT_H */
