/*
 * bf_format.h
 *	  The header, and why bytes are not a filter.
 *
 * A filter is BF_HEADER_BYTES of header and the blocks, nothing after; an exact one has a
 * directory between them.  The same bytes are in a table, on the wire and in a file;
 * doc/FORMAT.md is the contract.  bf_exact.h has the one validator.
 */
#ifndef BF_FORMAT_H
#define BF_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_limits.h"

/* Why bytes are not a filter.  In the order in which the rules are checked. */
typedef enum bf_status
{
	BF_OK = 0,
	BF_BAD_LENGTH,				/* shorter than a header */
	BF_BAD_MAGIC,
	BF_BAD_VERSION,				/* made by a newer program */
	BF_BAD_HEADER_CHECKSUM,		/* damaged before the blocks, whichever field it is */
	BF_BAD_HASH,
	BF_BAD_PROBES,
	BF_BAD_BLOCK_BITS,
	BF_BAD_KEY_TYPE,
	BF_BAD_COLUMNS,				/* not those of a row, or of no row at all */
	BF_BAD_BLOCKS,
	BF_BAD_SIZE,				/* header and length disagree */
	BF_BAD_PARTS,
	BF_BAD_CAPACITY,
	BF_BAD_RATE,
	BF_BAD_BITS_SET,
	BF_BAD_EMPTY,				/* bits, but no type of keys */
	BF_BAD_CHECKSUM,

	/* Of exact filters alone (bf_exact.h), before BF_BAD_SIZE */
	BF_BAD_DIRECTORY,			/* too short for it, or damaged */
	BF_BAD_LEVELS				/* not three levels */
} bf_status;

/* One sentence without a capital and a period, e.g. "checksum does not match". */
extern const char *bf_status_text(bf_status status);

typedef struct bf_header
{
	uint8_t		probes;			/* bits per key, 1 .. BF_MAX_PROBES */
	uint8_t		log2_block_bits;	/* BF_MIN_LOG2_BLOCK .. BF_MAX_LOG2_BLOCK */
	uint32_t	key_type;		/* bf_key.h; 0 while no key was added */
	uint32_t	blocks;			/* at least 1 */
	uint16_t	part;			/* below parts */
	uint16_t	parts;			/* 1: a whole filter */
	uint64_t	seed;
	uint64_t	capacity;		/* n, keys it was sized for */
	double		rate;			/* p, false-positive rate promised at n keys */
	uint64_t	bits_set;
	uint64_t	checksum;		/* as stored; see bf_checksum */
} bf_header;

/* Bits and bytes of one block, of all blocks, and of the whole filter. */
static inline uint64_t
bf_block_bytes(const bf_header *header)
{
	return (uint64_t) 1 << (header->log2_block_bits - 3);
}

static inline uint64_t
bf_blocks_bytes(const bf_header *header)
{
	return header->blocks * bf_block_bytes(header);
}

static inline uint64_t
bf_total_bits(const bf_header *header)
{
	return bf_blocks_bytes(header) * 8;
}

static inline uint64_t
bf_total_bytes(const bf_header *header)
{
	return BF_HEADER_BYTES + bf_blocks_bytes(header);
}

/* The version of bytes that start as a filter does, to name one that is refused. */
static inline unsigned
bf_format_version(const void *bytes)
{
	return ((const uint8_t *) bytes)[4];
}

/*
 * Writes the header of a valid filter whose blocks are at blocks, with their
 * checksum, which is stored in *header too.  bits_set must be right.
 */
extern void bf_header_write(bf_header *header, const uint8_t *blocks,
							bf_tick tick, uint8_t *bytes);

/* Writes a header as it stands, with the checksum of the blocks that it has. */
extern void bf_header_copy(const bf_header *header, uint8_t *bytes);

/*
 * For bf_exact.c: bytes as a header, with all rules about them that come before the length's, those
 * about the fields of its geometry alone, too; and the rules that come after it.
 */
extern bf_status bf_header_read_fields(const uint8_t *bytes, uint64_t total_bytes, bf_header *header);
extern bf_status bf_header_check_geometry(const bf_header *header);
extern bf_status bf_header_check_parameters(const bf_header *header);
extern void bf_header_copy_version(const bf_header *header, unsigned version, uint8_t *bytes);

#endif							/* BF_FORMAT_H */
