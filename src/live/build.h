/*
 * build.h
 *	  Building a live filter: CREATE INDEX and REINDEX.
 */
#ifndef BFPG_LIVE_BUILD_H
#define BFPG_LIVE_BUILD_H

#include "nodes/execnodes.h"

#include "access/amapi.h"

#pragma GCC visibility push(hidden)

extern IndexBuildResult *bfpg_live_build(Relation heap, Relation index, IndexInfo *info);
extern void bfpg_live_build_empty(Relation index);
extern char *bfpg_live_build_phase(int64 phase);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_BUILD_H */
