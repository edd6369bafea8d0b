/*
 * bf_format.c
 *	  Reading, checking and writing headers.
 *
 * Sizes are computed in 64 bits and compared with the length at hand before
 * anything is believed; no field is used before it is checked.
 */
#include "bf_format.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_key.h"

/* Offsets of the header's fields. */
enum
{
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_PROBES = 5,
	AT_LOG2_BLOCK = 6,
	AT_KEY_TYPE = 7,
	AT_BLOCKS = 8,
	AT_PART = 12,
	AT_PARTS = 14,
	AT_SEED = 16,
	AT_CAPACITY = 24,
	AT_RATE = 32,
	AT_BITS_SET = 40,
	AT_HASH = 48,
	AT_COLUMNS = 49,
	AT_HEADER_CHECKSUM = 52,
	AT_CHECKSUM = 56
};

static const uint8_t magic[4] = {'B', 'L', 'M', 'F'};

static const char *const status_texts[] = {
	[BF_OK] = "valid",
	[BF_BAD_LENGTH] = "shorter than the 64-byte header",
	[BF_BAD_MAGIC] = "does not start with BLMF",
	[BF_BAD_VERSION] = "unsupported format version",
	[BF_BAD_HEADER_CHECKSUM] = "header checksum does not match",
	[BF_BAD_HASH] = "unsupported hash function",
	[BF_BAD_PROBES] = "number of probes is not between 1 and 32",
	[BF_BAD_BLOCK_BITS] = "block size is not between 2^9 and 2^16 bits",
	[BF_BAD_KEY_TYPE] = "unknown key type",
	[BF_BAD_COLUMNS] = "columns do not match the key type",
	[BF_BAD_BLOCKS] = "number of blocks is zero",
	[BF_BAD_SIZE] = "length does not match the number of blocks",
	[BF_BAD_PARTS] = "part is not below the number of parts",
	[BF_BAD_CAPACITY] = "capacity is not between 1 and 2^63 - 1",
	[BF_BAD_RATE] = "false-positive rate is not between 0 and 1",
	[BF_BAD_BITS_SET] = "number of set bits does not match the blocks",
	[BF_BAD_EMPTY] = "bits are set but there is no key type",
	[BF_BAD_CHECKSUM] = "checksum does not match",
	[BF_BAD_DIRECTORY] = "directory of levels is damaged",
	[BF_BAD_LEVELS] = "directory is not that of three levels"
};

const char *
bf_status_text(bf_status status)
{
	return (size_t) status < sizeof status_texts / sizeof status_texts[0] ? status_texts[status] : "unknown status";
}

/* The header's checksum of itself: the low half of XXH64, for which there is room. */
static uint32_t
header_checksum(const uint8_t *bytes)
{
	return (uint32_t) bf_hash(bytes, AT_HEADER_CHECKSUM, 0);
}

/* The fields that say what kind of bytes these are, before any is interpreted. */
static bf_status
check_identity(const uint8_t *bytes, uint64_t total_bytes)
{
	if (total_bytes < BF_HEADER_BYTES)
		return BF_BAD_LENGTH;
	if (memcmp(bytes + AT_MAGIC, magic, sizeof magic) != 0)
		return BF_BAD_MAGIC;
	if (bytes[AT_VERSION] != BF_FORMAT_VERSION && bytes[AT_VERSION] != BF_EXACT_VERSION)
		return BF_BAD_VERSION;
	if (bf_load_le(bytes + AT_HEADER_CHECKSUM, 4) != header_checksum(bytes))
		return BF_BAD_HEADER_CHECKSUM;
	if (bytes[AT_HASH] != BF_HASH_XXH64)
		return BF_BAD_HASH;
	return BF_OK;
}

bf_status
bf_header_check_geometry(const bf_header *header)
{
	if (header->probes < 1 || header->probes > BF_MAX_PROBES)
		return BF_BAD_PROBES;
	if (header->log2_block_bits < BF_MIN_LOG2_BLOCK ||
		header->log2_block_bits > BF_MAX_LOG2_BLOCK)
		return BF_BAD_BLOCK_BITS;
	if (bf_key_kind(header->key_type) != BF_KEY_NONE && !bf_key_is_kind(bf_key_kind(header->key_type)))
		return BF_BAD_KEY_TYPE;
	if (!bf_key_columns_valid(header->key_type))
		return BF_BAD_COLUMNS;
	if (header->blocks < 1)
		return BF_BAD_BLOCKS;
	return BF_OK;
}

