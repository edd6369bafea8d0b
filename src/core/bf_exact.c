/*
 * bf_exact.c
 *	  Exact filters: their look-ups, and the bytes of format version 2.
 */
#include "bf_exact.h"

#include <string.h>

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_key.h"

/* Offsets of the header's and the directory's fields, and of those of a level in it. */
enum
{
	AT_LOG2_BLOCK = 6,
	AT_BLOCKS = 8,
	AT_CHECKSUM = 56,			/* of the header: that of all bytes */
	AT_SALT = 64,
	AT_LEVELS = 65,
	AT_ZERO = 66,
	AT_OTHERS = 72,
	AT_LEVEL_2 = 80,
	AT_LEVEL_3 = 100,
	AT_DIRECTORY_CHECKSUM = 120,

	LEVEL_PROBES = 0,
	LEVEL_LOG2_BLOCK = 1,
	LEVEL_ZERO = 2,
	LEVEL_BLOCKS = 4,
	LEVEL_CAPACITY = 8,
	LEVEL_BITS_SET = 12
};

/* Hashes that a batch takes from level to level at a time. */
#define AT_ONCE BF_BATCH

uint64_t
bf_shape_offset(const bf_shape *exact, unsigned level)
{
	uint64_t	offset = 0;
	unsigned	i;

	for (i = 0; i < level; i++)
		offset += bf_blocks_bytes(&exact->level[i]);
	return offset;
}

uint64_t
bf_shape_bytes(const bf_shape *exact)
{
	return bf_shape_front(exact) + bf_shape_offset(exact, exact->levels);
}

bool
bf_exact_fits(const bf_shape *exact)
{
	return bf_shape_bytes(exact) <= BF_MAX_BYTES;
}

/*
 * Asks a level for the keys that are still open, and keeps those that it lets in; the others'
 * answer is denied.  Returns how many are left.
 */
static size_t
ask_level(const bf_shape *exact, const uint8_t *blocks, unsigned level, const uint64_t *hashes,
		  uint16_t *open, size_t count, uint8_t denied, uint8_t *found)
{
	uint64_t	level_hashes[AT_ONCE] = {0};
	uint8_t		in[AT_ONCE];
	size_t		left = 0;
	size_t		i;

	if (count == 0)
		return 0;
	for (i = 0; i < count; i++)
		level_hashes[i] = bf_exact_hash(exact, level, hashes[open[i]]);
	bf_contains_hashes(&exact->level[level], blocks + bf_shape_offset(exact, level), level_hashes, count, in);
	for (i = 0; i < count; i++)
	{
		if (in[i])
			open[left++] = open[i];
		else
			found[open[i]] = denied;
	}
	return left;
}

bool
bf_exact_confirms(const bf_shape *exact, const uint8_t *blocks, uint64_t hash)
{
	return !bf_exact_level_contains(exact, blocks, 1, hash) || bf_exact_level_contains(exact, blocks, 2, hash);
}

uint64_t
bf_shape_contains_hashes(const bf_shape *exact, const uint8_t *blocks,
						 const uint64_t *hashes, size_t count, uint8_t *found)
{
	uint64_t	asked = 0;
	size_t		at;
	size_t		length;

	if (exact->levels == 1)
	{
		bf_contains_hashes(&exact->level[0], blocks, hashes, count, found);
		return 0;
	}
	for (at = 0; at < count; at += length)
	{
		uint16_t	open[AT_ONCE];
		size_t		left;
		size_t		i;

		length = count - at < AT_ONCE ? count - at : AT_ONCE;
		for (i = 0; i < length; i++)
			open[i] = (uint16_t) i;
		left = ask_level(exact, blocks, 0, hashes + at, open, length, 0, found + at);
		asked += left;
		left = ask_level(exact, blocks, 1, hashes + at, open, left, 1, found + at);
		asked += left;
		left = ask_level(exact, blocks, 2, hashes + at, open, left, 0, found + at);
		for (i = 0; i < left; i++)
			found[at + open[i]] = 1;
	}
	return asked;
}

void
bf_exact_add(bf_shape *exact, uint8_t *blocks, unsigned level, const uint64_t *hashes,
			 size_t count, bf_tick tick)
{
	uint8_t    *own = blocks + bf_shape_offset(exact, level);
	uint64_t	level_hashes[AT_ONCE];
	size_t		at;
	size_t		length;
	size_t		i;

	for (at = 0; at < count; at += length)
	{
		length = count - at < AT_ONCE ? count - at : AT_ONCE;
		if (at % (64 * AT_ONCE) == 0 && tick != NULL)
			tick();
		for (i = 0; i < length; i++)
			level_hashes[i] = bf_exact_hash(exact, level, hashes[at + i]);
		bf_add_hashes(&exact->level[level], own, level_hashes, length);
	}
}

