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

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_estimate.h"
#include "bf_explain.h"
#include "bf_filter.h"

/* The end of the module's own memory; the linker sets it. */
extern uint8_t __heap_base[];

bf_header	header;

/* The hash of the key that was asked last, for the other parts of a set. */
static uint64_t last_hash;

/* Bits that check_some() has counted. */
static uint64_t counted;

/* The format's word for the rule behind each status. */
static const char *const rule_words[] = {
	[BF_BAD_LENGTH] = "short",
	[BF_BAD_MAGIC] = "magic",
	[BF_BAD_VERSION] = "version",
	[BF_BAD_HASH] = "hash",
	[BF_BAD_HEADER_CHECKSUM] = "header_checksum",
	[BF_BAD_PROBES] = "probes",
	[BF_BAD_BLOCK_BITS] = "block_bits",
	[BF_BAD_KEY_TYPE] = "key_type",
	[BF_BAD_COLUMNS] = "columns",
	[BF_BAD_BLOCKS] = "blocks",
	[BF_BAD_SIZE] = "size",
	[BF_BAD_PARTS] = "part",
	[BF_BAD_CAPACITY] = "capacity",
	[BF_BAD_RATE] = "rate",
	[BF_BAD_BITS_SET] = "bits_set",
	[BF_BAD_EMPTY] = "empty_key_type",
	[BF_BAD_CHECKSUM] = "checksum",
};

/* The filter begins on a cache line, so that its blocks do. */
EXPORT("filter_at") uint8_t *
filter_at(void)
{
	return (uint8_t *) (((uintptr_t) __heap_base + 63) & ~(uintptr_t) 63);
}

static const uint8_t *
blocks(void)
{
	return filter_at() + BF_HEADER_BYTES;
}

/* All rules that the header alone can break, of a filter of this length. */
EXPORT("check_header") int
check_header(uint32_t length)
{
	return (int) bf_header_read(filter_at(), length, &header);
}

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
	long_begin(0);
	long_add(filter_at(), CHECKSUM_AT);
}

EXPORT("check_some") void
check_some(const uint8_t *bytes, size_t length)
{
	counted += bf_count_bits(bytes, length, NULL);
	long_add(bytes, length);
}

/* Puts the number of bits that are set now, and checksums, into the header. */
EXPORT("seal") void
seal(void)
{
	header.bits_set = bf_count_bits(blocks(), bf_blocks_bytes(&header), NULL);
	bf_header_write(&header, blocks(), NULL, filter_at());
}

EXPORT("check_end") int
check_end(uint32_t length)
{
	bf_status	status;

	if (counted != bf_load_le64(filter_at() + BITS_SET_AT))
		return BF_BAD_BITS_SET;
	status = bf_header_read(filter_at(), length, &header);
	if (status == BF_OK && long_end() != header.checksum)
		status = BF_BAD_CHECKSUM;
	return (int) status;
}

EXPORT("rule_word") const char *
rule_word(int status)
{
	return rule_words[status];
}

EXPORT("rule_text") const char *
rule_text(int status)
{
	return bf_status_text((bf_status) status);
}

/* 1: perhaps, 0: no, -1: the key belongs to another part. */
static int
ask(uint64_t hash)
{
	if (!bf_in_part(&header, hash))
		return -1;
	return bf_contains(&header, blocks(), hash);
}

/* The 8 bytes of an integer or a float come as two halves, without a copy. */
static uint64_t
hash_word(uint32_t low, uint32_t high)
{
	uint64_t	word = (uint64_t) high << 32 | low;

	return bf_hash_8((const uint8_t *) &word, header.seed);
}

EXPORT("contains_word") int
contains_word(uint32_t low, uint32_t high)
{
	return ask(hash_word(low, high));
}

EXPORT("contains_bytes") int
contains_bytes(const uint8_t *bytes, size_t length)
{
	return ask(bf_hash(bytes, length, header.seed));
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
	return bf_part_of(hash, header.parts);
}

EXPORT("hash_at") const uint64_t *
hash_at(void)
{
	return &last_hash;
}

EXPORT("part_of_word") uint32_t
part_of_word(uint32_t low, uint32_t high)
{
	return part_of(hash_word(low, high));
}

EXPORT("part_of_bytes") uint32_t
part_of_bytes(const uint8_t *bytes, size_t length)
{
	return part_of(bf_hash(bytes, length, header.seed));
}

/* A key that came in pieces, by long_begin() and long_add(). */
EXPORT("part_of_long") uint32_t
part_of_long(void)
{
	return part_of(long_end());
}

