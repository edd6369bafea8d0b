/*
 * test_hash.c
 *	  From bytes to hash, part, block and probes: keys.tsv, and what no row of it is like; and SHA-256.
 */
#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "tap.h"
#include "tsv.h"
#include "support.h"

/* Whether the probes of a hash lead to these bits of its block, joined by commas. */
static bool
probes_are(uint64_t hash, unsigned log2_block_bits, const char *bits)
{
	unsigned	i = 0;

	for (; bits != NULL; bits = strchr(bits, ','))
	{
		bits += *bits == ',';
		if (bf_probe_bit(bf_probe(hash, i++), log2_block_bits) != strtoul(bits, NULL, 10))
			return false;
	}
	return true;
}

/* Texts and bytes of all lengths up to 100 are among the keys, and some long ones. */
static void
test_keys(void)
{
	tsv		   *table = tsv_open("keys.tsv");
	bool		hashes = true;
	bool		places = true;
	unsigned	count = 0;

	for (; tsv_next(table); count++)
	{
		const char *name = tsv_text(table, "key_hex");
		size_t		length;
		uint8_t    *bytes = hex_bytes(name, &length);
		uint64_t	hash = tsv_hex_number(table, "hash_hex");

		hashes &= check(bf_hash(bytes, length, tsv_number(table, "seed")) == hash, "%s", name);
		places &= check(bf_block_of(hash, (uint32_t) tsv_number(table, "blocks")) == tsv_number(table, "block") &&
						bf_part_of(hash, (uint32_t) tsv_number(table, "parts")) == tsv_number(table, "part") &&
						probes_are(hash, (unsigned) tsv_number(table, "log2_block_bits"), tsv_text(table, "bits")), "%s", name);
		free(bytes);
	}
	tsv_close(table);
	ok(hashes && count > 500, "keys.tsv: the hash of each of %u keys", count);
	ok(places, "and its block, part and bits");
	ok(bf_hash(NULL, 0, 0) == UINT64_C(0xef46db3751d8e999), "the hash of no bytes, which may be NULL, is the published one");
}

/* Sixty-four words, hashed alone, together, and as the bytes that they are. */
static void
test_words(void)
{
	uint64_t	words[64];
	uint64_t	together[64];
	uint8_t		bytes[8];
	uint64_t	random = 8;
	bool		alone = true;
	bool		many = true;
	unsigned	i;

	for (i = 0; i < 64; i++)
		together[i] = words[i] = next_random(&random) >> i;
	bf_hash_words(together, 64, random);
	for (i = 0; i < 64; i++)
	{
		bf_store_le(bytes, 8, words[i]);
		alone &= bf_hash_word(words[i], random) == bf_hash(bytes, 8, random);
		many &= together[i] == bf_hash_word(words[i], random);
	}
	ok(alone, "the hash of a word is that of its 8 bytes, the least first");
	ok(many, "bf_hash_words hashes each word in place");
	bf_hash_words(words, 0, 1);
	ok(words[0] == next_random(&(uint64_t) {8}), "or none");
}

static void
test_probes(void)
{
	uint64_t	random = 9;
	bool		holds = true;
	unsigned	round;
	unsigned	i;

	for (round = 0; round < 100; round++)
	{
		uint64_t	hash = next_random(&random);
		uint64_t	probe = hash;

		for (i = 0; i < BF_MAX_PROBES; i++)
			holds &= bf_probe(hash, i) == (probe *= BF_PROBE_MULTIPLIER);
	}
	ok(holds, "each of the 32 probes at once is the one that steps lead to");
}

static void
test_checksum(void)
{
	static const size_t lengths[] = {
		0, 1, 31, 32, 33, 64, 4096, 2097151, 2097152, 2097153, 5000000
	};
	size_t		longest = 5000000 + 56;
	uint64_t	random = 1;
	uint8_t    *bytes = allocate(longest);
	bool		holds = true;
	size_t		i;

	fill_random(bytes, longest, &random);
	for (i = 0; i < sizeof lengths / sizeof *lengths; i++)
		holds &= check(bf_checksum(bytes, 56, bytes + 56, lengths[i], NULL) ==
					   bf_hash(bytes, 56 + lengths[i], 0), "length %zu", lengths[i]);
	ok(holds, "the checksum is the hash of the two pieces as one");
	free(bytes);
}

/* The high half of a product by long multiplication of bytes. */
static uint64_t
high_half(uint64_t x, uint64_t y)
{
	uint32_t	digits[17] = {0};
	unsigned	i;
	unsigned	j;
	uint64_t	high = 0;

	for (i = 0; i < 8; i++)
	{
		uint32_t	carry = 0;

		for (j = 0; j < 8; j++)
		{
			uint32_t	sum = digits[i + j] + carry +
				(uint32_t) (x >> 8 * i & 255) * (uint32_t) (y >> 8 * j & 255);

			digits[i + j] = sum & 255;
			carry = sum >> 8;
		}
		digits[i + 8] = carry;
	}
	for (i = 0; i < 8; i++)
		high |= (uint64_t) digits[8 + i] << 8 * i;
	return high;
}

static void
test_reduce(void)
{
	static const uint64_t ends[] = {
		0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(0x100000000),
		UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_MAX
	};
	uint64_t	random = 6;
	bool		holds = true;
	unsigned	i;
	unsigned	j;

	for (i = 0; i < 10; i++)
		for (j = 0; j < 10; j++)
			holds &= check(bf_reduce(ends[i], ends[j]) == high_half(ends[i], ends[j]),
						   "%" PRIx64 " %" PRIx64, ends[i], ends[j]);
	for (i = 0; i < 100000; i++)
	{
		uint64_t	x = next_random(&random);
		uint64_t	range = next_random(&random) >> (i % 64);

		holds &= check(bf_reduce(x, range) == high_half(x, range),
					   "%" PRIx64 " %" PRIx64, x, range);
	}
	ok(holds, "bf_reduce is the high half of the product");
}

static void
is_digest(const uint8_t digest[BF_SHA256_BYTES], const char *wanted, const char *what)
{
	char		hex[2 * BF_SHA256_BYTES + 1];
	unsigned	i;

	for (i = 0; i < BF_SHA256_BYTES; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	ok(strcmp(hex, wanted) == 0, "SHA-256 of %s: %s", what, hex);
}

/* NIST's longest example; and the digest of the digests of all lengths up to 200, by Python's hashlib. */
static void
test_sha256(void)
{
	static uint8_t million[1000000];
	uint8_t		bytes[200];
	uint8_t		digests[201][BF_SHA256_BYTES];
	uint8_t		digest[BF_SHA256_BYTES];
	size_t		i;

	memset(million, 'a', sizeof million);
	bf_sha256(million, sizeof million, digest);
	is_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "a million of a");
	for (i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t) (i * 7 + 3);
	for (i = 0; i <= sizeof bytes; i++)
		bf_sha256(bytes, i, digests[i]);
	bf_sha256(digests, sizeof digests, digest);
	is_digest(digest, "3275febb4612d86d586eb9f11cd21e648a9fc7d95e0f6b8d362786e28c9c5b79", "lengths from 0 to 200");
}

int
main(void)
{
	test_keys();
	test_words();
	test_probes();
	test_checksum();
	test_reduce();
	test_sha256();
	return tap_done();
}
