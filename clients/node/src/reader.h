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

#include "bf_exact.h"
#include "bf_hash.h"

#define EXPORT(name) __attribute__((export_name(name)))

/* Offsets in a header. */
#define BITS_SET_AT 40
#define CHECKSUM_AT 56

/* Of the sum of a followed file. */
#define PIECE_BYTES 4096

/* Of the filter.  Nothing asks before it was read by the core's rules. */
extern bf_exact shape;

/* Where the filter begins: on a cache line, so that its blocks do. */
extern uint8_t *filter_at(void);

#endif							/* READER_H */
