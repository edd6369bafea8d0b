/*
 * bf_exact.h
 *	  Exact filters, format version 2: right for every key of a known universe.
 *
 * A universe is members and others.  Level 1 is a filter of the members.  Level 2 is a
 * filter of the others that level 1 lets in.  Level 3 is a filter of the members that level
 * 2 lets in, and none of the keys of level 2 passes it.  A look-up:  level 1 says no: false.
 * Level 2 says no: true.  Else what level 3 says.  Keys outside the universe are let in by
 * level 1's rate at most, as by any filter.
 *
 * Nothing may be added to such a filter, and nothing OR-ed into it: a bit in level 2 without
 * its keys in level 3 denies a member.
 *
 * The bytes are in doc/FORMAT.md: a header of 64 bytes, which is level 1's, a directory of 64
 * bytes with levels 2 and 3, and the blocks of the three levels.
 */
#ifndef BF_EXACT_H
#define BF_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_filter.h"
#include "bf_format.h"
#include "bf_sizing.h"

#define BF_EXACT_LEVELS 3

/* Bytes before the blocks: header and directory. */
#define BF_EXACT_HEADER_BYTES 128

/*
 * The levels as filters of their own, in their order; level[0].checksum is that of all bytes.
 * Seed, key type, part and parts are the same in all.  Capacity and bits set are each level's;
 * rate is level 1's alone.  What looks keys up takes filters of version 1, too: they have one
 * level.
 */
typedef struct bf_shape
{
	unsigned	levels;			/* 3; of a filter of version 1 1 */
	bf_header	level[BF_EXACT_LEVELS];
	uint64_t	others;			/* keys that are no members, for which it was sized; 0 or more */
	unsigned	salt;			/* 0 .. 255, of level 3's hashes */
} bf_shape;

/* What an exact filter is made for. */
typedef struct bf_universe
{
	uint64_t	members;		/* n, at least 1 */
	uint64_t	others;			/* m, 0 or more */
	double		rate;			/* p for keys outside the universe, 0 .. 1 */
} bf_universe;

/*
 * The shape for a universe, or one part's share of it, with seed, key type and part all 0.  False
 * where no size reaches a level's rate.  It may be too large for one value (bf_exact_fits).
 */
extern bool bf_exact_plan(const bf_universe *universe, uint64_t seed, bf_shape *exact);

/*
 * Sizes level 2 or 3 (number 1 or 2) anew for so many keys, where more came than were planned.
 * opposite: keys that it must keep out, for level 2 the members, for level 3 the keys of level 2.
 */
extern bool bf_exact_resize(bf_shape *exact, unsigned level, uint64_t keys, uint64_t opposite);

/* The shape for a universe with room for at least so many keys in levels 2 and 3 (least[0] says nothing). */
extern bool bf_exact_plan_least(const bf_universe *universe, uint64_t seed, const uint64_t least[BF_EXACT_LEVELS],
								bf_shape *exact);

/* The fewest parts in which a universe fits; 0 where BF_MAX_PARTS is not enough. */
extern uint32_t bf_exact_parts(const bf_universe *universe);

/* A part's universe in a set of so many. */
extern bf_universe bf_exact_part_universe(const bf_universe *universe, uint32_t parts);

/*
 * Bytes of all; those before the blocks; and where a level's blocks begin, from level 1's on.
 * The functions below take a pointer to level 1's.
 */
extern uint64_t bf_shape_bytes(const bf_shape *exact);
extern uint64_t bf_shape_offset(const bf_shape *exact, unsigned level);
extern bool bf_exact_fits(const bf_shape *exact);

static inline unsigned
bf_shape_front(const bf_shape *exact)
{
	return exact->levels == 1 ? BF_HEADER_BYTES : BF_EXACT_HEADER_BYTES;
}

/* A key's hash for a level (0 to 2): that of level 1 is the key's own. */
static inline uint64_t
bf_exact_hash(const bf_shape *exact, unsigned level, uint64_t hash)
{
	if (level == 0)
		return hash;
	hash += (level + (level == 2 ? (uint64_t) exact->salt * 64 : 0)) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
	return hash ^ hash >> 31;
}

static inline bool
bf_exact_level_contains(const bf_shape *exact, const uint8_t *blocks, unsigned level, uint64_t hash)
{
	return bf_contains(&exact->level[level], blocks + bf_shape_offset(exact, level),
					   bf_exact_hash(exact, level, hash));
}

/* The answer for a key that level 1 lets in. */
extern bool bf_exact_confirms(const bf_shape *exact, const uint8_t *blocks, uint64_t hash);

/* The answer for a key with this hash: one that level 1 keeps out costs what it costs in any filter. */
static inline bool
bf_shape_contains(const bf_shape *exact, const uint8_t *blocks, uint64_t hash)
{
	return bf_contains(&exact->level[0], blocks, hash) &&
		(exact->levels == 1 || bf_exact_confirms(exact, blocks, hash));
}

/*
 * The same for many, level by level: of each level only the blocks of keys that the levels
 * before let in are read.  found[i] is set to 1 or 0.  Returns the keys that levels 2 and 3
 * were asked for, together.
 */
extern uint64_t bf_shape_contains_hashes(const bf_shape *exact, const uint8_t *blocks,
										 const uint64_t *hashes, size_t count, uint8_t *found);

/* Adds keys' hashes to a level.  tick may be NULL. */
extern void bf_exact_add(bf_shape *exact, uint8_t *blocks, unsigned level, const uint64_t *hashes,
						 size_t count, bf_tick tick);

/*
 * Fills level 3: members are the hashes that level 2 lets in and that are to be true, others
 * those of level 2, none of which is in both.  Tries salts until no other passes.  False: none of
 * 256 does; the level is then too small, and empty.  tick may be NULL.
 */
extern bool bf_exact_close(bf_shape *exact, uint8_t *blocks, const uint64_t *members, size_t member_count,
						   const uint64_t *others, size_t other_count, bf_tick tick);

/*
 * The one validator behind every door: text input, binary input, casts, stored values, the C
 * library and the command line.  A valid filter of either version or a reason, never half of
 * each: *exact is set only on BF_OK.
 *
 * bf_any_read reads and checks header and directory of a filter of total_bytes, without touching
 * the blocks: no field is what it is by damage, as both have a checksum of their own, but that
 * bits_set and checksum are those of the blocks is taken on trust.  bytes has min(total_bytes,
 * bf_shape_front).  bf_any_parse checks all bytes.
 */
extern bf_status bf_any_read(const void *bytes, uint64_t total_bytes, bf_shape *exact);
extern bf_status bf_any_parse(const void *bytes, uint64_t length, bf_tick tick, bf_shape *exact);

/*
 * How long a filter of either version is that begins with these bytes, as they say: of version 2
 * BF_EXACT_HEADER_BYTES are looked at, else BF_HEADER_BYTES.  Nothing else of them is.
 */
extern uint64_t bf_any_length(const void *bytes);

/* A filter of version 1 as one of one level. */
extern void bf_shape_of(const bf_header *header, bf_shape *exact);

/* Whether two have the same header and directory, and so the same bytes. */
extern bool bf_shape_same(const bf_shape *a, const bf_shape *b);

/* Writes header and directory in front of the blocks, which lie behind, with all checksums. */
extern void bf_exact_write(bf_shape *exact, uint8_t *bytes, bf_tick tick);

#endif							/* BF_EXACT_H */