/* Whether level 3 keeps all of these out. */
static bool
keeps_out(const bf_shape *exact, const uint8_t *blocks, const uint64_t *others, size_t count, bf_tick tick)
{
	size_t		i;

	for (i = 0; i < count; i++)
	{
		if (i % 65536 == 0 && tick != NULL)
			tick();
		if (bf_exact_level_contains(exact, blocks, 2, others[i]))
			return false;
	}
	return true;
}

bool
bf_exact_close(bf_shape *exact, uint8_t *blocks, const uint64_t *members, size_t member_count,
			   const uint64_t *others, size_t other_count, bf_tick tick)
{
	bf_header  *last = &exact->level[2];
	uint8_t    *own = blocks + bf_shape_offset(exact, 2);

	for (exact->salt = 0; exact->salt <= UINT8_MAX; exact->salt++)
	{
		memset(own, 0, (size_t) bf_blocks_bytes(last));
		last->bits_set = 0;
		bf_exact_add(exact, blocks, 2, members, member_count, tick);
		if (keeps_out(exact, blocks, others, other_count, tick))
			return true;
	}
	exact->salt = 0;
	memset(own, 0, (size_t) bf_blocks_bytes(last));
	last->bits_set = 0;
	return false;
}

/* ------------------------------------------------------------------------
 * Bytes
 * ------------------------------------------------------------------------ */

/* Of header and directory, without the two checksums that are made after it. */
static uint64_t
directory_checksum(const uint8_t *bytes)
{
	return bf_checksum(bytes, AT_CHECKSUM, bytes + BF_HEADER_BYTES, AT_DIRECTORY_CHECKSUM - BF_HEADER_BYTES, NULL);
}

/* One level of the directory; *exact has level 1 already. */
static bf_status
read_level(const uint8_t *bytes, bf_shape *exact, unsigned level)
{
	bf_header  *h = &exact->level[level];
	bf_status	status;

	*h = exact->level[0];
	h->checksum = 0;
	h->rate = 0;
	h->probes = bytes[LEVEL_PROBES];
	h->log2_block_bits = bytes[LEVEL_LOG2_BLOCK];
	h->blocks = (uint32_t) bf_load_le(bytes + LEVEL_BLOCKS, 4);
	h->capacity = bf_load_le(bytes + LEVEL_CAPACITY, 4);
	h->bits_set = bf_load_le(bytes + LEVEL_BITS_SET, 8);
	if (bf_load_le(bytes + LEVEL_ZERO, 2) != 0)
		return BF_BAD_LEVELS;
	status = bf_header_check_geometry(h);
	return status == BF_OK && h->bits_set > bf_total_bits(h) ? BF_BAD_BITS_SET : status;
}

static bf_status
read_directory(const uint8_t *bytes, uint64_t total_bytes, bf_shape *exact)
{
	bf_status	status;

	if (total_bytes < BF_EXACT_HEADER_BYTES || bf_load_le64(bytes + AT_DIRECTORY_CHECKSUM) != directory_checksum(bytes))
		return BF_BAD_DIRECTORY;
	if (bytes[AT_LEVELS] != BF_EXACT_LEVELS || bf_load_le(bytes + AT_ZERO, 6) != 0)
		return BF_BAD_LEVELS;
	exact->levels = BF_EXACT_LEVELS;
	exact->salt = bytes[AT_SALT];
	exact->others = bf_load_le64(bytes + AT_OTHERS);
	status = read_level(bytes + AT_LEVEL_2, exact, 1);
	if (status == BF_OK)
		status = read_level(bytes + AT_LEVEL_3, exact, 2);
	return status;
}

/* Bits without a type of keys could be looked up by keys of any type. */
static bf_status
check_empty(const bf_shape *exact)
{
	unsigned	i;

	for (i = 0; i < exact->levels; i++)
		if (exact->level[0].key_type == BF_KEY_NONE && exact->level[i].bits_set != 0)
			return BF_BAD_EMPTY;
	return BF_OK;
}

/* All rules that need no block. */
static bf_status
read_fields(const uint8_t *bytes, uint64_t total_bytes, bf_shape *exact)
{
	bf_header	header;
	bf_status	status = bf_header_read_fields(bytes, total_bytes, &header);

	if (status != BF_OK)
		return status;
	bf_shape_of(&header, exact);
	if (bf_format_version(bytes) == BF_EXACT_VERSION)
		status = read_directory(bytes, total_bytes, exact);
	if (status != BF_OK)
		return status;
	if (bf_shape_bytes(exact) != total_bytes || !bf_exact_fits(exact))
		return BF_BAD_SIZE;
	status = bf_header_check_parameters(&exact->level[0]);
	/* All parts have as many, and their sum is a number that SQL has. */
	if (status == BF_OK && exact->levels > 1 && exact->others > BF_MAX_CAPACITY / exact->level[0].parts)
		status = BF_BAD_LEVELS;
	return status;
}

