/*
 * bf_delta.h
 *	  What changes one filter into another of the same geometry.
 *
 * A nightly rebuild with the same capacity changes few of a filter's bits.  The
 * positions of the changed bits, compressed, are what has to be shipped.
 *
 * Format "BLMD", version 1, little-endian:
 *
 *		offset	size
 *		0		4	magic BLMD
 *		4		1	version, 1
 *		5		1	method: 1, XOR
 *		6		2	reserved, 0
 *		8		8	checksum of the old filter
 *		16		8	checksum of the new filter
 *		24		64	header of the new filter
 *		88		8	length of the payload before compression
 *		96			payload: one zstd frame, window at most 2^23 bytes
 *		end - 8	8	XXH64, seed 0, of all before
 *
 * The payload is the old blocks XOR the new ones.
 *
 * How long it is, in bytes and as a share of the filter, of 10 million keys at 1 %
 * (12402752 bytes), some of them replaced by others ("make -C test/delta measure"):
 *
 *		replaced	bits changed	payload
 *		0.1 %		0.07 %			148149  (1.2 %)
 *		1 %			0.66 %			1201127  (9.7 %)
 *		10 %		6.4 %			5058282  (41 %)
 *		30 %		18 %			8588737  (69 %)
 *		100 %		50 %			12402983  (100 %)
 *
 * The distances between changed bits, as a string of bytes, would take 5.6 % of the
 * filter at 1 % and 0.7 % at 0.1 %, and more than XOR from 30 % on.  A second method
 * for that was there and was taken away: a list that changes by 1 % a day saves a
 * twentieth of the filter.
 *
 * This code is part of the library and of the PostgreSQL extension: it does no
 * I/O, takes its memory from its caller, keeps no globals, and uses about 2 MB
 * beside the filters, whatever their size.
 */
#ifndef BF_DELTA_H
#define BF_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_format.h"
#include "bf_tick.h"

#define BFD_VERSION			1
#define BFD_HEADER_BYTES	96
#define BFD_CHECKSUM_BYTES	8

typedef enum bfd_status
{
	BFD_OK = 0,
	BFD_NO_MEMORY,				/* the allocator returned NULL */
	BFD_SINK_FAILED,			/* the sink returned false */
	BFD_INCOMPATIBLE,			/* other geometry, seed, part or key type */
	BFD_BAD_LENGTH,
	BFD_BAD_MAGIC,
	BFD_BAD_VERSION,
	BFD_BAD_METHOD,
	BFD_BAD_RESERVED,
	BFD_BAD_CHECKSUM,			/* of the delta itself */
	BFD_BAD_HEADER,				/* the new filter's header is not valid */
	BFD_OTHER_BASE,				/* made from another filter than this */
	BFD_BAD_PAYLOAD,
	BFD_BAD_RESULT				/* the new filter is not what was promised */
} bfd_status;

/* One sentence without a capital and a period. */
extern const char *bfd_status_text(bfd_status status);

/*
 * Where memory comes from.  allocate returns NULL on failure, or does not return
 * (then the caller's memory context has to free what was allocated).  release
 * may be given NULL.
 */
typedef struct bfd_allocator
{
	void	   *(*allocate) (void *context, size_t size);
	void		(*release) (void *context, void *memory);
	void	   *context;
} bfd_allocator;

/* Where a delta goes, piece by piece.  write returns false on failure. */
typedef struct bfd_sink
{
	bool		(*write) (void *context, const void *bytes, size_t length);
	void	   *context;
} bfd_sink;

/* A filter whose header was read and whose blocks are at blocks. */
typedef struct bfd_filter
{
	const bf_header *header;
	const uint8_t *blocks;
} bfd_filter;

typedef struct bfd_info
{
	uint64_t	old_checksum;
	uint64_t	raw_length;		/* of the payload before compression */
	bf_header	header;			/* of the new filter */
} bfd_info;

#define BFD_METHOD_XOR		1

/* The longest delta between filters with this header, in bytes. */
extern uint64_t bfd_diff_bound(const bf_header *header);

/*
 * Writes the delta from one valid filter to another.  Their headers' checksums
 * must be right.  An error after the first write leaves an unusable beginning of
 * a delta in the sink.
 */
extern bfd_status bfd_diff(bfd_filter old_filter, bfd_filter new_filter,
						   const bfd_allocator *allocator, bf_tick tick,
						   const bfd_sink *sink);

/* Checks all of a delta but the payload's content.  *info is set on BFD_OK only. */
extern bfd_status bfd_read(const void *delta, uint64_t length, bf_tick tick,
						   bfd_info *info);

/*
 * Applies a delta of any origin to a valid filter.  result has room for
 * bf_total_bytes(old_filter.header) bytes; it must not overlap old_filter, and
 * holds rubbish unless BFD_OK is returned.  Then it is a valid filter, checked
 * by bf_parse, whose header is also in *header.
 */
extern bfd_status bfd_apply(bfd_filter old_filter, const void *delta,
							uint64_t length, const bfd_allocator *allocator,
							bf_tick tick, uint8_t *result, bf_header *header);

#endif							/* BF_DELTA_H */
