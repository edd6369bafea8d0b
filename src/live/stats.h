/*
 * stats.h
 *	  How full a live filter is.
 */
#ifndef BFPG_LIVE_STATS_H
#define BFPG_LIVE_STATS_H

#include "utils/rel.h"

#pragma GCC visibility push(hidden)

/* The columns of bloom_index_stats. */
#define BFPG_LIVE_STATS 16

/* Fills them in, from so many pages of an open index. */
extern void bfpg_live_stats(Relation index, uint32 pages, Datum *values);

/* About how many keys an open index holds and the false-positive rate that it has. */
extern void bfpg_live_estimate(Relation index, double *keys, double *rate);

/* Warns, with REINDEX as hint, if a filter's rate has come to be some times its p. */
extern void bfpg_live_warn_if_outgrown(Relation index);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_STATS_H */
