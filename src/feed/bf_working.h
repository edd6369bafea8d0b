/*
 * bf_working.h
 *	  The working copy of a host: one file in memory that a follower keeps up to
 *	  date in place, and that readers map.
 *
 * The format is doc/FORMAT.md, section 18.  Here is what of it is constant, and the
 * fields that change, which are loaded and stored as a whole.
 */
#ifndef BF_WORKING_H
#define BF_WORKING_H

#include <stddef.h>
#include <stdint.h>

#include "bf_format.h"

#define BF_WORKING_PAGE 4096
#define BF_WORKING_ENDING ".working"
#define BF_WORKING_ID_BYTES 16

/* Why a file is no working copy, in the order in which it is looked at. */
typedef enum bf_working_status
{
	BF_WORKING_OK = 0,
	BF_WORKING_LENGTH,
	BF_WORKING_MAGIC,
	BF_WORKING_VERSION,
	BF_WORKING_CHECKSUM,
	BF_WORKING_HEADER,
	BF_WORKING_PART
} bf_working_status;

/* What a message says of it. */
extern const char *bf_working_text(bf_working_status status);

/* The fields that never change. */
typedef struct bf_working
{
	uint64_t	length;			/* of the whole file */
	uint32_t	parts;
	uint64_t	epoch;
	uint8_t		identity[BF_WORKING_ID_BYTES];
	uint8_t		boot[BF_WORKING_ID_BYTES];
} bf_working;

/* The fields that change: offsets in the file. */
typedef enum bf_working_word_at
{
	BF_WORKING_SERIAL = 128,
	BF_WORKING_BASE = 136,		/* XXH64 of the base's checksums, 8 bytes each, in the order of the parts */
	BF_WORKING_TRUE_AT = 144,
	BF_WORKING_LOOKED = 152,
	BF_WORKING_LOOKED_BOOT = 160,
	BF_WORKING_FAILURES = 168,
	BF_WORKING_SUPERSEDED = 176,
	BF_WORKING_EVERY = 184,
	BF_WORKING_EXPIRES = 192
} bf_working_word_at;

/*
 * Loads with acquire and stores with release order.  file is the mapping's start,
 * which is at the beginning of a page.
 */
extern uint64_t bf_working_load(const uint8_t *file, bf_working_word_at at);
extern void bf_working_store(uint8_t *file, bf_working_word_at at, uint64_t value);

/* Sets a bit of a part's blocks while others read them. */
extern void bf_working_set_bit(uint8_t *blocks, uint64_t position);

/*
 * Reads what file, of so many bytes, says of itself, without its parts.  *working is
 * set only on BF_WORKING_OK.
 */
extern bf_working_status bf_working_read(const uint8_t *file, uint64_t length, bf_working *working);

/*
 * The part that begins at *at, which is then where the next one begins.  *header is
 * that of a filter without bits; its bytes are at file + the old *at.
 */
extern bf_working_status bf_working_part(const uint8_t *file, const bf_working *working, uint32_t part,
										 uint64_t *at, bf_header *header);

/* The length of a working copy of parts with these headers. */
extern uint64_t bf_working_length(const bf_header *headers, uint32_t parts);

/*
 * Writes the constant fields and the headers of all parts; all else in file, which is
 * all zero, is left alone.
 */
extern void bf_working_write(const bf_working *working, const bf_header *headers, uint8_t *file);

#endif							/* BF_WORKING_H */
