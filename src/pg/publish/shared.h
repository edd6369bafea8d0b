/*
 * shared.h
 *	  The filters of a list that is published, in dynamic shared memory: all processes of a
 *	  query set bits in them, each region under a lock.
 *
 * A control segment says what they are; the filters lie in others, as many in one as fit
 * in a gigabyte.  Each stands behind room for the header of a value, so that it is one
 * without being copied.  The memory is the creator's and goes with its transaction or
 * earlier.  Where there is too little of such memory, the creator's own takes its place, and
 * the creator alone reads the keys.
 *
 * A process finds it by a ticket, a bytea with the control segment's handle and a random
 * secret that stands in the segment, too.  So nobody who calls the aggregate by hand
 * gets at it, or at any other segment.
 */
#ifndef BFPG_SHARED_H
#define BFPG_SHARED_H

#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"

#include "bf_exact.h"

#pragma GCC visibility push(hidden)

#define BFPG_SECRET_BYTES 16

/* Many times the processes of a query, so that these seldom wait for each other. */
#define BFPG_REGION_LOCKS 256

/* What a pass over the query's keys does with them. */
typedef enum BfpgPassMode
{
	BFPG_ADD,					/* members to level 1; others are counted */
	BFPG_CHECK,					/* looks all of them up, for a list without others */
	BFPG_OTHERS,				/* lists the others that level 1 lets in */
	BFPG_PROVE,					/* looks all of them up, and lists the members that level 2 lets in */
	BFPG_FIND					/* finds keys of one hash */
} BfpgPassMode;

/* Hashes that all processes of a pass gather. */
typedef struct BfpgHashList
{
	pg_atomic_uint64 count;		/* that there are; those beyond room are counted alone */
	uint64		room;
	uint64		hashes[FLEXIBLE_ARRAY_MEMBER];
} BfpgHashList;

/* Bytes that are kept of each key that was found, and keys. */
#define BFPG_FOUND_BYTES 200
#define BFPG_MOST_FOUND 2

/* What the control segment holds. */
typedef struct BfpgSharedHead
{
	uint32		magic;
	Oid			type;			/* the keys', in SQL */
	int			processes;		/* that may set bits; 1: the creator alone */
	BfpgPassMode mode;			/* what is done with the keys */
	uint8		secret[BFPG_SECRET_BYTES];
	pg_atomic_uint32 key_type;	/* BF_KEY_NONE while there is no key */
	pg_atomic_uint64 keys;		/* that all processes together have read */
	bf_exact	shape;			/* of each part, but for key_type and part */
	dsm_handle	list;			/* of the hashes that are gathered, if any are */
	uint64		wanted;			/* the hash of keys to be found */
	int			found_count;	/* different keys of it; under the first lock */
	char		found[BFPG_MOST_FOUND][BFPG_FOUND_BYTES];
	uint32		parts_each;		/* in a segment */
	uint32		segments;
	LWLockPadded locks[BFPG_REGION_LOCKS];
	dsm_handle	handles[FLEXIBLE_ARRAY_MEMBER];
} BfpgSharedHead;

/* A process's view of it. */
typedef struct BfpgShared
{
	BfpgSharedHead *head;
	uint32		parts;
	uint8	  **images;			/* of each part: the bytes of the format */
	dsm_segment *control;		/* NULL: all is in memory of this process */
	dsm_segment **segments;
	dsm_segment *list_segment;
	BfpgHashList *list;			/* NULL: no hashes are gathered */
	struct BfpgShared *next;	/* of those in memory of this process */
} BfpgShared;

/* Bytes of memory that the filters take. */
extern double bfpg_shared_bytes(const bf_exact *shape);

/*
 * Makes empty filters of this shape for keys of an SQL type.  Returns NULL where the
 * server has too little memory of the kind, and why in *reason.
 */
extern BfpgShared *bfpg_shared_create(const bf_exact *shape, Oid type, int processes, char **reason);

/* The same in the current memory context, with which they go; and for filters that are there already. */
extern BfpgShared *bfpg_shared_own(const bf_exact *shape, Oid type);
extern BfpgShared *bfpg_shared_adopt(const bf_exact *shapes, const Datum *filters, Oid type);

static inline bool
bfpg_shared_is_own(const BfpgShared *shared)
{
	return shared->control == NULL;
}

/*
 * From now on this is done with keys, they are counted from 0 on, and older tickets are of no use.
 * No process has it but the creator.
 */
extern void bfpg_shared_begin(BfpgShared *shared, BfpgPassMode mode);

/* An empty list for so many hashes, in place of the one before.  Throws where there is no memory for it. */
extern void bfpg_shared_gather(BfpgShared *shared, uint64 room);

/* Appends hashes to it. */
extern void bfpg_shared_append(const BfpgShared *shared, const uint64 *hashes, Size count);

/* Notes the text of a key that has the wanted hash. */
extern void bfpg_shared_note(const BfpgShared *shared, const char *key);

/* Gives the memory back. */
extern void bfpg_shared_free(BfpgShared *shared);

extern bytea *bfpg_shared_ticket(const BfpgShared *shared);

/*
 * Attaches to the filters of a ticket, in a context that lives as long as the query.  Throws
 * unless they are for such keys; what was attached then goes with the rollback.
 */
extern BfpgShared *bfpg_shared_attach(const bytea *ticket, Oid type, MemoryContext context);

/* The value that a part is once its header has been written. */
static inline Datum
bfpg_shared_value(const BfpgShared *shared, uint32 part)
{
	return PointerGetDatum(shared->images[part] - VARHDRSZ);
}

/* The blocks of a part's first level. */
static inline uint8 *
bfpg_shared_blocks(const BfpgShared *shared, uint32 part)
{
	return shared->images[part] + bf_exact_front(&shared->head->shape);
}

/*
 * Adds hashes of keys to a part, also while other processes do.  All are of one region: no
 * hash of another region is in one of its blocks.
 */
extern void bfpg_shared_add(const BfpgShared *shared, uint32 part, uint32 region, const uint64 *hashes, Size count);

#pragma GCC visibility pop

#endif							/* BFPG_SHARED_H */
