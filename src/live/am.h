/*
 * am.h
 *	  The index access method "bloomfilter": its callbacks, its options, its keys.
 */
#ifndef BFPG_LIVE_AM_H
#define BFPG_LIVE_AM_H

#include "access/amapi.h"
#include "nodes/execnodes.h"

#include "key/key.h"
#include "live/compat.h"
#include "live/page.h"

/* Once, when the library is loaded: makes the options known. */
extern void bfpg_live_options_init(void);

extern bool bfpg_is_live(Relation index);

/* WITH (n = ..., p = ..., seed = ...) of CREATE INDEX. */
typedef struct BfpgLiveOptions
{
	uint64		n;				/* 0: not given */
	double		p;
	uint64		seed;
} BfpgLiveOptions;

extern bytea *bfpg_live_parse_options(Datum options, bool validate);
extern BfpgLiveOptions bfpg_live_options(Relation index);

extern IndexBuildResult *bfpg_live_build(Relation heap, Relation index, IndexInfo *info);
extern void bfpg_live_build_empty(Relation index);

extern bool bfpg_live_insert(Relation index, Datum *values, bool *isnull,
							 ItemPointer row, Relation heap, IndexUniqueCheck unique,
							 bool unchanged, IndexInfo *info);

/* The coder for an index's column.  Throws if its values can't be keys. */
extern void bfpg_live_key_coder(Relation index, BfpgKeyCoder *coder);

/*
 * Adds so many pages to the end of a fork, empty ones of a level, or the meta page as the first if meta
 * is not NULL, and returns the number of the first.  They are neighbours.
 */
extern BlockNumber bfpg_live_add_pages(Relation index, ForkNumber fork, const BfpgLive *meta, BlockNumber count,
									   unsigned level, bool log);

#endif							/* BFPG_LIVE_AM_H */
