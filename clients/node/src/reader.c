/*
 * reader.c
 *	  What JavaScript calls: one filter, checked and asked, in one instance.
 *
 * An instance of the WebAssembly module holds one filter.  Its memory is: the
 * module's own data and stack; the filter, from filter_at() on; room for the
 * keys and answers of a call, which JavaScript lays out behind the filter.
 *
 * Addresses and counts come from our own JavaScript and are trusted.  The
 * filter's bytes are not, until check_header() and check_end() have found no
 * broken rule.
 */
#include "reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_estimate.h"
#include "bf_exact.h"
#include "bf_filter.h"
#include "bf_hash.h"
#include "feed_part.h"
#include "feed_table.h"

/* The end of the module's own memory; the linker sets it. */
extern uint8_t __heap_base[];

/* Offsets in a header. */
#define BITS_SET_AT 40
#define CHECKSUM_AT 56

/* Of the filter.  Nothing asks before it was read by the core's rules. */
static bf_shape shape;

/* The hash of the key that was asked last, for the other parts of a set. */
static uint64_t last_hash;

/* Bits that check_some() has counted, and the checksum of the bytes. */
static uint64_t counted;
static XXH64_state_t summed;

/* The filter begins on a cache line, so that its blocks do. */
TELLS(uint8_t *, filter_at, (uint8_t *) (((uintptr_t) __heap_base + 63) & ~(uintptr_t) 63))

/*
 * Where the first block is, or would be: of a followed file only one block lies behind
 * the header, and this is how far it is from the first one.
 */
static uint32_t blocks_before;

static const uint8_t *
blocks(void)
{
	return (const uint8_t *) ((uintptr_t) filter_at() + bf_shape_front(&shape) - blocks_before);
}

/*
 * Where the block of the key that was hashed last begins, in bytes from the first one.
 * From now on it is the one behind the header, where the caller puts it.
 */
EXPORT("block_at") uint32_t
block_at(void)
{
	blocks_before = (uint32_t) bf_block_offset(&shape.level[0], last_hash);
	return blocks_before;
}

/* How long a filter is, as its header says. */
TELLS(double, filter_length, (double) bf_any_length(filter_at()))

/* All rules that the header alone can break, of a filter of this length. */
EXPORT("check_header") int
check_header(double length)
{
	return (int) bf_any_read(filter_at(), (uint64_t) length, &shape);
}

/* All rules, of an exact filter that is all there. */
EXPORT("check_exact") int
check_exact(uint32_t length)
{
	return (int) bf_any_parse(filter_at(), length, NULL, &shape);
}

/* Of an exact filter: keys of its universe that are no members, for which it was sized. */
TELLS(double, others, (double) shape.others)

/*
 * The rules about the blocks, piece by piece, so that JavaScript can do other things
 * between two pieces: check_begin(), check_some() for all bytes of the blocks in
 * turn, check_end().  The header need not have been taken yet: that bits are set
 * without a key type is a rule behind that of their number.
 */
EXPORT("check_begin") void
check_begin(void)
{
	counted = 0;
	XXH64_reset(&summed, 0);
	XXH64_update(&summed, filter_at(), CHECKSUM_AT);
}

EXPORT("check_some") void
check_some(const uint8_t *bytes, size_t length)
{
	counted += bf_count_bits(bytes, length, NULL);
	XXH64_update(&summed, bytes, length);
}

/*
 * The sum of doc/FEED.md, section 2, of some bytes of a part's body, which begin at a
 * multiple of a piece's bytes; and of its header.
 */
EXPORT("sum_some") uint64_t
sum_some(const uint8_t *bytes, size_t length, uint32_t part, uint32_t from)
{
	return feed_sum(part, from / FEED_PIECE, bytes, length);
}

EXPORT("sum_header") uint64_t
sum_header(uint32_t part)
{
	return feed_sum_header(part, filter_at());
}

/* XXH64 with seed 0. */
EXPORT("hash") uint64_t
hash(const uint8_t *bytes, size_t length)
{
	return bf_hash(bytes, length, 0);
}

/* Puts the number of bits that are set, and checksums, into the header. */
EXPORT("seal") void
seal(void)
{
	shape.level[0].bits_set = bf_count_bits(blocks(), bf_blocks_bytes(&shape.level[0]), NULL);
	bf_header_write(&shape.level[0], blocks(), NULL, filter_at());
}

