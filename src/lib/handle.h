/*
 * handle.h
 *	  What an open filter is inside: one or more parts, each with its bytes.
 *
 * A handle is filled by its maker and then never changed, but for its holders,
 * which makes it safe to look up keys in it from all threads.  Internal names begin with lbf_, so that they
 * meet neither the core's nor a program's.
 */
#ifndef LBF_HANDLE_H
#define LBF_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bf_exact.h"
#include "libbloomfilter.h"

/* Whose memory it is that holds a filter. */
typedef enum lbf_owner
{
	LBF_BORROWED,				/* the caller's */
	LBF_ALLOCATED,				/* from lbf_allocate */
	LBF_MAPPED					/* from mmap */
} lbf_owner;

typedef struct lbf_bytes
{
	uint8_t    *start;			/* not written to unless LBF_ALLOCATED */
	size_t		length;
	lbf_owner	owner;
} lbf_bytes;

typedef struct lbf_part
{
	bf_shape	shape;			/* of one level, but for exact filters */
	lbf_bytes	bytes;
} lbf_part;

/* Which file it is. */
typedef struct lbf_stamp
{
	uint64_t	device;
	uint64_t	inode;
	uint64_t	length;
	int64_t		seconds;		/* when its content changed */
	int64_t		nanoseconds;
} lbf_stamp;

/* How much of a followed file may be believed: see page.h. */
typedef struct lbf_told
{
	bloomfilter_place place;
	bloomfilter_serial_kind kind;
	uint64_t	serial;			/* of a mapped file of kind NOW, the one at opening */
	uint64_t	true_at;
	uint64_t	changes_to;		/* and changes up to here */
} lbf_told;

/* Changes by day that a followed list has: feed_table.h. */
typedef struct lbf_changes
{
	const uint8_t *page;		/* which counts them; NULL: there are none in this file */
	const uint8_t *slots;		/* NULL: there is no table */
	unsigned	log2_slots;
	lbf_bytes	copy;			/* of both, if the file isn't mapped */
} lbf_changes;

/* The key type of a handle that stands for a file whose bits can't be believed: no key has it. */
#define LBF_LOST 0xff

struct bloomfilter
{
	uint32_t	open_parts;		/* 1, or all parts of a set */
	uint32_t	key_type;		/* of the parts that have one, else none; or LBF_LOST */
	uint64_t	seed;
	lbf_stamp	stamp;			/* of the file that it was opened from; all 0 if none */
	int			fd;				/* of that file, if it was copied; else -1 */
	lbf_told	told;			/* what its page of facts says, if it has one, ... */
	uint64_t	who;			/* ... and the checksum of who there */
	lbf_bytes	mapped;			/* all of the file, in which the parts lie then */
	const uint8_t *page;		/* of facts, in mapped: headers say nothing of the bits then; or NULL */
	bool		uncounted;		/* and nobody wants them counted */
	lbf_changes changes;
	size_t		holders;		/* see watched.c, whose lock protects it */
	lbf_part	part[];
};

/* Whether bits may come in while it is read. */
static inline bool
lbf_is_live(const bloomfilter *filter)
{
	return filter->page != NULL && filter->told.place != BLOOMFILTER_PLACE_NONE;
}

/* Whether it is exact, as all its parts are then: nothing is added to it. */
static inline bool
lbf_is_exact(const bloomfilter *filter)
{
	return filter->part[0].shape.levels > 1;
}

static inline const uint8_t *
lbf_blocks(const lbf_part *part)
{
	return part->bytes.start + bf_shape_front(&part->shape);
}

/*
 * Memory for a whole filter, on a cache line as the blocks want it, if it is large on huge
 * pages; NULL where there is none.
 */
extern uint8_t *lbf_allocate(size_t length);

/* A handle with room for so many parts, which have no bytes yet; NULL. */
extern bloomfilter *lbf_handle_create(uint32_t parts);

/* A handle of so many parts of a shape, each with its number, in new memory that is all zero; NULL. */
extern bloomfilter *lbf_handle_allocate(const bf_shape *shape, uint32_t parts);

/* Sets what a handle keeps of all its parts, once these are complete. */
extern void lbf_handle_complete(bloomfilter *filter);

/* Writes the headers of parts whose blocks were filled, checksums included. */
extern void lbf_handle_seal(bloomfilter *filter);

#endif							/* LBF_HANDLE_H */
