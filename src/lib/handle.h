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

#include "bf_format.h"
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
	bf_header	header;
	lbf_bytes	bytes;
} lbf_part;

struct bloomfilter
{
	uint32_t	open_parts;		/* 1, or all parts of a set */
	uint32_t	key_type;		/* of the parts that have one, else none */
	uint64_t	seed;
	uint64_t	identity;		/* of the files it was opened from; see source.h */
	uint64_t	serial;			/* of a copy of a working copy, else 0 */
	lbf_bytes	working;		/* the mapped working copy that the parts lie in; no start if none */
	size_t		holders;		/* see watched.c, whose lock protects it */
	lbf_part	part[];
};

static inline const uint8_t *
lbf_blocks(const lbf_part *part)
{
	return part->bytes.start + BF_HEADER_BYTES;
}

/*
 * Memory for a whole filter, on a cache line as the blocks want it; NULL where
 * there is none.  huge asks for huge pages.
 */
extern uint8_t *lbf_allocate(size_t length, bool huge);

/* Gives bytes back to where they are from. */
extern void lbf_release(lbf_bytes *bytes);

/* A handle with room for so many parts, which have no bytes yet; NULL. */
extern bloomfilter *lbf_handle_create(uint32_t parts);

/* A handle of single filter, in new memory that is all zero; NULL. */
extern bloomfilter *lbf_handle_allocate(const bf_header *headers, uint32_t parts);

/* Sets what a handle keeps of all its parts, once these are complete. */
extern void lbf_handle_complete(bloomfilter *filter);

/* Writes the headers of parts whose blocks were filled, checksums included. */
extern void lbf_handle_seal(bloomfilter *filter);

#endif							/* LBF_HANDLE_H */
