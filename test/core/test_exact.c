/*
 * test_exact.c
 *	  Exact filters: every key of the universe gets its answer, and the bytes are checked.
 *
 * A universe is members 0 .. n - 1 and others n .. n + m - 1, as integer keys.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_exact.h"
#include "bf_hash.h"
#include "bf_hashlist.h"
#include "bf_key.h"
#include "tap.h"
#include "support.h"

typedef struct exact
{
	bf_shape	e;
	uint8_t    *bytes;
	uint8_t    *blocks;
	uint64_t	resized;		/* levels that had to be sized anew */
} exact;

/* The hashes of keys first .. first + count - 1 that a level lets in, sorted. */
static uint64_t *
let_in(const exact *x, unsigned level, uint64_t first, uint64_t count, size_t *in)
{
	uint64_t   *hashes = allocate((size_t) (count + 1) * sizeof *hashes);
	uint64_t	i;

	*in = 0;
	for (i = 0; i < count; i++)
	{
		uint64_t	hash = bf_hash_word(first + i, x->e.level[0].seed);

		if (bf_exact_level_contains(&x->e, x->blocks, 0, hash) &&
			(level == 0 || bf_exact_level_contains(&x->e, x->blocks, level, hash)))
			hashes[(*in)++] = hash;
	}
	*in = bf_hashlist_unique(hashes, *in, NULL);
	return hashes;
}

/* Memory for the shape, with the blocks of the first levels kept. */
static void
resize(exact *x, unsigned level, uint64_t keys, uint64_t opposite)
{
	uint64_t	kept = BF_EXACT_HEADER_BYTES + bf_shape_offset(&x->e, level);
	uint8_t    *bytes;

	bf_exact_resize(&x->e, level, keys, opposite);
	bytes = allocate((size_t) bf_shape_bytes(&x->e));
	memset(bytes, 0, (size_t) bf_shape_bytes(&x->e));
	memcpy(bytes, x->bytes, (size_t) kept);
	free(x->bytes);
	x->bytes = bytes;
	x->blocks = bytes + BF_EXACT_HEADER_BYTES;
	x->resized++;
}

/* planned: others that the shape is made for. */
static exact
build(uint64_t n, uint64_t m, uint64_t planned, double p, uint64_t seed)
{
	bf_universe universe = {n > 0 ? n : 1, planned, p};
	exact		x = {0};
	uint64_t   *others;
	uint64_t   *members;
	size_t		other_count;
	size_t		member_count;
	uint64_t	i;

	bf_exact_plan(&universe, seed, &x.e);
	for (i = 0; i < BF_EXACT_LEVELS; i++)
		x.e.level[i].key_type = BF_KEY_INTEGER;
	x.bytes = allocate((size_t) bf_shape_bytes(&x.e));
	memset(x.bytes, 0, (size_t) bf_shape_bytes(&x.e));
	x.blocks = x.bytes + BF_EXACT_HEADER_BYTES;
	for (i = 0; i < n; i++)
	{
		uint64_t	hash = bf_hash_word(i, seed);

		bf_exact_add(&x.e, x.blocks, 0, &hash, 1, NULL);
	}
	others = let_in(&x, 0, n, m, &other_count);
	if (other_count > x.e.level[1].capacity)
		resize(&x, 1, other_count * 6 / 5, universe.members);
	bf_exact_add(&x.e, x.blocks, 1, others, other_count, NULL);
	members = let_in(&x, 1, 0, n, &member_count);
	if (member_count > x.e.level[2].capacity || other_count > x.e.level[1].capacity)
		resize(&x, 2, member_count * 6 / 5, other_count);
	while (!bf_exact_close(&x.e, x.blocks, members, member_count, others, other_count, NULL))
		resize(&x, 2, x.e.level[2].capacity * 4, other_count);
	bf_exact_write(&x.e, x.bytes, NULL);
	free(others);
	free(members);
	return x;
}

