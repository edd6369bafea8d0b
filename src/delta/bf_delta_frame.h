/*
 * bf_delta_frame.h
 *	  What writing and applying a delta share.
 */
#ifndef BF_DELTA_FRAME_H
#define BF_DELTA_FRAME_H

/* Contexts whose memory comes from a caller's allocator need this of zstd.h. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include "bf_delta.h"

/* Offsets of the fields. */
enum
{
	BFD_AT_MAGIC = 0,
	BFD_AT_VERSION = 4,
	BFD_AT_METHOD = 5,
	BFD_AT_RESERVED = 6,
	BFD_AT_OLD_CHECKSUM = 8,
	BFD_AT_NEW_CHECKSUM = 16,
	BFD_AT_HEADER = 24,
	BFD_AT_RAW_LENGTH = 88
};

/*
 * log2 of the window, in bytes, that a payload may ask a reader to keep.  Writers
 * use less; the bound is what keeps a hostile frame from taking memory.
 */
#define BFD_MAX_WINDOW_LOG	23

/* Bytes of payload handled at a time. */
#define BFD_PIECE_BYTES		((size_t) 64 * 1024)

extern const uint8_t bfd_magic[4];

/* zstd's form of an allocator. */
static inline ZSTD_customMem
bfd_zstd_memory(const bfd_allocator *allocator)
{
	ZSTD_customMem memory;

	memory.customAlloc = allocator->allocate;
	memory.customFree = allocator->release;
	memory.opaque = allocator->context;
	return memory;
}

#endif							/* BF_DELTA_FRAME_H */
