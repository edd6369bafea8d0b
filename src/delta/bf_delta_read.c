/*
 * bf_delta_read.c
 *	  The frame of a delta: reading and checking it.
 *
 * Everything is checked before anything is believed: the delta's own checksum
 * comes before its content, and the new filter's header goes through the same
 * bf_header_read as every filter.
 */
#include <string.h>

#include "bf_bytes.h"
#include "bf_delta_frame.h"
#include "bf_hash.h"

const uint8_t bfd_magic[4] = {'B', 'L', 'M', 'D'};

const char *
bfd_status_text(bfd_status status)
{
	switch (status)
	{
		case BFD_OK:
			return "valid";
		case BFD_NO_MEMORY:
			return "out of memory";
		case BFD_SINK_FAILED:
			return "delta could not be written";
		case BFD_INCOMPATIBLE:
			return "filters differ in geometry, seed, part or key type";
		case BFD_BAD_LENGTH:
			return "delta is too short";
		case BFD_BAD_MAGIC:
			return "delta does not start with BLMD";
		case BFD_BAD_VERSION:
			return "unsupported delta version";
		case BFD_BAD_METHOD:
			return "unknown delta method";
		case BFD_BAD_RESERVED:
			return "reserved delta bytes are not zero";
		case BFD_BAD_CHECKSUM:
			return "checksum of the delta does not match";
		case BFD_BAD_HEADER:
			return "header of the new filter in the delta is not valid";
		case BFD_OTHER_BASE:
			return "delta was made from another filter";
		case BFD_BAD_PAYLOAD:
			return "payload of the delta is damaged";
		case BFD_BAD_RESULT:
			return "delta does not give the filter that it promises";
	}
	return "unknown status";
}

static bfd_status
check_identity(const uint8_t *delta, uint64_t length, bf_tick tick)
{
	uint64_t	body = length - BFD_CHECKSUM_BYTES;

	if (length < BFD_HEADER_BYTES + BFD_CHECKSUM_BYTES)
		return BFD_BAD_LENGTH;
	if (memcmp(delta, bfd_magic, sizeof bfd_magic) != 0)
		return BFD_BAD_MAGIC;
	if (delta[BFD_AT_VERSION] != BFD_VERSION)
		return BFD_BAD_VERSION;
	if (delta[BFD_AT_METHOD] != BFD_METHOD_XOR)
		return BFD_BAD_METHOD;
	if (bf_load_le(delta + BFD_AT_RESERVED, 2) != 0)
		return BFD_BAD_RESERVED;
	if (bf_checksum(delta, 0, delta, body, tick) != bf_load_le(delta + body, 8))
		return BFD_BAD_CHECKSUM;
	return BFD_OK;
}

/*
 * The delta does not hold the blocks whose length bf_header_read wants to compare
 * with what the header states.
 */
bfd_status
bfd_read(const void *bytes, uint64_t length, bf_tick tick, bfd_info *info)
{
	const uint8_t *delta = bytes;
	const uint8_t *header = delta + BFD_AT_HEADER;
	bfd_info	result;
	bfd_status	status = check_identity(delta, length, tick);

	if (status != BFD_OK)
		return status;
	if (bf_header_read(header, bf_header_length(header), &result.header) != BF_OK ||
		bf_load_le(delta + BFD_AT_NEW_CHECKSUM, 8) != result.header.checksum)
		return BFD_BAD_HEADER;
	result.old_checksum = bf_load_le(delta + BFD_AT_OLD_CHECKSUM, 8);
	result.raw_length = bf_load_le(delta + BFD_AT_RAW_LENGTH, 8);
	if (result.raw_length != bf_blocks_bytes(&result.header))
		return BFD_BAD_PAYLOAD;
	*info = result;
	return BFD_OK;
}