/* Answers that are wrong, one by one and in batches. */
static uint64_t
count_wrong(const exact *x, uint64_t n, uint64_t m)
{
	uint64_t	wrong = 0;
	uint64_t	at;

	for (at = 0; at < n + m; at += 1000)
	{
		uint64_t	hashes[1000];
		uint8_t		found[1000];
		uint64_t	length = n + m - at < 1000 ? n + m - at : 1000;
		uint64_t	i;

		for (i = 0; i < length; i++)
			hashes[i] = bf_hash_word(at + i, x->e.level[0].seed);
		bf_shape_contains_hashes(&x->e, x->blocks, hashes, (size_t) length, found);
		for (i = 0; i < length; i++)
		{
			wrong += bf_shape_contains(&x->e, x->blocks, hashes[i]) != (at + i < n);
			wrong += found[i] != (at + i < n);
		}
	}
	return wrong;
}

/* Whether what was read of header and directory is written as the same bytes. */
static bool
same_bytes(bf_shape *read, const exact *x)
{
	uint64_t	length = bf_shape_bytes(&x->e);
	uint8_t    *bytes = exact_copy(x->bytes, (size_t) length);
	bool		same;

	memset(bytes, 0, BF_EXACT_HEADER_BYTES);
	bf_exact_write(read, bytes, NULL);
	same = memcmp(bytes, x->bytes, (size_t) length) == 0;
	free(bytes);
	return same;
}

static void
test_universes(void)
{
	static const uint64_t counts[] = {0, 1, 7, 1000, 30000};
	static const double rates[] = {1e-6, 0.01, 0.9};
	unsigned	a;
	unsigned	b;
	unsigned	r;

	for (r = 0; r < 3; r++)
		for (a = 0; a < 5; a++)
		{
			uint64_t	wrong = 0;
			bool		valid = true;

			for (b = 0; b < 5; b++)
			{
				exact		x = build(counts[a], counts[b], counts[b], rates[r], a * 5 + b);
				bf_shape	read;

				wrong += count_wrong(&x, counts[a], counts[b]);
				valid &= check(bf_any_parse(x.bytes, bf_shape_bytes(&x.e), NULL, &read) == BF_OK, "parse");
				valid &= check(same_bytes(&read, &x), "header");
				free(x.bytes);
			}
			ok(wrong == 0 && valid, "p = %g, %d members, 0 to 30000 others: each gets its answer", rates[r], (int) counts[a]);
		}
}

/* The others of all parts are counted together, in a number that SQL has. */
static void
test_others(void)
{
	exact		x = build(1000, 1000, 1000, 0.01, 42);
	bf_shape	read;

	x.e.others = INT64_MAX;
	bf_exact_write(&x.e, x.bytes, NULL);
	ok(bf_any_parse(x.bytes, bf_shape_bytes(&x.e), NULL, &read) == BF_OK, "the most others");
	x.e.others++;
	bf_exact_write(&x.e, x.bytes, NULL);
	ok(bf_any_parse(x.bytes, bf_shape_bytes(&x.e), NULL, &read) == BF_BAD_LEVELS, "more others than a number of SQL has");
	free(x.bytes);
}

static unsigned ticks;

static void
count_tick(void)
{
	ticks++;
}

/* A level of a hundred million hashes takes seconds to fill. */
static void
test_ticks(void)
{
	exact		x = build(1000, 1000, 1000, 0.01, 42);
	uint64_t	hash = 1;
	uint64_t   *hashes = allocate(1000000 * sizeof *hashes);
	size_t		i;

	for (i = 0; i < 1000000; i++)
		hashes[i] = hash += UINT64_C(0x9e3779b97f4a7c15);
	bf_exact_add(&x.e, x.blocks, 1, hashes, 1000000, count_tick);
	ok(ticks >= 10, "a level that is filled can be cancelled");
	free(hashes);
	free(x.bytes);
}

static void
test_size(void)
{
	static const struct
	{
		uint64_t	others;
		double		most;
	}			rows[] = {{100000000, 15.78}, {10000000, 11.31}, {1000000, 10.12}, {100000, 9.95}};
	unsigned	i;

	for (i = 0; i < 4; i++)
	{
		bf_universe universe = {1000000, rows[i].others, 0.01};
		bf_shape	e;
		double		bits;

		bf_exact_plan(&universe, 0, &e);
		bits = (double) bf_shape_bytes(&e) * 8 / 1e6;
		ok(bits <= rows[i].most * 1.05, "1000000 members, %g others: %.2f bits a member, at most %.2f", (double) rows[i].others, bits, rows[i].most * 1.05);
	}
}