bf_status
bf_any_read(const void *data, uint64_t total_bytes, bf_shape *exact)
{
	bf_shape	e;
	bf_status	status = read_fields(data, total_bytes, &e);

	if (status == BF_OK)
		status = check_empty(&e);
	if (status == BF_OK)
		*exact = e;
	return status;
}

bf_status
bf_any_parse(const void *data, uint64_t length, bf_tick tick, bf_shape *exact)
{
	const uint8_t *bytes = data;
	bf_shape	e;
	bf_status	status = read_fields(bytes, length, &e);
	unsigned	i;

	if (status != BF_OK)
		return status;
	for (i = 0; i < e.levels; i++)
		if (bf_count_bits(bytes + bf_shape_front(&e) + bf_shape_offset(&e, i), bf_blocks_bytes(&e.level[i]), tick) != e.level[i].bits_set)
			return BF_BAD_BITS_SET;
	if (check_empty(&e) != BF_OK)
		return BF_BAD_EMPTY;
	if (bf_checksum(bytes, AT_CHECKSUM, bytes + BF_HEADER_BYTES, length - BF_HEADER_BYTES, tick) != e.level[0].checksum)
		return BF_BAD_CHECKSUM;
	*exact = e;
	return BF_OK;
}

void
bf_shape_of(const bf_header *header, bf_shape *exact)
{
	memset(exact, 0, sizeof *exact);
	exact->levels = 1;
	exact->level[0] = *header;
}

/* Bytes of the blocks that two fields state; none if it is no block size of the format. */
static uint64_t
stated_bytes(const uint8_t *bytes, unsigned log2_block_at, unsigned blocks_at)
{
	unsigned	log2_block = bytes[log2_block_at];

	if (log2_block < BF_MIN_LOG2_BLOCK || log2_block > BF_MAX_LOG2_BLOCK)
		return 0;
	return bf_load_le(bytes + blocks_at, 4) << (log2_block - 3);
}

uint64_t
bf_any_length(const void *data)
{
	const uint8_t *bytes = data;
	uint64_t	level_1 = stated_bytes(bytes, AT_LOG2_BLOCK, AT_BLOCKS);

	if (bf_format_version(bytes) != BF_EXACT_VERSION)
		return BF_HEADER_BYTES + level_1;
	return BF_EXACT_HEADER_BYTES + level_1 +
		stated_bytes(bytes + AT_LEVEL_2, LEVEL_LOG2_BLOCK, LEVEL_BLOCKS) +
		stated_bytes(bytes + AT_LEVEL_3, LEVEL_LOG2_BLOCK, LEVEL_BLOCKS);
}

bool
bf_shape_same(const bf_shape *a, const bf_shape *b)
{
	uint8_t		bytes_of_a[BF_HEADER_BYTES];
	uint8_t		bytes_of_b[BF_HEADER_BYTES];
	unsigned	i;

	if (a->levels != b->levels || a->others != b->others || a->salt != b->salt)
		return false;
	for (i = 0; i < a->levels; i++)
	{
		bf_header_copy(&a->level[i], bytes_of_a);
		bf_header_copy(&b->level[i], bytes_of_b);
		if (memcmp(bytes_of_a, bytes_of_b, BF_HEADER_BYTES) != 0)
			return false;
	}
	return true;
}

static void
write_level(const bf_header *level, uint8_t *bytes)
{
	bytes[LEVEL_PROBES] = level->probes;
	bytes[LEVEL_LOG2_BLOCK] = level->log2_block_bits;
	bf_store_le(bytes + LEVEL_BLOCKS, 4, level->blocks);
	bf_store_le(bytes + LEVEL_CAPACITY, 4, level->capacity > UINT32_MAX ? UINT32_MAX : level->capacity);
	bf_store_le(bytes + LEVEL_BITS_SET, 8, level->bits_set);
}

void
bf_exact_write(bf_shape *exact, uint8_t *bytes, bf_tick tick)
{
	bf_header  *first = &exact->level[0];

	bf_header_copy_version(first, BF_EXACT_VERSION, bytes);
	memset(bytes + BF_HEADER_BYTES, 0, BF_EXACT_HEADER_BYTES - BF_HEADER_BYTES);
	bytes[AT_SALT] = (uint8_t) exact->salt;
	bytes[AT_LEVELS] = BF_EXACT_LEVELS;
	bf_store_le64(bytes + AT_OTHERS, exact->others);
	write_level(&exact->level[1], bytes + AT_LEVEL_2);
	write_level(&exact->level[2], bytes + AT_LEVEL_3);
	bf_store_le64(bytes + AT_DIRECTORY_CHECKSUM, directory_checksum(bytes));
	first->checksum = bf_checksum(bytes, AT_CHECKSUM, bytes + BF_HEADER_BYTES,
								  bf_shape_bytes(exact) - BF_HEADER_BYTES, tick);
	bf_store_le64(bytes + AT_CHECKSUM, first->checksum);
}
