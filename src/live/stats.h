/*
 * stats.h
 *	  How full a live filter is.
 */
#ifndef BFPG_LIVE_STATS_H
#define BFPG_LIVE_STATS_H

#include "utils/rel.h"

#pragma GCC visibility push(hidden)

/* Warns, with REINDEX as hint, if a filter's rate has come to be some times its p. */
extern void bfpg_live_warn_if_outgrown(Relation index);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_STATS_H */