EXPORT("check_end") int
check_end(uint32_t length)
{
	bf_status	status;

	if (counted != bf_load_le64(filter_at() + BITS_SET_AT))
		return BF_BAD_BITS_SET;
	status = bf_any_read(filter_at(), length, &shape);
	if (status == BF_OK && XXH64_digest(&summed) != shape.level[0].checksum)
		status = BF_BAD_CHECKSUM;
	return (int) status;
}

EXPORT("rule_text") const char *
rule_text(int status)
{
	return bf_status_text((bf_status) status);
}

static int
ask(uint64_t hash)
{
	return bf_shape_contains(&shape, blocks(), hash);
}

/* The 8 bytes of an integer or a float come as two halves, without a copy. */
static uint64_t
hash_word(uint32_t low, uint32_t high)
{
	uint64_t	word = (uint64_t) high << 32 | low;

	return bf_hash_word(word, shape.level[0].seed);
}

EXPORT("contains_word") int
contains_word(uint32_t low, uint32_t high)
{
	return ask(hash_word(low, high));
}

EXPORT("contains_bytes") int
contains_bytes(const uint8_t *bytes, size_t length)
{
	return ask(bf_hash(bytes, length, shape.level[0].seed));
}

EXPORT("contains_hash") int
contains_hash(uint32_t low, uint32_t high)
{
	return ask((uint64_t) high << 32 | low);
}

/* The part of a key in its set; its hash is at hash_at() then. */
static uint32_t
part_of(uint64_t hash)
{
	last_hash = hash;
	return bf_part_of(hash, shape.level[0].parts);
}

TELLS(const uint64_t *, hash_at, &last_hash)

/*
 * What some slots of a table of changes say of the key that was hashed last: 0 unchanged, 1 the
 * slots behind them follow, 2 false, 3 true.
 */
EXPORT("ask_slots") int
ask_slots(const uint8_t *slots, uint32_t count, const uint8_t *key, size_t length)
{
	uint64_t	state = feed_slots_ask(slots, count, last_hash, key, length);

	return state == FEED_UNCHANGED || state == FEED_DAMAGED ? (int) state : 2 + (int) (state & 1);
}

EXPORT("part_of_word") uint32_t
part_of_word(uint32_t low, uint32_t high)
{
	return part_of(hash_word(low, high));
}

EXPORT("part_of_bytes") uint32_t
part_of_bytes(const uint8_t *bytes, size_t length)
{
	return part_of(bf_hash(bytes, length, shape.level[0].seed));
}

/*
 * WebAssembly has no prefetch.  Reading a byte of several blocks does the same
 * for blocks of one cache line: none of these reads waits for another.  The sum
 * is returned, or the compiler would leave them out.
 */
static unsigned
touch(const uint64_t *hashes, size_t count)
{
	unsigned	sum = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		sum += blocks()[bf_block_offset(&shape.level[0], hashes[i])];
	return sum;
}

/* Hashes whose blocks are read ahead. */
#define TOUCHED_AHEAD 32

/* Answers for many hashes: found[i] is 1 or 0. */
static void
ask_hashes(const uint64_t *hashes, size_t count, uint8_t *found)
{
	static volatile unsigned touched;
	size_t		i;

	(void) touched;
	for (i = 0; i < count; i += TOUCHED_AHEAD)
	{
		size_t		few = count - i < TOUCHED_AHEAD ? count - i : TOUCHED_AHEAD;

		touched = touch(hashes + i, few);
		bf_shape_contains_hashes(&shape, blocks(), hashes + i, few, found + i);
	}
}

/* The same for keys of 8 bytes, which are replaced by their hashes. */
EXPORT("ask_words") void
ask_words(uint64_t *words, size_t count, uint8_t *found)
{
	bf_hash_words(words, count, shape.level[0].seed);
	ask_hashes(words, count, found);
}

/* The same for keys that lie one after the other; ends[i] is where key i ends. */
EXPORT("ask_strings") void
ask_strings(const uint8_t *bytes, const uint32_t *ends, size_t count, uint64_t *hashes, uint8_t *found)
{
	uint32_t	start = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		hashes[i] = bf_hash(bytes + start, ends[i] - start, shape.level[0].seed);
		start = ends[i];
	}
	ask_hashes(hashes, count, found);
}

/* What the header says about the keys in the filter. */
TELLS(double, cardinality, bf_estimate_keys(&shape.level[0]))
TELLS(double, fpr, bf_estimate_rate(&shape.level[0]))
TELLS(int, over_capacity, bf_over_capacity(&shape.level[0]))