/* Replaces keys of 8 bytes by their hashes. */
EXPORT("hash_words") void
hash_words(uint64_t *words, size_t count)
{
	size_t		i;

	for (i = 0; i < count; i++)
		words[i] = bf_hash_8((const uint8_t *) &words[i], header.seed);
}

/* Hashes keys that lie one after the other; ends[i] is where key i ends. */
EXPORT("hash_strings") void
hash_strings(const uint8_t *bytes, const uint32_t *ends, size_t count,
			 uint64_t *hashes)
{
	uint32_t	start = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		hashes[i] = bf_hash(bytes + start, ends[i] - start, header.seed);
		start = ends[i];
	}
}

EXPORT("part_of_hash") uint32_t
part_of_hash(const uint64_t *hash)
{
	return bf_part_of(*hash, header.parts);
}

/*
 * Sorts hashes by their parts: sorted[i] was hashes[order[i]], and those of a part
 * begin at starts[part] and end at starts[part + 1].
 */
EXPORT("group_by_part") void
group_by_part(const uint64_t *hashes, size_t count, uint64_t *sorted,
			  uint32_t *order, uint32_t *starts)
{
	uint32_t	parts = header.parts;
	size_t		i;

	memset(starts, 0, (parts + 2) * sizeof *starts);
	for (i = 0; i < count; i++)
		starts[bf_part_of(hashes[i], parts) + 2]++;
	for (i = 2; i <= parts; i++)
		starts[i] += starts[i - 1];
	for (i = 0; i < count; i++)
	{
		uint32_t	at = starts[bf_part_of(hashes[i], parts) + 1]++;

		sorted[at] = hashes[i];
		order[at] = (uint32_t) i;
	}
}

/* Puts the answers to sorted hashes where their keys were. */
EXPORT("scatter") void
scatter(const uint8_t *answers, const uint32_t *order, size_t count, uint8_t *found)
{
	size_t		i;

	for (i = 0; i < count; i++)
		found[order[i]] = answers[i];
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
		sum += blocks()[bf_block_offset(&header, hashes[i])];
	return sum;
}

/* The number of the first hash of another part, count if there is none. */
static size_t
first_of_other_part(const uint64_t *hashes, size_t count)
{
	size_t		i = 0;

	if (header.parts == 1)
		return count;
	while (i < count && bf_in_part(&header, hashes[i]))
		i++;
	return i;
}

/* Hashes whose blocks are read ahead: WebAssembly has no prefetch. */
#define TOUCHED_AHEAD 32

/*
 * Answers for many hashes: found[i] is 1 or 0.  Returns count, or the number of
 * the first one that belongs to another part.
 */
EXPORT("ask_hashes") size_t
ask_hashes(const uint64_t *hashes, size_t count, uint8_t *found)
{
	static volatile unsigned touched;
	size_t		valid = first_of_other_part(hashes, count);
	size_t		i;

	(void) touched;
	for (i = 0; i < valid; i += TOUCHED_AHEAD)
	{
		size_t		few = valid - i < TOUCHED_AHEAD ? valid - i : TOUCHED_AHEAD;

		touched = touch(hashes + i, few);
		bf_contains_hashes(&header, blocks(), hashes + i, few, found + i);
	}
	return valid;
}

/* Both steps in one call. */
EXPORT("contains_words") size_t
contains_words(uint64_t *words, size_t count, uint8_t *found)
{
	hash_words(words, count);
	return ask_hashes(words, count, found);
}

EXPORT("contains_strings") size_t
contains_strings(const uint8_t *bytes, const uint32_t *ends, size_t count,
				 uint64_t *hashes, uint8_t *found)
{
	hash_strings(bytes, ends, count, hashes);
	return ask_hashes(hashes, count, found);
}

/*
 * What a look-up of a key's bytes computes and sees: a string of BF_EXPLAIN_ROOM bytes
 * at most, a zero byte included.
 */
EXPORT("explain") const char *
explain(uint32_t kind, const uint8_t *bytes, size_t length)
{
	static char text[BF_EXPLAIN_ROOM];

	bf_explain(text, &header, blocks(), kind, bytes, length);
	return text;
}

/* What the header says about the keys in the filter. */
EXPORT("cardinality") double
cardinality(void)
{
	return bf_estimate_keys(&header);
}

EXPORT("fpr") double
fpr(void)
{
	return bf_estimate_rate(&header);
}

EXPORT("over_capacity") int
over_capacity(void)
{
	return bf_over_capacity(&header);
}
