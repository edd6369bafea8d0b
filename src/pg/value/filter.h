/*
 * filter.h
 *	  A filter in this process's memory, and the ways from and to a Datum.
 *
 * Stored, a bloomfilter is a varlena around the bytes of the format.  A filter
 * that is built or changed is an expanded object (utils/expandeddatum.h): its
 * blocks are aligned to cache lines, it is changed in place by whoever owns a
 * read-write pointer to it, and its header is written only when it is flattened,
 * so that a thousand additions cost one checksum.
 */
#ifndef BFPG_FILTER_H
#define BFPG_FILTER_H

#include "utils/expandeddatum.h"

#include "bf_exact.h"
#include "bf_filter.h"
#include "base/report.h"

/* Hashes between two looks at whether the query is cancelled. */
#define HASHES_BETWEEN_CHECKS 65536

typedef struct BfpgFilter
{
	ExpandedObjectHeader eoh;
	int			magic;			/* BFPG_FILTER_MAGIC */
	bf_header  *header;			/* level 1's in shape: the truth; the image's is stale until flattened */
	bf_shape	shape;
	uint8	   *image;			/* the bytes of the format, on a cache line */
	uint8	   *blocks;			/* image + BF_HEADER_BYTES */
} BfpgFilter;

/* A filter with this header and empty blocks, in a context of its own under parent. */
extern BfpgFilter *bfpg_filter_new(const bf_header *header, MemoryContext parent);

/*
 * A private copy of any bloomfilter Datum, checked by bf_any_parse.  It never looks
 * at a value's bytes twice: what was checked is what was copied.
 */
extern BfpgFilter *bfpg_filter_copy(Datum value, MemoryContext parent);

/*
 * A private copy for looking keys up, of an exact filter, too: its blocks are those of level 1,
 * and the other levels' follow.  It is never made a Datum.
 */
extern BfpgFilter *bfpg_filter_load(Datum value, MemoryContext parent);

/* The filter behind a read-write pointer, or a copy of any other Datum. */
extern BfpgFilter *bfpg_filter_writable(Datum value, MemoryContext parent);

/* The filter behind an expanded Datum, or NULL if it is not expanded. */
extern BfpgFilter *bfpg_filter_expanded(Datum value);

extern Datum bfpg_filter_rw_datum(BfpgFilter *filter);

/*
 * A read-only Datum whose pointer is in the current context although the filter
 * is elsewhere: before 16, an aggregate's result is copied otherwise.
 */
extern Datum bfpg_filter_ro_datum(BfpgFilter *filter);

/* bf_add_hashes, to be cancelled on the way. */
extern void bfpg_filter_add_hashes(BfpgFilter *filter, const uint64 *hashes, uint64 count);

/*
 * Combines another bloomfilter Datum into a filter.  Throws if they can't be.
 */
extern void bfpg_filter_combine(BfpgFilter *filter, Datum other, bf_combine operation);

/* memset to 0, to be cancelled on the way. */
extern void bfpg_clear_bytes(void *target, uint64 length);

/* The filter's bytes in a varlena with a long header; may be the value itself. */
extern struct varlena *bfpg_flat_value(Datum value);

extern void bfpg_filter_free(BfpgFilter *filter);

/*
 * The header of any bloomfilter Datum, read by a slice: costs the same for all
 * sizes.
 */
extern void bfpg_read_header(Datum value, bf_header *header);

/* The same with the levels of an exact filter, which bfpg_read_header refuses. */
extern void bfpg_read_shape(Datum value, bf_shape *shape);

/* The same of a value that was stored, for who can do without: false where it is damaged. */
extern bool bfpg_try_shape(Datum value, bf_shape *shape);

/*
 * Reads length bytes at offset of a stored value's payload into a new varlena,
 * and throws if the value has fewer.
 */
extern struct varlena *bfpg_read_slice(Datum value, uint64 offset, uint64 length);

#endif							/* BFPG_FILTER_H */