/* Whether a level has the bits that it takes to let each other in with a chance of a thousandth of 1 / others. */
static bool
lets_none_in(const bf_header *level, uint64_t others)
{
	return (double) bf_total_bits(level) >= (double) level->capacity * log2((double) others * 1e3) / log(2.0);
}

/* Where a build told that a level gets more keys than planned, level 3 is sized for all that it must keep out. */
static void
test_least(void)
{
	static const uint64_t least[][BF_EXACT_LEVELS] = {{0, 0, 0}, {0, 1000000000, 0}, {0, 0, 50000}, {0, 1000000000, 50000}};
	bf_universe universe = {10000000, 10000000, 0.01};
	unsigned	i;

	for (i = 0; i < 4; i++)
	{
		bf_shape	e;

		ok(bf_exact_plan_least(&universe, 0, least[i], &e) && e.level[1].capacity >= least[i][1] &&
		   e.level[2].capacity >= least[i][2] && lets_none_in(&e.level[2], e.level[1].capacity),
		   "%d keys at least in level 2, %d in level 3: level 3 keeps all of level 2 out", (int) least[i][1], (int) least[i][2]);
	}
}

/* More others came than were planned: levels grow, and no answer changes. */
static void
test_growth(void)
{
	static const uint64_t planned[] = {23000, 10000, 1000, 1, 0};
	unsigned	i;

	for (i = 0; i < 5; i++)
	{
		exact		x = build(1000, 30000, planned[i], 0.01, i);

		ok(count_wrong(&x, 1000, 30000) == 0, "30000 others where %d were planned: all right, %d levels sized anew",
		   (int) planned[i], (int) x.resized);
		free(x.bytes);
	}
}

#define STRANGERS 250000

/* Keys that are no part of the universe are let in at p at most, and read one block. */
static void
test_strangers(void)
{
	exact		x = build(20000, 200000, 200000, 0.01, 3);
	uint64_t   *hashes = allocate(STRANGERS * sizeof *hashes);
	uint8_t    *found = allocate(STRANGERS);
	uint64_t	in = 0;
	uint64_t	asked;
	uint64_t	i;

	for (i = 0; i < STRANGERS; i++)
		hashes[i] = bf_hash_word(UINT64_C(1) << 40 | i, 3);
	asked = bf_shape_contains_hashes(&x.e, x.blocks, hashes, STRANGERS, found);
	for (i = 0; i < STRANGERS; i++)
		in += found[i];
	ok(in < STRANGERS / 100 + 300, "of %d strangers %d are let in", STRANGERS, (int) in);
	ok(asked < 2 * (STRANGERS / 100 + 300), "levels 2 and 3 are asked %d times for them", (int) asked);
	free(hashes);
	free(found);
	free(x.bytes);
}

/* Hashes of so many integers from first on. */
static uint64_t *
some_hashes(uint64_t first, size_t count)
{
	uint64_t   *hashes = allocate(count * sizeof *hashes);
	size_t		i;

	for (i = 0; i < count; i++)
		hashes[i] = bf_hash_word(first + i, 0);
	return hashes;
}

/* A level 3 of one block: where others pass it is closed by another salt, or said not to close. */
static void
test_salt(void)
{
	exact		x = build(1000, 1000, 1000, 0.01, 0);
	uint64_t   *members = some_hashes(0, 400);
	uint64_t   *others = some_hashes(100000, 400);
	bool		closed;
	size_t		i;

	resize(&x, 2, 1, 2);
	ok(x.e.level[2].blocks == 1 && !bf_exact_close(&x.e, x.blocks, members, 400, others, 400, NULL) &&
	   x.e.level[2].bits_set == 0, "a level 3 that no salt closes is said to be so, and is empty");
	x.e.level[2].probes = 2;
	closed = bf_exact_close(&x.e, x.blocks, members, 30, others, 200, NULL);
	for (i = 0; i < 200; i++)
		closed &= bf_exact_level_contains(&x.e, x.blocks, 2, others[i]) == false &&
			(i >= 30 || bf_exact_level_contains(&x.e, x.blocks, 2, members[i]));
	ok(closed && x.e.salt > 0, "one that some salts don't close is closed by another: %d", (int) x.e.salt);
	free(others);
	free(members);
	free(x.bytes);
}

