/*
 * bf_working.c
 *	  The working copy of a host: reading, checking and writing its head, and the
 *	  operations by which it changes under its readers.
 */
#include "bf_working.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_limits.h"

enum
{
	AT_VERSION = 4,
	AT_LENGTH = 8,
	AT_PARTS = 16,
	AT_ZERO = 20,
	AT_EPOCH = 24,
	AT_IDENTITY = 32,
	AT_BOOT = 48,
	AT_MORE_ZEROS = 64,
	AT_CHECKSUM = 120
};

#define VERSION 1

static const uint8_t magic[4] = {'B', 'L', 'M', 'L'};

const char *
bf_working_text(bf_working_status status)
{
	static const char *const texts[] = {
		"",
		"working copy is shorter or longer than it says",
		"not a working copy",
		"working copy of an unsupported version",
		"checksum of the working copy's header does not match",
		"header of the working copy is not valid",
		"a part of the working copy is not valid"
	};

	return texts[status];
}

/* ------------------------------------------------------------------------
 * What changes
 * ------------------------------------------------------------------------ */

/* The file is little-endian everywhere. */
static uint64_t
swapped(uint64_t value)
{
	uint8_t		bytes[8];

	memcpy(bytes, &value, sizeof bytes);
	return bf_load_le64(bytes);
}

uint64_t
bf_working_load(const uint8_t *file, bf_working_word_at at)
{
	return swapped(__atomic_load_n((const uint64_t *) (const void *) (file + at), __ATOMIC_ACQUIRE));
}

void
bf_working_store(uint8_t *file, bf_working_word_at at, uint64_t value)
{
	__atomic_store_n((uint64_t *) (void *) (file + at), swapped(value), __ATOMIC_RELEASE);
}

void
bf_working_set_bit(uint8_t *blocks, uint64_t position)
{
	__atomic_fetch_or(&blocks[position >> 3], (uint8_t) (1 << (position & 7)), __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------------
 * What stays
 * ------------------------------------------------------------------------ */

static uint64_t
next_page(uint64_t at)
{
	return (at + BF_WORKING_PAGE - 1) / BF_WORKING_PAGE * BF_WORKING_PAGE;
}

static int
are_zeros(const uint8_t *bytes, size_t length)
{
	while (length > 0)
		if (bytes[--length] != 0)
			return 0;
	return 1;
}

bf_working_status
bf_working_read(const uint8_t *file, uint64_t length, bf_working *working)
{
	if (length < BF_WORKING_PAGE)
		return BF_WORKING_LENGTH;
	if (memcmp(file, magic, sizeof magic) != 0)
		return BF_WORKING_MAGIC;
	if (bf_load_le(file + AT_VERSION, 4) != VERSION)
		return BF_WORKING_VERSION;
	if (bf_load_le(file + AT_CHECKSUM, 8) != bf_hash(file, AT_CHECKSUM, 0))
		return BF_WORKING_CHECKSUM;
	working->length = bf_load_le(file + AT_LENGTH, 8);
	if (working->length != length)
		return BF_WORKING_LENGTH;
	working->parts = (uint32_t) bf_load_le(file + AT_PARTS, 4);
	if (working->parts < 1 || working->parts > BF_MAX_PARTS || !are_zeros(file + AT_ZERO, 4) ||
		!are_zeros(file + AT_MORE_ZEROS, AT_CHECKSUM - AT_MORE_ZEROS))
		return BF_WORKING_HEADER;
	working->epoch = bf_load_le(file + AT_EPOCH, 8);
	memcpy(working->identity, file + AT_IDENTITY, BF_WORKING_ID_BYTES);
	memcpy(working->boot, file + AT_BOOT, BF_WORKING_ID_BYTES);
	return BF_WORKING_OK;
}

bf_working_status
bf_working_part(const uint8_t *file, const bf_working *working, uint32_t part, uint64_t *at,
				bf_header *header)
{
	const uint8_t *bytes = file + *at;
	uint64_t	length;

	if (*at >= working->length || working->length - *at < BF_HEADER_BYTES)
		return BF_WORKING_PART;
	length = bf_header_length(bytes);
	if (length > working->length - *at || bf_header_read(bytes, length, header) != BF_OK ||
		header->part != part || header->parts != working->parts)
		return BF_WORKING_PART;
	*at += length;
	if (part + 1 < working->parts)
		*at = next_page(*at);
	else if (*at != working->length)
		return BF_WORKING_PART;
	return BF_WORKING_OK;
}

uint64_t
bf_working_length(const bf_header *headers, uint32_t parts)
{
	uint64_t	length = BF_WORKING_PAGE;
	uint32_t	i;

	for (i = 0; i < parts; i++)
		length = next_page(length) + bf_total_bytes(&headers[i]);
	return length;
}

void
bf_working_write(const bf_working *working, const bf_header *headers, uint8_t *file)
{
	uint64_t	at = BF_WORKING_PAGE;
	uint32_t	i;

	memcpy(file, magic, sizeof magic);
	bf_store_le(file + AT_VERSION, 4, VERSION);
	bf_store_le(file + AT_LENGTH, 8, working->length);
	bf_store_le(file + AT_PARTS, 4, working->parts);
	bf_store_le(file + AT_EPOCH, 8, working->epoch);
	memcpy(file + AT_IDENTITY, working->identity, BF_WORKING_ID_BYTES);
	memcpy(file + AT_BOOT, working->boot, BF_WORKING_ID_BYTES);
	bf_store_le(file + AT_CHECKSUM, 8, bf_hash(file, AT_CHECKSUM, 0));
	for (i = 0; i < working->parts; i++)
	{
		bf_header	header = headers[i];

		header.bits_set = 0;
		header.checksum = 0;
		bf_header_copy(&header, file + at);
		at = next_page(at + bf_total_bytes(&header));
	}
}
