/*
 * changes.h
 *	  Changes of a list that are in force: keys whose answer isn't the filter's.
 */
#ifndef BFPG_CHANGES_H
#define BFPG_CHANGES_H

#include "lib/stringinfo.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "key/key.h"
#include "base/pg_compat.h"

/* Columns of bloom_change. */
enum
{
	BFPG_CHANGE_NAME = 1,
	BFPG_CHANGE_KEY = 2,
	BFPG_CHANGE_VALUE = 3,
	BFPG_CHANGE_VERSION = 4
};

/* The bytes of a bytea that stand before a key's own: its kind, by which 42 is no date. */
#define BFPG_KIND_BYTES 4

/* What a list's changes say of a key. */
typedef struct BfpgChange
{
	bool		value;
	int64		version;
} BfpgChange;

/* The changes of a list, as far as a call site knows them: changes.c, but for what bfpg_changes_may_have reads. */
typedef struct BfpgChanges
{
	Oid			schema;
	Datum		name;
	uint64		seed;
	MemoryContext context;
	int64		probes;			/* and keys that will be looked for */
	int			tried;			/* how often all were to be read, and were too many */
	uint64	   *bits;			/* set by the hashes of all changes, or NULL: they aren't read, and are probed for */
	int			bits_shift;		/* a hash shifted by it is the number of its word of bits */
	StringInfoData kept;		/* all that were read */
	uint32	   *slots;			/* one more than where in kept a change begins, or 0 */
	int			log2_slots;		/* at most half of them are used */
} BfpgChanges;

/*
 * The changes of a list that the active snapshot sees, for as long as it does.  What they need is
 * allocated in the context, and the name must live as long.  The seed is that of hashes of keys.
 */
extern BfpgChanges *bfpg_changes_open(Oid schema, Datum name, uint64 seed, MemoryContext context);

/*
 * Shows the changes of a list that are in force by the active snapshot, until see returns false.  What
 * that allocates is freed after it.
 */
typedef bool (*BfpgSeeChange) (void *state, uint32 kind, const bytea *key, bool value);
extern void bfpg_changes_each(Oid schema, const char *list, BfpgSeeChange see, void *state);

/*
 * The kind of the keys that are in by changes in force alone; BF_KEY_NONE: there are none.  Others may be
 * of a kind that the list had before.
 */
extern uint32 bfpg_changes_kind(Oid schema, const char *list);

/* Says that so many keys will be looked for. */
extern void bfpg_changes_expect(BfpgChanges *changes, int keys);

/* The three bits of a hash in its word. */
static inline uint64
bfpg_changes_bits(uint64 hash)
{
	return UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) | UINT64CONST(1) << (hash >> 12 & 63);
}

/* False: no key with this hash has a change in force. */
static inline bool
bfpg_changes_may_have(const BfpgChanges *changes, uint64 hash)
{
	return changes->bits == NULL ||
		(bfpg_changes_bits(hash) & ~changes->bits[hash >> changes->bits_shift]) == 0;
}

/* Whether a key has a change in force.  The key is as bfpg_change_key makes it. */
extern bool bfpg_changes_find(BfpgChanges *changes, uint64 hash, Datum key, BfpgChange *change);

/* A key as bloom_change has it, a bytea: kind and bytes.  It is in the buffer. */
extern Datum bfpg_change_key(BfpgKeyCoder *coder, Datum key, StringInfo buffer);
extern Datum bfpg_change_bytes(uint32 kind, const void *bytes, Size length, StringInfo buffer);

#endif							/* BFPG_CHANGES_H */
