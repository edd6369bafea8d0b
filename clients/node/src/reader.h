/*
 * reader.h
 *	  What the files of the WebAssembly module share: the one filter of an instance.
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bf_format.h"
#include "bf_hash.h"

#define EXPORT(name) __attribute__((export_name(name)))

/* Offsets in a header. */
#define BITS_SET_AT 40
#define CHECKSUM_AT 56

/* Of the filter.  Nothing asks before it was read by the core's rules. */
extern bf_header header;

/* Where the filter begins: on a cache line, so that its blocks do. */
extern uint8_t *filter_at(void);

/* XXH64 of bytes that come piece by piece. */
extern void long_begin(uint64_t seed);
extern void long_add(const uint8_t *bytes, size_t length);
extern uint64_t long_end(void);

#endif							/* READER_H */