bf_status
bf_header_check_parameters(const bf_header *header)
{
	if (header->part >= header->parts)
		return BF_BAD_PARTS;
	if (header->capacity < 1 || header->capacity > BF_MAX_CAPACITY)
		return BF_BAD_CAPACITY;
	if (!(header->rate > 0.0 && header->rate < 1.0))
		return BF_BAD_RATE;
	if (header->bits_set > bf_total_bits(header))
		return BF_BAD_BITS_SET;
	return BF_OK;
}

bf_status
bf_header_read_fields(const uint8_t *bytes, uint64_t total_bytes, bf_header *header)
{
	uint64_t	rate;
	bf_status	status = check_identity(bytes, total_bytes);

	if (status != BF_OK)
		return status;
	header->probes = bytes[AT_PROBES];
	header->log2_block_bits = bytes[AT_LOG2_BLOCK];
	header->key_type = bytes[AT_KEY_TYPE] | (uint32_t) bf_load_le(bytes + AT_COLUMNS, 3) << 8;
	header->blocks = (uint32_t) bf_load_le(bytes + AT_BLOCKS, 4);
	header->part = (uint16_t) bf_load_le(bytes + AT_PART, 2);
	header->parts = (uint16_t) bf_load_le(bytes + AT_PARTS, 2);
	header->seed = bf_load_le(bytes + AT_SEED, 8);
	header->capacity = bf_load_le(bytes + AT_CAPACITY, 8);
	rate = bf_load_le(bytes + AT_RATE, 8);
	memcpy(&header->rate, &rate, sizeof rate);
	header->bits_set = bf_load_le(bytes + AT_BITS_SET, 8);
	header->checksum = bf_load_le(bytes + AT_CHECKSUM, 8);
	return bf_header_check_geometry(header);
}

void
bf_header_copy(const bf_header *header, uint8_t *bytes)
{
	bf_header_copy_version(header, BF_FORMAT_VERSION, bytes);
}

void
bf_header_copy_version(const bf_header *header, unsigned version, uint8_t *bytes)
{
	uint64_t	rate;

	memcpy(&rate, &header->rate, sizeof rate);
	memset(bytes, 0, BF_HEADER_BYTES);
	memcpy(bytes + AT_MAGIC, magic, sizeof magic);
	bytes[AT_VERSION] = (uint8_t) version;
	bytes[AT_PROBES] = header->probes;
	bytes[AT_LOG2_BLOCK] = header->log2_block_bits;
	bytes[AT_KEY_TYPE] = (uint8_t) bf_key_kind(header->key_type);
	bf_store_le(bytes + AT_BLOCKS, 4, header->blocks);
	bf_store_le(bytes + AT_PART, 2, header->part);
	bf_store_le(bytes + AT_PARTS, 2, header->parts);
	bf_store_le(bytes + AT_SEED, 8, header->seed);
	bf_store_le(bytes + AT_CAPACITY, 8, header->capacity);
	bf_store_le(bytes + AT_RATE, 8, rate);
	bf_store_le(bytes + AT_BITS_SET, 8, header->bits_set);
	bytes[AT_HASH] = BF_HASH_XXH64;
	bf_store_le(bytes + AT_COLUMNS, 3, header->key_type >> 8);
	bf_store_le(bytes + AT_HEADER_CHECKSUM, 4, header_checksum(bytes));
	bf_store_le(bytes + AT_CHECKSUM, 8, header->checksum);
}

void
bf_header_write(bf_header *header, const uint8_t *blocks, bf_tick tick,
				uint8_t *bytes)
{
	bf_header_copy(header, bytes);
	header->checksum = bf_checksum(bytes, AT_CHECKSUM, blocks, bf_blocks_bytes(header), tick);
	bf_store_le(bytes + AT_CHECKSUM, 8, header->checksum);
}