/* Lists whose level 1 is the same, and whose others are not, are told apart by the header alone. */
static void
test_identity(void)
{
	exact		a = build(1000, 100000, 100000, 0.01, 0);
	exact		b = build(1000, 50000, 100000, 0.01, 0);

	ok(memcmp(a.blocks, b.blocks, (size_t) bf_shape_offset(&a.e, 1)) == 0 && bf_shape_bytes(&a.e) == bf_shape_bytes(&b.e),
	   "the same members make the same level 1");
	ok(!bf_shape_same(&a.e, &b.e) && a.e.level[0].checksum != b.e.level[0].checksum &&
	   memcmp(a.bytes, b.bytes, BF_HEADER_BYTES) != 0, "other others make another header");
	free(a.bytes);
	free(b.bytes);
}

/* Any byte of header and directory that is changed is found without the blocks; so is a wrong length. */
static void
test_damage(void)
{
	exact		x = build(100, 1000, 1000, 0.01, 9);
	uint64_t	length = bf_shape_bytes(&x.e);
	uint8_t    *bytes = exact_copy(x.bytes, (size_t) length);
	bf_shape	e;
	bool		read = true;
	bool		parsed = true;
	uint64_t	i;

	ok(bf_any_read(bytes, length, &e) == BF_OK && bf_shape_same(&e, &x.e) && bf_any_parse(bytes, length, NULL, &e) == BF_OK,
	   "it is read, by header and directory alone, too");
	for (i = 0; i < length; i++)
	{
		bytes[i] ^= (uint8_t) (1u << i % 8);
		if (i < BF_EXACT_HEADER_BYTES && (i < 56 || i >= 64))
			read &= check(bf_any_read(bytes, length, &e) != BF_OK, "byte %d", (int) i);
		parsed &= check(bf_any_parse(bytes, length, NULL, &e) != BF_OK, "byte %d", (int) i);
		bytes[i] ^= (uint8_t) (1u << i % 8);
	}
	ok(read, "a changed bit of header or directory is found in them");
	ok(parsed, "a changed bit of any byte is found in all");
	ok(bf_any_read(bytes, length - 64, &e) == BF_BAD_SIZE && bf_any_read(bytes, length + 64, &e) == BF_BAD_SIZE &&
	   bf_any_read(bytes, 127, &e) == BF_BAD_DIRECTORY, "so is another length");
	bytes[4] = 1;
	bf_store_le(bytes + 52, 4, bf_hash(bytes, 52, 0));
	ok(bf_any_read(bytes, length, &e) == BF_BAD_SIZE, "version 1 has no levels");
	e = x.e;
	e.level[1].bits_set = bf_total_bits(&e.level[1]) + 1;
	bf_exact_write(&e, x.bytes, NULL);
	ok(bf_any_read(x.bytes, length, &e) == BF_BAD_BITS_SET, "no level has more bits set than it has");
	e = x.e;
	e.level[0].key_type = BF_KEY_NONE;
	bf_exact_write(&e, x.bytes, NULL);
	ok(bf_any_read(x.bytes, length, &e) == BF_BAD_EMPTY, "nor any without a type of keys");
	free(bytes);
	free(x.bytes);
}

/* A set of parts that is too large for one value. */
static void
test_parts(void)
{
	bf_universe small = {1000000, 1000000, 0.01};
	bf_universe large = {UINT64_C(1000000000), UINT64_C(10000000000), 0.01};
	uint32_t	parts = bf_exact_parts(&large);
	bf_universe part = bf_exact_part_universe(&large, parts);
	bf_shape	e;

	ok(bf_exact_parts(&small) == 1, "a small universe has one part");
	bf_exact_plan(&part, 0, &e);
	ok(parts > 1 && bf_exact_fits(&e), "1e9 members among 1e10 others have %d parts, which fit", (int) parts);
	part = bf_exact_part_universe(&large, parts - 1);
	bf_exact_plan(&part, 0, &e);
	ok(!bf_exact_fits(&e), "fewer would not");
}

int
main(void)
{
	test_universes();
	test_others();
	test_ticks();
	test_size();
	test_least();
	test_growth();
	test_strangers();
	test_salt();
	test_identity();
	test_damage();
	test_parts();
	return tap_done();
}
